"""Exact privacy curves on spheres and hyperbolic spaces against Monte Carlo and flat space."""

from __future__ import annotations

import itertools
import math
import statistics
import time

import numpy as np
import pytest
import scipy

from riemdp import GDP, ApproxDP, Euclidean, Hyperbolic, NotAttainableError, Sphere
from riemdp.mechanisms import RiemannianGaussian, _calibration
from riemdp.privacy._isotropic_curve import IsotropicCurve
from riemdp.research import Metropolis
from riemdp_papers import jiang_algorithm_2

SPACES = [Sphere(2), Sphere(3), Sphere(9), Hyperbolic(2), Hyperbolic(3), Hyperbolic(9)]
CONFIGURATIONS = [
    (kind, manifold, sigma, sensitivity)
    for kind, manifold, sigma, sensitivity in itertools.product(
        ["gaussian", "laplace"], SPACES, [0.25, 1.0, 3.0], [0.1, 1.0]
    )
    # where the Laplace law has a normaliser
    if kind == "gaussian" or manifold.curvature > 0.0 or sigma * (manifold.dim - 1) < 1.0
]
RELATIVE_EPSILON = np.linspace(0.0, 2.0, 200)
CHAIN_STEPS, CHAIN_DRAWS = 200, 20


def curve(kind, manifold, sigma, sensitivity):
    return IsotropicCurve(
        kind,
        manifold.dim,
        manifold.constant_curvature,
        sigma,
        sensitivity,
        manifold.injectivity_radius,
    )


def label(configuration):
    kind, manifold, sigma, sensitivity = configuration
    return f"{kind}, {manifold}, sigma={sigma:g}, sensitivity={sensitivity:g}"


def milliseconds(function, rounds=5):
    function()
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return 1e3 * statistics.median(times)


@pytest.mark.parametrize(("number", "limit"), [(1, 2.0), (200, 10.0)])
def test_delta(report, number, limit):
    """A fresh curve each time: nothing is kept from one call to the next."""
    epsilon = np.linspace(0.0, 1.0, number + 1)[1:]
    taken = [
        (milliseconds(lambda c=c: curve(*c).delta_at(epsilon * epsilon_scale(c))), label(c))
        for c in CONFIGURATIONS
    ]
    flat = milliseconds(lambda: curve("gaussian", Euclidean(2), 1.0, 1.0).delta_at(epsilon))
    worst, where = max(taken)
    median = statistics.median(t for t, _ in taken)
    for name, ours in (("median", median), (f"slowest ({where})", worst)):
        report.add(
            f"{number} delta, {name} of {len(taken)} curves / the closed form of flat space",
            f"{ours:.2f} ms",
            f"{flat:.2f} ms",
            ours / flat,
            at_most=limit,
            value=ours,
        )


def epsilon_scale(configuration):
    """Return an epsilon at which delta is small but not zero."""
    kind, _, sigma, sensitivity = configuration
    ratio = sensitivity / sigma
    return 0.8 * ratio if kind == "laplace" else ratio * (0.5 * ratio + 1.5)


def test_mu_bracket(report):
    taken, widest = [], 0.0
    for c in CONFIGURATIONS:
        lower, upper = curve(*c).mu_bracket()
        widest = max(widest, upper / lower - 1.0)
        taken.append((milliseconds(lambda c=c: curve(*c).mu_bracket()), label(c)))
    deltas = statistics.median(
        milliseconds(lambda c=c: curve(*c).delta_at(RELATIVE_EPSILON * epsilon_scale(c)))
        for c in CONFIGURATIONS[::6]
    )
    worst, where = max(taken)
    median = statistics.median(t for t, _ in taken)
    for name, ours, limit in (("median", median, 10.0), (f"slowest ({where})", worst, 70.0)):
        report.add(
            f"mu bracket, {name} of {len(taken)} curves, widest {widest:.1e} / 200 delta",
            f"{ours:.2f} ms",
            f"{deltas:.2f} ms",
            ours / deltas,
            at_most=limit,
            value=ours,
        )


