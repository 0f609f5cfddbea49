"""Whether a draw is projected onto the ball: decided by public numbers, and recorded."""

import json

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    PureDP,
    Release,
    SPDAffineInvariant,
    Sphere,
    private_mean,
    verify,
)
from riemdp.spaces import Product
from riemdp.statistics import GeometricMedian, HuberMean, RefinedMean

SPACES = [Euclidean(3), Sphere(2), Hyperbolic(2), SPDAffineInvariant(2)]


def ball_of(manifold, radius=0.8):
    return Ball(manifold, manifold.origin, radius)


def data_in(ball, n=20):
    return np.repeat(ball.center[None], n, axis=0)


def many(ball, budget, draws=40, **options):
    generator = np.random.default_rng(5)
    data = data_in(ball, 2)
    return [private_mean(data, ball, budget, generator=generator, **options) for _ in range(draws)]


@pytest.mark.fast(2)
@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_it_is_done_or_not_and_recorded(manifold, projecting):
    ball = ball_of(manifold)
    options = {"mechanism": "tangent-gaussian"}
    projecting(True)
    inside = many(ball, GDP(1.0), **options)
    assert all(release.projected and ball.contains(release.value) for release in inside)
    projecting(False)
    free = many(ball, GDP(1.0), **options)
    assert not any(release.projected for release in free)
    assert not all(ball.contains(release.value) for release in free)
    # the same bits: what is projected is what was drawn
    for first, second in zip(inside, free, strict=True):
        assert first.rounded == second.rounded
        np.testing.assert_allclose(ball.project(second.value), first.value, rtol=0, atol=1e-6)


@pytest.mark.parametrize("project", [True, False])
def test_documents_say_so_and_verify(project, projecting):
    projecting(project)
    ball = ball_of(Hyperbolic(2))
    for release in many(ball, GDP(0.3), draws=5):
        document = json.loads(release.to_json())
        assert document["header"]["projected"] is project
        again = Release.from_json(release.to_json())
        assert again.projected is project
        assert verify(again).passed
        assert again.to_json() == release.to_json()
        if not ball.contains(release.value):
            lie = Release.from_json(
                json.dumps({**document, "header": {**document["header"], "projected": True}})
            )
            failed = {check.name for check in verify(lie).checks if not check.passed}
            assert failed == {"arithmetic"}
    with pytest.raises(InvalidParameterError, match="projected"):
        Release.from_json(
            json.dumps({**document, "header": {**document["header"], "projected": 1}})
        )


def test_by_default_only_where_the_noise_is_shorter_than_the_radius():
    ball = ball_of(Sphere(2))
    data = data_in(ball, 20)
    assert private_mean(data, ball, PureDP(1.0)).projected
    wide = private_mean(data, ball, PureDP(0.05))
    assert wide.expected_distance > ball.radius
    assert not wide.projected


def test_by_default_never_on_products():
    pair = Product(Sphere(2), Sphere(2))
    assert pair.factors == (Sphere(2), Sphere(2))
    assert Product(pair, Euclidean(2)).factors == (*pair.factors, Euclidean(2))
    assert Sphere(2).factors == (Sphere(2),)
    ball = Ball(pair, pair.origin, 0.5)
    data = data_in(ball, 200)
    options = {"mechanism": "tangent-gaussian"}
    assert not private_mean(data, ball, GDP(1.0), **options).projected
    factor = ball_of(Sphere(2), 0.5)
    assert private_mean(data_in(factor, 200), factor, GDP(1.0), **options).projected


def test_averaging_many_factors_is_not_biased(projecting):
    """A true level of .3 in each of many coordinates; projected, it is .06 on average."""
    dim, n, level = 4_000, 100, 0.3
    space = Euclidean(dim)
    ball = Ball(space, np.zeros(dim), 0.4 * np.sqrt(dim))
    data = np.full((n, dim), level)
    free = private_mean(data, ball, GDP(0.1), generator=np.random.default_rng(0))
    assert not free.projected
    error = free.sigma / np.sqrt(dim)
    assert abs(free.value.mean() - level) < 4.0 * error
    generator = np.random.default_rng(0)
    projecting(True)
    shortened = private_mean(data, ball, GDP(0.1), generator=generator)
    assert shortened.value.mean() < 0.5 * level


def test_of_several_answers_none_is_projected():
    """What a later query is seen from would be biased, as an average over factors is."""
    ball = ball_of(Euclidean(2))
    for statistic in (RefinedMean(), GeometricMedian(3), HuberMean(3)):
        release = riemdp.private_statistic(statistic, data_in(ball), ball, GDP(0.01))
        assert not release.projected
        assert ball.contains(release.value)  # all that is made of answers is a point of the ball


def test_far_draws_on_hyperbolic_space_stay_within_float64():
    ball = ball_of(Hyperbolic(3), 7.0)
    for release in many(ball, GDP(0.2), draws=10, mechanism="wrapped-gaussian"):
        assert not release.projected
        assert ball.manifold.dist(ball.center, release.value) <= 8.0 * (1 + 1e-6)
        assert verify(Release.from_json(release.to_json())).passed
