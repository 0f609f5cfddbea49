"""The loops that a compiler takes, as plain Python: slow, and the same arithmetic."""

from __future__ import annotations

import numpy as np

from riemdp.manifolds import _log_kernels, _symmetric
from riemdp.manifolds._log_fractions import logarithms_3x3
from riemdp.manifolds._logarithms import _run_3x3


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
    return data


def test_loops_over_3x3_have_the_bits_of_numpy():
    data = some_of_size_3()
    expected = logarithms_3x3(data)
    with np.errstate(all="ignore"):
        found = _run_3x3(_log_kernels.kernel_3x3, data)
    np.testing.assert_array_equal(found.entries, expected.entries)
    np.testing.assert_array_equal(found.condition, expected.condition)
    np.testing.assert_array_equal(found.outside, expected.outside)
    assert 2 <= expected.outside.sum() < 6
