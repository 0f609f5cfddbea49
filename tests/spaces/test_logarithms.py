"""Compiled logarithms: when they are asked for, and that they change no bit of a release."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from riemdp import SPDLogEuclidean
from riemdp.spaces import _logarithms, _symmetric
from riemdp.spaces._log_fractions import logarithms_3x3


@pytest.fixture(autouse=True)
def _as_shipped(monkeypatch):
    monkeypatch.setattr(_logarithms, "WORTH", 2**14)
    shipped = _logarithms.kernels
    shipped.cache_clear()
    yield
    shipped.cache_clear()


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)


def definite(rng, n, k):
    factors = rng.normal(size=(n, k, k + 2))
    return _symmetric.symmetrise(factors @ np.swapaxes(factors, -1, -2))


def test_without_numba_nothing_is_compiled_and_nothing_is_said(without_numba):
    assert _logarithms.kernels() is None
    assert not _logarithms.is_worthwhile(10**9, 9)
    data = definite(np.random.default_rng(0), 20, 4)
    logs, condition, outside = _logarithms.logarithms(data)
    assert outside.all()
    assert not logs.any()
    assert not condition.any()
    small = data[:, :3, :3]
    found = _logarithms.logarithms_of_3x3(small, compiled=True)
    np.testing.assert_array_equal(found.entries, logarithms_3x3(small).entries)


def test_a_handful_of_matrices_does_not_load_numba(monkeypatch):
    monkeypatch.setattr(_logarithms, "kernels", lambda: pytest.fail("numba was asked for"))
    for k in (1, 2, 3, 9, 22):
        assert not _logarithms.is_worthwhile(2**14 // k - 1, k)
    with pytest.raises(pytest.fail.Exception):
        _logarithms.is_worthwhile(2**14, 9)


@pytest.mark.parametrize("k", [4, 9])
def test_what_releases_are_made_of_is_never_compiled_beyond_3x3(k, monkeypatch):
    # its bits would depend on what is installed, or on how many records there are
    monkeypatch.setattr(_logarithms, "kernels", lambda: pytest.fail("numba was asked for"))
    data = np.tile(definite(np.random.default_rng(k), 1, k), (2**14 // k + 9, 1, 1))
    charts = SPDLogEuclidean(k).to_chart(data)
    np.testing.assert_array_equal(charts[:3], SPDLogEuclidean(k).to_chart(data[:3]))


def test_a_compiler_that_rounds_otherwise_is_found_out():
    """A compiler that contracts a * b + c is found out."""

    def contracting(matrices, *rest):
        found = logarithms_3x3(matrices)
        entries, condition, outside = rest[-3:]
        entries[:] = np.nextafter(found.entries, np.inf)
        condition[:], outside[:] = found.condition, found.outside

    def faithful(matrices, *rest):
        contracting(matrices, *rest)
        rest[-3][:] = logarithms_3x3(matrices).entries

    assert not _logarithms._same_bits(contracting)
    assert _logarithms._same_bits(faithful)


@pytest.mark.slow
def test_compiled_3x3_have_the_bits_of_numpy():
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    data = definite(rng, 40_000, 3) * np.exp(rng.uniform(-90.0, 90.0, (40_000, 1, 1)))
    data[:, 0] *= 10.0 ** rng.uniform(-3.0, 0.0, (40_000, 1))
    data[:, :, 0] *= 0.5
    data = _symmetric.symmetrise(data)
    found = _logarithms.kernels()
    assert found is not None
    assert found.small is not None
    assert _logarithms.is_worthwhile(len(data), 3)
    compiled = _logarithms.logarithms_of_3x3(data, compiled=True)
    plain = logarithms_3x3(data)
    np.testing.assert_array_equal(compiled.entries, plain.entries)
    np.testing.assert_array_equal(compiled.condition, plain.condition)
    np.testing.assert_array_equal(compiled.outside, plain.outside)
    assert 0 < plain.outside.sum() < len(data)


@pytest.mark.slow
def test_compiled_larger_matrices():
    pytest.importorskip("numba")
    rng = np.random.default_rng(1)
    for k in (4, 9, 22):
        data = definite(rng, 300, k)
        data[7] = -data[7]
        logs, condition, outside = _logarithms.logarithms(data)
        assert np.flatnonzero(outside).tolist() == [7]
        expected = _symmetric.logm(np.delete(data, 7, axis=0))
        rows, columns = np.triu_indices(k, 1)
        places = np.r_[range(k), rows], np.r_[range(k), columns]
        np.testing.assert_allclose(np.delete(logs, 7, axis=0), expected[:, *places], atol=1e-10)
        assert (condition[:7] >= np.linalg.cond(data[:7]) * (1.0 - 1e-6)).all()
        order = rng.permutation(len(data))
        again = _logarithms.logarithms(data[order])
        np.testing.assert_array_equal(again[0], logs[order])
        np.testing.assert_array_equal(_logarithms.logarithms(data[11:14])[0], logs[11:14])
