"""Logarithms with and without the extension: the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import _compiled
from riemdp.spaces import _logarithms, _symmetric
from riemdp.spaces._log_fractions import classes, congruent_3x3, logarithms_3x3

EPS = 2.0**-52


def definite(rng, n, k, digits):
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    values = 10.0 ** (-digits * rng.uniform(size=(n, k)))
    values[:, 0] = 1.0
    values[:, 1] = 10.0**-digits
    whole = (frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2)
    return _symmetric.symmetrise(whole * rng.uniform(0.01, 100.0, (n, 1, 1)))


def mixed(k):
    """Matrices of all classes in no order, of scales from 1e-90 to 1e90, some of no class."""
    rng = np.random.default_rng(k)
    data = np.concatenate([definite(rng, 55, k, digits) for digits in (0.0, 1.0, 3.0, 7.0, 14.0)])
    data = data[rng.permutation(len(data))]
    data[::3] *= np.exp(rng.uniform(-200.0, 200.0, (len(data[::3]), 1, 1)))
    data[4], data[7], data[40] = -np.eye(k), np.nan, 0.0
    data[11, 1, 0] = data[12, 2, 2] = np.inf
    data[13, 1, 0] = 1e-310
    return data


def same(found, expected, rows=slice(None)):
    np.testing.assert_array_equal(found.entries, expected.entries[:, rows])
    np.testing.assert_array_equal(found.condition, expected.condition[rows])
    np.testing.assert_array_equal(found.outside, expected.outside[rows])


def test_public_matrices_are_of_all_classes():
    found = logarithms_3x3(_logarithms.public_matrices(3))
    products = found.condition[~found.outside] + 7.0
    assert (np.bincount(np.searchsorted(classes(3).limits, products)) > 20).all()
    assert 20 < found.outside.sum() < 100


def test_3x3_are_the_same_in_any_lanes_order_and_memory(lanes):
    data = mixed(3)
    expected = logarithms_3x3(data)
    assert 30 < expected.outside.sum() < 150
    same(_logarithms.logarithms_of_3x3(data), expected)
    for n in range(20):
        same(_logarithms.logarithms_of_3x3(data[n : 2 * n]), expected, slice(n, 2 * n))
    order = np.random.default_rng(0).permutation(len(data))
    same(_logarithms.logarithms_of_3x3(data[order]), expected, order)
    same(_logarithms.logarithms_of_3x3(data[::-2]), expected, slice(None, None, -2))
    same(_logarithms.logarithms_of_3x3(np.asfortranarray(data)), expected)
    wide = np.zeros((len(data), 5, 7))
    wide[:, 1:4, 2:5] = data
    same(_logarithms.logarithms_of_3x3(wide[:, 1:4, 2:5]), expected)
    shifted = np.frombuffer(b"1234" + data.tobytes(), offset=4).reshape(data.shape)
    same(_logarithms.logarithms_of_3x3(shifted), expected)


def test_logarithms_as_seen_from_elsewhere(lanes):
    rng = np.random.default_rng(3)
    data, factor = definite(rng, 21, 3, 1.0), np.tril(rng.normal(size=(3, 3)))
    whole = _symmetric.congruent(factor, data)
    seen = congruent_3x3(factor, data)
    lower = np.tril_indices(3)
    np.testing.assert_allclose(seen[:, *lower], whole[:, *lower], rtol=1e-12, atol=1e-14)
    found = _logarithms.logarithms_of_3x3(data, factor)
    same(found, logarithms_3x3(seen))
    assert not found.outside.any()


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_compiler_that_rounds_otherwise_is_found_out(wrong):
    def run(matrices, factor, *rest):
        found = _logarithms._plain_3x3(matrices, factor if len(factor) else None)
        rest[-3][:], rest[-2][:], rest[-1][:] = found.entries, found.condition, found.outside
        if wrong:  # as one that contracts a * b + c may be, rarely
            rest[-3][0, 250] = np.nextafter(rest[-3][0, 250], np.inf)
        return True

    assert _logarithms._same_bits(run) == (not wrong)


def test_kernels_are_taken_where_there_is_an_extension():
    pytest.importorskip("riemdp._lanes")
    assert _compiled.kernel("logarithms_3x3", _logarithms._same_bits) is not None
