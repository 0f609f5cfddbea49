"""The statements of Jiang et al., NeurIPS 2023, each with its status and a number."""

from __future__ import annotations

import math

import numpy as np

from riemdp import PureDP, convert, frechet_mean_sensitivity
from riemdp.mechanisms import RiemannianGaussian
from riemdp.privacy import GDP
from riemdp.spaces import Euclidean, Hyperbolic, Sphere
from riemdp_papers._experiment import Settings
from riemdp_papers._jiang import _largest_mu, circle_delta, jiang_algorithm_1, jiang_algorithm_2
from riemdp_papers._jiang_checks import (
    chain_distance,
    circle_laws,
    hockey_stick,
    line_laws,
    profile_of_losses,
    sphere_normaliser,
    torus_laws,
    trade_off_mu,
)
from riemdp_papers._reimherr_data import SPHERE
from riemdp_papers._theorems import Statements

_NOTE = "[note](proofs/statements-jiang.md)"
_CURVE = "[curves](proofs/isotropic-curve.md)"
_ERRATA = "[errata](errata.md)"

ROWS = Statements("jiang")
_row = ROWS.row


@_row(
    "Definition 2.2, Definition 3.1",
    "The trade-off function is above that of two normal laws μ apart if and only if δ(ε) ≤ "
    "δ_μ(ε) for all ε ≥ 0.",
    "true",
    f"{_CURVE}, claim 4",
)
def _tests_and_curves() -> str:
    exact = RiemannianGaussian(Sphere(1), 1.0).privacy(1.0).mu()
    return f"S¹, σ = Δ = 1: μ = {trade_off_mu(circle_laws(1.0, 1.0)):.5f} by tests, {exact:.5f}"


@_row(
    "Definition 3.3",
    "Z is finite on compact spaces and Hadamard spaces of bounded curvature; on R^d the law "
    "is normal.",
    "true",
    _NOTE,
)
def _normalisers() -> str:
    found = []
    for name, space in (("R²", Euclidean(2)), ("S²", Sphere(2)), ("H²", Hyperbolic(2))):
        law = RiemannianGaussian(space, 1.0)
        found.append(
            f"{math.exp(-float(law.log_density(space.origin, space.origin))):.4f} ({name})"
        )
    return f"σ = 1: Z = {', '.join(found)}"


@_row(
    "Theorem 3.1",
    "With Ricci curvature bounded below, the Gaussian is μ-GDP for some μ.",
    "true",
    _NOTE,
)
def _some_mu() -> str:
    spaces = (("S¹", Sphere(1)), ("S²", Sphere(2)), ("H²", Hyperbolic(2)))
    found = [f"{RiemannianGaussian(x, 1.0).privacy(1.0).mu():.5f} ({name})" for name, x in spaces]
    return f"σ = Δ = 1: μ = {', '.join(found)}"


@_row(
    "Theorem 3.1 (proof)",
    "The mass beyond r is bounded by that between r and 2r, and divided by Z. (All that lies "
    "beyond counts, and Z may tend to 0 over the space. What is used of Theorem A.1 is true.)",
    "true with a correction",
    _NOTE,
)
def _annulus() -> str:
    # R², sigma = 1: the mass beyond r, and that of the annulus between r and 2 r
    beyond = [math.exp(-0.5 * r**2) for r in (0.5, 1.0)]
    return f"R², σ = 1: {beyond[0]:.3f} lies beyond ½, {beyond[0] - beyond[1]:.3f} between ½ and 1"


@_row(
    "Theorem 3.2",
    "It is μ-GDP if and only if δ(ε) ≤ δ_μ(ε), with δ from the event that the ratio is at "
    "least e^ε.",
    "true",
    f"{_CURVE}, claims 1 and 4",
)
def _mu_from_profile() -> str:
    curve = RiemannianGaussian(Hyperbolic(2), 1.0).privacy(1.0)
    epsilon = np.linspace(0.0, 6.0, 121)
    delta = np.array([curve.delta_at(float(value)) for value in epsilon])
    return (
        f"H², σ = Δ = 1: {_largest_mu(epsilon, delta):.5f} from 121 ε, {curve.mu():.5f} certified"
    )


