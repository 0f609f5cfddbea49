"""The statements of He et al. (2025), each with its status and a number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp import Ball, frechet_mean_sensitivity
from riemdp.mechanisms import RiemannianLaplace
from riemdp.research import RestrictedLaplace
from riemdp.spaces import Euclidean, Sphere
from riemdp_papers._he_bounds import (
    cap_supremum,
    circle_poisson,
    hemisphere_supremum,
    hyperbolic_error,
    published_acceptance_error,
    step_error,
    stretch,
    worst_step,
)
from riemdp_papers._he_loss import EPSILON, log_density, neighbours, published_law, true_loss
from riemdp_papers._reimherr_data import SPHERE, worst_pair
from riemdp_papers._theorems import Statements

if TYPE_CHECKING:
    from riemdp_papers._experiment import FloatArray

_NOTE = "[note](proofs/statements-he.md)"
_CONFORMAL = "[conformal noise](conformal.md#errata-of-the-paper)"
_PROOF = "[note](proofs/conformal-laplace.md)"
_TURN = 2.0 * math.pi * np.arange(512) / 512

ROWS = Statements("he")
_row = ROWS.row


def _circumference(scaling: float) -> float:
    """Length of the circle in ``exp(2 scaling) g`` over that in ``g``, by a polygon's sides."""
    corners = Sphere(1, math.exp(-2.0 * scaling))
    points = math.exp(scaling) * np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1)
    sides = corners.dist(points, np.roll(points, 1, axis=0))
    return float(np.sum(sides)) / (2.0 * math.pi)


@_row(
    "Section II-C",
    "Under g⋆ = e^(2σ)g lengths are stretched by e^(2σ). (By e^σ; inner products by e^(2σ).)",
    "true with a correction",
    _CONFORMAL,
)
def _lengths() -> str:
    return f"σ = ln 2 on S¹: around it {_circumference(math.log(2.0)):.3f} times as long, not 4"


def _density() -> FloatArray:
    density = np.exp(np.cos(_TURN))
    return np.asarray(density / (np.mean(density) * 2.0 * math.pi))


@_row(
    "Section III-A",
    "Δσ = -f has a solution for a density f on a closed manifold. (Not before its mean is "
    "taken off, as is done further down.)",
    "true with a correction",
    _NOTE,
)
def _no_mean() -> str:
    left = circle_poisson(-_density())[1]
    return f"S¹, any density: Δσ misses -f by at least {left:.4f} = 1/2π"


@_row("Lemma III.1", "Δσ = H has a smooth solution if and only if H has mean 0.", "true", _NOTE)
def _with_mean() -> str:
    density = _density()
    solution, left = circle_poisson(np.mean(density) - density)
    off = "solved to 1e-9" if left < 1e-9 else f"off by {left:.0e}"
    return f"S¹, f ∝ exp(cos): {off}, σ from {solution.min():.4f} to {solution.max():.4f}"


@_row(
    "Lemma III.2", "Two solutions differ by a harmonic function, that is a constant.", "true", _NOTE
)
def _unique() -> str:
    # the harmonic functions on the grid: the null space of the second difference
    second = np.roll(np.eye(64), 1, axis=0) + np.roll(np.eye(64), -1, axis=0) - 2.0 * np.eye(64)
    return f"S¹, 64 points: {64 - np.linalg.matrix_rank(second)} harmonic function, the constant"


@_row(
    "Theorem III.3",
    "Ω[σ] = H(x, σ) has a smooth solution for every strongly elliptic Ω and smooth H.",
    "false",
    _NOTE,
)
def _no_solution() -> str:
    return f"S¹, H = 1: Δσ misses H by at least {circle_poisson(np.ones(512))[1]:g}"


@_row(
    "Theorem III.4 (1)",
    "sup|σ| ≤ sup|f|/λ₁. (True of a density on the spheres up to S⁶.)",
    "false",
    _NOTE,
)
def _norm_bound() -> str:
    mean_zero = [hemisphere_supremum(dim) for dim in (1, 2, 3)]
    density = [cap_supremum(dim) for dim in (1, 6, 7, 12)]
    return (
        "λ₁ sup|σ| = "
        + ", ".join(f"{x:.4f}" for x in mean_zero)
        + " on S¹, S², S³ for |f| ≤ 1; "
        + ", ".join(f"{x:.4f}" for x in density)
        + " on S¹, S⁶, S⁷, S¹² for a density, f ≤ 1"
    )


