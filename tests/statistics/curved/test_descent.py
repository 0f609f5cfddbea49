"""Steps to means: how far they are proved to lead, against data that make it hard."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb

from riemdp import Ball, Hyperbolic, SPDAffineInvariant, Sphere
from riemdp._errors import ConvergenceError
from riemdp.statistics import FrechetMean
from riemdp.statistics._answer import Prepared
from riemdp.statistics.curved._descent import (
    added_rows,
    hadamard_steps,
    least_hessian,
    spherical_steps,
)
from riemdp.statistics.curved._descent_space_form import logarithms

RNG = np.random.default_rng(0)


def exact(ball):
    return next(FrechetMean().queries(ball))


def tolerance(ball, n):
    mean = exact(ball)
    return mean.tolerance(ball, mean.replace_one(ball, n, "distance"))


def hostile(dim, radius):
    """Coordinates of records of which the functional is as bent, or as flat, as it can be."""
    axis = np.eye(dim)
    yield "at both ends", radius * np.array([axis[0], -axis[0]])
    yield "nearly at both ends", radius * np.array([axis[0]] * 9 + [-axis[0]])
    yield "all at one place", radius * np.array([axis[0]] * 3)
    yield "one that is far", radius * np.array([0.01 * axis[1]] * 99 + [axis[0]])
    yield "at right angles", radius * np.array([axis[0], axis[1]])
    turns = 2.0 * np.pi * np.arange(5) / 5
    yield "around", radius * (np.cos(turns)[:, None] * axis[0] + np.sin(turns)[:, None] * axis[1])
    for share in (0.3, 1.0):
        rows = RNG.normal(size=(20, dim))
        yield f"mixed {share}", radius * share * rows / np.linalg.norm(rows, axis=1)[:, None]


BALLS = [
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.4),
    Ball(Sphere(3), [0.0, 0.0, 0.0, 1.0], 1.0),
    Ball(Sphere(2, curvature=4.0), [0.0, 0.0, 0.5], 0.55),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 1.0),
    Ball(Hyperbolic(3, curvature=-4.0), Hyperbolic(3, curvature=-4.0).origin, 1.0),
    Ball(SPDAffineInvariant(2), np.eye(2), 2.0),
    Ball(SPDAffineInvariant(3), np.eye(3), 0.5),
]


def some(*quick):
    """All balls, of which those that are not among these are slow."""
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(BALLS[i], marks=marks[i in quick], id=repr(BALLS[i])) for i in range(7)]


def descended(ball, records, mean=None, step=lambda size: size, left=1):
    """Return points of all passes but the last ones, and what the last of them ends with."""
    mean = mean or exact(ball)
    tol = tolerance(ball, len(records))
    asked = mean.in_passes(ball, tol)
    asked = replace(
        asked, descent=replace(asked.descent, steps=tuple(map(step, asked.descent.steps)))
    )
    seen = Prepared(ball, records)
    points = [asked.point]
    while asked.left > left:
        asked = asked.after(ball, seen.summary(asked))
        points.append(asked.point)
    return points, asked, seen.summary(asked), tol


@pytest.mark.parametrize("ball", some(0, 3))
def test_every_mean_is_reached(ball):
    for _, rows in hostile(ball.manifold.dim, ball.radius):
        records = ball.point(rows)
        points, last, partial, tol = descended(ball, records)
        found = last.finish(ball, partial, tol)
        whole = exact(ball).finish(ball, Prepared(ball, records).summary(exact(ball)), tol)
        near = np.array([float(x - y) for x, y in zip(found, whole, strict=True)])
        assert np.linalg.norm(near) <= 4.0 * tol
        assert len(points) == exact(ball).in_passes(ball, tol).left
        assert not exact(ball).adds(ball)


@pytest.mark.parametrize("ball", some(1, 5))
def test_half_of_the_passes_are_not_enough(ball):
    rows = dict(hostile(ball.manifold.dim, ball.radius))["nearly at both ends"]
    whole = len(exact(ball).in_passes(ball, tolerance(ball, len(rows))).descent.steps)
    points, asked, _, tol = descended(ball, ball.point(rows), left=whole - whole // 2 + 1)
    short = replace(
        asked, descent=replace(asked.descent, steps=asked.descent.steps[: len(points) - 1])
    )
    assert short.left == 1
    partial = Prepared(ball, ball.point(rows)).summary(short)
    with pytest.raises(ConvergenceError, match="cannot be certified"):
        short.finish(ball, partial, tol)


def test_steps_that_are_too_long_do_not_end():
    ball = Ball(Hyperbolic(2), Hyperbolic(2).origin, 2.0)
    records = ball.point(dict(hostile(2, ball.radius))["at both ends"] + [[0.0, 0.3]])
    bent = 2.0 / math.tanh(2.0)
    for factor, ends in ((1.0, True), (2.2 / bent * (1.0 + bent) / 2.0, False)):
        _, last, partial, tol = descended(ball, records, step=lambda size, by=factor: size * by)
        if ends:
            last.finish(ball, partial, tol)
        else:
            with pytest.raises(ConvergenceError):
                last.finish(ball, partial, tol)


@pytest.mark.parametrize("ball", some(0, 3)[:5])
def test_distances_fall_as_they_are_proved_to(ball):
    """Each step by itself, about means that are certified."""
    curvature, radius = ball.manifold.curvature, ball.radius
    k = math.sqrt(abs(curvature))
    for _, rows in hostile(ball.manifold.dim, radius):
        points, last, partial, tol = descended(ball, ball.point(rows))
        mean = np.array([float(x) for x in last.finish(ball, partial, tol)])
        far = radius
        for point, after, step in zip(points, points[1:], last.descent.steps, strict=False):
            was, is_now = (
                float(np.linalg.norm(logarithms(curvature, x, mean[None]))) for x in (point, after)
            )
            if curvature < 0.0:
                bent, most = (x / math.tanh(x) for x in (k * far, k * radius))
                rate = math.sqrt(1.0 - 4.0 * most / (bent * (most + 1.0) ** 2))
                assert math.isclose(step, 2.0 / (bent * (most + 1.0)), rel_tol=1e-5)
            else:
                least = least_hessian(k * radius)
                rate = (1.0 - least) / (1.0 + least)
            assert is_now <= rate * was * (1.0 + 1e-5) + 3.0 * tol
            far *= rate
            assert is_now <= far * (1.0 + 1e-4) + 3.0 * tol


def test_the_rate_is_nearly_attained():
    """Or twice as many passes as are needed would go unnoticed."""
    ball = Ball(Hyperbolic(2), Hyperbolic(2).origin, 2.0)
    rows = 2.0 * np.array([[1.0, 0.0], [-1.0, 0.0]])
    most = 2.0 / math.tanh(2.0)
    start = np.array([0.0, 1e-6])
    gradient = logarithms(-1.0, start, rows).mean(axis=0)
    after = logarithms(-1.0, -start, 2.0 / (1.0 + most) * gradient[None])[0]
    assert ball.radius > 1.0
    assert abs(np.linalg.norm(after) / 1e-6 - (most - 1.0) / (most + 1.0)) < 1e-3


def test_the_hinge_in_balls():
    """cosh of the root of the right side, less that of the left, for angles and sides of a grid."""
    sides = [arb(x) for x in (0.05, 0.4, 1.0, 2.5, 6.0)]
    for c, b, turn in itertools.product(sides, sides, range(17)):
        angle = turn * arb.pi() / 16
        left = b.cosh() * c.cosh() - b.sinh() * c.sinh() * angle.cos()
        for share, holds in ((arb(1), True), (arb("0.8"), False)):
            square = c * c - 2 * b * c * angle.cos() + share * c * c.coth() * b * b
            if holds:
                assert square.sqrt().cosh() > left or (square.sqrt().cosh() - left).contains(0)
            elif turn == 8 and b < 0.1:
                assert square.sqrt().cosh() < left


@pytest.mark.parametrize("radius", [0.3, 0.8, 1.0, 1.2])
def test_hessians_on_spheres_are_no_less(radius):
    """At points where the functional is no more than at the centre."""
    rng, seen, least = np.random.default_rng(1), [], least_hessian(radius)
    while len(seen) < 200:
        count = int(rng.integers(1, 6))
        rows = rng.normal(size=(count, 2))
        rows *= (radius * rng.random(count) ** 0.1 / np.linalg.norm(rows, axis=1))[:, None]
        shares = rng.dirichlet(np.full(count, 0.5))
        point = rng.normal(size=2)
        point *= radius * rng.random() / np.linalg.norm(point)
        seen_from = logarithms(1.0, point, rows)
        far = np.linalg.norm(seen_from, axis=1)
        if shares @ far**2 > radius**2:
            continue
        bend = np.where(far > 1e-6, far / np.tan(np.maximum(far, 1e-6)), 1.0)
        unit = seen_from / np.maximum(far, 1e-12)[:, None]
        hessian = np.einsum("n,ni,nj->ij", shares * (1.0 - bend), unit, unit)
        hessian += float(shares @ bend) * np.eye(2)
        seen.append(np.linalg.eigvalsh(hessian)[0])
    assert min(seen) >= least
    assert min(seen) <= least + 0.45 * (1.0 - least)  # it is not far from what happens


def test_nothing_is_offered_where_nothing_is_proved():
    options = {"error": 1e-16, "moving": 1e-16, "own": (1e-16, 1e-16)}
    assert spherical_steps(1.0, 1.23, 1e-10, **options) is None
    assert spherical_steps(1.0, 1.2, 1e-10, **options) is not None
    assert spherical_steps(1.0, 0.4, 1e-17, **options) is None
    for own in ((1e-10, 0.0), (0.0, 1.0)):
        assert spherical_steps(1.0, 0.4, 1e-10, **{**options, "own": own}) is None
    options = {"error": 1e-16, "moving": lambda _: 1e-16, "own": 0.0}
    assert hadamard_steps(1.0, 1.0, 1e-10, **options) is not None
    assert hadamard_steps(1.0, 1.0, 1e-16, **options) is None
    assert hadamard_steps(1.0, 100.0, 1e-10, **options) is None
    assert hadamard_steps(1.0, 1.0, 1e-3, **{**options, "error": 1e-6}) is None
    assert least_hessian(1.6) == 0.0


def test_passes_are_public():
    """The same for all records, and fewer for less."""
    ball = BALLS[0]
    few, many = (exact(ball).in_passes(ball, tol).left for tol in (1e-6, 1e-11))
    assert few < many


def test_rows_are_added_as_integers():
    rows = RNG.normal(size=(1000, 3)) * [1.0, 1e-9, 100.0]
    found = added_rows(rows, 54)
    assert found == tuple(sum(int(x) for x in np.ldexp(column, 54)) for column in rows.T)
    assert added_rows(rows[RNG.permutation(1000)], 54) == found
    assert added_rows(np.empty((0, 2)), 54) == (0, 0)
    edge = np.full((2**12, 1), -127.99)
    assert added_rows(edge, 54) == (2**12 * int(-127.99 * 2.0**54),)


def test_points_between_are_in_no_text():
    ball = BALLS[0]
    points, last, partial, _ = descended(ball, ball.point(RNG.normal(size=(9, 2))), left=2)
    assert len(points) > 2
    for text in (repr(last), str(last), repr(partial)):
        assert not any(repr(float(x))[:8] in text for x in last.point)
