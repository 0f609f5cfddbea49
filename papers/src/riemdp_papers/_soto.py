"""Soto, "Rao differential privacy": composition, mechanisms, and what a theta says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp.mechanisms import (
    RiemannianGaussian,
    TangentGaussian,
    TangentLaplace,
)
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    MeanCDP,
    PureDP,
    RaoDP,
    compose,
    normal_fisher_rao_distance,
)
from riemdp.research import GeneralizedGaussian, sample
from riemdp.spaces import Euclidean, Hyperbolic, Sphere
from riemdp_papers._experiment import (
    Experiment,
    Outcome,
    Paper,
    Progress,
    Row,
    Settings,
)
from riemdp_papers._soto_releases import DELTA, LINE, RATIO, gaussian, laplace, releases, shown

if TYPE_CHECKING:
    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget
    from riemdp.spaces import Manifold


def composition(settings: Settings, progress: Progress) -> Outcome:
    """Table 1: the rule of each definition for two releases."""
    del settings
    rows = [
        _composed(
            "pure, ε = 0.5 twice",
            "1 (sum)",
            PureDP(0.5),
            "1",
            "Attained by two Laplace releases.",
        ),
        _composed(
            "approximate, (0.5, 0.1) twice",
            "(1, 0.2) (sums)",
            ApproxDP(0.5, 0.1),
            f"(1, {1.0 - 0.9**2:g})",
            "1 - Π(1 - δ) is enough; the best pair of a smaller ε is in the composed curve.",
        ),
        _composed("Kullback-Leibler, α = 0.1 twice", "0.2 (sum)", KLDP(0.1), "0.2"),
        _composed(
            "mean-concentrated, (0.1, 0.3) twice",
            "(0.2, 0.4243) (sum, root of squares)",
            MeanCDP(0.1, 0.3),
            f"(0.2, {0.3 * math.sqrt(2.0):.4f})",
            "For mechanisms fixed beforehand only.",
        ),
        _composed("zero-concentrated, ρ = 0.1 twice", "0.2 (sum)", ZCDP(0.1), "0.2"),
        _composed("Rényi, order 8, ε = 0.1 twice", "0.2 (sum)", RDP(8.0, 0.1), "0.2"),
        _composed("Gaussian, μ = 0.5 twice", "0.7071 (root of squares)", GDP(0.5), "0.7071"),
        _composed(
            "Rao, length of the path, θ = 1 twice",
            "1.414 (root of squares)",
            RaoDP(1.0, distance="parametric"),
            f"{math.sqrt(2.0):.4g}",
            "Two Laplace releases with Δ = σ.",
        ),
    ]
    progress(0.5)
    hundred = laplace(RATIO).privacy(1.0).self_compose(100)
    single, both = (2.0 * math.acos(laplace_affinity(1.0) ** k) for k in (1, 2))
    rows.append(
        Row(
            f"Rao, angle, θ = {single:.4f} twice",
            f"{math.sqrt(2.0) * single:.4f} (root of squares)",
            shown(compose([RaoDP(single, distance="angle")] * 2)),
            f"{both:.4f}",
            "Lemma 3.2 is for the length of a path, Theorem 3.3 for the angle 2 arccos ∫√(pq). "
            "Angles compose to cos(θ/2) = Π cos(θ_i/2), which is less. The same two Laplace "
            "releases.",
        )
    )
    length = RaoDP(1.0, distance="parametric")
    rows.append(
        Row(
            "100 Laplace releases with Δ = 0.1 σ",
            "θ = 1 instead of ε = 10, by Table 1; “much tighter” (section 3.1)",
            f"θ = 1 alone guarantees δ = {length.delta_at(1.0):.3f} at ε = 1 and "
            f"ε = {length.epsilon_at(DELTA):g} at δ = 1e-6",
            f"δ = {hundred.delta_at(1.0):.3f} at ε = 1 and "
            f"ε = {hundred.epsilon_at(DELTA):.3f} at δ = 1e-6",
            "The numbers are of different definitions. θ = 1 is a weak statement: whatever ε, it "
            "leaves a δ that does not go to 0.",
        )
    )
    progress(1.0)
    return Outcome(tuple(rows))


def mechanisms(settings: Settings, progress: Progress) -> Outcome:
    """Section 4: theta of each mechanism, and the distances it rests on."""
    rows = [
        _mechanism("Laplace, Δ = σ (Theorem 4.2)", "1", laplace(1.0)),
        _mechanism("Gaussian, Δ = σ (Theorem 4.6)", "1", gaussian(1.0)),
    ]
    half = TangentGaussian.calibrate(LINE, 1.0, ApproxDP(0.5, DELTA), method="classical")
    rows.append(
        Row(
            "θ of the classical Gaussian for (0.5, 1e-6) (Corollary 4.9)",
            f"{0.5 / math.sqrt(2.0 * math.log(1.25 / DELTA)):.5f}",
            f"{half.rao(1.0, 'parametric').theta:.5f}",
            f"{1.0 / half.sigma:.5f}",
            "The analytic calibration to the same (ε, δ) has less noise: θ = "
            f"{1.0 / TangentGaussian.calibrate(LINE, 1.0, ApproxDP(0.5, DELTA)).sigma:.5f}.",
        )
    )
    for power in (1.5, 3.0, 4.0):
        rows.append(_generalized(power))
    progress(0.3)
    rows += [
        Row(
            "distance of N(0, 1) and N(0, 4) (Example 1)",
            f"{2.0 * math.sqrt(2.0) * math.log(2.0):.5f} (factor 2√2)",
            f"{normal_fisher_rao_distance(0.0, 1.0, 0.0, 2.0):.5f}",
            f"{math.sqrt(2.0) * math.log(2.0):.5f}",
            "The factor is √2, as the paper's own special case √2 |log(σ2/σ1)| has it.",
        ),
        Row(
            "distance of N(0, 1) and N(1, 1) (Example 1)",
            "1 (“special case”)",
            f"{normal_fisher_rao_distance(0.0, 1.0, 1.0, 1.0):.5f}",
            f"{math.sqrt(2.0) * math.log((3.0 + 1.0) / (3.0 - 1.0)):.5f}",
            "|μ1 - μ2|/σ is the length within the laws of this σ; the shortest path leaves them.",
        ),
    ]
    rows += _meaning()
    progress(0.5)
    generator = settings.generator("soto", "mechanisms")
    draws = 20_000 if settings.quick else 1_000_000
    spaces: tuple[Manifold, ...] = (
        Euclidean(2),
        Sphere(2),
        Sphere(5),
        Hyperbolic(2),
        Hyperbolic(5),
    )
    for done, space in enumerate(spaces):
        rows.append(_on_manifold(space, 0.3, draws, generator))
        progress(0.5 + 0.5 * (done + 1) / len(spaces))
    notes = (
        "θ is the length of the path of the footpoint in the Fisher metric, √I Δ, where the paper "
        "has a formula; the angle 2 arccos ∫√(pq) is at most that.",
        f"The rows on manifolds are beyond the paper: the information from {draws} draws, and by "
        "quadrature.",
    )
    return Outcome(tuple(rows), notes=notes)


def laplace_affinity(ratio: float) -> float:
    """Affinity ``∫√(pq)`` of two Laplace laws on R, ``ratio`` scales apart."""
    return math.exp(-0.5 * ratio) * (1.0 + 0.5 * ratio)


def generalized_information(power: float, sigma: float, *, as_printed: bool) -> float:
    """Fisher information of the generalised Gaussian by quadrature.

    Of the density ``exp(-|x|^power / sigma^power)``, or with ``sigma`` for ``sigma^power``.
    """
    scale = sigma ** (1.0 / power) if as_printed else sigma

    def integrand(x: float) -> float:
        score = power * x ** (power - 1.0) / scale**power
        return float(score**2 * math.exp(-((x / scale) ** power)))

    mass = scale * math.gamma(1.0 + 1.0 / power)
    return float(scipy.integrate.quad(integrand, 0.0, np.inf)[0]) / mass


def _composed(quantity: str, paper: str, budget: Budget, exact: str, remark: str = "") -> Row:
    return Row(quantity, paper, shown(compose([budget, budget])), exact, remark)


def _mechanism(quantity: str, paper: str, mechanism: Mechanism) -> Row:
    length, angle = (mechanism.rao(1.0, x).theta for x in ("parametric", "angle"))
    affinity = laplace_affinity(1.0) if isinstance(mechanism, TangentLaplace) else math.exp(-0.125)
    return Row(
        f"θ of the {quantity}",
        paper,
        f"length {length:.4f}, angle {angle:.4f}",
        f"length 1, angle {2.0 * math.acos(affinity):.4f}",
        "Post-processing (Theorem 3.3) is proved for the angle, the formula is the length.",
    )


def _generalized(power: float) -> Row:
    sigma = 2.0
    formula = math.sqrt(power * math.gamma(2.0 - 1.0 / power) / math.gamma(1.0 + 1.0 / power))
    printed = math.sqrt(generalized_information(power, sigma, as_printed=True))
    numeric = math.sqrt(generalized_information(power, sigma, as_printed=False))
    ours = GeneralizedGaussian(sigma, power).rao(1.0, "parametric").theta
    return Row(
        f"θ of the generalised Gaussian, N = {power:g}, σ = 2, Δ = 1 (Theorem 4.10)",
        f"{formula / sigma:.4f}; of the density as printed: {printed:.4f}",
        f"{numeric:.4f} (quadrature)",
        f"{ours:.4f}",
        "The formula belongs to exp(-|x - m|^N/σ^N); the paper prints |x - m|^N/σ, and no minus.",
    )


def _meaning() -> list[Row]:
    """Rows on what an angle allows, by the pair of laws that attains it."""
    rows = []
    for theta in (0.1, 1.0):
        sine = math.sin(0.5 * theta)
        # P = (1 - s^2, s^2), Q = (1, 0) has affinity cos(theta/2), and this delta at every epsilon
        rows.append(
            Row(
                f"least δ that an angle of {theta:g} leaves at every ε",
                "no leakage probability (section 4.2)",
                f"{RaoDP(theta, distance='angle').delta_at(50.0):.5f}",
                f"{sine**2:.5f}",
                "A mechanism of this angle may tell with probability sin²(θ/2) that a record is "
                "there, and never tell it of other data: the definition has a δ, it only does not "
                "show it.",
            )
        )
    return rows


def _on_manifold(space: Manifold, sigma: float, draws: int, generator: np.random.Generator) -> Row:
    mechanism = RiemannianGaussian(space, sigma)
    origin = space.origin
    square = np.square(space.dist(origin, sample(mechanism, origin, draws, generator)))
    scale = 1.0 / (space.dim * sigma**4)
    error = scale * float(np.std(square)) / math.sqrt(draws)
    return Row(
        f"Fisher information of the Gaussian on {space}, σ = {sigma}",
        "— (left to further work)",
        f"{scale * float(np.mean(square)):.3f} ± {error:.2f}",
        f"{mechanism.rao(1.0, 'parametric').theta ** 2:.4f}",
    )


PAPER = Paper(
    "soto",
    "Rao differential privacy",
    "Soto, Rao differential privacy",
    (
        Experiment("composition", "Table 1: composition", composition),
        Experiment("mechanisms", "Section 4: mechanism parameters", mechanisms),
        Experiment("releases", "k releases in every definition", releases),
    ),
)
