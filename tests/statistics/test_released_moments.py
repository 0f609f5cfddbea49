"""What is known of the covariance of a released mean, as inequalities between numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import InsufficientSamplesError, InvalidParameterError
from riemdp.statistics._moments import ReleasedMoments, check_level

seeds = st.integers(0, 2**32 - 1)


def released(seed, dim, n=7, sigma=0.3, sigma_second=0.2):
    """Release, covariance of its records, and its noise."""
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, dim)) * rng.uniform(0.01, 1, size=dim) + rng.normal(size=dim)
    mean, second = records.mean(axis=0), records.T @ records / n
    z, square = rng.normal(size=dim), rng.normal(size=(dim, dim))
    noise = sigma_second * 0.5 * (square + square.T)
    moments = ReleasedMoments(mean + sigma * z, second + noise, sigma, sigma_second, n, 10.0)
    return moments, second - np.outer(mean, mean), z, noise


@given(seed=seeds, dim=st.integers(1, 7), sigma=st.sampled_from([1e-3, 0.3, 4.0]))
def test_variance_along_is_a_bound_but_for_its_noise(seed, dim, sigma):
    moments, covariance, z, noise = released(seed, dim, sigma=sigma)
    units = np.random.default_rng(seed + 1).normal(size=(20, dim))
    units = np.concatenate([units, z[None], moments.mean[None]])
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    exact = np.einsum("ij,jk,ik->i", units, covariance / 6 + sigma**2 * np.eye(dim), units)
    noisy = exact + np.einsum("ij,jk,ik->i", units, noise / 6, units)
    bound = moments.variance_along(units, float(np.linalg.norm(z)))
    assert np.all(bound >= noisy)
    # The allowance is needed, and nothing else is: without noise in the mean it is the variance.
    along = np.abs(units @ z) * (1 + 1e-12)
    signs = np.sign(units @ moments.mean) * (units @ z) > 0
    tight = np.array(
        [float(moments.variance_along(u, a)) for u, a in zip(units, along, strict=True)]
    )
    deep = signs & (np.abs(units @ moments.mean) > along * sigma)
    np.testing.assert_allclose(tight[deep], noisy[deep], rtol=1e-6, atol=1e-9)


@given(seed=seeds, dim=st.integers(1, 7), sigma=st.sampled_from([1e-3, 0.3, 4.0]))
def test_centred_is_a_bound_in_all_directions(seed, dim, sigma):
    moments, covariance, z, noise = released(seed, dim, sigma=sigma)
    matrix, more = moments.centred(float(np.linalg.norm(z)))
    gap = matrix + more * np.eye(dim) - noise - covariance
    assert np.linalg.eigvalsh(gap)[0] >= -1e-13 * (1 + np.abs(matrix).max())
    # it adds less than the bound by the norm of the difference of the outer products
    page = 2 * sigma * np.linalg.norm(moments.mean) * np.linalg.norm(z) * dim
    added = np.trace(matrix + more * np.eye(dim))
    added -= np.trace(moments.second_moment - np.outer(moments.mean, moments.mean))
    assert added <= page * (1 + 1e-9) + 1e-9


def test_without_allowance_it_is_no_bound():
    # negative control
    for seed in range(20):
        moments, covariance, z, noise = released(seed, 4)
        gap = moments.centred(0.0)[0] - noise - covariance
        if np.linalg.eigvalsh(gap)[0] < -1e-3:
            unit = z / np.linalg.norm(z)
            exact = unit @ (covariance / 6 + 0.09 * np.eye(4) + noise / 6) @ unit
            if moments.variance_along(unit, 0.0) < exact - 1e-3:
                return
    pytest.fail("no seed breaks it")


def test_a_mean_of_zero():
    moments = ReleasedMoments(np.zeros(3), np.eye(3), 0.1, 0.2, 5, 1.0)
    matrix, more = moments.centred(2.0)
    np.testing.assert_array_equal(matrix, np.eye(3))
    assert more == moments.rounding
    np.testing.assert_allclose(moments.variance_along([0.0, 1.0, 0.0], 2.0), 0.25 + 0.01)


def test_what_is_asked_of_the_numbers():
    good = {
        "mean": [0.1, 0.2],
        "second_moment": [[1.0, 0.5], [0.5, 1.0]],
        "sigma": 0.1,
        "sigma_second": 0.2,
        "n": 10,
        "reach": 2.0,
    }
    assert ReleasedMoments(**good).dim == 2
    for change, words in [
        ({"mean": [[0.1, 0.2]]}, "shape"),
        ({"mean": []}, "shape"),
        ({"mean": [0.1, np.nan]}, "finite"),
        ({"mean": [0.1, 0.2, 0.3]}, "3 coordinates"),
        ({"second_moment": [[1.0, 0.5], [0.4, 1.0]]}, "symmetric"),
        ({"second_moment": [[1.0, np.inf], [np.inf, 1.0]]}, "finite"),
        ({"sigma": 0.0}, "sigma"),
        ({"sigma_second": -1.0}, "sigma_second"),
        ({"n": 0}, "n must"),
        ({"n": 2.5}, "n must"),
        ({"reach": np.inf}, "reach"),
    ]:
        with pytest.raises(InvalidParameterError, match=words) as caught:
            ReleasedMoments(**{**good, **change})
        assert "0.2" not in str(caught.value)


def test_rounding_in_the_second_moment_is_evened_out():
    moments = ReleasedMoments([0.0, 0.0], [[1.0, 0.5], [0.5 + 1e-16, 1.0]], 0.1, 0.1, 4, 1.0)
    np.testing.assert_array_equal(moments.second_moment, moments.second_moment.T)


def test_one_record_has_no_spread():
    moments = ReleasedMoments([0.0], [[1.0]], 0.1, 0.1, 1, 1.0)
    with pytest.raises(InsufficientSamplesError, match="at least 2"):
        moments.degrees_of_freedom()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1 - 1e-12, np.nan])
def test_levels(level):
    assert check_level(0.95) == pytest.approx(0.05)
    with pytest.raises(InvalidParameterError, match="level"):
        check_level(level)
