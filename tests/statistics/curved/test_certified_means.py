"""Certified means as releases use them: from records to the coordinates that noise is added to."""

from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, Power, Sphere
from riemdp._errors import ConvergenceError
from riemdp.spaces import Product
from riemdp.statistics import FrechetMean, Prepared, answer
from riemdp.statistics.curved import _space_form_search
from riemdp.statistics.curved._mean_solver import ExactMean, shortened
from riemdp.statistics.curved._solvers import ProductMean, SpaceFormMean

BALLS = [
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.9),
    Ball(Sphere(3, 4.0), [0.5, 0.0, 0.0, 0.0], 0.6),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 1.5),
    Ball(Hyperbolic(4, -0.5), Hyperbolic(4, -0.5).origin, 5.0),
]
PRODUCT = Product(Sphere(2), Euclidean(2), Hyperbolic(2))


def records(ball, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return ball.point(rng.normal(size=(n, ball.manifold.dim)) * 0.6 * ball.radius)


def mean_on(ball):
    """What the Fréchet mean asks of records."""
    return next(FrechetMean().queries(ball))


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_the_mean_is_within_the_tolerance(ball, space_forms):
    data, exact = records(ball), mean_on(ball)
    tol = exact.tolerance(ball, 1e-3)
    assert tol > 0.0
    found = answer(exact, ball, data, tol)
    assert all(isinstance(x, Fraction) for x in found)
    point = np.array([float(x) for x in found])
    rows = shortened(ball, data)
    assert space_forms.certificate(ball.manifold.curvature, ball.radius, point, rows, tol) <= tol
    # another record elsewhere moves it
    moved = np.concatenate([data[:-1], ball.center[None]])
    other = np.array([float(x) for x in answer(exact, ball, moved, tol)])
    assert space_forms.certificate(ball.manifold.curvature, ball.radius, other, rows, tol) > 1e-4


@pytest.mark.parametrize("ball", [*BALLS, Ball(PRODUCT, PRODUCT.origin, 1.0)], ids=str)
def test_chunks_make_the_whole(ball):
    data, exact = records(ball), mean_on(ball)
    tol = exact.tolerance(ball, 1e-3)
    parts = [Prepared(ball, rows).summary(exact) for rows in np.split(data, [1, 17])]
    total = exact.merge(exact.merge(parts[0], parts[1]), parts[2])
    assert exact.finish(ball, total, tol) == answer(exact, ball, data, tol)


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_where_the_solver_ends_somewhere_else_nothing_is_released(ball, monkeypatch):
    data = shortened(ball, records(ball))
    tol, mean = mean_on(ball).tolerance(ball, 1e-3), SpaceFormMean()
    assert mean.weighted(ball, data, None, tol)
    distance = _space_form_search.distance

    def elsewhere(sums, point, *given):
        return distance(sums, point + 3.0 * tol * np.eye(len(point))[0], *given)

    monkeypatch.setattr(_space_form_search, "distance", elsewhere)
    with pytest.raises(ConvergenceError):
        mean.weighted(ball, data, None, tol)
    # the control: the same of a tolerance that it is within
    assert mean.weighted(ball, data, None, 10.0 * tol)


@pytest.mark.parametrize("seed", range(6))
def test_caps_next_to_a_hemisphere_are_certified_to_the_floor(seed, space_forms):
    """Of records at the boundary in all directions, where the Hessian nearly vanishes."""
    mean, sphere = SpaceFormMean(), Sphere(3)
    ball = Ball(sphere, sphere.origin, 1.565)
    vectors = np.random.default_rng(seed).normal(size=(60, 3))
    rows = vectors * (ball.radius / np.linalg.norm(vectors, axis=1, keepdims=True))
    rows, tol = rows * (1.0 - 2.0**-40), mean.floor(ball)
    for weights in (None, np.array([2**40] + [1] * 59), np.arange(1, 61)):
        found = np.array([float(x) for x in mean.weighted(ball, rows, weights, tol)])
        known = space_forms.certificate(1.0, ball.radius, found, rows, tol, weights=weights)
        assert known <= tol
        # the control: the weights of others
        turned = np.arange(60, 0, -1)
        assert space_forms.certificate(1.0, ball.radius, found, rows, tol, weights=turned) > tol


def test_products_are_certified_factor_by_factor(space_forms):
    ball = Ball(PRODUCT, PRODUCT.origin, 1.0)
    data, exact = records(ball), mean_on(ball)
    tol = exact.tolerance(ball, 1e-3)
    found = answer(exact, ball, data, tol)
    rows = shortened(ball, data)
    point = np.array([float(x) for x in found])
    for part, curvature in ((slice(0, 2), 1.0), (slice(4, 6), -1.0)):
        own = np.ascontiguousarray(rows[:, part])
        bound = space_forms.certificate(curvature, ball.radius, point[part], own, tol)
        assert bound <= tol / np.sqrt(3.0)
    # the flat factor is a sum of integers
    np.testing.assert_allclose(point[2:4], rows[:, 2:4].mean(axis=0), atol=2.0**-39)
    assert {x.denominator & (x.denominator - 1) for x in found[:2]} == {0}
    assert found[2].denominator % 5 == 0


class Asked(ExactMean):
    """Keeps the tolerances that it is asked for."""

    def __init__(self):
        self.tolerances = []

    def floor(self, ball):
        return 0.0

    def weighted(self, ball, rows, whole, tol):
        self.tolerances.append(Fraction(tol))
        return tuple(map(Fraction, rows.mean(axis=0).tolist()))


@pytest.mark.parametrize("copies", [1, 3, 7])
def test_errors_of_factors_add_up_to_the_tolerance(copies):
    space, asked, tol = Power(Sphere(2), copies), Asked(), 1e-3
    ball = Ball(space, space.origin, 0.5)
    mean = ProductMean((asked,) * copies)
    rows = np.random.default_rng(0).normal(size=(4, space.dim))
    found = mean.weighted(ball, mean.summed(ball, mean.rows(ball, rows), None), None, tol)
    np.testing.assert_allclose(np.array(found, dtype=float), rows.mean(axis=0), atol=1e-15)
    total = sum(part * part for part in asked.tolerances)
    assert 0.999 * Fraction(tol) ** 2 < total <= Fraction(tol) ** 2


def test_products_of_flat_factors_need_no_tolerance():
    space = Product(Euclidean(2), Sphere(1))
    ball = Ball(space, space.origin, 1.0)
    exact = mean_on(ball)
    assert exact.tolerance(ball, 1e-3) == 0.0
    data = records(ball, 7)
    found = answer(exact, ball, data, 0.0)
    rows = shortened(ball, data)
    np.testing.assert_allclose([float(x) for x in found], rows.mean(axis=0), atol=2.0**-39)


def test_means_of_quotients_are_certified_in_the_cover(rotations, space_forms):
    space = rotations.SO3()
    center = space.push(np.array([1.2, -0.8, 0.4, 1.3]) / np.linalg.norm([0.6, -0.4, 0.2, 0.65]))
    ball = Ball(space, center, 1.2)
    data, exact = records(ball), mean_on(ball)
    tol = exact.tolerance(ball, 1e-3)
    found = answer(exact, ball, data, tol)
    point, rows = np.array([float(x) for x in found]), shortened(ball, data)
    assert space_forms.certificate(0.25, 1.2, point, rows, tol) <= tol
    above = space.lifted(ball)
    lifted = space.lift_near(ball, data)
    assert found == answer(mean_on(above), above, lifted, tol)
    # the other representatives, which no record is lifted to
    rows[0] *= 1.0 - 2.0 * np.pi / np.linalg.norm(rows[0])
    assert space_forms.certificate(0.25, 1.2, point, rows, tol) > 1e-4
    assert FrechetMean().proofs_on(ball)["exact mean"] == "docs/proofs/quotients.md"
