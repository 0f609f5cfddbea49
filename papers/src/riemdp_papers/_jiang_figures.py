"""Jiang et al., NeurIPS 2023, Figure 1: ``mu`` of the Riemannian Gaussian, and its utility."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.noise import IsotropicLaw
from riemdp.privacy import GDP
from riemdp.research import sample
from riemdp.spaces import Ball, Euclidean, Manifold, Sphere
from riemdp.statistics import frechet_mean, frechet_mean_sensitivity
from riemdp_papers._experiment import (
    Experiment,
    Line,
    Outcome,
    Panel,
    Paper,
    Row,
    Settings,
    mean_and_error,
)
from riemdp_papers._jiang import circle_delta, jiang_algorithm_1, jiang_algorithm_2

if TYPE_CHECKING:
    from riemdp_papers._experiment import FloatArray, Progress

#: Scales and sensitivity of section 4.2.
SIGMAS = tuple(k / 4.0 for k in range(1, 17))
SENSITIVITY = 1.0
SHOWN = (0.25, 1.0, 2.0, 4.0)
FIGURE = "figure only (Figure 1)"

#: Section 5.2: ten points in a ball of radius pi/8.
BALL = Ball(Sphere(2), np.array([0.0, 0.0, 1.0]), math.pi / 8.0)
RECORDS, DRAWS = 10, 1000
#: Scales of section 5.2; its authors' code multiplies them by the sensitivity.
STEPS = tuple(k / 4.0 for k in range(1, 13))
TEXT, CODE = "σ = k/4, as printed", "σ = kΔ/4, as in the authors' code"


def exact_mu(manifold: Manifold, sigma: float, sensitivity: float) -> float:
    """``mu`` of the Gaussian by its own curve."""
    return RiemannianGaussian(manifold, sigma).privacy(sensitivity).mu()


def mu_panel(manifold: Manifold, settings: Settings, progress: Progress) -> Outcome:
    """``mu`` against sigma: Algorithms 1 and 2 and exactly (Figure 1, panels 1 and 2)."""
    circle = isinstance(manifold, Sphere)
    name = "S¹" if circle else "R"
    generator = settings.generator("jiang", "mu", name)
    repeats = 4 if settings.quick else 20
    rows, estimates = [], []
    exact = [exact_mu(manifold, sigma, SENSITIVITY) for sigma in SIGMAS]
    printed = [jiang_algorithm_1(manifold, sigma, SENSITIVITY, as_printed=True) for sigma in SIGMAS]
    corrected = [jiang_algorithm_1(manifold, sigma, SENSITIVITY) for sigma in SIGMAS]
    for done, sigma in enumerate(SIGMAS):
        runs = [
            jiang_algorithm_2(manifold, sigma, SENSITIVITY, generator=generator)
            for _ in range(repeats)
        ]
        estimates.append((min(runs), float(np.mean(runs)), max(runs)))
        low, mean, high = estimates[-1]
        if sigma in SHOWN:
            one = (
                f"Algorithm 1: {printed[done]:.6f} as printed, {corrected[done]:.6f} corrected; "
                if circle
                else f"1/σ = {printed[done]:.6f}; "
            )
            rows.append(
                Row(
                    f"μ on {name}, σ = {sigma:g}, sensitivity 1",
                    FIGURE if circle else f"{1.0 / sigma:g} (μ = 1/σ, section 4.2)",
                    f"{one}Algorithm 2: {mean:.4f} in [{low:.4f}, {high:.4f}] of {repeats} runs",
                    f"{exact[done]:.6f}",
                    _verdict(low, mean, high, exact[done]),
                )
            )
        progress((done + 1) / len(SIGMAS))
    rows.append(_accuracy_row(name, exact, [mean for _, mean, _ in estimates]))
    if circle:
        rows.append(_printed_row())
    least, average, most = (tuple(run[i] for run in estimates) for i in range(3))
    lines = [Line("exact", SIGMAS, tuple(exact))]
    if circle:
        lines.append(Line("Algorithm 1, as printed", SIGMAS, tuple(printed)))
        flat = tuple(SENSITIVITY / sigma for sigma in SIGMAS)
        lines.append(Line("R: 1/σ", SIGMAS, flat))
    lines += [
        Line(f"Algorithm 2, mean of {repeats}", SIGMAS, average),
        Line("Algorithm 2, least", SIGMAS, least),
        Line("Algorithm 2, largest", SIGMAS, most),
    ]
    relative = tuple(
        Line(
            label, SIGMAS, tuple(100.0 * (v / e - 1.0) for v, e in zip(values, exact, strict=True))
        )
        for label, values in (("mean", average), ("least", least), ("largest", most))
    )
    panels = (
        Panel(f"{name}: μ of the Gaussian", "σ", "μ", tuple(lines), ylog=True),
        Panel(f"{name}: Algorithm 2's error (below 0: unsafe)", "σ", "error in μ, %", relative),
    )
    return Outcome(rows=tuple(rows), panels=panels)


def _verdict(low: float, mean: float, high: float, exact: float) -> str:
    over, under = high / exact - 1.0, 1.0 - low / exact
    text = f"Algorithm 2 is Monte Carlo without an error bound: mean {mean / exact - 1.0:+.1%}"
    text += f", at most {over:+.1%}"
    return (
        f"{text}; {under:.2%} too small, which is unsafe, in its least run."
        if under > 0
        else (f"{text}; no run here is too small.")
    )


def _accuracy_row(name: str, exact: list[float], means: list[float]) -> Row:
    """Compare the mean error of Algorithm 2 at the ends and in the middle of the range of sigma."""
    shown = [SIGMAS.index(sigma) for sigma in (SHOWN[0], 1.0, SHOWN[-1])]
    errors = [means[i] - exact[i] for i in shown]
    relative = [error / exact[i] for error, i in zip(errors, shown, strict=True)]
    falls = "falls" if abs(errors[-1]) < abs(errors[0]) else "grows"
    also = "falls" if abs(relative[-1]) < abs(relative[0]) else "grows"
    also = "the relative one too" if falls == also else f"the relative one {also}"
    return Row(
        f"mean error of Algorithm 2 on {name}, σ = {' / '.join(f'{SIGMAS[i]:g}' for i in shown)}",
        "“fairly accurate estimation for larger σ”, “overestimation” for smaller (section 4.2)",
        " / ".join(f"{e:+.4f} ({r:+.1%})" for e, r in zip(errors, relative, strict=True)),
        "0",
        f"From the least σ to the largest the absolute error {falls}, {also}.",
    )


def _printed_row() -> Row:
    """Compare the printed h of Corollary 3.2.1 with delta where it is furthest below."""
    worst, where = 0.0, (0.0, 0.0, 0.0, 0.0)
    for sigma in SIGMAS:
        end = math.pi * SENSITIVITY / (2.0 * sigma * sigma)  # of the printed range
        epsilon = np.linspace(0.0, end, 2001)[1:]
        right = circle_delta(epsilon, sigma, SENSITIVITY)
        wrong = circle_delta(epsilon, sigma, SENSITIVITY, as_printed=True)
        index = int(np.argmax(right - wrong))
        if right[index] - wrong[index] > worst:
            worst = float(right[index] - wrong[index])
            where = (sigma, float(epsilon[index]), float(wrong[index]), float(right[index]))
    sigma, epsilon_there, printed, delta = where
    return Row(
        f"δ on S¹ where the printed h is furthest below: σ = {sigma:g}, ε = {epsilon_there:.4g}",
        "h of Corollary 3.2.1",
        f"{printed:.5f}",
        f"{delta:.5f}",
        f"The printed acceptance set is wrong, and h is {delta / printed:.1f} times too small "
        "here; μ is hardly touched, as its supremum lies at ε = 0, where both agree.",
    )


def loose_epsilon(mu: float) -> float:
    """``epsilon`` whose worst mechanism is ``mu``-GDP: what the paper gives to the Laplace law."""
    below = scipy.special.log_ndtr(-0.5 * mu)
    return float(scipy.special.log_ndtr(0.5 * mu) - below)


@dataclass(frozen=True)
class Case:
    """Mean distances at one scale; "loose" and "fair" are those of Laplace laws.

    They are exact, at the Gaussian's exact ``mu``; ``estimate`` is that of Algorithm 2. ``drawn``
    and ``drawn_loose`` are mean and standard error of draws, the Laplace law at the estimate.
    """

    mu: float
    gauss: float
    loose: float
    fair: float
    estimate: float
    drawn: tuple[float, float]
    drawn_loose: tuple[float, float]


def exact_distances(sigma: float, sensitivity: float) -> tuple[float, float, float, float]:
    """Exact ``mu`` of the Gaussian, and mean distances of it, loose and fair Laplace laws on S²."""
    mu = exact_mu(BALL.manifold, sigma, sensitivity)
    loose = RiemannianLaplace(BALL.manifold, sensitivity / loose_epsilon(mu))
    fair = RiemannianLaplace.calibrate(BALL.manifold, sensitivity, GDP(mu))
    gauss = RiemannianGaussian(BALL.manifold, sigma)
    return mu, gauss.expected_distance(), loose.expected_distance(), fair.expected_distance()


def crossing(sensitivity: float) -> float:
    """``mu`` at which the Gaussian and the Laplace law of the same curve's ``mu`` are as good."""

    def ahead(log_ratio: float) -> float:
        _, gauss, _, fair = exact_distances(math.exp(-log_ratio) * sensitivity, sensitivity)
        return fair - gauss

    root = float(scipy.optimize.brentq(ahead, math.log(0.5), math.log(8.0), xtol=1e-3))
    return exact_mu(BALL.manifold, math.exp(-root) * sensitivity, sensitivity)


