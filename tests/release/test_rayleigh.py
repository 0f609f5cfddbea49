"""Rayleigh's test of uniformity on a released mean resultant."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import scipy.stats

from riemdp import (
    GDP,
    Ball,
    InvalidParameterError,
    PureDP,
    Release,
    Sphere,
    UnsupportedError,
    private_directional_summary,
    private_mean,
    private_statistic,
    rayleigh_test,
)
from riemdp.release._rayleigh import _null_squares
from riemdp.statistics import DirectionalMoments


def directions(n, dim, rng, shift=0.0):
    found = rng.normal(size=(n, dim))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    found[:, 0] += shift
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def released(n=200, mu=0.5, *, dim=3, seed=0, shift=0.0, order=1):
    rng = np.random.default_rng(seed)
    points = directions(n, dim, rng, shift)
    return private_directional_summary(points, GDP(mu), order=order, generator=rng)


@pytest.mark.parametrize("order", [1, (1, 2)], ids=str)
@pytest.mark.parametrize("dim", [2, 3, 8])
def test_the_statistic_has_the_noise_in_it(order, dim):
    release = released(dim=dim, order=order)
    found = rayleigh_test(release)
    sigma = 2.0 / (200 * 0.5)
    wanted = release.value.length**2 / (1.0 / (dim * 200) + sigma**2)
    assert found.statistic == pytest.approx(wanted, rel=1e-6)
    assert found.pvalue == pytest.approx(scipy.stats.chi2.sf(found.statistic, dim), rel=1e-9)
    assert (found.degrees_of_freedom, found.method) == (dim, "asymptotic")
    assert rayleigh_test(Release.from_json(release.to_json())) == found


def test_directions_that_have_a_mean_are_told_from_uniform_ones():
    assert rayleigh_test(released(shift=1.0)).pvalue < 1e-6
    assert rayleigh_test(released(shift=1.0), simulations=999).pvalue == 0.001
    assert rayleigh_test(released()).pvalue > 0.01


@pytest.mark.fast(2)
@pytest.mark.parametrize("dim", [2, 3, 8])
def test_simulations_and_the_chi_square_law_agree(dim):
    for seed in range(3):
        release = released(dim=dim, seed=seed)
        one, other = rayleigh_test(release), rayleigh_test(release, simulations=4000)
        assert other.method == "simulated"
        error = 4.0 * math.sqrt(one.pvalue * (1.0 - one.pvalue) / 4000)
        assert abs(one.pvalue - other.pvalue) < error + 0.005


def test_the_law_of_few_directions_is_simulated():
    """Of one direction and of two it is known, and not that of normal vectors."""
    for dim in (2, 3, 5):
        assert np.allclose(_null_squares(1, dim, 0.0, 50), 1.0)
        squares = _null_squares(2, dim, 0.0, 4000)
        half = 0.5 * (dim - 1)  # |x + y|^2 / 4 = (1 + cos) / 2
        assert scipy.stats.kstest(squares, scipy.stats.beta(half, half).cdf).pvalue > 1e-4
        assert scipy.stats.kstest(dim * 2 * squares, scipy.stats.chi2(dim).cdf).pvalue < 1e-4
    rng = np.random.default_rng(0)
    wanted = [np.sum(directions(5, 3, rng).mean(axis=0) ** 2) for _ in range(2000)]
    assert scipy.stats.ks_2samp(_null_squares(5, 3, 0.0, 2000), wanted).pvalue > 1e-4
    noisy = [
        np.sum((directions(5, 3, rng).mean(axis=0) + 0.3 * rng.normal(size=3)) ** 2)
        for _ in range(2000)
    ]
    assert scipy.stats.ks_2samp(_null_squares(5, 3, 0.3, 2000), noisy).pvalue > 1e-4


def test_numbers_of_simulations():
    release = released()
    for wrong in (-1, 1.5, True, "many", None, False):
        with pytest.raises(InvalidParameterError, match="simulations must be"):
            rayleigh_test(release, simulations=wrong)
    with pytest.raises(InvalidParameterError, match="simulations must be at most 500000"):
        rayleigh_test(release, simulations=500_001)


def test_other_releases_are_refused():
    points = directions(100, 3, np.random.default_rng(0))
    cap = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
    scatter = private_directional_summary(points, GDP(1.0), order=2)
    for release, message in (
        (scatter, "needs the mean resultant"),
        (private_mean(points, cap, GDP(1.0)), "needs the mean resultant"),
        (private_directional_summary(points, PureDP(1.0)), "needs Gaussian noise"),
        (private_statistic(DirectionalMoments(1), points, cap, GDP(1.0)), "whole sphere"),
        (dataclasses.replace(released(), projected=True), "neither projected nor shrunk"),
        (released().shrink(), "neither projected nor shrunk"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            rayleigh_test(release)
    with pytest.raises(InvalidParameterError, match=r"release must be a riemdp\.Release"):
        rayleigh_test(points)


def p_values(n, mu, repeats, shift=0.0):
    return np.array(
        [rayleigh_test(released(n, mu, seed=seed, shift=shift)).pvalue for seed in range(repeats)]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "mu"), [(200, 0.5), (1000, 0.2)])
def test_the_size_is_the_level(n, mu):
    found = p_values(n, mu, 3000)
    assert abs(np.mean(found <= 0.05) - 0.05) < 0.01
    assert scipy.stats.kstest(found, "uniform").pvalue > 1e-4


@pytest.mark.slow
def test_without_the_noise_in_the_law_the_level_is_broken():
    """Negative control: the test of the exact resultant, held against the noisy one."""
    values = [released(mu=0.1, seed=seed).value.length ** 2 * 3 * 200 for seed in range(200)]
    assert np.mean(scipy.stats.chi2.sf(values, 3) <= 0.05) > 0.3


@pytest.mark.slow
def test_its_power():
    """Uniform directions, moved by .3 along an axis before they are made unit vectors."""
    assert np.mean(p_values(200, 0.5, 200, shift=0.3) <= 0.05) > 0.94
    assert np.mean(p_values(1000, 0.2, 200, shift=0.3) <= 0.05) > 0.99


def test_its_text_has_the_p_value():
    found = rayleigh_test(released())
    assert str(found).startswith("Rayleigh test of uniformity")
    assert f"{found.pvalue:.4g}, asymptotic" in str(found)
    assert f"{found.statistic:.4g}, 3 degrees of freedom" in found._repr_html_()
