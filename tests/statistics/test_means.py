"""The means as statistics: where each knows its sensitivity, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, Sphere
from riemdp._part import registered
from riemdp._part_document import decode, encode
from riemdp.statistics import FrechetMean, TangentMean, mean_for


def ball_of(manifold, radius=0.5):
    return Ball(manifold, manifold.origin, radius)


def query_of(mean, ball):
    return next(mean.queries(ball))


def test_on_flat_spaces_both_are_one():
    ball = ball_of(Euclidean(2))
    found = {
        (mean.name, metric): query_of(mean, ball).replace_one(ball, 10, metric)
        for mean in (FrechetMean(), TangentMean())
        for metric in ("distance", "coordinates")
    }
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(2), SPDAffineInvariant(2), Sphere(1)])
def test_elsewhere_each_has_its_own_metric(manifold):
    ball = ball_of(manifold)
    frechet, tangent = query_of(FrechetMean(), ball), query_of(TangentMean(), ball)
    assert frechet.replace_one(ball, 10, "distance") >= 0.1
    assert tangent.replace_one(ball, 10, "coordinates") >= 0.1
    same = frechet.replace_one(ball, 10, "distance")  # docs/proofs/wrapped-noise.md
    assert frechet.replace_one(ball, 10, "coordinates") == same
    if manifold.dim == 1:  # there distances are at most differences of coordinates
        assert tangent.replace_one(ball, 10, "distance") >= 0.1
    else:
        with pytest.raises(riemdp.UnsupportedError, match="not as a distance"):
            tangent.replace_one(ball, 10, "distance")
    assert mean_for(manifold, "distance") == FrechetMean()
    assert mean_for(manifold, "coordinates") == TangentMean()
    assert mean_for(manifold, "coordinates", intrinsic=True) == FrechetMean()


def test_caps_that_nearly_fill_the_hemisphere_are_refused():
    with pytest.raises(riemdp.UnsupportedBallError, match="too near"):
        query_of(FrechetMean(), ball_of(Sphere(2), 1.57))
    large = ball_of(SPDAffineInvariant(3), 40.0)
    with pytest.raises(riemdp.UnsupportedBallError, match="cannot be certified"):
        query_of(FrechetMean(), large).tolerance(large, 0.1)
    assert query_of(TangentMean(), large).tolerance(large, 0.1) == 0.0


@pytest.mark.parametrize("mean", [FrechetMean(), TangentMean()], ids=lambda mean: mean.name)
def test_documents_give_back_the_mean(mean):
    assert encode(mean) == {"type": mean.name}
    assert decode(encode(mean), "statistic") == mean
    assert registered("statistic")[mean.name] is type(mean)


@pytest.mark.parametrize("odd", [np.array([1, 2]), "yes", 1])
def test_what_no_mechanism_of_this_library_states_asks_for_no_other_mean(odd):
    """As a class of another package may, which is listed beside the others."""
    assert mean_for(Sphere(2), "coordinates", odd).name == "tangent-mean"
    assert mean_for(Sphere(2), "coordinates", True).name == "frechet-mean"
    assert mean_for(Sphere(2), np.array(["a", "b"])).name == "tangent-mean"
