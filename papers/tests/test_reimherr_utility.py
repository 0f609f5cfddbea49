from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

from riemdp.noise import IsotropicLaw
from riemdp.statistics import frechet_mean_sensitivity
from riemdp_papers import _reimherr_utility as utility
from riemdp_papers._experiment import Settings
from riemdp_papers._reimherr_data import SPHERE, SPHERE_RADIUS


def chord(n, bound):
    return utility.mean_chord(frechet_mean_sensitivity(SPHERE, n, bound))


@pytest.mark.parametrize("sigma", [0.004, 0.2, 1.5])
def test_the_mean_chord_is_the_integral_against_the_density(sigma):
    radial = IsotropicLaw("laplace", SPHERE.manifold, sigma).radial
    integral, _ = scipy.integrate.quad(
        lambda r: 2 * np.sin(r / 2) * np.exp(radial.log_pdf(r)),
        0.0,
        np.pi,
        points=[min(1.0, sigma), min(2.0, 10 * sigma)],
        epsabs=1e-13,
        limit=200,
    )
    assert utility.mean_chord(sigma) == pytest.approx(integral, rel=1e-9)


@pytest.mark.parametrize(
    ("bound", "gain"), [("theorem", -0.03758), ("tight", 0.12313), ("exact", 0.29229)]
)
def test_the_gains_at_n_200(bound, gain):
    """The paper's 12 % appears with the tight bound alone."""
    embedding = 3 * 2 * SPHERE_RADIUS / 200
    assert 1 - chord(200, bound) / embedding == pytest.approx(gain, abs=1e-5)


def test_no_bound_gives_the_papers_gain_at_smaller_sizes():
    """The scripts begin at n = 25, where the gain is that of large n; n = 5 would have it."""
    gains = [1 - chord(n, "tight") / (6 * SPHERE_RADIUS / n) for n in (5, 6, 25, 500)]
    assert gains[0] > 0.168 > gains[1]
    assert gains[2:] == pytest.approx([0.1253, 0.1231], abs=1e-4)


def test_errors_count_means_and_not_draws():
    """Draws about one mean say little of the mean error over data sets."""
    generator = np.random.default_rng(0)
    scales = generator.exponential(size=200)
    differences = generator.standard_normal((400, 200, 3)) * scales[:, None]
    value, error = utility._error(differences)
    norm = np.sqrt(8 / np.pi)  # mean norm of a standard normal vector in R^3
    assert value == pytest.approx(norm * np.mean(scales), rel=0.01)
    assert error == pytest.approx(norm * np.std(scales, ddof=1) / np.sqrt(200), rel=0.05)


def test_what_leaves_the_positive_definite_matrices():
    inside, outside = [1.0, 0.5, 1.0], [[1.0, 2.0, 1.0], [-1.0, 0.5, -1.0], [-1.0, 0.0, 1.0]]
    assert utility._leaves(np.array([[inside, inside]])) == (0.0, 0.0)
    assert utility._leaves(np.array([outside])) == (1.0, 0.0)
    vectors = np.array([[inside, inside], [inside, outside[0]]])  # shares 0 and 1/2 by mean
    assert utility._leaves(vectors) == (0.25, pytest.approx(0.25))


def test_coordinates_of_matrices_have_no_factors():
    assert utility._vech(np.array([[1.0, 2.0], [2.0, 3.0]])).tolist() == [1.0, 2.0, 3.0]


def test_the_error_of_a_gain_is_that_of_a_ratio():
    row = utility._gain_row(25, "tight", (0.9, 0.009), (1.0, 0.01), 0.1)
    assert row.reproduced == "10.0% ± 1.3% (SE)"  # 0.9 sqrt(2) %
    assert row.exact == "10.00%"


def test_bands_are_two_standard_errors():
    assert utility._line("a", (1.0, 2.0), [(5.0, 0.5), (6.0, 1.0)]).spread == (1.0, 2.0)


def test_the_share_that_leaves_is_a_mean_over_sizes_with_its_error(monkeypatch):
    sizes = []
    monkeypatch.setattr(utility, "QUICK_SIZES", (20, 40, 200))
    monkeypatch.setattr(utility, "_leaves", lambda vectors: (0.3, 0.03))
    monkeypatch.setattr(utility, "spd_data", lambda n, generator: sizes.append(n))
    monkeypatch.setattr(utility, "fixed_mean", lambda ball, points: ball.center)
    outcome = utility.spd_utility(Settings(quick=True), lambda share: None)
    assert outcome.rows[-2].reproduced == "30.0% ± 2.1% (SE): 30% (n = 20), 30% (n = 40)"
    monkeypatch.setattr(utility, "SIZES", (20, 200))
    utility.spd_utility(Settings(quick=False), lambda share: None)
    assert sizes.count(20) == 60 + 1000  # replicates


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(utility, "QUICK_SPHERE_SIZES", (25, 200))
    monkeypatch.setattr(utility, "QUICK_SIZES", (20, 200))


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
    exact = [row.exact for row in outcome.rows]
    assert exact[:6] == ["-3.40%", "12.53%", "29.34%", "-3.76%", "12.31%", "29.23%"]
    assert exact[6:8] == ["14.77%", "14.57%"]
    assert len(outcome.rows) == 9
    assert "12 % at larger n" in outcome.rows[4].paper
    assert [outcome.rows[i].paper for i in (0, 2, 3, 5, 6)] == ["—"] * 5


@pytest.mark.slow
def test_a_full_run_has_the_sizes_of_the_authors_scripts(monkeypatch):
    seen = []
    monkeypatch.setattr(utility, "sphere_data", lambda n, generator: seen.append(n))
    monkeypatch.setattr(utility, "fixed_mean", lambda ball, points: ball.center)
    outcome = utility.sphere_utility(Settings(quick=False), lambda share: None)
    assert outcome.panels[1].lines[0].x == tuple(float(n) for n in range(25, 501, 25))
    assert seen.count(500) == 1000  # replicates


def test_matrices_lose_less_than_the_embedding_which_leaves_them(small):
    outcome = utility.spd_utility(Settings(quick=True), lambda share: None)
    manifold, embedding = outcome.panels[0].lines
    assert all(m < e / 2 for m, e in zip(manifold.y, embedding.y, strict=True))
    outside, twice = (line.y for line in outcome.panels[1].lines)
    assert 0.2 < outside[0] < 0.45 < twice[0] < 0.7
    assert outside[1] < 0.001
    assert "25 %" in outcome.rows[-2].paper
    assert "at least 13.3" in outcome.rows[-1].exact
