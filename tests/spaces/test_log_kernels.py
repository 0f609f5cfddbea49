"""The loops that a compiler takes, as plain Python: slow, and the same arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp.spaces import _log_kernels, _log_lanes, _logarithms, _symmetric
from riemdp.spaces._log_fractions import logarithms_3x3
from riemdp.spaces._logarithms import Kernels, _run_3x3

EPS = 2.0**-52


def definite(rng, n, k, digits):
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    values = 10.0 ** (-digits * rng.uniform(size=(n, k)))
    values[:, 0] = 1.0
    values[:, 1] = 10.0**-digits
    whole = (frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2)
    return _symmetric.symmetrise(whole * rng.uniform(0.01, 100.0, (n, 1, 1)))


def some_of_size_3():
    rng = np.random.default_rng(2)
    data = np.concatenate([definite(rng, 3, 3, digits) for digits in (0.0, 1.0, 5.0, 14.0)])
    data = data[rng.permutation(len(data))]
    data[4], data[7] = -np.eye(3), np.nan
    lost = np.outer([0.1, 0.3, 2.1], [0.1, 0.3, 2.1])  # by rounding, which leaves positive pivots
    small = np.eye(3)
    small[1, 0] = small[0, 1] = 1e-310
    return np.concatenate([data, [lost, small]])


def test_loops_over_3x3_have_the_bits_of_numpy():
    data = some_of_size_3()
    expected = logarithms_3x3(data)
    with np.errstate(all="ignore"):
        found = _run_3x3(_log_kernels.kernel_3x3, data)
    np.testing.assert_array_equal(found.entries, expected.entries)
    np.testing.assert_array_equal(found.condition, expected.condition)
    np.testing.assert_array_equal(found.outside, expected.outside)
    assert 3 <= expected.outside.sum() < 7
    assert expected.outside[-2:].tolist() == [True, False]


@pytest.mark.parametrize("n", [3, 8, 11])
def test_logarithms_as_seen_from_elsewhere(n, monkeypatch):
    rng = np.random.default_rng(n)
    data, factor = definite(rng, n, 3, 1.0), np.tril(rng.normal(size=(3, 3)))
    plain = Kernels(_log_kernels.kernel_3x3, _log_lanes.kernel)
    monkeypatch.setattr(_logarithms, "kernels", lambda: plain)
    expected = logarithms_3x3(_symmetric.congruent(factor, data))
    with np.errstate(all="ignore"):
        found = _logarithms.whitened_logarithms_of_3x3(factor, data)
    assert not found.outside.any()
    worst = 20.0 * EPS * expected.condition.max()
    np.testing.assert_allclose(found.entries, expected.entries, atol=worst * np.linalg.cond(factor))
    np.testing.assert_allclose(found.condition, expected.condition, rtol=1e-9)
    monkeypatch.setattr(_logarithms, "kernels", lambda: None)
    assert _logarithms.whitened_logarithms_of_3x3(factor, data) is None