@_row(
    "Section 3 (flat space)",
    "On R^d equality holds if and only if σ = Δ/μ.",
    "true",
    "[note](proofs/tangent-gaussian.md)",
)
def _flat() -> str:
    laws = line_laws(2.0, 1.0)
    gap = max(abs(hockey_stick(laws, x) - GDP(0.5).delta_at(x)) for x in (0.0, 0.3, 1.0))
    return f"R, σ = 2, Δ = 1: summed δ within {gap:.0e} of that of μ = ½"


@_row(
    "Corollary 3.2.1",
    "On S^1 μ-GDP holds if and only if h(σ, ε, Δ) ≤ δ_μ(ε) up to ε = πΔ/(2σ²). (h and the "
    'range are too small; "only if" needs neighbours at distance Δ.)',
    "true with a correction",
    f"{_ERRATA}, {{func}}`~riemdp_papers.jiang_algorithm_1`",
)
def _circle() -> str:
    printed, right = (
        float(circle_delta(np.array([1.5]), 1.0, 1.0, as_printed=flag)[0]) for flag in (True, False)
    )
    summed = hockey_stick(circle_laws(1.0, 1.0), 1.5)
    return f"σ = Δ = 1, ε = 1.5: h = {printed:.4f}, corrected {right:.4f}, summed {summed:.4f}"


@_row(
    "Algorithm 1",
    "Computes μ on S^1 from a grid of ε. (It leaves out 0, where the largest μ is, and "
    "returns too little.)",
    "true with a correction",
    "{func}`~riemdp_papers.jiang_algorithm_1`",
)
def _grid() -> str:
    values = [
        jiang_algorithm_1(Sphere(1), 1.0, 1.0, epsilons=10, as_printed=flag)
        for flag in (True, False)
    ]
    return f"10 steps, σ = Δ = 1: {values[0]:.5f} as printed, {values[1]:.5f} right"


@_row(
    "Definition 4.1, Proposition 4.1",
    "On a homogeneous space the normaliser does not depend on the footpoint.",
    "true",
    "[note](proofs/riemannian-laplace.md), claim 1",
)
def _normaliser_moves() -> str:
    space = Sphere(2)
    other = space.exp(space.origin, space.tangent_vector(space.origin, np.array([1.0, 0.7])))
    sphere = [sphere_normaliser(x, 0.5) for x in (space.origin, other)]
    # on [-1, 1], which is not homogeneous, about its middle and its end
    middle, end = 2.0 * math.erf(math.sqrt(2.0)), math.erf(2.0 * math.sqrt(2.0))
    return (
        f"σ = ½: summed over S², Z = {sphere[0]:.4f} and {sphere[1]:.4f} about two points; on "
        f"[-1, 1] the middle has {middle / end:.3f} times that of the end"
    )


@_row(
    "Theorem 4.1",
    "On constant curvature μ-GDP holds if and only if it does for one pair of footpoints at "
    'distance Δ. (That nearer pairs are no worse is missing in its proof; it is true. "Only '
    'if" needs neighbours at distance Δ, of which Definition 3.2 makes an upper bound.)',
    "true with a correction",
    f"{_CURVE}, claim 6",
)
def _grows() -> str:
    law = RiemannianGaussian(Sphere(2), 1.0)
    found = [law.privacy(x).delta_at(0.2) for x in (0.25, 0.5, 1.0)]
    return "S², σ = 1: δ(0.2) = " + ", ".join(f"{x:.4f}" for x in found) + " at ρ = ¼, ½, 1"


@_row(
    "Algorithm 2",
    "Computes μ by Monte Carlo. (Without a bound on the error it reports too little in many runs.)",
    "false",
    "{func}`~riemdp_papers.jiang_algorithm_2`; what holds: " + _CURVE,
)
def _monte_carlo() -> str:
    generator = Settings(quick=True).generator("jiang", "statements")
    exact = RiemannianGaussian(Sphere(1), 4.0).privacy(1.0).mu()
    runs = [jiang_algorithm_2(Sphere(1), 4.0, 1.0, generator=generator) for _ in range(8)]
    low = sum(run < exact for run in runs)
    return (
        f"S¹, σ = 4, Δ = 1: {low} of 8 runs below the true {exact:.4f}, from {min(runs):.4f} to "
        f"{max(runs):.4f}"
    )