def utility(settings: Settings, progress: Progress) -> Outcome:
    """Distances on S² at equal ``mu``, both ways (Figure 1, panel 3)."""
    generator = settings.generator("jiang", "utility")
    sensitivity = frechet_mean_sensitivity(BALL, RECORDS, "theorem")
    mean = frechet_mean(BALL.manifold, _records(generator), ball=BALL).value
    scales = {TEXT: STEPS, CODE: tuple(step * sensitivity for step in STEPS)}
    cases: dict[str, list[Case]] = {TEXT: [], CODE: []}
    for label, sigmas in scales.items():
        for sigma in sigmas:
            exact = exact_distances(sigma, sensitivity)
            ratio = sensitivity / sigma
            estimate = jiang_algorithm_2(
                BALL.manifold, sigma, sensitivity,
                repeats=20 if settings.quick else 100,
                largest_epsilon=max(10.0, 5.0 * ratio + 0.5 * ratio**2) if label == CODE else None,
                generator=generator,
            )  # fmt: skip
            laws = (
                IsotropicLaw("gaussian", BALL.manifold, sigma),
                IsotropicLaw("laplace", BALL.manifold, sensitivity / loose_epsilon(estimate)),
            )
            drawn, other = (
                mean_and_error(BALL.manifold.dist(mean, sample(law, mean, DRAWS, generator)))
                for law in laws
            )
            cases[label].append(Case(*exact, estimate, drawn, other))
            progress(sum(map(len, cases.values())) / (2 * len(STEPS)))
    return _utility_outcome(cases, sensitivity)


