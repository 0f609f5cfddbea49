"""Sums of features: exact, in no order, and no record moves them farther than is said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.kernel import Moment
from riemdp.statistics import Moments, SumStatistic, answer
from riemdp.statistics._sums import symmetric_of

BALLS = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Euclidean(3), [0.3, 0.0, 1.0], 1e-3),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 3.1),
    Ball.whole(Sphere(2)),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 5.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
]


def extremes(ball):
    """Points of the data that a search for the largest move should meet, some of them outside."""
    dim = ball.manifold.dim
    axes = np.eye(dim)[:2]
    rows = [*axes, *-axes, -0.2360679775 * axes[0], 2.0 * axes[-1], 0.0 * axes[0]]
    rows = [*rows, *np.random.default_rng(0).normal(size=(5, dim))]
    return ball.point(ball.reach * np.array(rows))


@dataclass(frozen=True)
class Heavy(SumStatistic):
    """Features with a weight of their own."""

    weight: float = 1.0

    name = "tests.heavy"

    def shape(self, dim):
        return Moment(dim, scalar=round(1024 * self.weight))

    def parts(self, view, features, deviation, relative):
        return {"mean": view.point(features[:-1]), "sd": deviation}


def test_features_that_move_farther_are_found(sums, monkeypatch):
    """Negative control: a weight of 1.7 moves them by 2.0262, so that the bound is broken."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    assert sums.worst_of(Heavy(1.66).query(ball), ball, extremes(ball)) <= 1
    monkeypatch.setattr("riemdp.kernel._shapes._check", lambda *_: None)
    found = math.sqrt(sums.worst_of(Heavy(1.7).query(ball), ball, extremes(ball)))
    assert 1.0125 < found <= 2.0261894 / 2.0


def test_no_record_at_the_boundary_is_lost_to_rounding():
    """Next to an axis float64 rounds the long coordinate up to 1: the row would be too long."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    rows = 3.0 * np.stack([np.ones(60), 2.0 ** np.linspace(-45.0, -15.0, 60)], axis=1)
    rows = np.concatenate([rows, rows[:, ::-1], np.random.default_rng(0).normal(size=(2000, 2))])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for statistic in (Moments(), Moments("matrix")):
        query = statistic.query(ball)
        found = query.rows(ball, query.prepare(ball, rows))[:, :2]
        assert np.sum((found * 2.0**-40) ** 2, axis=1).min() > 1.0 - 1e-11
    lost = Moment(2).rows(rows)[:, :2]  # the control: they are not shortened
    assert 10 < (lost == 0).all(axis=1).sum() < 200


@pytest.mark.parametrize("second", ["scalar", "matrix"])
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_sums_are_of_integers_in_any_order(ball, second):
    query, points = Moments(second).query(ball), extremes(ball)
    whole = answer(query, ball, points, 0.0)
    parts = (query.prepare(ball, points[i::2]) for i in (0, 1))
    cut = [query.added(ball, query.rows(ball, part)) for part in parts]
    chunks = query.finish(ball, query.merge(*cut), 0.0)
    if not isinstance(ball.manifold, SPDAffineInvariant):  # products of matrices: by position
        assert whole == chunks == answer(query, ball, points[::-1], 0.0)
    unit = Fraction(ball.reach) / 2**40 / len(points)
    assert all((each / unit).denominator == 1 for each in whole)


def test_many_rows_are_added_in_parts(monkeypatch):
    ball, points = BALLS[1], np.random.default_rng(1).normal(size=(50, 3)) * 1e-3
    query = Moments("matrix").query(ball)
    whole = answer(query, ball, points, 0.0)
    monkeypatch.setattr("riemdp.statistics._answer._ENTRIES", 20)
    monkeypatch.setattr("riemdp.kernel._tiles._ROWS", 4)
    assert answer(query, ball, points, 0.0) == whole


def test_sums_of_a_million_records_are_those_of_one():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    query = Moments().query(ball)
    one = answer(query, ball, np.full((1, 1), 0.7), 0.0)
    assert answer(query, ball, np.full((1_000_000, 1), 0.7), 0.0) == one


@pytest.mark.parametrize("radius", [1e-140, 1e140])
def test_radii_at_the_ends_of_the_range(radius, sums):
    ball = Ball(Euclidean(2), [0.0, 0.0], radius)
    query = Moments("matrix").query(ball)
    points = radius * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, 0.0]])
    assert 1 - Fraction(1, 10**8) < sums.worst_of(query, ball, points) <= 1


def test_noise_of_a_feature_is_said(sums):
    ball = Ball(Euclidean(2), [0.0, 0.0], 2.0)
    found = sums.named(Heavy(), ball, np.array([1.0, 0.0, 1.0]), 0.5)
    assert found.sd == 0.25
    np.testing.assert_array_equal(found.mean, [1.0, 0.0])


def test_products_are_read_with_their_weights():
    matrix = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    products = np.concatenate([0.7 * np.diag(matrix), 1.4 * matrix[np.triu_indices(3, 1)]])
    np.testing.assert_allclose(symmetric_of(products, 3, (0.7, 1.4)), matrix, rtol=1e-14)


def test_moves_of_all_pairs_are_compared(sums):
    """The helper's own control: two records at a distance of 1 move a mean of two by 1/2."""
    ball = Ball(Euclidean(1), [0.0], 4.0)
    (found,) = sums.moves(Moments().query(ball), ball, np.array([[0.0], [1.0]]))
    second = Fraction(1705, 1024) * Fraction(1, 4) / 2
    assert float(found) == pytest.approx(float(Fraction(1, 4) + second**2), rel=1e-9)
