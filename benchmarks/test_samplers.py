"""Exact draws against the Metropolis chain of the papers; radial draws against gamma draws."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
import scipy

from riemdp import NotAttainableError, RiemannianLaplace, SPDLogEuclidean, research
from riemdp.noise import RadialLaw
from riemdp.research._isotropic import acceptance as acceptance_of
from riemdp.research._isotropic import radii

BURN_IN = 50_000
MEASURED_STEPS = 500


def symmetric_logm(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.log(values)) @ vectors.T


def symmetric_expm(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.exp(values)) @ vectors.T


def metropolis(footpoint, sigma, steps, logm, expm):
    """Plain random-walk Metropolis on matrices for exp(-|Logm X - Logm footpoint| / sigma)."""
    k, rng = len(footpoint), np.random.default_rng(1)
    center = logm(footpoint)
    scale = sigma / math.sqrt(k * (k + 1) / 2)
    state, distance, accepted = center, 0.0, 0
    for _ in range(steps):
        noise = rng.normal(size=(k, k))
        proposal = logm(expm(state + scale * (noise + noise.T) / 2.0))
        proposed = np.linalg.norm(proposal - center)
        if rng.uniform() < math.exp(min(0.0, (distance - proposed) / sigma)):
            state, distance, accepted = proposal, proposed, accepted + 1
    return accepted


@pytest.mark.parametrize("k", [2, 20, 30])
@pytest.mark.parametrize(
    ("logm", "expm"),
    [(scipy.linalg.logm, scipy.linalg.expm), (symmetric_logm, symmetric_expm)],
    ids=["general", "symmetric"],
)
def test_log_euclidean_laplace_against_a_chain(report, k, logm, expm):
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(k, 2 * k))
    footpoint, sigma = factor @ factor.T / (2 * k), 0.01
    mechanism = RiemannianLaplace(SPDLogEuclidean(k), sigma)
    metropolis(footpoint, sigma, 5, logm, expm)
    start = time.thread_time()
    accepted = metropolis(footpoint, sigma, MEASURED_STEPS, logm, expm)
    theirs = (time.thread_time() - start) * BURN_IN / MEASURED_STEPS
    assert 0 < accepted < MEASURED_STEPS
    general = logm is scipy.linalg.logm
    chain = "plain" if general else "with eigh instead of logm and expm"
    one, _ = report.alternate(
        lambda: research.sample(mechanism, footpoint), lambda: None, rounds=51
    )
    many, _ = report.alternate(lambda: research.sample(mechanism, footpoint, 200), lambda: None)
    for what, ours in (("one draw", one), ("one of 200 draws", many / 200)):
        report.add(
            f"log-Euclidean Laplace, k={k}: {BURN_IN} Metropolis steps, {chain} (scaled up from "
            f"{MEASURED_STEPS}) / {what}",
            f"{1e6 * ours:.3g} µs",
            f"{theirs:.3g} s",
            theirs / ours,
            at_least=1e5 if k == 30 and general else None,
        )


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_radial_draws(report, kind, curvature):
    size, rng = 100_000, np.random.default_rng(0)
    worst = (0.0, 1.0, "")
    for dim, sigma in itertools.product([2, 10, 100], [0.01, 0.1, 1.0]):
        law = radial_law(kind, dim, curvature, sigma)
        if law is None:
            continue
        ours, gamma = report.alternate(
            lambda law=law: radii(law, size, rng),
            lambda dim=dim: rng.standard_gamma(dim, size),
        )
        worst = max(worst, (ours / size, gamma / size, f"d={dim}, sigma={sigma:g}"))
    ours, gamma, where = worst
    space = "S^d" if curvature > 0.0 else "H^d"
    report.add(
        f"radial {kind} draws on {space}, slowest of d ∈ {{2, 10, 100}}, sigma ∈ {{.01, .1, 1}} "
        f"({where}): ours / standard_gamma",
        f"{1e6 * ours:.3f} µs",
        f"{1e6 * gamma:.3f} µs",
        ours / gamma,
        at_most=0.5,
        value=1e6 * ours,
    )


def test_acceptance(report):
    dims = [1, 2, 3, 5, 10, 30, 100, 300, 1000]
    lowest, where, count = 1.0, "", 0
    for kind, curvature, dim, sigma in itertools.product(
        ["laplace", "gaussian"], [1.0, -1.0], dims, 10.0 ** np.arange(-4.0, 3.5, 0.5)
    ):
        law = radial_law(kind, dim, curvature, sigma)
        if law is None:
            continue
        count += 1
        acceptance = acceptance_of(law)
        if acceptance < lowest:
            lowest, where = acceptance, f"{kind}, d={dim}, curvature {curvature:g}, {sigma:.3g}"
    assert count > 400
    report.add(
        f"acceptance of the radial sampler, lowest of {count} laws ({where})",
        f"{lowest:.4f}",
        "1",
        lowest,
        at_least=0.87,
    )


def radial_law(kind, dim, curvature, sigma):
    """Return the law, None where it has no normaliser."""
    try:
        return RadialLaw(kind, dim, curvature, sigma, math.pi if curvature > 0.0 else math.inf)
    except NotAttainableError:
        return None