@_row(
    "Theorem III.4 (2)",
    "-fmax/λ₁ ≤ σ ≤ -fmin/λ₁, and the bounds of φ that follow. (Neither of a density nor of f "
    "with mean zero.)",
    "false",
    _NOTE,
)
def _extremal() -> str:
    source = 1.0 + np.cos(_TURN)
    solution, _ = circle_poisson(np.mean(source) - source)
    return (
        f"S¹, f = 1 + cos: σ from {solution.min():g} to {solution.max():g}, bounds -2 and 0; f = "
        f"±1 on the halves: σ to {hemisphere_supremum(1):.4f}, bounds -1 and 1"
    )


@_row(
    "Lemma III.5",
    "φ has a positive minimum and a finite maximum. (On compact spaces; a mechanism does "
    "not know them beforehand.)",
    "true",
    _CONFORMAL,
)
def _factor_range() -> str:
    density = _density()
    factor = np.exp(2.0 * circle_poisson(np.mean(density) - density)[0])
    return f"S¹, f ∝ exp(cos): φ from {factor.min():.4f} to {factor.max():.4f}"


@_row("Corollary III.6", "√φmin ρ ≤ ρ⋆ ≤ √φmax ρ.", "true", _NOTE)
def _bi_lipschitz() -> str:
    low, high = stretch(0.5)
    return (
        f"S¹, φ = exp(cos): ρ⋆/ρ from {low:.4f} to {high:.4f}, bounds {math.exp(-0.5):.4f} and "
        f"{math.exp(0.5):.4f}"
    )


@_row("Section III-C", "The volume of φg is φ^(d/2) times that of g.", "true", _PROOF)
def _volume() -> str:
    # phi = 4 / (1 + r^2)^2 makes a sphere of R^3, by stereographic projection
    total = scipy.integrate.quad(
        lambda r: 4.0 * math.pi * r**2 * (2.0 / (1.0 + r**2)) ** 3, 0, np.inf
    )
    return f"R³ as S³: ∫φ^(3/2) = {total[0]:.4f}, 2π² = {2.0 * math.pi**2:.4f}"


@_row(
    "Definition IV.1",
    "The sensitivity of the Fréchet mean is at most 2r(2 - h)/(nh).",
    "true, sharper here",
    "[note](proofs/frechet-mean-sensitivity.md)",
)
def _sensitivity() -> str:
    found = [1000 * frechet_mean_sensitivity(SPHERE, 1000, bound=x) for x in ("theorem", "exact")]
    return f"S², r = π/8: {found[0]:.3f}/n printed, {found[1]:.3f}/n exact"


@_row(
    "Theorem IV.2",
    "e^(-λ⋆ρ⋆) on a conformal ball has a finite integral. (A finite one: Algorithm 1's r = "
    "∞ may have none.)",
    "true",
    _NOTE,
)
def _mass() -> str:
    radii = (5.0, 10.0, 20.0)
    found = [math.pi * (r - 0.5 * (1.0 - math.exp(-2.0 * r))) for r in radii]
    return "H², λ = 1: C_r = " + ", ".join(f"{x:.1f}" for x in found) + " at r = 5, 10, 20"


@_row(
    "Definition IV.3",
    "The Laplace mechanism needs σ = 2Δ/ε, and Δ/ε where the normaliser does not move.",
    "true",
    "[note](proofs/riemannian-laplace.md), claims 1 and 2",
)
def _doubled() -> str:
    grid = np.linspace(-1.0, 1.0, 2001)[:, None]
    law = RestrictedLaplace(Euclidean(1), 0.1, ball=Ball(Euclidean(1), np.zeros(1), 1.0))
    one, two = (law.log_density(grid, np.array([x])) for x in (-1.0, -0.9))
    loss = float(np.max(np.abs(np.asarray(one) - np.asarray(two))))
    return f"[-1, 1], Δ = σ = .1: loss {loss:.3f} ≤ 2; on a line 1"


@_row(
    "Equation (24)",
    "λ⋆ = ε/(2Δ⋆) ≤ ε/(2√φmax Δ). (It is ≥, as in Appendix G.)",
    "true with a correction",
    _CONFORMAL,
)
def _rate() -> str:
    # on the circle with phi = exp(cos), the footpoints .1 apart about the point of the least phi
    low = math.exp(-0.5)
    return (
        f"ε = 1, Δ = .1, φ from e⁻¹ to e: λ⋆ = {1.0 / (0.2 * low):.2f} at the least φ, and "
        f"ε/(2√φmax Δ) = {1.0 / (0.2 * math.exp(0.5)):.2f}"
    )


