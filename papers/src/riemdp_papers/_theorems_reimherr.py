"""The statements of Reimherr, Bharath, Soto (NeurIPS 2021), one by one."""

from __future__ import annotations

import math

import numpy as np

from riemdp.mechanisms import RiemannianLaplace
from riemdp.noise import family
from riemdp.research import RestrictedLaplace, sample
from riemdp.spaces import Ball, Euclidean, Hyperbolic
from riemdp.statistics import frechet_mean_sensitivity
from riemdp_papers import _reimherr_theory as theory
from riemdp_papers._experiment import Settings, mean_and_error
from riemdp_papers._reimherr import exact_diameter, grid_diameter
from riemdp_papers._reimherr_chain import chain_distances
from riemdp_papers._reimherr_data import (
    LARGE,
    SPD,
    SPD_RADIUS,
    SPHERE,
    SPHERE_RADIUS,
    fixed_mean,
    largest_step,
    sphere_data,
    worst_pair,
)
from riemdp_papers._theorems import Statements

_NOTE = "[note](proofs/statements-reimherr.md)"
_LAPLACE = "[note](proofs/riemannian-laplace.md)"
_SENSITIVITY = "[note](proofs/frechet-mean-sensitivity.md)"
_COMPUTED = "[computed](reproduction/reimherr.md)"
_SAMPLERS = "[note](proofs/exact-samplers.md)"
_SETTINGS = Settings(quick=True)
#: Of a ball, as in the paper's example on the sphere.
_R = SPHERE.radius

ROWS = Statements("reimherr")
_row = ROWS.row


@_row(
    "Definition 3",
    "The Laplace law on a manifold; its normaliser may be finite only for some σ.",
    "true",
    f"{_LAPLACE}, claim 3",
)
def _definition_3() -> str:
    two, three = (family("laplace", Hyperbolic(dim)).scale_limit for dim in (2, 3))
    return f"on H² for σ < {two:.4g}, on H³ for σ < {three:.4g}"


@_row(
    "Theorem 1",
    "σ = 2Δ/ε is ε-DP, σ = Δ/ε where the normaliser does not depend on the footpoint.",
    "true",
    f"{_LAPLACE}, claims 1 and 2",
)
def _theorem_1() -> str:
    loss, small = theory.interval_loss(0.1, 0.1), theory.interval_loss(1e-5, 0.1) * 1e4
    interval = Ball(Euclidean(1), np.zeros(1), 1.0)
    claimed = RestrictedLaplace(interval.manifold, 0.1, ball=interval).privacy(0.1).pure_epsilon()
    return (
        f"on [-1, 1] with Δ = σ = .1 the loss is {loss:.3f}: above Δ/σ = 1, below 2Δ/σ = 2, and "
        f"riemdp claims {claimed:.6g}. For Δ → 0 it is {small:.4f} Δ/σ, so 2 is the least factor"
    )


@_row(
    "Example 1",
    "On the circle one point decides which of n - 1 equally spaced points is the mean; the "
    "sensitivity is π for even n.",
    "true with a correction",
    _NOTE,
)
def _example_1() -> str:
    odd, even = theory.example_1(7), theory.example_1(8)
    return (
        f"n = 7: two means, ±{odd[0][1]:.4f} = ±π/7 from the doubled point; n = 8: the mean is "
        f"it, the farthest points are {even[1]:.4f} = 6π/7 apart"
    )


@_row(
    "Assumption 1",
    "The mean is unique, and ρ² convex along geodesics in (x, y). (In x for fixed y, which is "
    "what Theorem 2 needs; not in both.)",
    "true with a correction",
    _NOTE,
)
def _assumption_1() -> str:
    return (
        f"r = π/8 on S²: along two meridians ρ² in the middle is "
        f"{theory.convexity_gap(_R):.4f} above its chord"
    )


