"""Normal coordinates about a released mean, and back."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Hyperbolic, SPDAffineInvariant, Sphere
from riemdp.estimators import PrivateTangentSpace

BALLS = [
    Ball(SPDAffineInvariant(3), np.eye(3), 3.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 1.4),
    Ball(Hyperbolic(2), [1.0, 0.0, 0.0], 2.0),
]


def records(ball):
    rng = np.random.default_rng(2)
    return ball.point(rng.normal(0.2, 0.4, (150, ball.manifold.dim)))


@pytest.mark.parametrize("ball", BALLS, ids=["cone", "sphere", "hyperbolic"])
def test_there_and_back(ball, budget):
    points = records(ball)
    space = PrivateTangentSpace(ball, budget, random_state=0)
    vectors = space.fit_transform(points)
    assert vectors.shape == (150, ball.manifold.dim)
    distances = ball.manifold.dist(points, space.reference_)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), distances, atol=1e-7)
    back = space.inverse_transform(vectors)
    assert np.max(ball.manifold.dist(back, points)) < 1e-6
    # a record's vector is its own, whatever comes with it
    np.testing.assert_allclose(space.transform(points[3:4])[0], vectors[3], atol=1e-12)


def test_the_reference_is_a_private_mean(cone, budget):
    points, _, ball = cone
    refined = riemdp.statistics.RefinedMean(2, (0.3, 0.7), 1.5)
    for base, mean in (
        ("public", riemdp.private_mean),
        ("recentred", functools.partial(riemdp.private_statistic, refined)),
    ):
        expected = mean(points, ball, budget, generator=np.random.default_rng(4))
        found = PrivateTangentSpace(
            ball, budget, base=base, share=0.3, alpha=1.5, random_state=np.random.default_rng(4)
        ).fit(points)
        np.testing.assert_array_equal(found.reference_, expected.value)
        name = found.release_.mechanism.name
        assert found.set_params(mechanism=name).plan(120)[name].sigma == expected.sigma


def test_norms_are_those_of_pyriemann(cone, budget):
    tangentspace = pytest.importorskip("pyriemann.tangentspace")
    points, _, _ = cone
    ball = Ball(SPDAffineInvariant(3), np.eye(3), 3.0)
    space = PrivateTangentSpace(ball, budget).fit(points)
    theirs = tangentspace.TangentSpace(metric="riemann")
    theirs.reference_ = space.reference_
    if hasattr(theirs, "fit") and not hasattr(theirs, "_metric_map"):
        theirs.fit(np.repeat(space.reference_[None], 2, axis=0))
    np.testing.assert_allclose(
        np.linalg.norm(space.transform(points), axis=1),
        np.linalg.norm(theirs.transform(points), axis=1),
        rtol=1e-6,
    )


def test_names_of_columns(cone, budget):
    points, _, ball = cone
    space = PrivateTangentSpace(ball, budget).set_output(transform="pandas")
    frame = space.fit_transform(points)
    assert frame.columns.tolist() == [f"privatetangentspace{i}" for i in range(6)]
    assert space.inverse_transform(frame).shape == points.shape
