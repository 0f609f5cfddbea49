"""Jiang et al., NeurIPS 2023, Figure 1: ``mu`` of the Riemannian Gaussian, and its utility."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp.manifolds import Ball, Euclidean, Manifold, Sphere
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.noise import IsotropicLaw
from riemdp.privacy import GDP
from riemdp.reproduce._experiment import (
    Experiment,
    Line,
    Outcome,
    Panel,
    Paper,
    Row,
    Settings,
    mean_and_error,
)
from riemdp.reproduce._jiang import circle_delta, jiang_algorithm_1, jiang_algorithm_2
from riemdp.summaries import frechet_mean, frechet_mean_sensitivity

if TYPE_CHECKING:
    from riemdp.reproduce._experiment import FloatArray, Progress

#: Scales and sensitivity of section 4.2.
SIGMAS = tuple(k / 4.0 for k in range(1, 17))
SENSITIVITY = 1.0
SHOWN = (0.25, 1.0, 2.0, 4.0)
FIGURE = "figure only (Figure 1)"

#: Section 5.2: ten points in a ball of radius pi/8.
BALL = Ball(Sphere(2), np.array([0.0, 0.0, 1.0]), math.pi / 8.0)
RECORDS = 10
UTILITY_SIGMAS = tuple(k / 4.0 for k in range(1, 13))
#: Smaller scales, for larger mu than in the figure.
SMALL_SIGMAS = (0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.17)


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


def utility(settings: Settings, progress: Progress) -> Outcome:
    """Distances on S² at equal ``mu``, both ways (Figure 1, panel 3)."""
    generator = settings.generator("jiang", "utility")
    repeats = 1000
    sensitivity = frechet_mean_sensitivity(BALL, RECORDS, "theorem")
    mean = frechet_mean(BALL.manifold, _records(generator), ball=BALL).value
    sigmas = tuple(sorted((*SMALL_SIGMAS, *UTILITY_SIGMAS)))
    table = []
    sampled: dict[str, list[tuple[float, float]]] = {"gauss": [], "loose": []}
    for done, sigma in enumerate(sigmas):
        mu = exact_mu(BALL.manifold, sigma, sensitivity)
        loose = RiemannianLaplace(BALL.manifold, sensitivity / loose_epsilon(mu))
        fair = RiemannianLaplace.calibrate(BALL.manifold, sensitivity, GDP(mu))
        gauss = RiemannianGaussian(BALL.manifold, sigma)
        table.append([mu, *(m.expected_distance() for m in (gauss, loose, fair))])
        if sigma in UTILITY_SIGMAS:
            estimate = jiang_algorithm_2(
                BALL.manifold, sigma, sensitivity, repeats=20 if settings.quick else 100,
                generator=generator,
            )  # fmt: skip
            table[-1].append(estimate)
            scale = sensitivity / loose_epsilon(estimate)
            laws = {
                "gauss": IsotropicLaw("gaussian", BALL.manifold, sigma),
                "loose": IsotropicLaw("laplace", BALL.manifold, scale),
            }
            for key, law in laws.items():
                draws = law.sample(mean, repeats, generator)
                sampled[key].append(mean_and_error(BALL.manifold.dist(mean, draws)))
        progress((done + 1) / len(sigmas))
    return _utility_outcome(sigmas, table, sampled, sensitivity)


def _records(generator: np.random.Generator) -> FloatArray:
    polar = generator.uniform(0.0, BALL.radius, RECORDS)
    azimuth = generator.uniform(0.0, 2.0 * math.pi, RECORDS)
    x, y = np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth)
    return np.stack([x, y, np.cos(polar)], axis=-1)


def _utility_outcome(
    sigmas: tuple[float, ...],
    table: list[list[float]],
    sampled: dict[str, list[tuple[float, float]]],
    sensitivity: float,
) -> Outcome:
    mu, gauss, loose, fair = (tuple(values[i] for values in table) for i in range(4))
    estimates = tuple(values[4] for values in table if len(values) > 4)
    published = tuple(i for i, sigma in enumerate(sigmas) if sigma in UTILITY_SIGMAS)

    def kept(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(values[i] for i in published)

    lines = [
        Line(
            f"{label} (4 SE)", estimates, tuple(m for m, _ in sampled[key]),
            tuple(4.0 * e for _, e in sampled[key]),
        )
        for key, label in (("gauss", "Gaussian, drawn"), ("loose", "Laplace loose, drawn"))
    ]  # fmt: skip
    lines += [
        Line("Gaussian, exact", kept(mu), kept(gauss)),
        Line("Laplace loose, exact", kept(mu), kept(loose)),
        Line("Laplace, own curve", kept(mu), kept(fair)),
    ]
    gains = tuple(
        Line(label, mu, tuple(100.0 * (1.0 - g / v) for g, v in zip(gauss, values, strict=True)))
        for label, values in (("loose conversion, as the paper", loose), ("own curves, fair", fair))
    )
    panels = (
        Panel("S²: mean distance, as the paper", "μ", "distance", tuple(lines)),
        Panel("S²: gain of the Gaussian", "μ", "less distance, %", gains, xlog=True),
    )
    rows = []
    for sigma in (3.0, 1.0, 0.25):
        i, at = sigmas.index(sigma), UTILITY_SIGMAS.index(sigma)
        drawn, other = sampled["gauss"][at][0], sampled["loose"][at][0]
        rows.append(
            Row(
                f"mean distance on S², Gaussian / Laplace, loose conversion, σ = {sigma:g}",
                FIGURE,
                f"{drawn:.3f} / {other:.3f} (μ = {estimates[at]:.4f} by Algorithm 2): gain "
                f"{1.0 - drawn / other:.0%}",
                f"{gauss[i]:.4f} / {loose[i]:.4f} (μ = {mu[i]:.4f}): gain "
                f"{1.0 - gauss[i] / loose[i]:.1%}",
                "The Laplace law gets the ε of the worst ε-DP mechanism, not its own.",
            )
        )
        rows.append(
            Row(
                f"the same at equal exact μ = {mu[i]:.4f}, both by their own curves",
                "—",
                "—",
                f"{gauss[i]:.4f} / {fair[i]:.4f}: gain {1.0 - gauss[i] / fair[i]:.1%}",
                f"Of a gain of {1.0 - gauss[i] / loose[i]:.0%} this much is left when both are "
                "measured alike.",
            )
        )
    losses = [m for m, g, v in zip(mu, gauss, fair, strict=True) if g > v]
    ahead = [1.0 - g / v for m, g, v in zip(mu, gauss, fair, strict=True) if g <= v]
    rows.append(
        Row(
            f"range of the fair gain on S², μ from {min(mu):.3g} to {max(mu):.3g}",
            "“better utility, especially with a smaller privacy budget μ” (section 5.2)",
            "—",
            f"{min(ahead):.1%} to {max(ahead):.1%} where the Gaussian is ahead; "
            + (f"Laplace is from μ = {min(losses):.3g} on" if losses else "Laplace never is"),
            "Laplace's own μ is far below that of the conversion.",
        )
    )
    note = (
        f"n = {RECORDS}, r = π/8, sensitivity {sensitivity:.5f} (Theorem 2 of Reimherr et al., as "
        "in the paper; both laws scale with it). The text lists μ for no σ."
    )
    return Outcome(rows=tuple(rows), panels=panels, notes=(note,))


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
