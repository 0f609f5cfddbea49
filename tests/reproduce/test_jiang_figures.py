from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special

from riemdp.manifolds import Euclidean, Sphere
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.privacy import GDP
from riemdp.reproduce import _jiang_figures as module
from riemdp.reproduce._experiment import Settings


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(module, "SIGMAS", (0.25, 1.0, 4.0))
    monkeypatch.setattr(module, "SMALL_SIGMAS", (0.02, 0.12))
    monkeypatch.setattr(module, "UTILITY_SIGMAS", (0.25, 1.0, 3.0))


def test_mu_on_the_circle_has_its_known_values():
    known = {1.0: 0.983169214812, 2.0: 0.362390094208, 4.0: 0.100249979767}
    for sigma, mu in known.items():
        assert module.exact_mu(Sphere(1), sigma, 1.0) == pytest.approx(mu, rel=1e-4)


def test_the_circle_shows_all_methods(small):
    outcome = module.mu_panel(Sphere(1), Settings(quick=True), lambda share: None)
    lines = {line.label: np.array(line.y) for line in outcome.panels[0].lines}
    exact = lines["exact"]
    np.testing.assert_allclose(lines["Algorithm 1, as printed"], exact, rtol=2e-4)
    assert np.all(lines["R: 1/σ"] >= exact * (1 - 1e-4))
    assert np.all(lines["Algorithm 2, least"] <= lines["Algorithm 2, largest"])
    np.testing.assert_allclose(lines["Algorithm 2, mean of 4"], exact, rtol=0.2)
    assert [row.paper for row in outcome.rows[:3]] == [module.FIGURE] * 3
    assert "Corollary 3.2.1" in outcome.rows[-1].paper


def test_on_the_line_mu_is_one_over_sigma(small):
    outcome = module.mu_panel(Euclidean(1), Settings(quick=True), lambda share: None)
    exact = outcome.panels[0].lines[0]
    np.testing.assert_allclose(exact.y, 1.0 / np.array(exact.x), rtol=1e-12)
    assert all("1/σ" in row.paper for row in outcome.rows)


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


def test_panel_3_both_ways(small):
    seen = []
    outcome = module.utility(Settings(quick=True), seen.append)
    assert seen[-1] == 1.0
    published, gains = outcome.panels
    loose, fair = (np.array(line.y) for line in gains.lines)
    assert np.all(loose > fair)
    assert np.all(loose > 0)  # as the paper: always ahead
    assert fair[0] < 0  # the least sigma, the largest mu: Laplace is ahead
    assert np.max(fair) > 15
    drawn, exact = published.lines[0], published.lines[2]
    for y, spread, truth in zip(drawn.y, drawn.spread, exact.y, strict=True):
        assert abs(y - truth) < 1.1 * spread  # spread: four standard errors
    assert len(outcome.rows) == 7
    assert all(row.paper in (module.FIGURE, "—") for row in outcome.rows[:6])
    assert "Laplace is from μ" in outcome.rows[-1].exact
