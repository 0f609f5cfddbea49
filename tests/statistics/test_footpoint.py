"""The one query that needs all records at once."""

import pickle

import numpy as np
import pytest

import riemdp
from riemdp.statistics import FrechetMean, Records, Weighted, answer
from riemdp.statistics._footpoint import Footpoint

BALL = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.8)
POINTS = BALL.point(np.random.default_rng(0).normal(0.0, 0.3, (6, 2)))


def mean(query, records, tol=1e-10):
    return np.array(answer(query, BALL, records, tol), dtype=float)


def test_weights_count_as_repeated_records():
    weights = np.array([1.0, 0.5, 0.0, 1.0, 0.5, 1.0])
    repeated = np.repeat(POINTS, (2 * weights).astype(int), axis=0)
    weighted = mean(Footpoint(0.25), Records(POINTS, weights=weights))
    np.testing.assert_allclose(weighted, mean(Footpoint(), repeated), atol=1e-9)
    alike = mean(Footpoint(), POINTS)
    assert np.linalg.norm(weighted - alike) > 1e-3  # control


def test_a_record_of_no_weight_may_be_any():
    weights = np.array([1.0, 0.5, 0.0, 1.0, 0.5, 1.0])
    other = POINTS.copy()
    other[2] = [0.0, 0.0, -1.0]
    found = [mean(Footpoint(0.25), Records(each, weights=weights)) for each in (POINTS, other)]
    np.testing.assert_array_equal(*found)


def test_a_share_is_at_least_one_over_n():
    assert Footpoint(0.5).takes == ("weights",)
    assert Footpoint().takes == ()
    with pytest.raises(riemdp.InvalidParameterError, match="under 1/n"):
        Footpoint(0.1).replace_one(BALL, 9, "distance")
    whole = Footpoint(0.1).replace_one(BALL, 10, "distance")
    assert whole == pytest.approx(Footpoint().replace_one(BALL, 10, "distance"), rel=1e-12)


def test_passes_are_those_of_all_records_together():
    for statistic, records in (
        (FrechetMean(), Records(POINTS)),
        (Weighted(FrechetMean(), 0.5), Records(POINTS, weights=np.linspace(0.1, 1.0, 6))),
    ):
        query = pickle.loads(pickle.dumps(next(statistic.queries(BALL))))
        given = records if query.takes else POINTS
        step = query.in_passes(BALL, 1e-8)
        while True:
            prepared = step.prepare(BALL, given)
            partial = step.added(BALL, step.rows(BALL, prepared))
            if step.left == 1:
                break
            step = step.after(BALL, partial)
        found = np.array(step.finish(BALL, partial, 1e-8), dtype=float)
        np.testing.assert_allclose(found, mean(query, given), atol=2e-8)


def test_a_ball_that_float64_cannot_certify_is_refused():
    space = riemdp.Sphere(2)
    wide = riemdp.Ball(space, space.origin, 1.5705)
    with pytest.raises(riemdp.UnsupportedBallError, match="cannot be certified"):
        Footpoint().tolerance(wide, 1.0)
    assert Footpoint().tolerance(BALL, 1.0) == 1e-9
