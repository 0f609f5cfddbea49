"""Sums of integers: exact, of bounded records, in any order and in any chunks."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Ball,
    Euclidean,
    Hyperbolic,
    Records,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    private_statistic,
)
from riemdp._errors import UnsupportedError
from riemdp.spaces import clip_norm, in_units
from riemdp.statistics import FrechetMean, TangentMean, Weighted, answer
from riemdp.statistics._answer import Prepared
from riemdp.statistics._records import record_coordinates
from riemdp.statistics.curved._mean_solver import shortened
from riemdp.statistics.curved._solver_of_space import mean_solver

FLAT = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Euclidean(10), np.linspace(-1.0, 2.0, 10), 0.7),
    Ball(SPDLogEuclidean(3), np.diag([1.0, 2.0, 5.0]), 1.5),
    Ball(Sphere(1), [0.0, 1.0], 1.2),
]
CURVED = [
    Ball(Sphere(2), [0.0, 0.0, 1.0], 3.0),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 5.0),
    Ball(SPDAffineInvariant(2), np.eye(2), 4.0),
]
CASES = [*((FrechetMean(), ball) for ball in FLAT), *((TangentMean(), ball) for ball in CURVED)]


def records(ball, n, spread=1.5, seed=0):
    rng = np.random.default_rng(seed)
    return ball.point(rng.normal(size=(n, ball.manifold.dim)) * spread * ball.radius / 3.0)


def query_of(statistic, ball):
    return next(statistic.queries(ball))


def exact(statistic, ball, data):
    query = query_of(statistic, ball)
    return answer(query, ball, data, query.tolerance(ball, 1e-3))


@pytest.mark.parametrize(("statistic", "ball"), CASES, ids=str)
def test_against_rational_arithmetic(statistic, ball):
    data = records(ball, 57)
    vectors = in_units(ball.shorten(record_coordinates(ball, data)), ball.reach)
    rows = [[int(Fraction(x) * 2**40) for x in row] for row in vectors.tolist()]
    unit = Fraction(ball.reach) / (57 << 40)
    wanted = [sum(column) * unit for column in zip(*rows, strict=True)]
    assert exact(statistic, ball, data) == tuple(wanted)
    # and near the float64 mean: 2^-40 of the radius for each rounding
    plain = clip_norm(ball.coordinates(data), ball.radius).mean(axis=0)
    assert np.abs(np.array(wanted, dtype=float) - plain).max() <= 2.0**-39 * ball.radius
    query = query_of(statistic, ball)
    assert query.tolerance(ball, 1e-3) == query.rounding(ball) == 0.0


@pytest.mark.fast(3)
@pytest.mark.parametrize(("statistic", "ball"), CASES, ids=str)
def test_order_and_chunks_do_not_count(statistic, ball):
    data = records(ball, 301)
    query, whole = query_of(statistic, ball), exact(statistic, ball, data)
    assert exact(statistic, ball, data[np.random.default_rng(1).permutation(301)]) == whole
    for cuts in ([1], [100, 101], range(1, 301)):
        parts = [Prepared(ball, chunk).summary(query) for chunk in np.split(data, list(cuts))]
        total = parts[0]
        for part in parts[1:]:
            total = query.merge(total, part)
        assert query.finish(ball, total, 0.0) == whole
    # a plain sum is not so: the control
    sums = {tuple(np.cumsum(rows, axis=0)[-1]) for rows in _orders(ball.coordinates(data))}
    assert len(sums) > 1


def _orders(rows):
    return [rows, rows[::-1], *(np.roll(rows, i, axis=0) for i in (7, 50, 101))]


def square(row):
    return sum(Fraction(x) ** 2 for x in row)


@pytest.mark.parametrize("dim", [1, 2, 10, pytest.param(465, marks=pytest.mark.slow)])
@pytest.mark.parametrize("radius", [1e-140, 1e-9, 0.1, 1.0, 3.0, 1e140])
def test_records_lie_in_the_ball_as_real_numbers(dim, radius):
    """Exactly: so two sums of neighbours are at most 2 radius apart, with nothing added."""
    rng = np.random.default_rng(dim)
    ball = Ball(Euclidean(dim), np.zeros(dim), radius)
    rows = rng.normal(size=(30, dim))
    rows *= radius * (1.0 + 2e-16 * np.arange(-15, 15)[:, None])
    rows /= np.linalg.norm(rows / radius, axis=1, keepdims=True)
    extreme = np.zeros((4, dim))
    extreme[0, 0], extreme[1, -1], extreme[2], extreme[3] = 1e300, -1e300, 5e-324, radius
    rows = np.concatenate([rows, extreme])
    found = shortened(ball, rows)
    assert all(square(row) <= Fraction(radius) ** 2 for row in found.tolist())
    for row in rows:
        total = Prepared(ball, row[None]).summary(query_of(FrechetMean(), ball))
        assert square(total.total) <= 2**80
        # and none is lost
        assert (square(total.total) > 2**79) == (np.abs(row).max() > 0.01 * radius)
        assert total.count == 1


def test_without_the_margin_records_leave_the_ball():
    """The control: rounding puts some of what is clipped to the radius beyond it."""
    rows = np.random.default_rng(0).normal(size=(200, 3)) * 9.0
    outside = [square(row) > 1 for row in clip_norm(rows, 1.0).tolist()]
    assert sum(outside) > 10
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    assert not any(square(row) > 1 for row in shortened(ball, rows).tolist())


@pytest.mark.parametrize("n", [1, 2, 5])
def test_sensitivity_is_never_exceeded(n):
    """Of what is drawn about, in rational numbers: 2 radius / n, and nearly attained."""
    ball = Ball(Euclidean(2), [0.1, -0.2], 0.7)
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ends = ball.center + 5.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rest = records(ball, n - 1) if n > 1 else np.zeros((0, 2))
    means = [exact(FrechetMean(), ball, np.concatenate([rest, end[None]])) for end in ends]
    gaps = [
        square([x - y for x, y in zip(a, b, strict=True)])
        for a, b in itertools.combinations(means, 2)
    ]
    limit = (2 * Fraction(0.7) / n) ** 2
    assert 1 - Fraction(1, 10**11) < max(gaps) / limit <= 1


def test_many_records_do_not_overflow():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    n = 2**22 + 3
    query = query_of(FrechetMean(), ball)
    total, one = (Prepared(ball, np.ones((m, 1))).summary(query) for m in (n, 1))
    assert total.total[0] == n * one.total[0] > 2**62
    assert total.count == n


def test_where_no_exact_way_is_known_nothing_is_released(monkeypatch):
    matrices = Ball(SPDAffineInvariant(2), np.eye(2), 0.5)
    account = Accountant(GDP(5.0))
    monkeypatch.setattr(type(mean_solver(matrices.manifold)), "exact", lambda *_: None)
    with pytest.raises(UnsupportedError, match=r"no exact arithmetic is known of the Fréchet mean"):
        query_of(FrechetMean(), matrices).tolerance(matrices, 1e-3)
    for statistic in (FrechetMean(), Weighted(FrechetMean(), 1.0)):
        records = Records(matrices.center[None], **{name: [1.0] for name in statistic.takes})
        with pytest.raises(UnsupportedError, match="no exact arithmetic is known"):
            private_statistic(statistic, records, matrices, GDP(1.0), accountant=account)
    assert account.remaining == GDP(5.0)
    # negative control: the tangent mean is a sum of integers
    private_statistic(TangentMean(), matrices.center[None], matrices, GDP(1.0))
