"""Means against geomstats at equal tolerance, each from its own start; arrays pass as they are.

geomstats 2.8 needs NumPy 1: this file runs in an environment of its own (``make bench``).
"""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Grassmann,
    Hyperbolic,
    KendallShapes,
    PlanarShapes,
    Power,
    Product,
    Rotations,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
    frechet_mean,
    private_mean,
)

pytest.importorskip("geomstats", exc_type=ImportError)

TOLERANCE = 1e-8


def peer_space(manifold):
    from geomstats.geometry.hyperboloid import Hyperboloid
    from geomstats.geometry.hypersphere import Hypersphere
    from geomstats.geometry.spd_matrices import (
        SPDAffineMetric,
        SPDLogEuclideanMetric,
        SPDMatrices,
    )

    if isinstance(manifold, Sphere):
        return Hypersphere(manifold.dim)
    if isinstance(manifold, Hyperbolic):
        return Hyperboloid(manifold.dim)
    space = SPDMatrices(manifold.k, equip=False)
    log_euclidean = isinstance(manifold, SPDLogEuclidean)
    space.equip_with_metric(SPDLogEuclideanMetric if log_euclidean else SPDAffineMetric)
    return space


def peer_estimator(manifold, method):
    """Both methods until the gradient is at most the tolerance; made outside the time taken."""
    from geomstats.learning.frechet_mean import FrechetMean

    # the default method compares |g|^2 with epsilon * dim, the adaptive one |g| with epsilon
    epsilon = TOLERANCE**2 / manifold.dim if method == "default" else TOLERANCE
    estimator = FrechetMean(peer_space(manifold), method=method)
    estimator.set(epsilon=epsilon, max_iter=500)
    return estimator


