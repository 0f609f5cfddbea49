"""The statements of Soto, "Rao differential privacy", each with its status and a number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp import convert
from riemdp.mechanisms import TangentGaussian
from riemdp.privacy import (
    GDP,
    KLDP,
    ApproxDP,
    PureDP,
    RaoDP,
    compose,
    normal_fisher_rao_distance,
)
from riemdp.research import GeneralizedGaussian
from riemdp_papers._soto import generalized_information, laplace_affinity
from riemdp_papers._soto_releases import LINE, gaussian, laplace, laplace_divergence, shown
from riemdp_papers._theorems import Statements

if TYPE_CHECKING:
    from riemdp_papers._experiment import FloatArray

_RAO = "[note](proofs/rao.md)"
_CONVERSIONS = "[note](proofs/privacy-conversions.md)"
_NOTE = "[note](proofs/statements-soto.md)"
_GRID = np.linspace(-40.0, 40.0, 160_001)

ROWS = Statements("soto")
_row = ROWS.row


def _mass(values: FloatArray) -> float:
    """Integral over the grid, of values that vanish at its ends."""
    return float(np.sum(values)) * float(_GRID[1] - _GRID[0])


@_row(
    "Definition 2.1",
    "A bound of the log ratio of probabilities of all events, or of densities.",
    "true",
    _CONVERSIONS,
)
def _indistinguishable() -> str:
    loss = np.abs(_GRID - 1.0) - np.abs(_GRID)
    tail = _mass(np.where(_GRID < 0.0, 0.5 * np.exp(-np.abs(_GRID)), 0.0))
    other = _mass(np.where(_GRID < 0.0, 0.5 * np.exp(-np.abs(_GRID - 1.0)), 0.0))
    return (
        f"Laplace, Δ = σ: log ratio {np.max(loss):g} of densities, {math.log(tail / other):.4f} of "
        "the event x < 0"
    )


def mixture_weight(epsilon: float) -> float:
    """Least ``delta`` of a mixture that the Gaussian with ``Delta = sigma`` can be made of.

    The mixture reveals all with probability ``delta`` and is the ``epsilon``-randomised response
    else. By Blackwell's theorem the Gaussian is a post-processing of it if and only if its errors
    of the second kind are nowhere less than ``1 - delta - exp(epsilon) alpha`` (the other piece of
    the mixture's trade-off function is the mirror image).
    """
    threshold = np.linspace(-9.0, 9.0, 200_001)
    alpha = scipy.special.ndtr(-threshold)
    beta = scipy.special.ndtr(threshold - 1.0)
    return float(np.max(1.0 - math.exp(epsilon) * alpha - beta))


@_row(
    "Definition 2.2",
    "δ is the probability that pure ε is violated. (Of a mixture: the mechanism is processed "
    "from one that reveals all with probability δ and is ε-DP else. Not of the loss: P(loss > "
    "ε) ≥ δ.)",
    "true with a correction",
    _NOTE,
)
def _leakage() -> str:
    delta = gaussian(1.0).privacy(1.0).delta_at(1.0)
    beyond = float(scipy.special.ndtr(-0.5))
    return (
        f"Gaussian, Δ = σ, ε = 1: δ = {delta:.4f}, P(loss > ε) = {beyond:.4f}, least weight of "
        f"such a mixture {mixture_weight(1.0):.4f}"
    )


@_row(
    "Definition 2.3, Definition 2.6, Definition 2.7",
    "Rényi divergences, with KL as the limit at order 1. (The expectation is under f₂.)",
    "true with a correction",
    f"{_CONVERSIONS}, erratum 6",
)
def _divergence_limit() -> str:
    first, second = (0.5 * np.exp(-np.abs(_GRID - x)) for x in (0.0, 1.0))
    ratio = first / second
    under = [math.log(_mass(law * ratio**1.01)) / 0.01 for law in (second, first)]
    exact = laplace_divergence(1.0, 1.01)
    return (
        f"Laplace, Δ = σ, order 1.01: {under[0]:.4f} under f₂ (exact {exact:.4f}), {under[1]:.1f} "
        "under f₁"
    )


@_row(
    "Definition 2.4, Definition 2.5",
    "KL privacy bounds the divergence for all D ~ D', so in both orders.",
    "true",
    _CONVERSIONS,
)
def _both_orders() -> str:
    # P = (1 - s, s), Q = (1, 0): the order (Q, P) is small, the other infinite
    return f"P = (.9, .1), Q = (1, 0): KL(Q‖P) = {-math.log(0.9):.4f}, but KL(P‖Q) = ∞: no α serves"


@_row(
    "Example 1",
    "The Fisher–Rao distance of normal laws. (With √2 for 2√2; Δ/σ is the length at fixed σ.)",
    "true with a correction",
    f"{_RAO}, claim 6",
)
def _distances() -> str:
    exact = normal_fisher_rao_distance(0.0, 1.0, 0.0, 2.0)
    # the length of the path of standard deviations, in steps: each is sqrt 2 |ds| / s
    steps = np.linspace(1.0, 2.0, 100_001)
    length = math.sqrt(2.0) * float(np.sum(np.diff(steps) / (0.5 * (steps[1:] + steps[:-1]))))
    one = normal_fisher_rao_distance(0.0, 1.0, 1.0, 1.0)
    return (
        f"N(0, 1) to N(0, 4): {2.0 * exact:.5f} printed, {exact:.5f}, path {length:.5f}; to "
        f"N(1, 1): 1 printed, {one:.5f}"
    )


@_row(
    "Definition 3.1",
    "θ bounds the Rao distance of the laws. (Two distances bear that name; each budget says "
    "which.)",
    "true with a correction",
    f"{_RAO}, {{class}}`~riemdp.RaoDP`",
)
def _two_distances() -> str:
    return (
        f"Laplace, Δ = σ: length {laplace(1.0).rao(1.0, 'parametric').theta:.4f}, angle "
        f"{2.0 * math.acos(laplace_affinity(1.0)):.4f}"
    )


def _two_lengths() -> RaoDP:
    both = compose([RaoDP(1.0, distance="parametric")] * 2)
    assert isinstance(both, RaoDP)
    return both


@_row(
    "Lemma 3.2",
    "Budgets compose to √(θ₁² + θ₂²). (Lengths do; angles to cos(θ/2) = Π cos(θᵢ/2).)",
    "true with a correction",
    f"{_CONVERSIONS}, section 7",
)
def _composition() -> str:
    single, both = (2.0 * math.acos(laplace_affinity(1.0) ** k) for k in (1, 2))
    path = _two_lengths().theta
    return (
        f"two Laplace releases, Δ = σ: length {path:.4f} = √2; angle {both:.4f}, not "
        f"{math.sqrt(2.0) * single:.4f}"
    )


@_row(
    "Table 1",
    "The rules of eight definitions. (Approximate: not tight; mean-concentrated: not for "
    "mechanisms that are chosen adaptively.)",
    "true, sharper here",
    f"{_CONVERSIONS}, section 7",
)
def _table() -> str:
    return f"(½, .1) twice: {shown(compose([ApproxDP(0.5, 0.1)] * 2))} is enough, printed (1, .2)"


@_row(
    "Theorem 3.3",
    "Post-processing keeps θ. (Of the angle, and of the processed path; not by the printed proof.)",
    "true with a correction",
    f"{_CONVERSIONS}, section 2",
)
def _processing() -> str:
    # the sign of a Laplace release: two outcomes
    positive = 0.5 * math.exp(-1.0), 0.5
    affinity = sum(math.sqrt(p * q) for p, q in (positive, tuple(1.0 - x for x in positive)))
    before = laplace_affinity(1.0)
    angle = 2.0 * math.acos(affinity)
    return (
        f"Laplace, Δ = σ, only its sign: angle {2.0 * math.acos(before):.4f} → {angle:.4f}; "
        f"affinity ≤ θ, as printed, would be {affinity:.3f} ≤ .856"
    )


@_row(
    "Definition 4.1, Definition 4.3, Theorem 4.2",
    "The Rao distance of Laplace laws is Δ/σ. (The length; the densities are printed "
    "without a minus.)",
    "true with a correction",
    f"{_RAO}, claim 2",
)
def _laplace_path() -> str:
    numeric = math.sqrt(generalized_information(1.0, 2.0, as_printed=False))
    return (
        f"σ = 2, Δ = 1: {numeric:.6f} by quadrature, {laplace(0.5).rao(1.0, 'parametric').theta:g}"
    )


@_row(
    "Theorem 4.4",
    "The Laplace mechanism with σ ≥ Δ/θ is θ-Rao private.",
    "true",
    f"{_RAO}, claim 2",
)
def _laplace_scale() -> str:
    found = laplace(1.0).rao(1.0, "parametric"), laplace(1.01).rao(1.0, "parametric")
    return f"θ = 1: σ = Δ has {found[0].theta:g}, σ = Δ/1.01 has {found[1].theta:g}"


@_row(
    "Corollary 4.5",
    "The Laplace mechanism that is ε-DP has θ = ε. (Its angle is smaller, and that of every "
    "ε-DP mechanism.)",
    "true, sharper here",
    f"{_CONVERSIONS}, section 2",
)
def _pure_angle() -> str:
    length, angle = (laplace(1.0).rao(1.0, x).theta for x in ("parametric", "angle"))
    every = convert(PureDP(1.0), RaoDP, distance="angle").theta
    return f"ε = 1: length {length:g}, angle {angle:.4f}, of all 1-DP mechanisms {every:.4f}"


@_row(
    "Section 4.1",
    "At θ = ε the Laplace mechanism composes more tightly under Rao privacy, with the same "
    "properties. (The number is the same, what it says is not.)",
    "false",
    f"{_CONVERSIONS}, section 1",
)
def _same_number() -> str:
    curve = laplace(1.0).privacy(1.0).self_compose(2)
    theta, root = _two_lengths(), math.sqrt(2.0)
    epsilon = float(curve.epsilon_at(0.0))
    return (
        f"two releases, Δ = σ: ε = {epsilon:.4g} at δ = 0, δ = {curve.delta_at(root):.4f} at ε = "
        f"√2; θ = {theta.theta:.4f} alone leaves δ = {theta.delta_at(root):.3f} there"
    )


@_row(
    "Theorem 4.6, Definition 4.7",
    "The Rao distance of normal laws at one σ is Δ/σ. (The length within these laws.)",
    "true with a correction",
    f"{_RAO}, claim 2",
)
def _gaussian_path() -> str:
    numeric = math.sqrt(generalized_information(2.0, 2.0 * math.sqrt(2.0), as_printed=False))
    return (
        f"σ = 2, Δ = 1: {numeric:.6f} by quadrature, {gaussian(0.5).rao(1.0, 'parametric').theta:g}"
    )


@_row(
    "Theorem 4.8",
    "The Gaussian mechanism with σ ≥ Δ/θ is θ-Rao private.",
    "true",
    f"{_RAO}, claim 2",
)
def _gaussian_scale() -> str:
    found = gaussian(1.0).rao(1.0, "parametric"), gaussian(1.01).rao(1.0, "parametric")
    calibrated = TangentGaussian.calibrate(LINE, 1.0, RaoDP(0.5, distance="parametric"))
    return (
        f"θ = 1: σ = Δ has {found[0].theta:g}, σ = Δ/1.01 has {found[1].theta:g}; "
        f"θ = ½, Δ = 1: σ = {calibrated.sigma:.6f}"
    )


@_row(
    "Corollary 4.9",
    "The Gaussian of an (ε, δ) has θ = ε/√(2 log(1.25/δ)), that of μ has θ = μ. (The first "
    "for the classical scale, whose (ε, δ) needs ε < 1.)",
    "true with a correction",
    "[note](proofs/tangent-gaussian.md)",
)
def _classical() -> str:
    delta = 0.05
    inside, beyond = (
        gaussian(x / math.sqrt(2.0 * math.log(1.25 / delta))).privacy(1.0).delta_at(x)
        for x in (0.9, 12.0)
    )
    mu = gaussian(0.7)
    return (
        f"δ = .05 by the classical scale: {inside:.4f} at ε = .9, {beyond:.4f} at ε = 12; "
        f"μ = θ = {mu.privacy(1.0).mu():g} at Δ/σ = .7"
    )


@_row(
    "Section 4.2",
    "Rao privacy has no δ and allows no leakage.",
    "false",
    f"{_CONVERSIONS}, section 1",
)
def _no_leakage() -> str:
    angle = RaoDP(0.1, distance="angle")
    return (
        f"θ = .1: δ = {angle.delta_at(50.0):.5f} at ε = 50, sin²(θ/2) = {math.sin(0.05) ** 2:.5f}"
    )


@_row(
    "Theorem 4.10, Definition 4.11",
    "θ of the generalised Gaussian. (Of exp(-|x - m|ᴺ/σᴺ), and for N > ½.)",
    "true with a correction",
    f"{_RAO}, claim 5",
)
def _generalized() -> str:
    printed, right = (
        math.sqrt(generalized_information(3.0, 2.0, as_printed=flag)) for flag in (True, False)
    )
    formula = GeneralizedGaussian(2.0, 3.0).rao(1.0, "parametric").theta
    return (
        f"N = 3, σ = 2, Δ = 1: {formula:.4f} by the formula, {right:.4f} of exp(-|x|ᴺ/σᴺ), "
        f"{printed:.4f} of exp(-|x|ᴺ/σ)"
    )


def spread(power: float, theta: float = 1.0) -> tuple[float, float]:
    """Scale and standard deviation of the generalised Gaussian with parametric ``theta``.

    At sensitivity 1, for a power above 1/2. By Cramér and Rao the standard deviation is at least
    ``1 / theta``.
    """
    scale = GeneralizedGaussian(1.0, power).rao(1.0, "parametric").theta / theta
    return scale, scale * math.sqrt(math.gamma(3.0 / power) / math.gamma(1.0 / power))


@_row(
    "Theorem 4.12",
    "σ for θ by that formula; the spread parameter σ increases with N. (From N = .741 on; "
    "the standard deviation is least at N = 2.)",
    "true with a correction",
    _NOTE,
)
def _spread() -> str:
    found = [spread(power) for power in (0.6, 0.75, 1.0, 2.0, 4.0)]
    scales, deviations = zip(*found, strict=True)
    return (
        "θ = Δ = 1, N = .6, .75, 1, 2, 4: σ = "
        + ", ".join(f"{x:.3f}" for x in scales)
        + "; standard deviation "
        + ", ".join(f"{x:.3f}" for x in deviations)
    )


@_row(
    "Section 5",
    "Divergences are about the square roots of distances, which inflates their composition. "
    "(They are half their squares, and adding squares is the same rule.)",
    "false",
    _NOTE,
)
def _inflated() -> str:
    angle = gaussian(0.1).rao(1.0, "parametric").theta
    kl = convert(GDP(0.1), KLDP).alpha
    rho = 100.0 * 0.5 * 0.1**2
    return (
        f"Gaussian, Δ = .1 σ: θ = {angle:g}, KL = {kl:g} = θ²/2; 100 releases: ρ = {rho:g}, the "
        f"ρ = θ²/2 of θ = {math.sqrt(2.0 * rho):g}"
    )


@_row(
    "Definition C.1, Section C.1",
    "GDP and Rao privacy measure the same thing (suspected). (They do for normal laws. Else "
    "GDP implies an angle, no angle implies GDP, and of length and μ either may be the "
    "larger.)",
    "false",
    f"{_CONVERSIONS}, sections 1 and 2",
)
def _same_thing() -> str:
    angle = convert(GDP(1.0), RaoDP, distance="angle")
    delta = [x.delta_at(6.0) for x in (angle, GDP(1.0))]
    tight = convert(PureDP(1.0), GDP).mu
    mu = ", ".join(f"{laplace(1.0).privacy(x).mu() / x:.4f}" for x in (1.0, 1.1948, 2.0))
    return (
        f"μ = 1 implies θ = {angle.theta:.4f}, which leaves δ(6) = {delta[0]:.4f}, μ itself "
        f"{delta[1]:.0e}; Laplace: μ/θ = {mu} at Δ/σ = θ = 1, 1.1948, 2; μ of all 1-DP {tight:.4f}"
    )
