from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Euclidean, InvalidParameterError
from riemdp.auditing import audit_sensitivity

BALL = Ball(Euclidean(2), np.zeros(2), 1.0)


def audited(summary, claimed, **options):
    options = {"restarts": 2, "steps": 20, "generator": np.random.default_rng(0)} | options
    return audit_sensitivity(summary, BALL, 10, claimed, **options)


def test_the_mean_has_its_sensitivity():
    result = audited(lambda points: points.mean(axis=0), 0.2)
    assert result.verdict == "consistent"
    assert result.largest == pytest.approx(0.2)
    assert result.evaluations > 60


@pytest.mark.parametrize(
    "summary",
    [
        lambda points: points[0],
        lambda points: points[-1],
        lambda points: np.median(points, axis=0),
        lambda points: 1.01 * points.mean(axis=0),
        lambda points: points.sum(axis=0),
    ],
)
def test_others_have_more(summary):
    result = audited(summary, 0.2)
    assert result.verdict == "violated"
    assert BALL.manifold.dist(summary(result.dataset), summary(result.neighbour)) == result.largest


def test_tolerance_and_distance():
    def shaky(points):
        return points.mean(axis=0) + 1e-3 * np.sign(points[0])

    assert audited(shaky, 0.2).verdict == "violated"
    assert audited(shaky, 0.2, tolerance=2e-3).verdict == "consistent"
    result = audited(
        lambda points: points.mean(axis=0), 0.1, distance=lambda a, b: np.abs(a - b).max() / 2
    )
    assert result.verdict == "consistent"


def test_a_summary_that_fails_is_not_consistent():
    result = audited(lambda points: points.mean(axis=0) * np.nan, 0.2)
    assert result.verdict == "violated"


def test_a_summary_that_fails_somewhere_is_not_consistent():
    def fails_at_times(points):
        return points.mean(axis=0) if np.abs(points[1]).max() < 0.5 else np.full(2, np.nan)

    result = audit_sensitivity(fails_at_times, BALL, 5, 2.0, generator=np.random.default_rng(0))
    assert result.verdict == "violated"
    assert result.largest == np.inf


def test_a_summary_that_changes_its_data_is_shown_copies():
    def centres(points):
        mean = points.mean(axis=0)
        points -= mean
        return mean

    result = audited(centres, 0.4)
    assert np.sum(np.any(result.dataset != result.neighbour, axis=1)) == 1


def test_bad_input():
    with pytest.raises(InvalidParameterError, match="ball"):
        audit_sensitivity(lambda points: points[0], None, 3, 1.0)
    with pytest.raises(InvalidParameterError, match="claimed"):
        audited(lambda points: points[0], 0.0)
    with pytest.raises(InvalidParameterError, match="tolerance"):
        audited(lambda points: points[0], 1.0, tolerance=-1.0)


@pytest.mark.parametrize("weight", [0.3, 1.0, 1.5])
def test_a_sum_with_the_number_of_records(weight):
    """One record more moves it by sqrt(1 + weight^2), another record by 2: neither implies both."""

    def counted(points):
        return np.append(points.sum(axis=0), weight * len(points))

    def distance(first, second):
        return np.linalg.norm(first - second)

    options = {"distance": distance, "restarts": 1}
    both = np.hypot(1.0, weight)
    found = audited(counted, both, adjacency="add-remove", **options)
    assert (found.verdict, found.largest) == ("consistent", pytest.approx(both, rel=1e-6))
    assert len(found.neighbour) == len(found.dataset) - 1
    for wrong in (0.999 * both, 1.0, weight):
        assert audited(counted, wrong, adjacency="add-remove", **options).verdict == "violated"
    replaced = audited(counted, 2.0, **options)
    assert (replaced.verdict, replaced.largest) == ("consistent", pytest.approx(2.0, rel=1e-6))
    assert audited(counted, both, **options).verdict == "violated"