def points_in_ball(manifold, center, radius, n):
    """Uniform directions, radii as in a flat ball."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(n, manifold.dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= radius * rng.uniform(size=(n, 1)) ** (1.0 / manifold.dim)
    return manifold.exp(center, manifold.tangent_vector(center, vectors))


@pytest.mark.parametrize("n", [1000, 10_000, 100_000])
@pytest.mark.parametrize(("manifold", "radius"), [(Sphere(2), 0.7), (Hyperbolic(2), 1.0)], ids=str)
def test_means(report, manifold, radius, n):
    ball = Ball(manifold, np.eye(3)[0], radius)
    points = points_in_ball(manifold, ball.center, radius, n)

    def ours():
        return frechet_mean(manifold, points, ball=ball, tol=TOLERANCE).value

    for method in ("default", "adaptive"):
        estimator = peer_estimator(manifold, method)

        def peer(estimator=estimator):
            return estimator.fit(points).estimate_

        assert manifold.dist(ours(), peer()) < 10.0 * TOLERANCE
        rounds = {1000: 101, 10_000: 31, 100_000: 11}[n]
        mine, theirs = report.alternate(ours, peer, rounds=rounds)
        report.add(
            f"{type(manifold).__name__}(2) mean, n={n}, to {TOLERANCE:g} (geomstats in the "
            f"gradient, ours in the distance): geomstats, {method} method / ours",
            f"{1e3 * mine:.3g} ms",
            f"{1e3 * theirs:.3g} ms",
            theirs / mine,
            at_least=9.0,
        )


@pytest.mark.parametrize(
    ("manifold", "radius", "at_most"), [(Sphere(2), 0.7, 0.7), (Hyperbolic(2), 1.0, 1.0)], ids=str
)
def test_private_means(report, manifold, radius, at_most):
    n = 100_000
    ball = Ball(manifold, manifold.origin, radius)
    points = points_in_ball(manifold, ball.center, radius, n)
    estimator = peer_estimator(manifold, "default")
    mine, theirs = report.alternate(
        lambda: private_mean(points, ball, GDP(1.0)), lambda: estimator.fit(points)
    )
    report.add(
        f"private mean on {manifold}, n={n} / geomstats' mean to {TOLERANCE:g}",
        f"{1e3 * mine:.3g} ms",
        f"{1e3 * theirs:.3g} ms",
        mine / theirs,
        at_most=at_most,
    )


@pytest.mark.parametrize("manifold", [SPDLogEuclidean(9), SPDAffineInvariant(9)], ids=str)
def test_matrix_means(report, manifold):
    points = points_in_ball(manifold, np.eye(9), 2.0, 1000)
    estimator = peer_estimator(manifold, "default")

    def ours():
        return frechet_mean(manifold, points, tol=TOLERANCE).value

    def peer():
        return estimator.fit(points).estimate_

    assert manifold.dist(ours(), peer()) < 10.0 * TOLERANCE
    mine, theirs = report.alternate(ours, peer)
    report.add(
        f"{type(manifold).__name__}(9) mean, n=1000, to {TOLERANCE:g} (geomstats in the gradient, "
        "ours in the distance): geomstats / ours",
        f"{1e3 * mine:.3g} ms",
        f"{1e3 * theirs:.3g} ms",
        theirs / mine,
    )


@pytest.mark.parametrize(
    "manifold",
    [Sphere(2), Sphere(5), Hyperbolic(3), SPDLogEuclidean(3), SPDAffineInvariant(3)],
    ids=str,
)
def test_arrays_pass_unchanged(manifold):
    """Points and tangent vectors of either are those of the other, with the same metric."""
    space = peer_space(manifold)
    center = np.eye(manifold.point_shape[0])
    center = center if len(manifold.point_shape) == 2 else center[0]
    points = points_in_ball(manifold, center, 1.0, 20)
    assert np.all(space.belongs(points, atol=1e-10))
    manifold.validate(space.random_point(10))
    base, others = points[0], points[1:]
    vectors = manifold.log(base, others)
    np.testing.assert_allclose(space.metric.log(others, base), vectors, atol=1e-9)
    np.testing.assert_allclose(space.metric.exp(vectors, base), others, atol=1e-9)
    np.testing.assert_allclose(space.metric.dist(base, others), manifold.dist(base, others))
    np.testing.assert_allclose(
        space.metric.inner_product(vectors[0], vectors[1:], base),
        manifold.inner(base, vectors[0], vectors[1:]),
        atol=1e-9,
    )


def peers_of_other_spaces():
    """Ours, the metric of theirs, how points become theirs, and theirs over our distances."""
    from geomstats.geometry import euclidean, hypersphere, nfold_manifold, product_manifold
    from geomstats.geometry.grassmannian import Grassmannian
    from geomstats.geometry.positive_lower_triangular_matrices import (
        CholeskyMetric,
        PositiveLowerTriangularMatrices,
    )
    from geomstats.geometry.pre_shape import PreShapeSpace
    from geomstats.geometry.scalar_product_metric import ScalarProductMetric
    from geomstats.geometry.spd_matrices import SPDEuclideanMetric, SPDMatrices, SPDPowerMetric
    from geomstats.geometry.special_orthogonal import SpecialOrthogonal

    sphere, plane = hypersphere.Hypersphere(2), euclidean.Euclidean(2)
    factors = product_manifold.ProductManifold([sphere, plane], point_ndim=1)
    lower = PositiveLowerTriangularMatrices(3, equip=False)
    lower.equip_with_metric(CholeskyMetric)
    image = SPDMatrices(3, equip=False)
    image.equip_with_metric(SPDEuclideanMetric)
    image.metric = ScalarProductMetric(image, 4.0)  # 1 / power^2
    matrices = SPDMatrices(3, equip=False)
    matrices.equip_with_metric(SPDPowerMetric, image_space=image)
    vectors = SpecialOrthogonal(3, point_type="vector")
    yield Rotations(), SpecialOrthogonal(3).metric, None, 1.0
    yield Rotations(), vectors.metric, vectors.rotation_vector_from_matrix, 1.0
    yield Grassmann(2, 5), Grassmannian(5, 2).metric, lambda x: x @ x.swapaxes(-1, -2), 2.0**0.5
    yield SPDLogCholesky(3), lower.metric, np.linalg.cholesky, 1.0
    yield SPDPower(3), matrices.metric, None, 2.0
    yield Product(Sphere(2), Euclidean(2)), factors.metric, None, 1.0
    yield Power(Sphere(2), 3), nfold_manifold.NFoldManifold(sphere, 3).metric, None, 1.0
    for ours in (PlanarShapes(6), KendallShapes(6)):
        shapes = PreShapeSpace(*ours.point_shape)
        shapes.equip_with_group_action("rotations")
        shapes.equip_with_quotient()
        yield ours, shapes.quotient.metric, None, 1.0


def test_distances_of_other_spaces():
    """Points pass as the page on geomstats says, and distances by the factor that it names."""
    random = np.random.default_rng(0)
    for ours, theirs, convert, factor in peers_of_other_spaces():
        points = ours.point(ours.origin, 0.3 * random.normal(size=(6, ours.dim)))
        passed = points if convert is None else convert(points)
        for i in range(0, 6, 2):
            expected = factor * ours.dist(points[i], points[i + 1])
            np.testing.assert_allclose(theirs.dist(passed[i], passed[i + 1]), expected, rtol=1e-6)


def test_quaternions_begin_with_the_scalar():
    from geomstats.geometry.special_orthogonal import SpecialOrthogonal

    space, group = Rotations(), SpecialOrthogonal(3, point_type="vector")
    matrices = space.point(space.origin, np.random.default_rng(0).normal(size=(9, 3)))
    theirs = group.quaternion_from_rotation_vector(group.rotation_vector_from_matrix(matrices))
    np.testing.assert_allclose(space.validate(theirs[:, [1, 2, 3, 0]]), matrices, atol=1e-9)
