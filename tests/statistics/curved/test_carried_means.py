"""How means of aligned records are found and certified: in the slice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Ball,
    KendallShapes,
    PlanarShapes,
    QuotientBall,
    UnsupportedBallError,
    frechet_mean,
)
from riemdp.statistics import FrechetMean, answer
from riemdp.statistics.curved._solver_of_space import is_solved, mean_solver


@pytest.fixture(scope="module")
def ball():
    template = np.random.default_rng(0).normal(size=(5, 3))
    return QuotientBall(KendallShapes(5), template, 0.9, mean="aligned")


@pytest.fixture(scope="module")
def data(ball):
    raw = ball.center + 0.2 * np.random.default_rng(1).normal(size=(40, 5, 3))
    return ball.manifold.validate(raw)


def test_it_is_the_mean_of_the_slice(ball, data):
    aligned = ball.manifold
    above, inside = aligned.aligned(ball.project(data)), aligned.ball_of_slice(ball)
    weights = np.random.default_rng(2).uniform(size=40)
    for options in ({}, {"weights": weights}):
        found = frechet_mean(aligned, ball.project(data), ball=ball, tol=1e-11, **options)
        wanted = frechet_mean(inside.manifold, above, ball=inside, tol=1e-11, **options)
        assert found.error_bound == wanted.error_bound <= 1e-11
        np.testing.assert_array_equal(found.value, aligned.stood_for(wanted.value))
        assert float(aligned.dist(found.value, aligned.stood_for(wanted.value))) < 1e-14
    # the control: the weights count
    assert float(aligned.dist(found.value, frechet_mean(aligned, data, ball=ball).value)) > 1e-3


def test_the_mean_is_that_of_the_aligned_records(ball, data):
    solver = mean_solver(ball.manifold)
    assert is_solved(ball.manifold)
    inside = ball.project(data)
    value = frechet_mean(ball.manifold, inside, ball=ball, tol=1e-10).value
    plain = ball.coordinates(value[None])[0]
    exact = solver.exact(ball.manifold)
    assert exact.proof == "docs/proofs/aligned-means.md"
    tol = max(exact.floor(ball), 1e-10)
    found = exact.weighted(ball, exact.summed(ball, exact.rows_of(ball, data), None), None, tol)
    assert all(isinstance(x, Fraction) for x in found)
    np.testing.assert_allclose(np.array(found, dtype=float), plain, atol=4.0 * tol)
    rows = exact.rows(ball, ball.coordinates(data))
    again = exact.weighted(ball, exact.summed(ball, rows, None), None, tol)
    np.testing.assert_allclose(np.array(again, dtype=float), plain, atol=4.0 * tol)
    statistic = FrechetMean()
    assert statistic.proofs_on(ball)["exact mean"] == "docs/proofs/aligned-means.md"


def test_the_order_of_records_and_their_turns_do_not_count(ball, data):
    query = next(FrechetMean().queries(ball))
    one = np.array(answer(query, ball, data, 1e-9), dtype=float)
    turned = data[::-1] @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    other = np.array(answer(query, ball, turned, 1e-9), dtype=float)
    np.testing.assert_allclose(other, one, atol=1e-9)


def test_data_outside_the_ball_are_refused(ball, data):
    far = ball.manifold.point(ball.center, np.eye(8)[:2] * 1.2)
    with pytest.raises(UnsupportedBallError, match="row 0"):
        frechet_mean(ball.manifold, far, ball=ball)
    other = QuotientBall(PlanarShapes(4), PlanarShapes(4).origin, 0.5, mean="aligned")
    for given in (None, other, Ball.whole(KendallShapes(5))):
        with pytest.raises(UnsupportedBallError, match="only inside a ball"):
            frechet_mean(ball.manifold, data, ball=given)
