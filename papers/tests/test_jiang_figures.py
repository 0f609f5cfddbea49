from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.special

from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.privacy import GDP, gaussian_delta
from riemdp.spaces import Euclidean, Sphere
from riemdp_papers import _jiang_figures as module
from riemdp_papers._experiment import Settings


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(module, "SIGMAS", (0.25, 1.0, 4.0))
    monkeypatch.setattr(module, "STEPS", (0.25, 1.0, 3.0))


def test_mu_on_the_circle_has_its_known_values():
    known = {1.0: 0.983169214812, 2.0: 0.362390094208, 4.0: 0.100249979767}
    for sigma, mu in known.items():
        assert module.exact_mu(Sphere(1), sigma, 1.0) == pytest.approx(mu, rel=1e-4)


@pytest.mark.slow
def test_the_circle_shows_all_methods(small):
    outcome = module.mu_panel(Sphere(1), Settings(quick=True), lambda share: None)
    lines = {line.label: np.array(line.y) for line in outcome.panels[0].lines}
    exact = lines["exact"]
    np.testing.assert_allclose(lines["Algorithm 1, as printed"], exact, rtol=2e-4)
    assert np.all(lines["R: 1/σ"] >= exact * (1 - 1e-4))
    assert np.all(lines["Algorithm 2, least"] <= lines["Algorithm 2, largest"])
    np.testing.assert_allclose(lines["Algorithm 2, mean of 4"], exact, rtol=0.2)
    assert [row.paper for row in outcome.rows[:3]] == [module.FIGURE] * 3
    assert "for larger σ" in outcome.rows[3].paper
    assert "Corollary 3.2.1" in outcome.rows[-1].paper


def test_on_the_line_mu_is_one_over_sigma(small):
    outcome = module.mu_panel(Euclidean(1), Settings(quick=True), lambda share: None)
    exact = outcome.panels[0].lines[0]
    np.testing.assert_allclose(exact.y, 1.0 / np.array(exact.x), rtol=1e-12)
    assert all("1/σ" in row.paper for row in outcome.rows[:-1])
    assert outcome.rows[-1].quantity.startswith("mean error of Algorithm 2 on R")


def test_the_printed_h_is_far_below_delta_somewhere():
    row = module._printed_row()
    printed, delta = float(row.reproduced), float(row.exact)
    assert delta > 4 * printed
    assert delta - printed > 0.04


@pytest.mark.parametrize(
    ("low", "unsafe"), [(0.9, True), (0.999999, True), (1.0, False), (1.01, False)]
)
def test_a_verdict_calls_too_small_estimates_unsafe(low, unsafe):
    assert ("unsafe" in module._verdict(low, 1.05, 1.1, 1.0)) == unsafe


@pytest.mark.parametrize("mu", [0.01, 1.0, 6.0])
def test_the_loose_epsilon_is_the_inverse_of_the_conversion(mu):
    epsilon = module.loose_epsilon(mu)
    assert -2 * scipy.special.ndtri(scipy.special.expit(-epsilon)) == pytest.approx(mu, rel=1e-9)
    assert epsilon == pytest.approx(math.sqrt(2 / math.pi) * mu, rel=0.4 if mu < 6 else 1)


def test_both_comparisons_have_the_same_gaussian_and_another_laplace():
    """At equal exact mu: the fair Laplace law has that mu, the loose one far less."""
    sensitivity, mu = 0.12, 0.5
    fair = RiemannianLaplace.calibrate(Sphere(2), sensitivity, GDP(mu))
    loose = RiemannianLaplace(Sphere(2), sensitivity / module.loose_epsilon(mu))
    gauss = RiemannianGaussian.calibrate(Sphere(2), sensitivity, GDP(mu))
    assert fair.privacy(sensitivity).mu() == pytest.approx(mu, rel=1e-3)
    assert loose.privacy(sensitivity).mu() < 0.7 * mu
    distances = [law.expected_distance() for law in (gauss, fair, loose)]
    assert distances == sorted(distances)


def by_quadrature(kind, sigma, sensitivity):
    """Densities about two points of S², losses and weights on a grid, and the mean distance."""
    height, weight = np.polynomial.legendre.leggauss(600)
    turn = (np.arange(600) + 0.5) * 2.0 * np.pi / 600
    # both footpoints on the equator
    across = np.sqrt(1.0 - height**2)[:, None]
    dist = [np.arccos(across * np.cos(turn + side * sensitivity / 2)) for side in (1, -1)]
    power = [r / sigma if kind == "laplace" else 0.5 * (r / sigma) ** 2 for r in dist]
    r = np.linspace(0.0, np.pi, 200_001)
    u = r / sigma if kind == "laplace" else 0.5 * (r / sigma) ** 2
    radial = np.exp(-u) * np.sin(r)
    mass = 2.0 * np.pi * np.trapezoid(radial, r)
    mean = 2.0 * np.pi * np.trapezoid(r * radial, r) / mass
    first, second = (np.exp(-p) / mass for p in power)
    return first, second, power[1] - power[0], weight[:, None] * 2.0 * np.pi / 600, mean


