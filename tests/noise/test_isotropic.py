from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from riemdp import research
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    UnsupportedManifoldError,
)
from riemdp.noise import IsotropicLaw
from riemdp.spaces import (
    Ball,
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

PAIRS = [
    (Euclidean(1), 0.5),
    (Euclidean(3), 2.0),
    (Euclidean(20), 0.1),
    (SPDLogEuclidean(1), 0.3),
    (SPDLogEuclidean(2), 0.4),
    (SPDLogEuclidean(3), 0.1),
    (Sphere(1), 0.5),
    (Sphere(1, 4.0), 10.0),
    (Sphere(2), 0.1),
    (Sphere(2), 1.0),
    (Sphere(2, 4.0), 0.3),
    (Sphere(3), 0.3),
    (Sphere(9), 0.2),
    (Sphere(20), 1.0),
    (Hyperbolic(1), 0.5),
    (Hyperbolic(2), 0.1),
    (Hyperbolic(2), 0.6),
    (Hyperbolic(3, -2.0), 0.2),
    (Hyperbolic(9), 0.1),
    (Hyperbolic(20), 0.04),
]
HIGH = [(Sphere(100), 0.1), (Hyperbolic(100), 0.005), (Euclidean(100), 0.2)]
KINDS = ["laplace", "gaussian"]


def _footpoint(manifold: Manifold, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if isinstance(manifold, Sphere):
        x = rng.standard_normal(manifold.dim + 1)
        return x / np.linalg.norm(x) / math.sqrt(manifold.curvature)
    if isinstance(manifold, Hyperbolic):
        x = rng.standard_normal(manifold.dim)
        return manifold.exp(manifold.origin, np.concatenate([[0.0], x / np.linalg.norm(x)]))
    if isinstance(manifold, SPDLogEuclidean):
        return manifold.from_chart(0.5 * rng.standard_normal(manifold.dim))
    return rng.standard_normal(manifold.dim)


def _apart(manifold: Manifold, base: np.ndarray, distance: float, axis: int = 0) -> np.ndarray:
    step = np.zeros(manifold.dim)
    step[axis] = distance
    return manifold.exp(base, manifold.tangent_vector(base, step))


@pytest.mark.fast(3)
@pytest.mark.parametrize(("manifold", "sigma"), PAIRS + HIGH, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_distances_follow_the_radial_law(kind, manifold, sigma, holds):
    law = IsotropicLaw(kind, manifold, sigma)
    foot = _footpoint(manifold)
    size = 50_000 if manifold.dim <= 20 else 5_000

    def pvalue(generator: np.random.Generator) -> float:
        dist = manifold.dist(foot, research.sample(law, foot, size, generator))
        return scipy.stats.kstest(dist, law.radial.cdf).pvalue

    assert holds(pvalue)


@pytest.mark.slow
@pytest.mark.parametrize(("manifold", "sigma"), PAIRS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_million_distances_follow_the_radial_law(kind, manifold, sigma, holds):
    law = IsotropicLaw(kind, manifold, sigma)
    foot = _footpoint(manifold)

    def pvalue(generator: np.random.Generator) -> float:
        parts = [
            manifold.dist(foot, research.sample(law, foot, 100_000, generator)) for _ in range(10)
        ]
        return scipy.stats.kstest(np.concatenate(parts), law.radial.cdf).pvalue

    assert holds(pvalue)


@pytest.mark.fast(2)
@pytest.mark.parametrize(("manifold", "sigma"), PAIRS, ids=str)
def test_a_wrong_scale_is_noticed(manifold, sigma):
    # negative control of the test above; wide laws on a sphere are nearly uniform at any scale
    off = 0.97 if sigma < 1.0 or manifold.injectivity_radius > 9.0 else 0.7 / sigma
    law, wrong = (IsotropicLaw("laplace", manifold, s) for s in (sigma, off * sigma))
    foot = _footpoint(manifold)
    dist = manifold.dist(foot, research.sample(wrong, foot, 50_000, np.random.default_rng(4)))
    assert scipy.stats.kstest(dist, law.radial.cdf).pvalue < 1e-4


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    "manifold", [m for m, _ in PAIRS if 2 <= m.dim <= 9] + [Sphere(100)], ids=str
)
def test_directions_are_uniform(manifold, holds):
    law = IsotropicLaw("laplace", manifold, 0.1 / manifold.dim)
    foot = _footpoint(manifold)
    other = _apart(manifold, foot, 0.3, manifold.dim - 1)
    axis = manifold.tangent_coordinates(foot, manifold.log(foot, other)) / 0.3
    half = 0.5 * (manifold.dim - 1)
    count = 20_000 if manifold.dim < 10 else 4_000

    def pvalue(generator: np.random.Generator) -> float:
        draws = research.sample(law, foot, count, generator)
        vectors = manifold.tangent_coordinates(foot, manifold.log(foot, draws))
        cosine = vectors @ axis / np.linalg.norm(vectors, axis=-1)
        return scipy.stats.kstest(0.5 * (1 + cosine), scipy.stats.beta(half, half).cdf).pvalue

    assert holds(pvalue)


@pytest.mark.parametrize("manifold", [Euclidean(1), Sphere(1), Hyperbolic(1)], ids=str)
def test_both_sides_are_equally_likely_in_dimension_one(manifold, holds):
    law = IsotropicLaw("gaussian", manifold, 0.3)
    foot = _footpoint(manifold)

    def pvalue(generator: np.random.Generator) -> float:
        draws = research.sample(law, foot, 50_000, generator)
        right = manifold.tangent_coordinates(foot, manifold.log(foot, draws))[:, 0] > 0
        return scipy.stats.binomtest(int(right.sum()), 50_000).pvalue

    assert holds(pvalue)


@pytest.mark.parametrize("manifold", [Sphere(3), Hyperbolic(3), SPDLogEuclidean(2)], ids=str)
def test_isometry(manifold, holds):
    # the distance to a third point has one law wherever the pair (footpoint, point) is put
    law = IsotropicLaw("laplace", manifold, 0.3)
    first, second = _footpoint(manifold, 0), _footpoint(manifold, 1)

    def pvalue(generator: np.random.Generator) -> float:
        dists = []
        for foot, axis in ((first, 0), (second, 2)):
            other = _apart(manifold, foot, 0.7, axis)
            dists.append(manifold.dist(other, research.sample(law, foot, 20_000, generator)))
        return scipy.stats.ks_2samp(*dists, method="asymp").pvalue

    assert holds(pvalue)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("manifold", "sigma"), PAIRS, ids=str)
def test_work_and_distances_do_not_depend_on_the_footpoint(kind, manifold, sigma):
    law = IsotropicLaw(kind, manifold, sigma)
    states, dists = [], []
    for seed in (0, 1):
        generator = np.random.default_rng(9)
        foot = _footpoint(manifold, seed)
        dists.append(manifold.dist(foot, research.sample(law, foot, 100, generator)))
        states.append(generator.bit_generator.state)
    assert states[0] == states[1]
    np.testing.assert_allclose(dists[0], dists[1], rtol=1e-6, atol=1e-9)


@pytest.mark.fast(4)
@pytest.mark.parametrize(("manifold", "sigma"), [p for p in PAIRS if p[0].injectivity_radius > 9])
def test_mean_distance_of_the_flat_laplace_law(manifold, sigma):
    law = IsotropicLaw("laplace", manifold, sigma)
    if manifold.constant_curvature == 0.0:
        assert law.radial.mean() == pytest.approx(manifold.dim * sigma)
    foot = _footpoint(manifold)
    dist = manifold.dist(foot, research.sample(law, foot, 50_000, np.random.default_rng(6)))
    spread = math.sqrt((law.radial.mean_square() - law.radial.mean() ** 2) / 50_000)
    assert abs(dist.mean() - law.radial.mean()) < 5 * spread


@pytest.mark.parametrize("kind", KINDS)
class TestLogDensityIntegratesToOne:
    """Over coordinates that have nothing to do with the footpoint."""

    @pytest.mark.parametrize("sigma", [0.2, 3.0])
    def test_line(self, kind, sigma):
        law = IsotropicLaw(kind, Euclidean(1), sigma)
        total, _ = scipy.integrate.quad(
            lambda x: math.exp(law.log_density([x], [0.3])), -60 * sigma, 60 * sigma,
            points=[0.3], limit=500,
        )  # fmt: skip
        assert total == pytest.approx(1.0, abs=1e-8)

    @pytest.mark.parametrize("sigma", [0.2, 3.0])
    def test_circle(self, kind, sigma):
        law = IsotropicLaw(kind, Sphere(1, 4.0), sigma)
        foot = 0.5 * np.array([math.cos(1.0), math.sin(1.0)])
        total, _ = scipy.integrate.quad(
            lambda a: 0.5 * math.exp(law.log_density([0.5 * math.cos(a), 0.5 * math.sin(a)], foot)),
            1.0 - math.pi, 1.0 + math.pi, points=[1.0],
        )  # fmt: skip
        assert total == pytest.approx(1.0, abs=1e-8)

    @pytest.mark.parametrize("sigma", [0.3, 3.0])
    @pytest.mark.parametrize("curvature", [1.0, 4.0])
    def test_sphere(self, kind, sigma, curvature):
        radius = 1 / math.sqrt(curvature)
        law = IsotropicLaw(kind, Sphere(2, curvature), sigma)
        height, weights = np.polynomial.legendre.leggauss(400)
        angle = 2 * math.pi * np.arange(800) / 800
        ring = np.sqrt(1 - height**2)
        points = radius * np.stack(
            [
                ring[:, None] * np.cos(angle),
                ring[:, None] * np.sin(angle),
                np.broadcast_to(height[:, None], (400, 800)),
            ],
            axis=-1,
        )
        density = np.exp(law.log_density(points, _footpoint(law.manifold)))
        total = radius**2 * np.sum(weights @ density) * 2 * math.pi / 800
        assert total == pytest.approx(1.0, abs=1e-3 if kind == "laplace" else 1e-8)

    @pytest.mark.parametrize(("curvature", "sigma"), [(-1.0, 0.2), (-0.25, 0.4), (-4.0, 0.15)])
    def test_hyperbolic_plane(self, kind, curvature, sigma):
        k = math.sqrt(-curvature)
        law = IsotropicLaw(kind, Hyperbolic(2, curvature), sigma)
        foot = _apart(law.manifold, law.manifold.origin, 0.4)
        node, weight = np.polynomial.legendre.leggauss(600)
        top = 0.4 + 60 * sigma
        r, weight = 0.5 * top * (1 + node), 0.5 * top * weight
        angle = 2 * math.pi * np.arange(400) / 400
        across = np.sinh(k * r)[:, None] / k
        points = np.stack(
            [
                np.broadcast_to(np.cosh(k * r)[:, None] / k, (600, 400)),
                across * np.cos(angle),
                across * np.sin(angle),
            ],
            axis=-1,
        )
        density = np.exp(law.log_density(points, foot))
        total = np.sum((weight * np.sinh(k * r) / k) @ density) * 2 * math.pi / 400
        assert total == pytest.approx(1.0, abs=2e-3 if kind == "laplace" else 1e-8)

    def test_log_euclidean_matrices(self, kind):
        law = IsotropicLaw(kind, SPDLogEuclidean(1), 0.3)
        total, _ = scipy.integrate.quad(
            lambda x: math.exp(law.log_density([[math.exp(x)]], [[1.5]])), -18, 18,
            points=[math.log(1.5)], limit=500,
        )  # fmt: skip
        assert total == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize(("manifold", "sigma"), PAIRS[:17], ids=str)
def test_log_ratio_is_the_difference_of_penalties(manifold, sigma):
    one, two = _footpoint(manifold, 0), _footpoint(manifold, 1)
    point = _footpoint(manifold, 2)
    for kind, power in (("laplace", 1), ("gaussian", 2)):
        law = IsotropicLaw(kind, manifold, sigma)
        ratio = law.log_density(point, one) - law.log_density(point, two)
        a, b = manifold.dist(point, one) / sigma, manifold.dist(point, two) / sigma
        assert ratio == pytest.approx((b**power - a**power) / power, rel=1e-9, abs=1e-9)


def test_shapes():
    for manifold in (Euclidean(2), Sphere(2), Hyperbolic(2), SPDLogEuclidean(2)):
        law = IsotropicLaw("laplace", manifold, 0.1)
        foot = np.stack([_footpoint(manifold, seed) for seed in range(3)])
        ball = Ball(manifold, foot[0], 3.0)
        generator = np.random.default_rng(0)
        for sample in (
            lambda f, n: research.sample(law, f, n, generator),  # noqa: B023
            lambda f, n: ball.project(research.sample(law, f, n, generator)),  # noqa: B023
        ):
            assert sample(foot[0], None).shape == manifold.point_shape
            assert sample(foot, None).shape == (3, *manifold.point_shape)
            assert sample(foot, 5).shape == (5, 3, *manifold.point_shape)
            assert sample(foot[0], (2, 4)).shape == (2, 4, *manifold.point_shape)
            assert sample(foot, 0).shape == (0, 3, *manifold.point_shape)
            manifold.validate(sample(foot, 50))
        assert law.log_density(foot[:, None], foot).shape == (3, 3)


def test_draws_come_from_the_secure_generator_by_default():
    law = IsotropicLaw("gaussian", Sphere(2), 0.3)
    foot = np.array([0.0, 0.0, 1.0])
    assert not np.array_equal(research.sample(law, foot), research.sample(law, foot))
    assert np.array_equal(
        research.sample(law, foot, generator=np.random.default_rng(1)),
        research.sample(law, foot, generator=np.random.default_rng(1)),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sigma", [1e-4, 1e3])
@pytest.mark.parametrize("manifold", [Sphere(1), Sphere(2), Sphere(999), Euclidean(1000)], ids=str)
def test_extreme_scales(kind, sigma, manifold):
    law = IsotropicLaw(kind, manifold, sigma)
    foot = _footpoint(manifold)
    draws = research.sample(law, foot, 200, np.random.default_rng(0))
    manifold.validate(draws)
    dist = manifold.dist(foot, draws)
    assert dist.mean() == pytest.approx(law.radial.mean(), rel=0.5)
    assert np.all(np.isfinite(law.log_density(draws, foot)))


def test_far_hyperbolic_draws_are_refused():
    foot = Hyperbolic(2).origin
    with pytest.raises(NotAttainableError, match="too far out"):
        research.sample(
            IsotropicLaw("gaussian", Hyperbolic(2), 100.0), foot, 10, np.random.default_rng(0)
        )
    line = IsotropicLaw("laplace", Hyperbolic(1), 1e3)
    with pytest.raises(NotAttainableError, match="too far out"):
        research.sample(line, Hyperbolic(1).origin, 10, np.random.default_rng(0))


def test_overflowing_matrices_are_refused():
    law = IsotropicLaw("laplace", SPDLogEuclidean(2), 1e4)
    with pytest.raises(NotAttainableError, match="too far out"):
        research.sample(law, np.eye(2), 20, np.random.default_rng(0))


def test_laplace_without_a_normaliser():
    with pytest.raises(NotAttainableError, match="no normaliser"):
        IsotropicLaw("laplace", Hyperbolic(3), 0.6)
    assert IsotropicLaw("gaussian", Hyperbolic(3), 0.6).sigma == 0.6


def test_varying_curvature_names_what_works():
    with pytest.raises(UnsupportedManifoldError, match=r"tangent-gaussian.*tangent-laplace"):
        IsotropicLaw("laplace", SPDAffineInvariant(2), 0.1)


def test_inputs_are_checked():
    with pytest.raises(InvalidParameterError, match="kind"):
        IsotropicLaw("uniform", Sphere(2), 0.1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="sigma"):
        IsotropicLaw("laplace", Sphere(2), -0.1)
    law = IsotropicLaw("laplace", Sphere(2), 0.1)
    north = np.array([0.0, 0.0, 1.0])
    with pytest.raises(NotOnManifoldError):
        research.sample(law, [0.0, 0.0, 2.0])
    with pytest.raises(NotOnManifoldError):
        law.log_density([0.0, 0.0, math.nan], north)
    with pytest.raises(InvalidParameterError, match="generator"):
        research.sample(law, north, generator=3)  # type: ignore[arg-type]
