"""Fréchet means against pyriemann, against batched ``eigh``, against the least a pass can cost."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

import numpy as np
import pytest

from riemdp import (
    Ball,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    frechet_mean,
)
from riemdp.statistics.curved import _space_form_mean

TOLERANCE = 1e-8
N = 10_000


def pyriemann_mean(name):
    try:
        from pyriemann.geometry import mean
    except ImportError:  # before pyriemann 0.9
        from pyriemann.utils import mean
    return getattr(mean, name)


def points_in_ball(manifold, center, radius, n):
    """Uniform directions, radii as in a flat ball."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(n, manifold.dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= radius * rng.uniform(size=(n, 1)) ** (1.0 / manifold.dim)
    points = manifold.exp(center, manifold.tangent_vector(center, vectors))
    return Ball(manifold, center, radius), points


def covariances(manifold):
    """Matrices about a well-conditioned centre that is not the identity."""
    k = manifold.k
    _, points = points_in_ball(manifold, np.eye(k), 0.5 * np.sqrt(k), N)
    rng = np.random.default_rng(2)
    change = rng.normal(size=(k, k)) / np.sqrt(k) + 2.0 * np.eye(k)
    points = change @ points @ change.T
    return 0.5 * (points + np.swapaxes(points, -1, -2))


@pytest.mark.parametrize("k", [3, 9, 22])
def test_log_euclidean_against_pyriemann(report, k):
    manifold, peer = SPDLogEuclidean(k), pyriemann_mean("mean_logeuclid")
    points = covariances(manifold)
    mean = frechet_mean(manifold, points, tol=TOLERANCE)
    assert manifold.dist(mean.value, peer(points)) < 1e-10
    ours, theirs = report.alternate(
        lambda: frechet_mean(manifold, points, tol=TOLERANCE),
        lambda: peer(points),
        rounds={3: 31, 9: 11, 22: 5}[k],
    )
    name = f"log-Euclidean mean, k={k}, n={N}: pyriemann / ours"
    report.add(name, ms(ours), ms(theirs), theirs / ours, at_least=1.0)


def test_log_euclidean_2x2_against_eigh(report):
    manifold = SPDLogEuclidean(2)
    points = covariances(manifold)
    ours, theirs = report.alternate(
        lambda: frechet_mean(manifold, points, tol=TOLERANCE),
        lambda: np.linalg.eigh(points),
        rounds=101,
    )
    name = f"log-Euclidean mean, k=2, n={N}: batched eigh alone / ours"
    report.add(name, ms(ours), ms(theirs), theirs / ours, at_least=15.0)


@pytest.mark.parametrize("k", [9, 22])
def test_affine_invariant_against_pyriemann(report, k):
    manifold, peer = SPDAffineInvariant(k), pyriemann_mean("mean_riemann")
    points = covariances(manifold)
    mean = frechet_mean(manifold, points, tol=TOLERANCE)
    assert manifold.dist(mean.value, peer(points, tol=TOLERANCE)) < 10.0 * TOLERANCE
    ours, theirs = report.alternate(
        lambda: frechet_mean(manifold, points, tol=TOLERANCE),
        lambda: peer(points, tol=TOLERANCE),
    )
    name = f"affine-invariant mean, k={k}, n={N}, {mean.passes} passes: pyriemann / ours"
    report.add(name, ms(ours), ms(theirs), theirs / ours, at_least=1.3)


@pytest.mark.parametrize("n", [10_000, 100_000])
@pytest.mark.parametrize(
    ("manifold", "radius"),
    [(Sphere(2), 0.7), (Sphere(9), 0.7), (Hyperbolic(2), 1.0), (Hyperbolic(9), 2.0)],
    ids=str,
)
def test_space_form_against_two_products_and_an_arctan2(report, manifold, radius, n):
    ball, points = points_in_ball(manifold, np.eye(manifold.dim + 1)[0], radius, n)
    mean = frechet_mean(manifold, points, ball=ball, tol=TOLERANCE)
    rng = np.random.default_rng(3)
    sine, cosine = rng.normal(size=(2, n))

    def least():
        return points @ mean.value, np.arctan2(sine, cosine), sine @ points

    rounds = 101 if n <= 10_000 else 31
    whole, limit = report.alternate(
        lambda: frechet_mean(manifold, points, ball=ball, tol=TOLERANCE), least, rounds=rounds
    )
    problem = _space_form_mean._Problem(manifold, points, None, ball)
    one_pass, pass_limit = report.alternate(
        lambda: problem.evaluate(mean.value), least, rounds=rounds
    )
    name = f"{type(manifold).__name__}({manifold.dim}) mean, n={n}, {mean.passes} passes"
    for what, time, peer in (
        ("whole call with validation, per pass", whole / mean.passes, limit),
        ("one pass (gradient, objective, certificate)", one_pass, pass_limit),
    ):
        report.add(
            f"{name}: {what} / two products and an arctan2",
            us(time),
            us(peer),
            time / peer,
            at_most=3.0,
        )
    assert mean.passes <= 4


_THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_THREADS = """
import os, sys, time
cores, kind, k = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
import numpy as np
import riemdp
manifold = getattr(riemdp, kind)(k)
rng = np.random.default_rng(0)
factors = rng.normal(size=(10_000, k, 2 * k))
points = factors @ np.swapaxes(factors, -1, -2) / (2 * k)
points = 0.5 * (points + np.swapaxes(points, -1, -2))
taken = []
for _ in range(2):
    start = time.perf_counter()
    riemdp.frechet_mean(manifold, points, tol=1e-8)
    taken.append(time.perf_counter() - start)
print(min(taken))
"""


@pytest.mark.parametrize(
    ("kind", "k"), [("SPDLogEuclidean", 22), ("SPDAffineInvariant", 9), ("SPDAffineInvariant", 22)]
)
def test_two_cores(report, kind, k):
    if not hasattr(os, "sched_setaffinity") or (os.cpu_count() or 1) < 2:
        pytest.skip("needs two cores and a way to choose them")
    taken = {1: [], 2: []}
    for _ in range(5):
        for cores, times in taken.items():
            command = [sys.executable, "-c", _THREADS, str(cores), kind, str(k)]
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=True,
                env=os.environ | dict.fromkeys(_THREAD_COUNTS, str(cores)),
                # The children start from all cores, not from the one of this process.
                preexec_fn=lambda: os.sched_setaffinity(0, range(os.cpu_count() or 1)),
            )
            times.append(float(done.stdout))
    one, two = statistics.median(taken[1]), statistics.median(taken[2])
    name = f"{kind}({k}) mean, n={N}, wall time: one core / two cores"
    report.add(name, ms(two), ms(one), one / two, at_least=1.0)


def ms(seconds):
    return f"{1e3 * seconds:.3g} ms"


def us(seconds):
    return f"{1e6 * seconds:.3g} µs"