@_row(
    "Section 4.1",
    "A Metropolis–Hastings chain draws from the law. (In the limit; distances in total "
    "variation add to δ.)",
    "true with a correction",
    "[exact draws](proofs/exact-samplers.md)",
)
def _chain() -> str:
    near, far = (
        [f"{chain_distance(0.25, steps, antipode=flag):.2g}" for steps in (10, 30, 60)]
        for flag in (False, True)
    )
    return (
        f"S¹, σ = ¼, after 10, 30, 60 steps: off by {', '.join(near)} from the footpoint, "
        f"{', '.join(far)} from its antipode"
    )


@_row(
    "Section 5",
    "ε-DP implies μ-GDP with μ = -2Φ⁻¹(1/(1 + e^ε)) ≤ √(π/2) ε. (The Laplace law's own μ is "
    "smaller.)",
    "true, sharper here",
    "[note](proofs/riemannian-laplace.md), claim 4",
)
def _from_epsilon() -> str:
    mu = convert(PureDP(1.0), GDP).mu
    return f"ε = 1: μ = {mu:.5f} ≤ {math.sqrt(0.5 * math.pi):.5f}"


@_row(
    "Section 5.1",
    "The sensitivity of the Fréchet mean is at most 2r(2 - h)/(nh).",
    "true, sharper here",
    "[note](proofs/frechet-mean-sensitivity.md)",
)
def _sensitivity() -> str:
    found = [1000 * frechet_mean_sensitivity(SPHERE, 1000, bound=x) for x in ("theorem", "exact")]
    return f"r = π/8: {found[0]:.3f}/n printed, {found[1]:.3f}/n exact"


@_row("Appendix A.1", "δ(ε) is P(L > ε) - e^ε Q(L' < -ε).", "true", f"{_CURVE}, claim 1")
def _profile() -> str:
    laws = circle_laws(1.0, 1.0)
    both = profile_of_losses(laws, 0.5), hockey_stick(laws, 0.5)
    return f"S¹, σ = Δ = 1, ε = ½: {both[0]:.6f} from the losses, {both[1]:.6f} over all events"


@_row(
    "Theorem A.1",
    "μ-GDP if and only if μ ≥ μ₀, the root of lim ε²/(-2 log δ(ε)). (μ₀ < ∞ says that "
    "there is a μ, not which.)",
    "false",
    _NOTE,
)
def _limit() -> str:
    curve = RiemannianGaussian(Sphere(1), 1.0).privacy(1.0)
    wide = RiemannianGaussian(Hyperbolic(2), 100.0).privacy(1.0)
    return (
        f"Δ = 1: S¹, σ = 1: δ(2.7) = {curve.delta_at(2.7):g}, so μ₀ = 0, μ = {curve.mu():.5f}; "
        f"H², σ = 100: μ₀ ≤ .01, μ = {wide.mu():.4f}"
    )


@_row(
    "Theorem A.2",
    "Bishop–Gromov: balls over balls of the model space do not increase with the radius.",
    "true",
    _NOTE,
)
def _volumes() -> str:
    ratio = [2.0 * (1.0 - math.cos(r)) / r**2 for r in (0.5, 1.0, 2.0, 3.0)]
    return "S² to R²: " + ", ".join(f"{x:.3f}" for x in ratio) + " at r = ½, 1, 2, 3"


@_row(
    "Definition A.5",
    "Spaces of constant curvature, here by definition simply connected and isotropic, are "
    "R^d, spheres and H^d. (In the wider sense a flat torus is one too; Theorem 4.1 does not "
    "hold there.)",
    "true",
    _NOTE,
)
def _torus() -> str:
    apart = 2.5
    half = apart / math.sqrt(2.0)
    found = [hockey_stick(torus_laws(x, 1.5), 0.0) for x in ((apart, 0.0), (half, half))]
    return (
        f"flat torus, σ = 1.5, Δ = 2.5: δ(0) = {found[0]:.4f} along a circle, {found[1]:.4f} across"
    )
