from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

from riemdp.noise import IsotropicLaw
from riemdp.reproduce import _reimherr_utility as utility
from riemdp.reproduce._experiment import Settings
from riemdp.reproduce._reimherr_data import BOUNDS, SPHERE, SPHERE_RADIUS
from riemdp.summaries import frechet_mean_sensitivity


def law(n, bound):
    return IsotropicLaw("laplace", SPHERE.manifold, frechet_mean_sensitivity(SPHERE, n, bound))


@pytest.mark.parametrize("n", [5, 200])
def test_the_mean_chord_is_the_integral_against_the_density(n):
    radial = law(n, "tight").radial
    integral, _ = scipy.integrate.quad(
        lambda r: 2 * np.sin(r / 2) * np.exp(radial.log_pdf(r)),
        0.0,
        np.pi,
        points=[radial.sigma, 10 * radial.sigma],
        epsabs=1e-13,
        limit=200,
    )
    assert utility.mean_chord(radial) == pytest.approx(integral, rel=2e-4)


@pytest.mark.parametrize(
    ("bound", "gain"), [("theorem", -0.0376), ("tight", 0.1231), ("exact", 0.2923)]
)
def test_the_gains_at_n_200(bound, gain):
    """The paper's 12 % appears with the tight bound alone."""
    embedding = 3 * 2 * SPHERE_RADIUS / 200
    assert 1 - utility.mean_chord(law(200, bound).radial) / embedding == pytest.approx(
        gain, abs=2e-4
    )


def test_the_papers_gain_at_small_sizes_lies_between_n_5_and_6():
    gains = [
        1 - utility.mean_chord(law(n, "tight").radial) / (6 * SPHERE_RADIUS / n) for n in (5, 6)
    ]
    assert gains[0] > 0.168 > gains[1]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(utility, "SPHERE_SIZES", (20, 200))
    monkeypatch.setattr(utility, "SPD_SIZES", (20, 200))


def test_draws_on_the_sphere_agree_with_the_integrals(small):
    seen = []
    outcome = utility.sphere_utility(Settings(quick=True), seen.append)
    assert seen == [0.5, 1.0]
    drawn, gains = outcome.panels
    embedding = drawn.lines[-1]
    for line, gain in zip(drawn.lines[:-1], gains.lines, strict=True):
        for i in range(2):
            exact = (1 - gain.y[i] / 100) * 6 * SPHERE_RADIUS / gain.x[i]
            assert abs(line.y[i] - exact) < 2.5 * line.spread[i]  # spread: two standard errors
            assert embedding.y[i] == pytest.approx(6 * SPHERE_RADIUS / gain.x[i], rel=0.03)
    assert len(outcome.rows) == 2 * len(BOUNDS) + 1
    assert "-3.76%" in outcome.rows[3].exact
    assert "12.31%" in outcome.rows[4].exact
    assert "29.23%" in outcome.rows[5].exact
    assert "12 % at larger n" in outcome.rows[4].paper
    assert [outcome.rows[i].paper for i in (0, 2, 3, 5)] == ["—"] * 4


def test_matrices_lose_less_than_the_embedding_which_leaves_them(small):
    outcome = utility.spd_utility(Settings(quick=True), lambda share: None)
    manifold, embedding = outcome.panels[0].lines
    assert all(m < e / 2 for m, e in zip(manifold.y, embedding.y, strict=True))
    outside = outcome.panels[1].lines[0].y
    assert 0.2 < outside[0] < 0.45
    assert outside[1] < 0.001
    assert "25 %" in outcome.rows[-2].paper
    assert "at least 13.3" in outcome.rows[-1].exact