def _records(generator: np.random.Generator) -> FloatArray:
    polar = generator.uniform(0.0, BALL.radius, RECORDS)
    azimuth = generator.uniform(0.0, 2.0 * math.pi, RECORDS)
    x, y = np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth)
    return np.stack([x, y, np.cos(polar)], axis=-1)


def _utility_outcome(cases: dict[str, list[Case]], sensitivity: float) -> Outcome:
    rows = [
        row
        for label, found in cases.items()
        for step in (STEPS[-1], 1.0, STEPS[0])
        for row in _case_rows(label, 4.0 * step, found[STEPS.index(step)])
    ]
    every = sorted((case for found in cases.values() for case in found), key=lambda case: case.mu)
    gains = [1.0 - case.gauss / case.fair for case in every]
    ahead = [gain for gain in gains if gain > 0.0]
    rows.append(
        Row(
            f"range of the fair gain on S², μ from {every[0].mu:.3g} to {every[-1].mu:.3g}",
            "“better utility, especially with a smaller privacy budget μ” (section 5.2)",
            "—",
            f"{min(ahead):.1%} to {max(ahead):.1%} where the Gaussian is ahead; from μ = "
            f"{crossing(sensitivity):.3f} on Laplace is, by up to {-min(gains):.1%}",
            f"The gain is largest at μ = {every[int(np.argmax(gains))].mu:.3g}, and goes to 0 with "
            "μ.",
        )
    )
    panels = [
        Panel(f"S²: mean distance, {label}", "μ", "distance", tuple(_distances(found)), xlog=True)
        for label, found in cases.items()
    ]
    x = tuple(case.mu for case in every)
    loose = tuple(100.0 * (1.0 - case.gauss / case.loose) for case in every)
    lines = (
        Line("loose conversion, as the paper", x, loose),
        Line("own curves, fair", x, tuple(100.0 * gain for gain in gains)),
    )
    panels.append(
        Panel("S²: gain of the Gaussian, exact", "μ", "less distance, %", lines, xlog=True)
    )
    note = (
        f"n = {RECORDS}, r = π/8, sensitivity Δ = {sensitivity:.5f} (Theorem 2 of Reimherr et al., "
        "as in the paper). The text says σ = k/4, its authors' code σ = kΔ/4, which are other "
        "values of μ; it lists none, and no range of ε for Algorithm 2 on S². Here that is "
        "max(10, 5Δ/σ + Δ²/(2σ²)) with the scales of the code, as there, else πΔ/(2σ²). The text "
        f"has {DRAWS} iterations, the caption of its figure 100: here {DRAWS}. ± is one standard "
        "error."
    )
    return Outcome(rows=tuple(rows), panels=tuple(panels), notes=(note,))