@_row(
    "Theorem 2",
    "Replacing one record moves the Fréchet mean by at most 2r(2 - h)/(nh).",
    "true, sharper here",
    _SENSITIVITY,
)
def _theorem_2() -> str:
    large = 10**6
    printed, exact = (
        frechet_mean_sensitivity(SPHERE, large, bound) * large for bound in ("theorem", "exact")
    )
    n = LARGE + 1
    attained = float(SPHERE.manifold.dist(*worst_pair(SPHERE, n))) * n
    return f"r = π/8: {printed:.4f}/n printed, {exact:.4f}/n exact, {attained:.4f}/n attained"


@_row(
    "Theorem 2 (proof)",
    "The Hessian's factor a(s, 0) is 1/s, and r = 1/2 may be chosen. (It is 1, for every r.)",
    "true with a correction",
    _NOTE,
)
def _hessian() -> str:
    printed = theory.hessian_factor(2.0, 0.0, as_printed=True)
    return (
        f"s = 2: {printed:.4g} printed, {theory.across(2.0, 0.0, 1e-3):.4f} by a difference of "
        "distances"
    )


@_row(
    "Theorem 3",
    "Restricted to the ball the law has E ρ² = O(d²r²/(n²ε²)) as σ → 0. (It is at most d (d + "
    "1) σ² where the Ricci curvature is at least 0, at most that of a hyperbolic space else.)",
    "true, sharper here",
    _NOTE,
)
def _theorem_3() -> str:
    def square(dim: int, n: int) -> tuple[float, float]:
        sigma = 2.0 * frechet_mean_sensitivity(SPHERE, n, "theorem")
        return theory.restricted_mean_square(1.0, dim, sigma, _R), sigma

    slope = math.log10(square(5, 10**5)[0] / square(5, 10**4)[0])
    ratios = []
    for dim in (2, 3, 5, 64):
        value, sigma = square(dim, 10**6)
        ratios.append(f"{value / sigma**2:.0f}")
    line = theory.restricted_mean_square(0.0, 1, 1e-4, _R) / 1e-8
    return (
        f"S⁵: n^{slope:.3f}; E ρ²/σ² is {line:.0f}, {', '.join(ratios)} at d = 1, 2, 3, 5, 64: "
        "d (d + 1)"
    )


@_row(
    "Theorem 3 (proof)",
    "In coordinates about m0 it comes to c₂σ²d(d - 1)/c₁. (About the mean, where the law is, "
    "to d (d + 1).)",
    "true with a correction",
    _NOTE,
)
def _theorem_3_proof() -> str:
    sigma = 0.04
    centre = theory.centred_mean_square(sigma, 1.0, 0.9)
    right = theory.restricted_mean_square(0.0, 1, sigma, 1.0, 0.9)
    line = theory.restricted_mean_square(0.0, 1, 1e-4, _R) / 1e-8
    return (
        f"d = 1: E ρ²/σ² = {line:.0f}, d (d - 1) = 0. [-1, 1], mean at .9, σ = .04: E ρ(draw, m0)² "
        f"= {centre:.4f}, E ρ(draw, mean)² = {right:.5f}"
    )


@_row(
    "Section 4 (rate)",
    "A ball of radius r√d in place of a cube of half-width r gives the known d^(3/2) r/(nε).",
    "true",
    _NOTE,
)
def _rate() -> str:
    d = 10
    return (
        f"d = {d}: coordinates apart {8 * d**3}, one ball of radius r√d {4 * d**2 * (d + 1)} "
        "(times r²/(nε)²): both d³"
    )


@_row(
    "Theorem 4",
    "Noise of R^D projected on a d-dimensional subspace has E|·|² = O(dD r²/(n²ε²)).",
    "true",
    _NOTE,
)
def _theorem_4() -> str:
    d, ambient = 2, 10
    law = RiemannianLaplace(Euclidean(ambient), 1.0)
    draws = sample(law, np.zeros(ambient), 200_000, _SETTINGS.generator("reimherr", "theorem-4"))
    value, error = mean_and_error(np.sum(draws[:, :d] ** 2, axis=1))
    return (
        f"d = {d}, D = {ambient}: E|·|² = d (D + 1) σ² = {d * (ambient + 1)} σ², {value:.2f} ± "
        f"{error:.2f} by draws"
    )


