"""Shrinkage towards the centre of the ball, as post-processing."""

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
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    private_mean,
    research,
    verify,
)
from riemdp.mechanisms import RiemannianLaplace, TangentGaussian, TangentLaplace
from riemdp.release._shrink import mean_square_bound, shrinkage, shrunk
from riemdp.research import RestrictedLaplace


def ball_of(manifold, radius=2.0):
    return Ball(manifold, manifold.origin, radius)


def released(manifold, budget=None, radius=1.0, **options):
    ball = ball_of(manifold, radius)
    data = np.repeat(ball.point(0.1 * np.eye(manifold.dim)[0])[None], 10, axis=0)
    generator = np.random.default_rng(3)
    return private_mean(data, ball, budget or GDP(0.5), generator=generator, **options)


@pytest.mark.parametrize("dim", [4, 10, 40])
@pytest.mark.parametrize("kind", [TangentGaussian, TangentLaplace])
@pytest.mark.parametrize("length", [0.0, 0.3, 1.0, 2.0])
def test_the_risk_is_at_most_what_is_proved(kind, dim, length):
    mechanism = kind(Euclidean(dim), 1.0 / dim if kind is TangentLaplace else 1.0 / np.sqrt(dim))
    ball = ball_of(mechanism.manifold)
    exact = length * np.eye(dim)[0]
    noisy = research.sample(mechanism, exact, size=4_000, generator=np.random.default_rng(dim))
    h = shrinkage(mechanism, ball)

    def risk(factor):
        found = np.array([shrunk(y, factor * h) for y in noisy])
        errors = np.sum((found - exact) ** 2, axis=1)
        return errors.mean(), 4.0 * errors.std() / np.sqrt(len(errors))

    mean, error = risk(1.0)
    plain = mean_square_bound(mechanism, ball, is_shrunk=False)
    assert plain == pytest.approx(mechanism._distance_law.mean_square())
    saved = h**2 * np.mean(1.0 / np.sum(noisy**2, axis=1))
    assert mean <= plain - saved + error + 4.0 * h * 0.02
    assert mean <= mean_square_bound(mechanism, ball, is_shrunk=True) + error
    assert mean_square_bound(mechanism, ball, is_shrunk=True) < plain
    if length == 2.0 and dim > 4:  # too much of it is worse than none
        assert risk(4.0)[0] - risk(4.0)[1] > mean


@pytest.mark.parametrize("radius", [1e-3, 1.0, 30.0])
def test_the_bound_is_that_of_the_note(radius):
    for kind, c in ((TangentGaussian, 4.0), (TangentLaplace, 42.0)):
        mechanism = kind(Euclidean(6), 1.0)
        ball, h = ball_of(mechanism.manifold, radius), 4.0 if c == 4.0 else 20.0
        assert shrinkage(mechanism, ball) == pytest.approx(h, rel=1e-12)
        whole = mean_square_bound(mechanism, ball, is_shrunk=False)
        bound = mean_square_bound(mechanism, ball, is_shrunk=True)
        assert bound == pytest.approx(whole - h**2 / (c + radius**2), rel=1e-12)
        assert bound > 0.0


@pytest.mark.parametrize(
    ("manifold", "mechanism"),
    [
        (Euclidean(5), "auto"),
        (SPDLogEuclidean(3), "riemannian-gaussian"),
        (Hyperbolic(4), "wrapped-gaussian"),
        (SPDAffineInvariant(3), "tangent-gaussian"),
        (Sphere(6), "tangent-gaussian"),
    ],
    ids=str,
)
@pytest.mark.parametrize("project", [True, False])
def test_it_is_recorded_and_verified(manifold, mechanism, project, projecting):
    projecting(project)
    release = released(manifold, mechanism=mechanism)
    less = release.shrink()
    assert less.shrunk
    assert not release.shrunk
    assert less.rounded == release.rounded
    assert less.guarantee == release.guarantee
    distance = manifold.dist(less.ball.center, [less.value, release.value])
    assert distance[0] < distance[1]
    assert any("shrunk" in warning for warning in less.warnings)
    assert less.mean_square_bound < release.mean_square_bound
    document = json.loads(less.to_json())
    assert document["shrunk"] is True
    assert json.loads(release.to_json())["shrunk"] is False
    again = Release.from_json(less.to_json())
    assert again.shrunk
    assert verify(again).passed
    document["shrunk"] = False
    lie = Release.from_json(json.dumps(document))
    assert {check.name for check in verify(lie).checks if not check.passed} == {"arithmetic"}
    with pytest.raises(InvalidParameterError, match="already"):
        less.shrink()


