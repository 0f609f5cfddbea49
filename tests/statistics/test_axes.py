"""Leading eigenvectors of noisy matrices: their limits hold, and no smaller ones would."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp.spaces import unvecd
from riemdp.statistics._shapes import hermitian_of
from riemdp.statistics._unit_vectors import leading_axis, length_limit, spread_limit

DRAWS = 4000


def noise(rng, size, dim, hermitian=False):
    """Matrices with standard deviation 1 along every one of Frobenius norm 1."""
    if hermitian:
        return hermitian_of(rng.normal(size=(size, dim**2)), dim, math.sqrt(2.0))
    return unvecd(rng.normal(size=(size, dim * (dim + 1) // 2)), dim)


@pytest.mark.parametrize(("dim", "hermitian"), [(2, False), (3, False), (8, False), (2, True)])
def test_noise_spreads_over_more_than_the_limit_rarely(dim, hermitian):
    values = np.linalg.eigvalsh(noise(np.random.default_rng(0), DRAWS, dim, hermitian))
    features = dim**2 if hermitian else dim * (dim + 1) // 2
    limit = spread_limit(dim * (2 if hermitian else 1), features)
    above = int(np.sum(values[:, -1] - values[:, 0] > limit))
    if dim == 2:  # what the limit says is true with equality
        assert scipy.stats.binomtest(above, DRAWS, 0.05).pvalue > 1e-4
    else:
        assert above < 0.05 * DRAWS
    # negative control: half of it is exceeded much more often
    assert np.mean(values[:, -1] - values[:, 0] > 0.5 * limit) > 0.3


def test_the_limit_grows_as_the_spread_does():
    """With the root of the dimension, and not with the dimension as the norm of the noise does."""
    for dim in (50, 200):
        features = dim * (dim + 1) // 2
        values = np.linalg.eigvalsh(noise(np.random.default_rng(1), 3, dim))
        spread = values[:, -1] - values[:, 0]
        limit = spread_limit(dim, features)
        assert np.all(spread < limit)
        assert limit < 1.4 * spread.mean()
        assert limit < 0.5 * math.sqrt(2.0 * features) or dim < 100


def test_lengths_of_noise():
    for dim in (1, 2, 3, 40):
        wanted = math.sqrt(scipy.stats.chi2.isf(0.05, dim))
        assert length_limit(dim) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("hermitian", [False, True])
def test_bounds_of_the_angle_hold_whatever_the_gap(hermitian):
    rng = np.random.default_rng(2)
    dim, draws = 3, 600
    features = dim**2 if hermitian else dim * (dim + 1) // 2
    for gap, sd in ((0.0, 1.0), (0.3, 0.1), (0.5, 0.05), (0.9, 0.02)):
        exact = np.diag([0.1 + gap, 0.1, 0.05]).astype(complex if hermitian else float)
        found = [
            leading_axis(exact + sd * each, features, sd)
            for each in noise(rng, draws, dim, hermitian)
        ]
        angles = np.array([math.acos(min(1.0, abs(each.vector[0]))) for each in found])
        bounds = np.array([each.bound for each in found])
        if gap == 0.0:  # no axis: it is called one in one draw of twenty at most
            assert np.mean([each.significant for each in found]) <= 0.05
        assert np.mean(angles > bounds) <= 0.05
        # the first order of the bound is that of the angle
        assert gap < 0.5 or np.median(bounds) < 10.0 * np.median(angles)
        # negative control: a tenth of the bound is not one
        assert np.mean(angles > 0.1 * bounds) > 0.3


@pytest.mark.parametrize("share", [0.1, 0.7, 0.99])
def test_the_bound_of_the_angle_holds_for_the_worst_noise_of_that_spread(share):
    """Of two rows: the released matrix is at twice the angle from the exact one in a plane."""
    noisy, twice = np.diag([0.5, -0.5]), math.asin(share)  # its gap is 1
    toward = np.array([[math.cos(twice), math.sin(twice)], [math.sin(twice), -math.cos(twice)]])
    exact = 0.5 * math.cos(twice) * toward
    spread = np.ptp(np.linalg.eigvalsh(noisy - exact))
    assert spread == pytest.approx(share, rel=1e-12)
    found = leading_axis(noisy, 3, share / spread_limit(2, 3))
    true = leading_axis(exact, 3, 0.0).vector
    angle = math.acos(min(1.0, abs(float(found.vector @ true))))
    assert angle == pytest.approx(0.5 * twice, rel=1e-6)
    assert angle <= found.bound == pytest.approx(math.asin(share / (2.0 - share)), rel=1e-9)


def test_signs_and_order_are_determined():
    rng = np.random.default_rng(3)
    for matrix in noise(rng, 20, 4):
        one = leading_axis(matrix, 10, 0.1)
        assert one.vector[np.argmax(np.abs(one.vector))] > 0.0
        assert np.all(np.diff(one.eigenvalues) <= 0.0)
        assert one.gap == one.eigenvalues[0] - one.eigenvalues[1]
        assert np.allclose(matrix @ one.vector, one.eigenvalues[0] * one.vector)
        assert one.gap_noise == pytest.approx(0.1 * math.sqrt(8.0))


def test_the_expected_eigenvalue_is_less_than_its_bound():
    for dim, hermitian in ((2, False), (10, False), (2, True), (10, True)):
        values = np.linalg.eigvalsh(noise(np.random.default_rng(4), 1000, dim, hermitian))
        bound = leading_axis(np.eye(dim) * (1j if hermitian else 1.0), 99, 1.0).gap_noise
        assert 0.4 * bound < values[:, -1].mean() < bound
        assert dim < 10 or 0.8 * bound < values[:, -1].mean()


def test_noise_that_is_not_known_has_no_limit():
    found = leading_axis(np.diag([1.0, 0.0]), 3, math.nan)
    assert math.isnan(found.gap_limit)
    assert math.isnan(found.bound)
    assert not found.significant


def test_without_noise_everything_is_known():
    found = leading_axis(np.diag([0.5, 0.3]), 3, 0.0)
    assert (found.significant, found.bound, found.gap_limit) == (True, 0.0, 0.0)
