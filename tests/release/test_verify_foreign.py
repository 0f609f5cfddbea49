"""Releases with parts of other packages: verified by the parts themselves."""

from dataclasses import replace

import numpy as np
import pytest

from riemdp import GDP, Ball, Euclidean, PureDP, Sphere, private_mean, private_statistic, verify
from riemdp.kernel import Vector
from riemdp.mechanisms import RiemannianLaplace
from riemdp.noise.exact import FlatDraw
from riemdp.statistics import Rows, Statistic, Value


def release_of(**options):
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
    options = {"mechanism": "riemannian-laplace"} | options
    return private_mean(np.tile([0.0, 0.0, 1.0], (40, 1)), ball, PureDP(1.0), **options)


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


@pytest.mark.parametrize("found", [lambda *_: None, lambda *_: FlatDraw("laplace", 5, 1.0)])
def test_integers_are_not_those_of_a_mechanism_that_cannot_draw_them(found):
    """A document may state them of a part of another package, whose exact draw is none."""
    release = release_of()
    kind = type("M", (RiemannianLaplace,), {"name": "lab.M", "exact_draw": found})
    assert "arithmetic" in failed(replace(release, mechanism=kind(Sphere(2), release.sigma)))


def halves(ball, coordinates):
    return ball.shorten(coordinates) / ball.reach


class Twice(Statistic):
    """The mean, asked twice."""

    name = "lab.Twice"

    def queries(self, ball):
        first = yield Rows(Vector(ball.manifold.dim), ball.reach, halves, share=0.3)
        second = yield Rows(Vector(ball.manifold.dim), ball.reach, halves, share=0.7)
        return Value(ball.point(0.3 * first.point + 0.7 * second.point), ball)


@pytest.mark.parametrize("budget", [GDP(1.0), PureDP(1.0)], ids=str)
def test_all_queries_of_a_statistic_are_within_the_budget(budget):
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    release = private_statistic(Twice(), np.full((50, 2), 0.2), ball, budget, allow_unproven=True)
    first, last = release.scales
    cost = 0.3 if isinstance(budget, PureDP) else np.sqrt(0.3)
    assert first == pytest.approx(0.04 / cost, rel=1e-9)
    assert failed(release) == {"proof"}
    for weak in ((0.99 * first, last), (0.5 * first, last)):
        assert "guarantee" in failed(replace(release, scales=weak))
    for wrong in ((last,), (first, first, last)):
        assert failed(replace(release, scales=wrong)) == {"queries"}
    assert "queries" in failed(replace(release, scales=(first, 2.0 * last)))
    less = type(release.mechanism)(ball.manifold, 0.8 * last)
    more = (9.0 * first, 0.8 * last)
    assert "guarantee" in failed(replace(release, scales=more, mechanism=less))
    assert "value" in failed(replace(release, projected=True))
    moved = tuple(each + 2**30 for each in release.rounded)
    assert "arithmetic" in failed(replace(release, rounded=moved))
