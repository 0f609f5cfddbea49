"""Means of products in as many passes as the factor takes that takes most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Grassmann,
    Hyperbolic,
    Power,
    Product,
    SPDAffineInvariant,
    Sphere,
)
from riemdp._errors import ConvergenceError
from riemdp.statistics import FrechetMean
from riemdp.statistics._answer import Prepared

SPACES = [
    Product(Sphere(2), Euclidean(2), SPDAffineInvariant(2)),
    Power(Hyperbolic(2), 3),
]


def query_on(ball):
    return next(FrechetMean().queries(ball))


def passed(mean, ball, records, tol):
    """Return the last pass and what it ends with."""
    asked, seen = mean.in_passes(ball, tol), Prepared(ball, records)
    while asked.left > 1:
        asked = asked.after(ball, seen.summary(asked))
    return asked, seen.summary(asked)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_means_are_those_of_all_records_together(space):
    ball = Ball(space, space.origin, 0.6)
    records = ball.point(0.2 * np.random.default_rng(0).normal(size=(30, space.dim)))
    mean = query_on(ball)
    tol = mean.tolerance(ball, mean.replace_one(ball, 30, "distance"))
    asked, partial = passed(mean, ball, records, tol)
    found = asked.finish(ball, partial, tol)
    whole = mean.finish(ball, Prepared(ball, records).summary(mean), tol)
    rest = [float(x - y) for x, y in zip(found, whole, strict=True)]
    assert 0.0 < np.linalg.norm(rest) <= 3.0 * tol
    curved = [own for own in space.balls(ball) if not query_on(own).adds(own)]  # flat ones add
    share = tol / len(space.balls(ball)) ** 0.5
    several = [query_on(own).in_passes(own, share).left for own in curved]
    assert mean.in_passes(ball, tol).left == max(several) > min(several) - 1
    with pytest.raises(ConvergenceError):
        asked.finish(ball, partial, 1e-18)


def test_factors_share_the_tolerance():
    """Four that are each within it are together as far off as twice that."""
    space = Power(Hyperbolic(2), 4)
    ball = Ball(space, space.origin, 0.6)
    one = 0.05 * np.random.default_rng(0).normal(size=(30, 2))
    first = query_on(ball).in_passes(ball, 1e-10)  # which looks from the centre
    last = replace(first, number=first.left - 1)
    partial = Prepared(ball, ball.point(np.tile(one, 4))).summary(last)
    bound = float(np.linalg.norm(one.mean(axis=0)))  # of each; about the centre a norm of averages
    assert len(last.finish(ball, partial, 2.001 * bound)) == 8
    for tol in (1.999 * bound, 1.001 * bound):
        with pytest.raises(ConvergenceError):
            last.finish(ball, partial, tol)


@pytest.mark.parametrize(
    "space",
    [SPACES[0], Product(Product(Euclidean(1), Product(Euclidean(2), Euclidean(1))), Sphere(2))],
    ids=["flat factor", "flat product of products"],
)
def test_parts_are_added_in_any_order(space):
    ball = Ball(space, space.origin, 0.6)
    records = ball.point(0.2 * np.random.default_rng(0).normal(size=(30, space.dim)))
    first = query_on(ball).in_passes(ball, 1e-10)
    whole = Prepared(ball, records).summary(first)
    parts = [Prepared(ball, records[rows]).summary(first) for rows in ([*range(9, 30)], range(9))]
    assert first.merge(*parts) == whole == first.merge(*parts[::-1])
    asked, found = first, []
    while asked.left > 1:
        asked = asked.after(ball, Prepared(ball, records).summary(asked))
    for rows in (records, records[::-1]):
        parts = [Prepared(ball, some).summary(asked) for some in np.split(rows, [9])]
        found.append(asked.finish(ball, asked.merge(*parts), 1e-10))
    assert found[0] == found[1]


def test_a_factor_of_which_nothing_is_proved_is_enough_to_refuse():
    space = Product(Sphere(2), Grassmann(2, 4))
    ball = Ball(space, space.origin, 0.3)
    assert query_on(ball).in_passes(ball, 1e-9) is None
