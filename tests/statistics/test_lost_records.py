"""No record at the boundary or outside of a ball is lost because clipping left it too long."""

from __future__ import annotations

import numpy as np
import pytest

import laws
from riemdp.spaces import _points
from riemdp.statistics import (
    Answer,
    GeometricMedian,
    Prepared,
    RefinedMean,
    TangentMean,
    _rows,
    _seen,
)

_QUICK = ("euclidean", "euclidean huge", "sphere wide", "hyperbolic", "box", "log-euclidean 3")


def boundary(ball, n, seed=0):
    """Return points at the boundary, a few units of the last place off it, and beyond."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, ball.manifold.dim))
    axis = rng.integers(ball.manifold.dim, size=n)
    along = np.arange(n) % 3 == 0  # nearly along an axis, or along it
    rows[along] *= 10.0 ** rng.choice([-400.0, -12.0, -10.0, -9.0, -8.0, -6.0], size=n)[along, None]
    rows[along, axis[along]] = rng.choice([-1.0, 1.0], size=n)[along]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near = 1.0 + 2.0**-52 * rng.integers(-4, 5, size=n)
    lengths = np.where(np.arange(n) % 2 == 0, near, rng.uniform(1.0, 2.0, size=n))
    return ball.point(rows * (ball.reach * lengths)[:, None])


def queries(ball):
    """Those that clip to a length: a mean, a first step, and a step of either kind."""
    yield next(TangentMean().queries(ball))
    for statistic in (RefinedMean(3), GeometricMedian(2)):
        steps = statistic.queries(ball)
        first = next(steps)
        yield first
        answers = first.answers(ball)
        noisy = answers.point(np.full(answers.manifold.dim, 0.03 * ball.reach))
        yield steps.send(Answer(noisy, 0.0))


def lost(ball, points):
    """Count rows that are zero."""
    found = []
    for query in queries(ball):
        prepared = Prepared(ball, points)
        tiles = prepared._rows(query, prepared._rows_of_a_tile(query))
        dim = ball.manifold.dim  # a second moment comes after
        found.append(sum(int((rows[:, :dim] == 0).all(axis=-1).sum()) for rows in tiles))
    return found


@pytest.mark.parametrize("name", _QUICK)
def test_none_of_some_records_is_lost(name):
    ball = laws.BALLS[name]()
    assert set(lost(ball, boundary(ball, 600))) == {0}


@pytest.mark.slow
@pytest.mark.parametrize("name", laws.BALLS)
def test_none_of_many_records_is_lost(name):
    ball = laws.BALLS[name]()
    assert set(lost(ball, boundary(ball, 20_000))) == {0}


@pytest.mark.parametrize("name", ["euclidean", "hyperbolic"])
def test_divided_by_the_length_alone_some_are(name, monkeypatch):
    """The control."""
    for module in (_points, _rows, _seen):
        monkeypatch.setattr(module, "in_units", lambda vectors, length: vectors / length)
    ball = laws.BALLS[name]()
    assert lost(ball, boundary(ball, 600))[0] > 10