@_row(
    "Theorem 4 (text)",
    "That is D/d times the noise on the subspace. ((D + 1)/(d + 1) times.)",
    "true with a correction",
    _NOTE,
)
def _theorem_4_text() -> str:
    d, ambient = 2, 10
    return f"d = {d}, D = {ambient}: {(ambient + 1) / (d + 1):.3f} times, D/d = {ambient / d:g}"


@_row(
    "Section 5.1 (curvature)",
    "The affine-invariant metric has negative curvature. (Nonpositive: it has flats.)",
    "true with a correction",
    _NOTE,
)
def _flats() -> str:
    a, b = np.diag([2.0, 1.0]), np.diag([1.0, 3.0])
    flat = math.hypot(math.log(2.0), math.log(3.0))
    return (
        f"ρ(diag(2, 1), diag(1, 3)) = {float(SPD.manifold.dist(a, b)):.6f} = |difference of logs| "
        f"= {flat:.6f}: curvature 0"
    )


@_row(
    "Section 5.2 (maps)",
    "exp, log and distance on the sphere of curvature κ.",
    "true with a correction",
    _NOTE,
)
def _sphere_maps() -> str:
    base, v = np.array([0.0, 0.0, 0.5]), np.array([0.3, 0.0, 0.0])
    moved = theory.sphere_exp(base, v, 4.0, as_printed=True)
    gone = theory.sphere_distance(base, moved, 4.0, as_printed=False)
    zero = theory.sphere_distance(base, base, 4.0, as_printed=True)
    return (
        f"κ = 4: a vector of length .3 goes {gone:.2f} far as printed; the printed distance of a "
        f"point from itself is {zero:.4f}"
    )


@_row(
    "Section 5.2 (radius of log)",
    "log_p is defined only within a distance under π/2 of p. (Under π.)",
    "false",
    _NOTE,
)
def _log_radius() -> str:
    sphere, pole = SPHERE.manifold, SPHERE.center
    v = sphere.tangent_vector(pole, np.array([3.0, 0.0]))
    length = float(np.linalg.norm(sphere.log(pole, sphere.exp(pole, v))))
    return f"|log(exp(v))| = {length:.12f} at |v| = 3 > π/2"


@_row(
    "Section 4 (Cartan–Hadamard)",
    "A simply connected space of non-negative curvature is diffeomorphic to R^d. (Nonpositive.)",
    "false",
    _NOTE,
)
def _hadamard() -> str:
    return f"S²: curvature 1, simply connected, diameter {SPHERE.manifold.diameter:.4f}: compact"


@_row(
    "Supplement A.1",
    "Gradient descent gives the Fréchet mean. (Its error belongs in the sensitivity.)",
    "true with a correction",
    "[note](proofs/frechet-mean-certificate.md)",
)
def _gradient_descent() -> str:
    points = sphere_data(50, _SETTINGS.generator("reimherr", "descent"))
    off = float(
        SPHERE.manifold.dist(theory.descend(points, SPHERE.manifold), fixed_mean(SPHERE, points))
    )
    share = 2.0 * off / frechet_mean_sensitivity(SPHERE, 500)
    return f"stops {off:.1e} from the mean; twice that is {share:.1%} of Δ at n = 500"


@_row(
    "Proposition 1",
    "The Euclidean ball about I that holds B_r(I) has radius r_E = e^r - 1. (Of those about "
    "any centre it is not the smallest.)",
    "true",
    _NOTE,
)
def _proposition_1() -> str:
    about, smallest = theory.enclosing_radius(SPD.radius, 2)
    return (
        f"r = 1.5, k = 2: {about:.4f} by search, e^r - 1 = {SPD_RADIUS:.4f}; about another centre "
        f"{smallest:.4f} is enough"
    )