@_row(
    "Theorem IV.4",
    "ε-DP if the loss is at most ε in both orders, and the loss has the form (21), by which "
    "λ⋆ ≤ ε/(2Δ⋆) is enough. (The condition is right. Form (21) is for one φ, λ⋆ and region, "
    "not for those of two data sets.)",
    "false",
    f"{_PROOF}, {{func}}`~riemdp_papers.published_mean`",
)
def _loss() -> str:
    grid = np.linspace(-1.0, 1.0, 20_001)
    data, other = neighbours(20)
    law = published_law(data)
    first = log_density(law, float(data.mean()), grid)
    second = log_density(published_law(other), float(other.mean()), grid)
    loss, delta = true_loss(first, second, EPSILON, grid)
    held, _ = true_loss(first, log_density(law, float(other.mean()), grid), EPSILON, grid)
    return f"ε = {EPSILON}: loss {loss:.3f}, δ = {delta:.3f}; with φ, λ⋆ and region held {held:.4f}"


@_row(
    "Corollary IV.5",
    "ε-DP if and only if the loss is at most ε everywhere. (Its proof adds that 2λ⋆ρ⋆ ≤ ε "
    "is necessary: it is not.)",
    "true with a correction",
    _NOTE,
)
def _necessary() -> str:
    grid = np.linspace(-5.0, 5.0, 1001)[:, None]
    law = RiemannianLaplace(Euclidean(1), 1.0)
    one, two = (law.log_density(grid, np.array([x])) for x in (0.0, 1.0))
    loss = float(np.max(np.abs(np.asarray(one) - np.asarray(two))))
    return f"R, λ = Δ = 1: loss {loss:g}, though 2λΔ = 2"


@_row(
    "Theorem V.1",
    "E ρ² < 16 d(d+1)r²φmax/(n²ε²φmin). (On a line, with ≤. For d ≥ 2 neither on hyperbolic "
    "spaces with φ = 1 nor in R^d.)",
    "false",
    _NOTE,
)
def _error() -> str:
    ratio = math.exp(10.0)
    flat = step_error(2, ratio, 3.62), worst_step(2, ratio)[1]
    core = step_error(2, ratio, 6.55, core=0.5 / math.sqrt(ratio))
    nine = step_error(9, 1000.0, 12.05), worst_step(9, 1000.0)[1]
    line = step_error(1, 1000.0, 5.0)
    return (
        f"H², φ = 1, λ⋆ = 2: E ρ² = {hyperbolic_error(2.0):.3f} (bound 1.5). With λ⋆ = "
        f"ε/(2√φmax Δ), λ⋆²φmin E ρ²: {flat[0]:.1f}, at worst {flat[1]:.1f}, in R² (6, ratio e¹⁰), "
        f"{nine[0]:.0f}, at worst {nine[1]:.0f}, in R⁹ (90, 10³), {line:.2f} in R (2); with λ⋆ = "
        f"ε/(2Δ⋆), ε = 1: {core:.1f} in R²"
    )


@_row(
    "Appendix G",
    "One record moves the Fréchet mean by 2r/n at most. (Not on positive curvature.)",
    "false",
    "[note](proofs/frechet-mean-sensitivity.md)",
)
def _shift() -> str:
    moved = 201.0 * float(SPHERE.manifold.dist(*worst_pair(SPHERE, 201)))
    return f"S², r = π/8, n = 201: {moved:.4f}/n, over {2.0 * SPHERE.radius:.4f}/n"


@_row(
    "Table II",
    "The graph Laplacian D - W solves the Poisson equation of Section III. (With the other "
    "sign; the two slips cancel.)",
    "true with a correction",
    "[signs](conformal.md#signs)",
)
def _signs() -> str:
    density = _density()
    found = [
        float(np.exp(2.0 * circle_poisson(sign * (density - np.mean(density)))[0])[0])
        for sign in (-1.0, 1.0)
    ]
    return (
        f"S¹, φ at the densest point: {found[0]:.3f} by the equation, {found[1]:.3f} by the table"
    )


@_row(
    "Algorithm 1",
    "Draws from the law of Theorem IV.2. (In the limit, if Q is a density for the volume of "
    "g⋆; for that of g the acceptance ratio lacks φ^(d/2). A chain has no ε.)",
    "true with a correction",
    _CONFORMAL,
)
def _acceptance() -> str:
    return (
        "[-1, 1], φ = exp(2x), λ = 1, Q symmetric for g: total variation "
        f"{published_acceptance_error(1.0, 1.0):.3f}"
    )