@pytest.mark.parametrize(
    ("manifold", "mechanism"),
    [
        (Euclidean(5), "tangent-gaussian"),
        (Euclidean(2), "tangent-gaussian"),
        (Hyperbolic(5), "riemannian-gaussian"),
    ],
    ids=str,
)
def test_a_document_that_cannot_be_shrunk_is_not_verified(manifold, mechanism, projecting):
    projecting(False)
    release = released(manifold, GDP(2.0), radius=0.1, mechanism=mechanism)
    lie = Release.from_json(json.dumps({**json.loads(release.to_json()), "shrunk": True}))
    failed = {check.name for check in verify(lie).checks if not check.passed}
    assert failed - {"randomness"}


@pytest.mark.parametrize(
    ("manifold", "budget", "mechanism", "words"),
    [
        (Euclidean(2), GDP(0.5), "tangent-gaussian", "dimension 3"),
        (Euclidean(3), PureDP(0.5), "tangent-laplace", "dimension 4"),
        (Hyperbolic(5), GDP(0.5), "riemannian-gaussian", "does not add its noise"),
    ],
    ids=str,
)
def test_where_nothing_is_known_it_is_refused(manifold, budget, mechanism, words):
    release = released(manifold, budget, mechanism=mechanism, radius=0.1)
    with pytest.raises(riemdp.UnsupportedError, match=words):
        release.shrink()


def test_of_several_answers_or_of_what_is_computed_of_one_it_is_refused():
    ball = ball_of(Euclidean(4))
    data = np.zeros((10, 4))
    for release in (
        private_mean(data, ball, GDP(0.5), method="refined"),
        riemdp.private_statistic(riemdp.statistics.GeometricMedian(steps=2), data, ball, GDP(0.5)),
    ):
        with pytest.raises(riemdp.UnsupportedError, match="asks several queries"):
            release.shrink()


def test_sums_with_their_number_are_refused():
    release = released(Euclidean(4), adjacency="add-remove")
    with pytest.raises(UnsupportedError, match="under replace-one"):
        release.shrink()
    assert released(Euclidean(4)).shrink().shrunk


def test_where_noise_is_added_to_coordinates():
    ball = ball_of(Hyperbolic(4))
    tangent = TangentLaplace(ball.manifold, 0.1, base=ball.center)
    assert tangent.added_noise(ball).dim == 4
    elsewhere = Ball(ball.manifold, ball.point(np.ones(4) * 0.1), 1.0)
    assert tangent.added_noise(elsewhere) is None
    assert RiemannianLaplace(ball.manifold, 0.1).added_noise(ball) is None
    assert RiemannianLaplace(Euclidean(4), 0.1).added_noise(ball_of(Euclidean(4))) is not None
    restricted = RestrictedLaplace(Euclidean(4), 0.1, ball=ball_of(Euclidean(4)))
    assert restricted.added_noise(ball_of(Euclidean(4))) is None


def test_all_of_what_is_shorter_than_the_noise_goes():
    assert np.array_equal(shrunk(np.zeros(3), 1.0), np.zeros(3))
    assert np.array_equal(shrunk(np.array([0.5, 0.0, 0.0]), 1.0), np.zeros(3))
    np.testing.assert_allclose(shrunk(np.array([2.0, 0.0, 0.0]), 1.0), [1.5, 0.0, 0.0])
    huge = shrunk(np.array([1e300, 1e300, 0.0]), 1.0)
    assert np.isfinite(huge).all()
