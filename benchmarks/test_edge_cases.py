"""Accuracy where geometry is hard: near points, antipodes, far points, ill-conditioned matrices.

The error is relative, against 50 digits for the very floats both sides are given. One unit in the
last place counts as the least error.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere, frechet_mean

LEAST = 2.0**-53


def add(report, name, ours, theirs, exact):
    errors = [
        max(abs(float(value / exact - 1)), LEAST) if math.isfinite(value) else math.inf
        for value in (float(ours), float(theirs))
    ]
    report.add(name, *(f"{error:.1e}" for error in errors), errors[1] / errors[0], at_least=0.5)


def pyriemann(module, name):
    pytest.importorskip("pyriemann", exc_type=ImportError)
    try:
        from pyriemann import geometry as package
    except ImportError:  # before pyriemann 0.9
        from pyriemann import utils as package
    from importlib import import_module

    return getattr(import_module(f"{package.__name__}.{module}"), name)


@pytest.mark.parametrize("angle", [1e-9, 1e-5, 1.0, math.pi - 1e-5, math.pi - 1e-9])
def test_sphere(report, angle):
    pytest.importorskip("geomstats", exc_type=ImportError)
    from geomstats.geometry.hypersphere import Hypersphere

    mpmath = pytest.importorskip("mpmath")
    a, b = np.array([1.0, 0.0, 0.0]), np.array([math.cos(angle), math.sin(angle), 0.0])
    with mpmath.workdps(50):
        exact = mpmath.atan2(mpmath.mpf(b[1]), mpmath.mpf(b[0]))
    add(
        report,
        f"error of the distance on S^2, {angle:.10g} apart: geomstats / ours",
        Sphere(2).dist(a, b),
        Hypersphere(2).metric.dist(a, b),
        exact,
    )


@pytest.mark.parametrize(("radius", "apart"), [(0.0, 1e-9), (1.0, 1e-6), (6.0, 1e-3), (0.0, 30.0)])
def test_hyperbolic(report, radius, apart):
    """Points on one geodesic through the origin."""
    pytest.importorskip("geomstats", exc_type=ImportError)
    from geomstats.geometry.hyperboloid import Hyperboloid

    mpmath = pytest.importorskip("mpmath")
    a, b = (np.array([math.cosh(t), math.sinh(t), 0.0]) for t in (radius, radius + apart))
    with mpmath.workdps(50):
        exact = mpmath.asinh(mpmath.mpf(b[1])) - mpmath.asinh(mpmath.mpf(a[1]))
    with np.errstate(all="ignore"):
        theirs = Hyperboloid(2).metric.dist(a, b)
    add(
        report,
        f"error of the distance on H^2, {apart:g} apart at radius {radius:g}: geomstats / ours",
        Hyperbolic(2).dist(a, b),
        theirs,
        exact,
    )


def ill_conditioned(condition, n=20):
    """Congruent images of diagonal matrices: their affine-invariant mean has a closed form."""
    rng = np.random.default_rng(0)
    logs = np.linspace(0.0, math.log(condition), 4) + rng.uniform(-0.5, 0.5, (n, 4))
    diagonals = np.exp(logs)
    # small integers: no rounding in the change of basis but that of the products
    basis = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1]], dtype=float)
    points = (basis * diagonals[:, None, :]) @ basis.T
    return basis, diagonals, 0.5 * (points + np.swapaxes(points, 1, 2))


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
def test_affine_invariant_mean(report, condition):
    peer = pyriemann("mean", "mean_riemann")
    basis, diagonals, points = ill_conditioned(condition)
    exact = (basis * np.exp(np.log(diagonals).mean(axis=0))) @ basis.T

    def error(value):
        # in the frame where the exact mean is the identity
        inverse = np.linalg.inv(basis) / np.sqrt(np.exp(np.log(diagonals).mean(axis=0)))[:, None]
        return np.linalg.norm(inverse @ (value - exact) @ inverse.T)

    ours = error(frechet_mean(SPDAffineInvariant(4), points, tol=1e-8).value)
    theirs = error(peer(points, tol=1e-8, maxiter=200))
    report.add(
        f"error of the affine-invariant mean, condition {condition:.0e}, tolerance 1e-8: "
        "pyriemann / ours",
        f"{ours:.1e}",
        f"{theirs:.1e}",
        theirs / ours,
        at_least=0.5,
    )


@pytest.mark.parametrize(("condition", "apart"), [(1.0, 1e-9), (1e6, 1e-6), (1e12, 1.0)])
@pytest.mark.parametrize(
    ("manifold", "peer"),
    [(SPDAffineInvariant(3), "distance_riemann"), (SPDLogEuclidean(3), "distance_logeuclid")],
    ids=["affine-invariant", "log-Euclidean"],
)
def test_matrix_distance(report, manifold, peer, condition, apart):
    peer = pyriemann("distance", peer)
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    a = (frame * np.array([1.0, math.sqrt(condition), condition])) @ frame.T
    change = np.eye(3) + 0.5 * apart * np.diag([1.0, -0.3, 0.2])
    b = change @ a @ change.T
    a, b = 0.5 * (a + a.T), 0.5 * (b + b.T)
    with mpmath.workdps(50):
        A, B = mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist())
        if isinstance(manifold, SPDAffineInvariant):
            L = mpmath.cholesky(A) ** -1
            values = mpmath.eigsy(L * B * L.T, eigvals_only=True)
            exact = mpmath.sqrt(sum(mpmath.log(v) ** 2 for v in values))
        else:
            logs = []
            for M in (A, B):
                values, vectors = mpmath.eigsy(M)
                logs.append(vectors * mpmath.diag([mpmath.log(v) for v in values]) * vectors.T)
            exact = mpmath.norm(logs[0] - logs[1])
    add(
        report,
        f"error of the {type(manifold).__name__} distance, {apart:g} apart, condition "
        f"{condition:.0e}: pyriemann / ours",
        manifold.dist(a, b),
        peer(a, b),
        exact,
    )
