"""Two-sample test: size, power, and p-values that are valid at all levels."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp import InsufficientSamplesError, InvalidParameterError
from riemdp.statistics import ReleasedMoments, two_sample_test
from riemdp.statistics._regions import largest_eigenvalue_quantile


def isotropic(rng, dim, sd):
    square = rng.normal(size=(dim, dim))
    return 0.5 * sd * (square + square.T)


def release(rng, dim, n, mu, *, shift=0.0, spread=0.5):
    """Joint release of normal vectors, of this root mean square length, in the unit ball."""
    vectors = spread / math.sqrt(dim) * rng.normal(size=(n, dim))
    vectors[:, 0] += shift
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0)
    sigma = 2.0 / (n * mu)
    sigma_second = math.sqrt(2.0) * sigma
    mean = vectors.mean(axis=0) + sigma * rng.normal(size=dim)
    second = vectors.T @ vectors / n + isotropic(rng, dim, sigma_second)
    return ReleasedMoments(mean, second, sigma, sigma_second, n, 1.0)


def p_values(repetitions, shift, seed, *, dim=6, sizes=(200, 300), mu=0.5):
    rng = np.random.default_rng(seed)
    return np.array(
        [
            two_sample_test(
                release(rng, dim, sizes[0], mu), release(rng, dim, sizes[1], mu, shift=shift)
            ).pvalue
            for _ in range(repetitions)
        ]
    )


def is_at_most(found, total, level):
    return scipy.stats.binomtest(int(found), total, level, alternative="greater").pvalue > 1e-4


@pytest.mark.slow
def test_size_and_power():
    found = p_values(60, 0.0, 1)
    for level in (0.01, 0.05, 0.2):
        assert is_at_most((found <= level).sum(), len(found), level)
    assert np.median(found) < 0.75  # not idle
    assert (p_values(30, 0.12, 2) <= 0.05).mean() > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2, 6, 21])
@pytest.mark.parametrize("mu", [0.2, 1.0, 5.0])
def test_size_of_all_levels(dim, mu):
    found = p_values(300, 0.0, 3, dim=dim, sizes=(500, 700), mu=mu)
    for level in (0.001, 0.01, 0.05, 0.1, 0.3):
        assert is_at_most((found <= level).sum(), len(found), 1.1 * level)


@pytest.mark.slow
def test_power_and_size():
    size, power = (p_values(500, shift, 4) <= 0.05 for shift in (0.0, 0.1))
    assert is_at_most(size.sum(), 500, 0.05)
    assert size.mean() > 0.02
    assert power.mean() > 0.5


@pytest.mark.slow
def test_power_of_the_quotient_with_inflated_matrices_is_less():
    # what the direction of the difference is worth
    rng, rejected = np.random.default_rng(5), np.zeros(2)
    for _ in range(30):
        groups = release(rng, 6, 200, 0.5), release(rng, 6, 300, 0.5, shift=0.12)
        total = np.zeros((6, 6))
        for m in groups:
            matrix, more = m.centred(math.sqrt(scipy.stats.chi2.isf(0.0005, 6)))
            more += m.sigma_second * largest_eigenvalue_quantile(6, 0.00125)
            total += (matrix + more * np.eye(6)) / (m.n - 1) + m.sigma**2 * np.eye(6)
        apart = groups[0].mean - groups[1].mean
        quotient = apart @ np.linalg.solve(total, apart)
        rejected += [
            two_sample_test(*groups).pvalue <= 0.05,
            quotient > scipy.stats.chi2.isf(0.93 * 0.05, 6),
        ]
    assert rejected[0] > rejected[1] + 8


@pytest.mark.slow
def test_a_plug_in_rejects_too_often():
    # negative control: variances as if they had no noise, in 21 dimensions
    rng, rejected = np.random.default_rng(6), np.zeros(2)
    for _ in range(60):
        groups = [release(rng, 21, 300, 4.0, spread=0.3) for _ in range(2)]
        total = sum(m.sigma**2 for m in groups) * np.eye(21)
        for m in groups:
            values, vectors = np.linalg.eigh(m.second_moment - np.outer(m.mean, m.mean))
            total += (vectors * np.maximum(values, 0.0)) @ vectors.T / m.n
        apart = groups[0].mean - groups[1].mean
        quotient = apart @ np.linalg.solve(total, apart)
        rejected += [
            two_sample_test(*groups).pvalue <= 0.05,
            quotient > scipy.stats.chi2.isf(0.05, 21),
        ]
    assert is_at_most(rejected[0], 60, 0.05)
    assert rejected[1] > 12


def groups_apart(distance):
    second = 0.04 * np.eye(3)
    first = ReleasedMoments([distance, 0.0, 0.0], second, 0.004, 0.005, 500, 1.0)
    return first, ReleasedMoments(np.zeros(3), second, 0.003, 0.004, 700, 1.0)


def test_p_values_fall_with_the_distance():
    found = [two_sample_test(*groups_apart(x)).pvalue for x in np.linspace(0.0, 0.25, 13)]
    assert found[0] == 1.0
    assert np.all(np.diff(found) <= 0)
    assert found[-1] == 2e-12
    assert len(set(found)) > 5
    assert all(2e-12 <= p <= 1 for p in found)


def test_far_apart_it_is_nearly_the_chi_squared_law():
    # little noise: the quotient of the difference and the variance along it
    second = 0.04 * np.eye(3)
    first = ReleasedMoments([0.02, 0.01, 0.0], second, 1e-5, 1e-7, 500, 1.0)
    other = ReleasedMoments(np.zeros(3), second, 1e-5, 1e-7, 700, 1.0)
    test = two_sample_test(first, other)
    variance = (0.04 - 0.0004 - 0.0001) / 499 + 0.04 / 699
    assert test.statistic == pytest.approx(0.0005 / variance, rel=2e-2)
    expected = scipy.stats.chi2.sf(0.0005 / variance, 3)
    assert expected < test.pvalue < 1.1 * expected


def test_the_order_of_the_groups_and_the_frame_do_not_matter():
    first, second = groups_apart(0.05)
    there, back = two_sample_test(first, second), two_sample_test(second, first)
    np.testing.assert_array_equal(there.difference, -back.difference)
    assert there.pvalue == pytest.approx(back.pvalue)
    assert there.statistic == pytest.approx(back.statistic)
    assert there.dim == 3
    assert "asymptotic" in there.note
    assert "clipped" in there.note
    few = ReleasedMoments(np.zeros(3), np.eye(3), 0.1, 0.1, 10, 1.0)
    assert "care" in two_sample_test(few, second).note


def test_what_is_refused():
    first, second = groups_apart(0.05)
    longer = ReleasedMoments(np.zeros(3), np.eye(3), 0.1, 0.1, 10, 2.0)
    plane = ReleasedMoments(np.zeros(2), np.eye(2), 0.1, 0.1, 10, 1.0)
    for other in (longer, plane):
        with pytest.raises(InvalidParameterError, match="one base"):
            two_sample_test(first, other)
    with pytest.raises(InsufficientSamplesError):
        two_sample_test(second, ReleasedMoments(np.zeros(3), np.eye(3), 0.1, 0.1, 1, 1.0))


def test_fields_are_named_as_in_scipy():
    rng = np.random.default_rng(0)
    found = two_sample_test(release(rng, 2, 200, 1.0), release(rng, 2, 300, 1.0))
    theirs = scipy.stats.ttest_ind([0.0, 1.0], [0.0, 2.0])
    for name in ("statistic", "pvalue"):
        assert isinstance(getattr(found, name), float)
        assert hasattr(theirs, name)
    assert not hasattr(found, "p_value")


def test_its_text_has_the_p_value_and_what_it_rests_on():
    rng = np.random.default_rng(0)
    found = two_sample_test(release(rng, 2, 200, 1.0), release(rng, 2, 300, 1.0))
    assert f"p-value     {found.pvalue:.4g}" in str(found)
    assert found.note.split(";")[0][:20] in str(found)