@_row(
    "Supplement A.2.2 (sensitivity)",
    "r_E serves to compare sensitivities. (Which is not said. With 2 r_E/n, the Euclidean "
    "mean's, the release of the Fréchet mean would not be private; 4 r_E/n, as in the authors' "
    "script on P(2), is above the pair found.)",
    "true with a correction",
    _COMPUTED,
)
def _embedding() -> str:
    n = LARGE + 1
    return "; ".join(
        f"{name}: a pair moves n × {largest_step(ball, n) * n:.4f}, 2 r_E = {2.0 * radius:.4f}, "
        f"4 r_E = {4.0 * radius:.4f}"
        for name, ball, radius in (("P(2)", SPD, SPD_RADIUS), ("S²", SPHERE, SPHERE_RADIUS))
    )


@_row(
    "Supplement A.3.2",
    "The geodesic ball of radius r on the unit sphere lies in that of radius 2 sin(r/2).",
    "true",
    _NOTE,
)
def _chord() -> str:
    far = SPHERE.manifold.exp(SPHERE.center, SPHERE.manifold.tangent_vector(SPHERE.center, [_R, 0]))
    chord = float(np.linalg.norm(far - SPHERE.center))
    return f"r = π/8: chord {chord:.6f}, 2 sin(r/2) = {SPHERE_RADIUS:.6f}"


@_row(
    "Supplement A.4",
    "A direction and a Γ(d, 1) radius make a draw of the Euclidean Laplace law.",
    "true",
    _SAMPLERS,
)
def _euclidean_laplace() -> str:
    radial = sample(
        RiemannianLaplace(Euclidean(5), 1.0),
        np.zeros(5),
        200_000,
        _SETTINGS.generator("reimherr", "A.4"),
    )
    value, error = mean_and_error(np.sum(radial**2, axis=1))
    return f"d = 5: E |y|² = {value:.2f} ± {error:.2f} by draws, d (d + 1) = 30"


@_row(
    "Supplement A.5",
    "A Metropolis–Hastings chain draws the Laplace law on the sphere.",
    "true with a correction",
    _COMPUTED,
)
def _chain() -> str:
    generator = _SETTINGS.generator("reimherr", "a5")
    sigma = frechet_mean_sensitivity(SPHERE, 20, "tight")
    metropolis, printed = chain_distances(sigma, 500, 3000, generator)
    exact = RiemannianLaplace(SPHERE.manifold, sigma).expected_distance() / sigma
    (wrong, error), (right, other) = mean_and_error(printed), mean_and_error(metropolis)
    return (
        f"mean distance/σ {wrong:.3f} ± {error:.3f} as printed, {right:.3f} ± {other:.3f} with "
        f"states that stay, {exact:.3f} exact"
    )


@_row(
    "Lemma 1",
    "Logarithms of points of the ball are at most 2r(2 - h) apart.",
    "true, sharper here",
    _NOTE,
)
def _lemma_1() -> str:
    printed, general, _ = theory.lemma_1(_R)
    return (
        f"r = π/8: {printed:.4f} printed, {general:.4f} on every manifold, "
        f"{exact_diameter(_R):.4f} exact on spheres"
    )


@_row(
    "Lemma 1 (proof)",
    "The derivative of log is J'(1), where inj < r. (It is J'(0), and 2r < inj is needed.)",
    "true with a correction",
    _NOTE,
)
def _lemma_1_proof() -> str:
    _, _, inverted = theory.lemma_1(_R)
    return f"r = π/8: J'(1) would give {inverted:.4f}, below the true {exact_diameter(_R):.4f}"


@_row(
    "Supplement B.1",
    "Lemma 1's bound lies above the largest distance of logarithms, 2r below it; a grid gives "
    "a bound. (From below; the closed form is the bound.)",
    "true with a correction",
    _SENSITIVITY,
)
def _supplement_b1() -> str:
    printed, _, flat = theory.lemma_1(_R)
    return (
        f"r = π/8: {flat:.4f} < {exact_diameter(_R):.4f} < {printed:.4f}; a grid of 200 points of "
        f"the boundary finds {grid_diameter(_R, 200):.4f}"
    )