def mu_by_quadrature(kind, sigma, sensitivity):
    """Largest mu that solves for one epsilon."""
    first, second, losses, weight, _ = by_quadrature(kind, sigma, sensitivity)
    found = []
    for epsilon in np.linspace(0.0, 0.9 * losses.max(), 25):
        gain = np.maximum(first - np.exp(epsilon) * second, 0.0)
        delta = float(np.sum(weight * gain))
        if delta > 1e-7:
            found.append(
                scipy.optimize.brentq(
                    lambda mu, e=epsilon, d=delta: gaussian_delta(mu, e) - d, 1e-6, 20.0
                )
            )
    return max(found)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [3.0, 1.0, 0.25])
def test_panel_3_by_quadrature(sigma):
    sensitivity = 0.12146018366025517
    mu, *distances = module.exact_distances(sigma, sensitivity)
    assert mu == pytest.approx(mu_by_quadrature("gaussian", sigma, sensitivity), rel=1e-4)
    loose = sensitivity / math.log(1.0 / scipy.special.ndtr(-0.5 * mu) - 1.0)
    fair = RiemannianLaplace.calibrate(Sphere(2), sensitivity, GDP(mu)).sigma
    assert mu_by_quadrature("laplace", fair, sensitivity) == pytest.approx(mu, rel=2e-3)
    assert mu_by_quadrature("laplace", loose, sensitivity) < 0.9 * mu
    expected = [
        by_quadrature(kind, scale, sensitivity)[-1]
        for kind, scale in (("gaussian", sigma), ("laplace", loose), ("laplace", fair))
    ]
    assert distances == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_neither_is_ahead_where_the_distances_cross():
    sensitivity = 0.12146018366025517
    mu = module.crossing(sensitivity)
    assert mu == pytest.approx(2.587, abs=5e-3)
    for factor, ahead in ((0.9, True), (1.1, False)):
        sigma = RiemannianGaussian.calibrate(Sphere(2), sensitivity, GDP(factor * mu)).sigma
        _, gauss, _, fair = module.exact_distances(sigma, sensitivity)
        assert (gauss < fair) == ahead


@pytest.mark.parametrize(
    ("means", "text"),
    [
        ((4.2, 1.01, 0.25), "absolute error falls, the relative one too"),
        ((4.2, 1.1, 0.3), "absolute error falls, the relative one grows"),
        ((4.01, 1.1, 0.3), "absolute error grows, the relative one too"),
    ],
)
def test_the_error_of_algorithm_2_is_compared_at_both_ends(small, means, text):
    row = module._accuracy_row("R", [4.0, 1.0, 0.25], list(means))
    assert text in row.remark
    assert row.reproduced.startswith(f"{means[0] - 4:+.4f} ({means[0] / 4 - 1:+.1%}) / ")


def test_a_row_has_the_standard_error_of_the_gain():
    rng = np.random.default_rng(0)
    pairs = [(0.8 + 0.01 * x, 1.0 + 0.03 * y) for x, y in rng.standard_normal((20_000, 2))]
    error = np.std([1.0 - a / b for a, b in pairs])
    case = module.Case(0.5, 0.8, 1.0, 0.9, 0.55, (0.8, 0.01), (1.0, 0.03))
    measured, alike = module._case_rows("σ = k/4", 3.0, case)
    assert measured.reproduced.endswith(f"gain 20% ± {error:.0%}")
    assert measured.exact.endswith("gain 20.0%")
    assert "off by +10%" in measured.remark
    assert alike.exact.endswith("gain 11.1%")


@pytest.mark.slow
def test_panel_3_both_ways(small, monkeypatch):
    seen, ends = [], []

    def spy(manifold, sigma, sensitivity, *, largest_epsilon, **options):
        ends.append((sigma, largest_epsilon))
        return algorithm(manifold, sigma, sensitivity, largest_epsilon=largest_epsilon, **options)

    algorithm = module.jiang_algorithm_2
    monkeypatch.setattr(module, "jiang_algorithm_2", spy)
    outcome = module.utility(Settings(quick=True), seen.append)
    assert seen[-1] == 1.0
    text, code, gains = outcome.panels
    assert [end for _, end in ends] == pytest.approx([None, None, None, 28.0, 10.0, 10.0])
    assert list(gains.lines[0].x) == sorted(text.lines[2].x + code.lines[2].x)
    assert len(seen) == 6
    loose, fair = (np.array(line.y) for line in gains.lines)
    assert list(gains.lines[0].x) == sorted(gains.lines[0].x)
    assert np.all(loose > fair)
    assert np.all(loose > 0)  # as the paper: always ahead
    assert fair[-1] < 0  # the largest mu: Laplace is ahead
    assert np.max(fair) > 15
    for panel in (text, code):
        drawn, _, exact, _, _ = panel.lines
        for y, spread, truth in zip(drawn.y, drawn.spread, exact.y, strict=True):
            assert abs(y - truth) < 1.1 * spread  # spread: four standard errors
    # scales of the code are those of the text times the sensitivity
    assert min(code.lines[2].x) == pytest.approx(1 / 3, rel=0.05)
    assert max(code.lines[2].x) == pytest.approx(4.0, rel=0.01)
    assert max(text.lines[2].x) < 0.5
    assert len(outcome.rows) == 13
    assert all(row.paper in (module.FIGURE, "—") for row in outcome.rows[:-1])
    assert "from μ = 2.58" in outcome.rows[-1].exact