def _case_rows(label: str, k: float, case: Case) -> tuple[Row, Row]:
    """Both comparisons at one scale."""
    (drawn, error), (other, other_error) = case.drawn, case.drawn_loose
    spread = drawn / other * math.hypot(error / drawn, other_error / other)
    loose, fair = (1.0 - case.gauss / value for value in (case.loose, case.fair))
    measured = Row(
        f"mean distance on S², Gaussian / Laplace, loose conversion, {label}, k = {k:g}",
        FIGURE,
        f"{drawn:.3f} ± {error:.3f} / {other:.3f} ± {other_error:.3f} (μ = {case.estimate:.4f} by "
        f"Algorithm 2): gain {1.0 - drawn / other:.0%} ± {spread:.0%}",
        f"{case.gauss:.4f} / {case.loose:.4f} (μ = {case.mu:.4f}): gain {loose:.1%}",
        "The Laplace law gets the ε of the worst ε-DP mechanism, not its own; where drawn, that of "
        f"Algorithm 2's μ, which is off by {case.estimate / case.mu - 1.0:+.0%}.",
    )
    alike = Row(
        f"the same at equal exact μ = {case.mu:.4f}, both by their own curves",
        "—",
        "—",
        f"{case.gauss:.4f} / {case.fair:.4f}: gain {fair:.1%}",
        f"In place of {loose:.1%}, when both are measured alike.",
    )
    return measured, alike


def _distances(found: list[Case]) -> list[Line]:
    """Lines of the paper's panel, each at its own ``mu``."""
    estimates, mu = (tuple(getattr(case, x) for case in found) for x in ("estimate", "mu"))
    lines = []
    for name, text in (
        ("drawn", "Gaussian, drawn (4 SE)"),
        ("drawn_loose", "Laplace loose, drawn (4 SE)"),
    ):
        means, errors = zip(*(getattr(case, name) for case in found), strict=True)
        lines.append(Line(text, estimates, means, tuple(4.0 * error for error in errors)))
    for name, text in (("gauss", "Gaussian"), ("loose", "Laplace loose"), ("fair", "Laplace fair")):
        lines.append(Line(f"{text}, exact", mu, tuple(getattr(case, name) for case in found)))
    return lines


PAPER = Paper(
    "jiang",
    "Gaussian differential privacy on Riemannian manifolds",
    "Jiang, Chang, Liu, Ding, Kong, Jiang, “Gaussian Differential Privacy on Riemannian "
    "Manifolds”, NeurIPS 2023.",
    (
        Experiment(
            "mu-circle",
            "μ against σ on S¹ (Figure 1, panel 1)",
            lambda settings, progress: mu_panel(Sphere(1), settings, progress),
        ),
        Experiment(
            "mu-line",
            "μ against σ on R (Figure 1, panel 2)",
            lambda settings, progress: mu_panel(Euclidean(1), settings, progress),
        ),
        Experiment("utility", "Gaussian against Laplace on S² (Figure 1, panel 3)", utility),
    ),
)