@pytest.mark.parametrize("budget", [GDP(1.0), GDP(20.0), ApproxDP(1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(2), Sphere(9)], ids=str)
def test_calibration(report, manifold, budget):
    def ours():
        """Nothing is kept from one call to the next."""
        for cached in (
            _calibration.isotropic_curve,
            _calibration._delta_scale,
            _calibration._mu_scale,
        ):
            cached.cache_clear()
        return RiemannianGaussian.calibrate(manifold, 1.0, budget)

    def flat():
        return RiemannianGaussian.calibrate(Euclidean(manifold.dim), 1.0, budget)

    try:
        ours()
    except NotAttainableError:
        pytest.skip(f"{budget} is not attainable on {manifold}")
    mine, peer = report.alternate(ours, flat)
    report.add(
        f"calibrated Gaussian on {manifold} for {budget} / on flat space",
        f"{1e3 * mine:.1f} ms",
        f"{1e3 * peer:.2f} ms",
        mine / peer,
        at_most=150.0,
        value=1e3 * mine,
    )


def mu_on_the_sphere(sigma, sensitivity):
    """``mu`` at ``epsilon = 0`` on S^2: a half sphere in polar coordinates, general quadrature."""

    def weight(r):
        return math.sin(r) * math.exp(-0.5 * (r / sigma) ** 2)

    def nearer(r):
        cosine = math.tan(0.5 * sensitivity) / math.tan(r)
        return weight(r) * (1.0 - math.acos(max(-1.0, min(1.0, cosine))) / math.pi)

    half = 0.5 * sensitivity
    ends = [1e-300, half, math.pi - half, math.pi]
    share, mass = (
        math.fsum(
            scipy.integrate.quad(f, a, b, epsabs=1e-15, epsrel=1e-13, limit=400)[0]
            for a, b in itertools.pairwise(ends)
        )
        for f in (nearer, weight)
    )
    return 2.0 * float(scipy.special.ndtri(share / mass))


@pytest.mark.parametrize("sigma", [0.25, 1.0, 2.0])
def test_mu_against_algorithm_2(report, sigma):
    manifold, generator = Sphere(2), np.random.default_rng(0)

    def ours():
        return curve("gaussian", manifold, sigma, 1.0).mu_bracket()

    def monte_carlo():
        return jiang_algorithm_2(manifold, sigma, 1.0, generator=generator)

    mine, peer = report.alternate(ours, monte_carlo)
    chain = Metropolis(manifold, sigma, "gaussian", steps=CHAIN_STEPS)
    start = time.thread_time()
    jiang_algorithm_2(manifold, sigma, 1.0, draws=CHAIN_DRAWS, law=chain, generator=generator)
    chains = (time.thread_time() - start) * 1000 / CHAIN_DRAWS
    for law, theirs in (
        ("exact draws", peer),
        (f"a chain of {CHAIN_STEPS} steps per draw (scaled up from {CHAIN_DRAWS})", chains),
    ):
        report.add(
            f"mu on S^2, sigma={sigma:g}: Algorithm 2 (1000 draws, 100 repeats, 1000 epsilon) with "
            f"{law} / bracket",
            f"{1e3 * mine:.2f} ms",
            f"{1e3 * theirs:.4g} ms",
            theirs / mine,
            at_least=30.0,
        )
    exact = mu_on_the_sphere(sigma, 1.0)
    runs = np.array([monte_carlo() for _ in range(10)]) / exact - 1.0
    error = float(np.sqrt(np.mean(np.square(runs))))
    lower, upper = ours()
    for name, value, target in (
        ("lower end", abs(lower / exact - 1.0), 1e6),
        ("safe upper end", upper / exact - 1.0, None),
    ):
        report.add(
            f"error of mu on S^2, sigma={sigma:g}: Algorithm 2 (10 runs, {np.sum(runs < 0.0)} too "
            f"low) / {name} of the bracket",
            f"{value:.1e}",
            f"{error:.1e}",
            error / value,
            at_least=target,
        )
