"""Manifolds that are R^dim in a chart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import riemdp
from riemdp import Euclidean, SPDLogCholesky, SPDLogEuclidean, SPDPower

seeds = st.integers(0, 2**32 - 1)
MANIFOLDS = [
    Euclidean(1),
    Euclidean(3),
    SPDLogEuclidean(1),
    SPDLogEuclidean(3),
    SPDLogCholesky(3),
    SPDPower(3, 0.25),
]


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
@given(seed=seeds)
def test_the_chart_of_a_flat_space_is_an_isometry(manifold, seed, random_points):
    rng = np.random.default_rng(seed)
    p, q = random_points(manifold, rng, (2, 5), 2.0)
    a, b = manifold.to_chart(p), manifold.to_chart(q)
    assert a.shape == (5, manifold.dim)
    np.testing.assert_allclose(manifold.from_chart(a), p, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(a - b, axis=-1), manifold.dist(p, q), atol=1e-11)
    coordinates = manifold.tangent_coordinates(p, manifold.log(p, q))
    np.testing.assert_allclose(coordinates, b - a, atol=1e-11)


def centred_logs(shares):
    logs = np.log(shares)
    return logs - logs.mean(axis=-1, keepdims=True)


def test_the_chart_of_compositions_is_that_of_log_ratios(compositions):
    space = compositions.Simplex(4)
    points = np.random.default_rng(0).dirichlet([3.0, 1.0, 2.0, 5.0], size=(2, 30))
    wanted = np.linalg.norm(centred_logs(points[0]) - centred_logs(points[1]), axis=-1)
    np.testing.assert_allclose(space.dist(*points), wanted, rtol=1e-12)
    # amounts do not count, and shares that hold a part do
    np.testing.assert_allclose(space.to_chart(7.0 * points), space.to_chart(points), atol=1e-13)
    far = space.validate(space.from_chart(1e3 * np.random.default_rng(1).normal(size=(50, 3))))
    assert far.min() > 1e-280
    with pytest.raises(riemdp.NotOnManifoldError, match="row 1 has a part that is not positive"):
        space.validate([[0.25] * 4, [0.5, 0.5, 0.0, 0.0]])
    with pytest.raises(riemdp.UnsupportedBallError, match="merge parts"):
        riemdp.Ball(space, space.from_chart([0.0, 0.0, 400.0]), 1.0)


def test_a_chart_is_enough_for_a_flat_space(compositions, registry):
    space = compositions.Simplex(4)
    riemdp.register(compositions.Simplex)
    generator = np.random.default_rng(0)
    points = space.from_chart(0.3 * generator.normal(size=(40, 3)))
    np.testing.assert_allclose(space.origin, [0.25] * 4)
    tangent = space.log(points[:20], points[20:])
    np.testing.assert_allclose(space.exp(points[:20], tangent), points[20:], atol=1e-12)
    np.testing.assert_allclose(
        space.norm(points[:20], tangent), space.dist(points[:20], points[20:]), rtol=1e-12
    )
    assert tangent.shape == (20, *space.tangent_shape)
    found = riemdp.frechet_mean(space, points).value
    geometric = np.exp(np.log(points).mean(axis=0))
    np.testing.assert_allclose(found, geometric / geometric.sum(), rtol=1e-12)
    ball = riemdp.Ball(space, space.origin, 0.5)
    for mechanism, budget in [
        ("riemannian-laplace", riemdp.PureDP(1.0)),
        ("riemannian-gaussian", riemdp.GDP(1.0)),
        ("tangent-gaussian", riemdp.GDP(1.0)),
        ("auto", riemdp.ApproxDP(1.0, 1e-6)),
    ]:
        release = riemdp.private_mean(
            points, ball, budget, mechanism=mechanism, generator=generator
        )
        assert release.statistic.name == "frechet-mean"
        assert ball.contains(release.value)
        assert release.proofs["compositions.Simplex"] == compositions.Simplex.proof
        assert release.proven
        again = riemdp.Release.from_json(release.to_json())
        np.testing.assert_array_equal(again.value, release.value)
    gaussian = riemdp.RiemannianGaussian(space, 0.5)
    assert gaussian.privacy(0.1) == riemdp.RiemannianGaussian(riemdp.Euclidean(3), 0.5).privacy(0.1)


def test_a_changed_space_is_not_covered_by_the_proof_of_its_parent(compositions, registry):
    class Unclosed(compositions.Simplex):
        name = "tests.Unclosed"

    riemdp.register(Unclosed)
    space = Unclosed(3)
    ball = riemdp.Ball(space, space.origin, 0.5)
    with pytest.raises(riemdp.UnprovenMechanismError, match=r"tests\.Unclosed"):
        riemdp.private_mean(np.tile(space.origin, (9, 1)), ball, riemdp.GDP(1.0))
