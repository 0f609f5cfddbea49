"""Exact affine-invariant noise: microseconds per draw, and ratios to a chain and to pyriemann."""

from __future__ import annotations

import math
import statistics
import time

import numpy as np
import pytest

from riemdp import SPDAffineInvariant, research
from riemdp.noise import AffineInvariantLaw
from riemdp.noise import _volume_series as series
from riemdp.research import _affine_invariant_draw as laws
from riemdp.research import _shell_envelope as envelopes

BURN_IN = 50_000
MEASURED_STEPS = 300
#: Microseconds per draw.
LIMITS = {2: 10.0, 10: 50.0, 30: 500.0}
#: Draws at once: of more 2 x 2 Laplace draws one may lie too far out for a float64 matrix.
DRAWS = {2: 1_000, 10: 2_000, 30: 600}


def practical_law(kind, k):
    """Return the law at the wide end of the practical regime."""
    growth = math.sqrt(k * (k * k - 1) / 12.0)
    return AffineInvariantLaw(
        kind, SPDAffineInvariant(k), 0.3 if kind == "gaussian" else 0.65 / growth
    )


def footpoint_of(k):
    factor = np.random.default_rng(0).normal(size=(k, 2 * k))
    return factor @ factor.T / (2 * k)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("k", LIMITS)
def test_draws(report, kind, k):
    law, footpoint, size = practical_law(kind, k), footpoint_of(k), DRAWS[k]
    many, flat = report.alternate(
        lambda: research.sample(law, footpoint, size, np.random.default_rng(0)),
        lambda: np.random.default_rng(0).standard_normal((size, k, k)),
    )
    scale = "sigma |delta| = .65" if kind == "laplace" else "sigma = .3"
    micro = 1e6 * many / size
    report.add(
        f"affine-invariant {kind}, k={k}, {scale}: one of {size} draws / its normal numbers",
        f"{micro:.3g} µs",
        f"{1e6 * flat / size:.3g} µs",
        many / flat,
        at_most=LIMITS[k],
        value=micro,
    )


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("k", LIMITS)
def test_set_up(report, kind, k):
    research.sample(practical_law(kind, k), np.eye(k))
    times = []
    for _ in range(5):
        laws.affine_invariant_draw.cache_clear()
        envelopes._build.cache_clear()
        series._log_pfaffian.cache_clear()
        law = practical_law(kind, k)
        start = time.thread_time()
        law.check_drawable()
        research.sample(law, np.eye(k))
        times.append(1e3 * (time.thread_time() - start))
    law = practical_law(kind, k)
    again, _ = report.alternate(lambda: research.sample(law, np.eye(k)), lambda: None, rounds=21)
    first = statistics.median(times)
    report.add(
        f"affine-invariant {kind}, k={k}: first draw, with its set-up / a later single one",
        f"{first:.3g} ms",
        f"{1e3 * again:.3g} ms",
        1e-3 * first / again,
        at_most=100.0,
        value=first,
    )


def metropolis(footpoint, sigma, steps):
    """Plain random-walk Metropolis for exp(-dist(X, footpoint) / sigma), one matrix at a time.

    A step proposes ``L Expm(scale S) L^T`` at ``X = L L^T``; distances are log-eigenvalues of
    ``footpoint^-1 X``.
    """
    k, rng = len(footpoint), np.random.default_rng(1)
    whitener = np.linalg.inv(np.linalg.cholesky(footpoint))
    scale = 2.0 * sigma / math.sqrt(k * (k + 1) / 2)
    state, distance, accepted = footpoint, 0.0, 0
    for _ in range(steps):
        noise = rng.normal(size=(k, k))
        values, vectors = np.linalg.eigh(scale * (noise + noise.T) / 2.0)
        factor = np.linalg.cholesky(state)
        proposal = factor @ (vectors * np.exp(values)) @ vectors.T @ factor.T
        logs = np.log(np.linalg.eigvalsh(whitener @ proposal @ whitener.T))
        proposed = np.linalg.norm(logs)
        if rng.uniform() < math.exp(min(0.0, (distance - proposed) / sigma)):
            state, distance, accepted = proposal, proposed, accepted + 1
    return accepted


@pytest.mark.parametrize("k", LIMITS)
def test_laplace_against_a_chain(report, k):
    law, footpoint = practical_law("laplace", k), footpoint_of(k)
    metropolis(footpoint, law.sigma, 5)
    start = time.thread_time()
    accepted = metropolis(footpoint, law.sigma, MEASURED_STEPS)
    theirs = (time.thread_time() - start) * BURN_IN / MEASURED_STEPS
    assert 0 < accepted <= MEASURED_STEPS
    size = DRAWS[k]

    def draw(number):  # the same draws each time: none of them lies too far out for float64
        return research.sample(law, footpoint, number, np.random.default_rng(0))

    one, _ = report.alternate(lambda: draw(1), lambda: None, rounds=51)
    many, _ = report.alternate(lambda: draw(size), lambda: None)
    for what, ours in (("one draw", one), (f"one of {size} draws", many / size)):
        report.add(
            f"affine-invariant Laplace, k={k}: {BURN_IN} Metropolis steps (scaled up from "
            f"{MEASURED_STEPS}) / {what}",
            f"{1e6 * ours:.3g} µs",
            f"{theirs:.3g} s",
            theirs / ours,
            at_least=1e4 if k == 30 and what != "one draw" else None,
        )


@pytest.mark.parametrize(("k", "method"), [(2, "rejection"), (3, "slice")])
@pytest.mark.parametrize("few", [1, 200])
def test_gaussian_against_pyriemann(report, k, method, few):
    datasets = pytest.importorskip("pyriemann.datasets")
    sample_gaussian = getattr(datasets, "sample_gaussian", None)  # of another name before 0.12
    sample_gaussian = sample_gaussian or datasets.sample_gaussian_spd
    law, mean = AffineInvariantLaw("gaussian", SPDAffineInvariant(k), 0.3), footpoint_of(k)
    size, rng = (1 if few == 1 else 2_000), np.random.default_rng(0)
    ours, peer = report.alternate(
        lambda: research.sample(law, mean, size, rng),
        lambda: sample_gaussian(few, mean, 0.3, random_state=1, sampling_method=method),
    )
    report.add(
        f"affine-invariant Gaussian, k={k}, sigma = .3, per draw: pyriemann's {method} sampler "
        f"({few} at once) / ours ({size} at once)",
        f"{1e6 * ours / size:.3g} µs",
        f"{1e6 * peer / few:.3g} µs",
        (peer / few) / (ours / size),
        at_least=100.0 if k == 3 and few > 1 else None,
    )
