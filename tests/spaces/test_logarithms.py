"""Logarithms with and without the extension: the same bits, of each record by itself."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp import _compiled
from riemdp.spaces import _log_lanes, _logarithms, _symmetric
from riemdp.spaces._log_fractions import classes, congruent_3x3, logarithms_3x3
from riemdp.spaces._log_lanes import logarithms_kxk

EPS = 2.0**-52


def definite(rng, n, k, digits):
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    values = 10.0 ** (-digits * rng.uniform(size=(n, k)))
    values[:, 0] = 1.0
    values[:, 1] = 10.0**-digits
    whole = (frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2)
    return _symmetric.symmetrise(whole * rng.uniform(0.01, 100.0, (n, 1, 1)))


def mixed(k):
    """Matrices of all classes in no order, of scales from 1e-87 to 1e87, some of no class."""
    rng = np.random.default_rng(k)
    data = np.concatenate([definite(rng, 35, k, digits) for digits in (0.0, 1.0, 3.0, 7.0, 14.0)])
    data = data[rng.permutation(len(data))]
    data[::3] *= np.exp(rng.uniform(-200.0, 200.0, (len(data[::3]), 1, 1)))
    data[4], data[7], data[40] = -np.eye(k), np.nan, 0.0
    data[11, 1, 0] = data[12, 2, 2] = np.inf
    data[13, 1, 0] = 1e-310
    data[14], data[15] = np.eye(k), np.diag(np.arange(1.0, k + 1.0))
    data[16] = np.eye(k) + 0.3 * np.eye(k, k=1) + 0.3 * np.eye(k, k=-1)
    data[17] = np.ones((k, k))
    return data


def plain(matrices):
    return logarithms_3x3(matrices) if matrices.shape[1] == 3 else logarithms_kxk(matrices)


def same(found, expected, rows=slice(None)):
    for name in ("entries", "condition", "outside"):
        mine, theirs = getattr(found, name), getattr(expected, name)[..., rows]
        assert mine.tobytes() == theirs.tobytes()  # the sign of zero, too


def exact_log(matrix):
    with mpmath.workdps(60):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        return vectors * mpmath.diag([mpmath.log(value) for value in values]) * vectors.T


@pytest.mark.parametrize("k", [3, 5])
def test_public_matrices_are_of_all_classes(k, monkeypatch):
    seen, which = [], _log_lanes._which
    monkeypatch.setattr(_log_lanes, "_which", lambda *given: seen.append(which(*given)) or seen[-1])
    found = plain(_logarithms.public_matrices(k))
    if k == 3:
        classes_of = np.searchsorted(classes(3).limits, found.condition + 7.0)
    else:
        classes_of = np.concatenate([part for _, part in seen])
    assert (np.bincount(classes_of[~found.outside], minlength=4) > 10).all()
    assert 20 < found.outside.sum() < 100


@pytest.mark.parametrize("k", [3, 4, 5, 9, pytest.param(22, marks=pytest.mark.slow)])
def test_bits_are_the_same_in_any_lanes_order_and_memory(k, lanes):
    data = mixed(k)
    expected = plain(data)
    assert 10 < expected.outside.sum() < 100
    assert not expected.entries[:, expected.outside].any()
    logarithms = _logarithms.logarithms
    same(logarithms(data), expected)
    for n in (0, 1, 2, 3, 7, 8, 9, 17):
        same(logarithms(data[n : 2 * n]), expected, slice(n, 2 * n))
    order = np.random.default_rng(0).permutation(len(data))
    same(logarithms(data[order]), expected, order)
    same(logarithms(data[::-2]), expected, slice(None, None, -2))
    same(logarithms(np.asfortranarray(data)), expected)
    wide = np.zeros((len(data), k + 2, k + 4))
    wide[:, 1 : k + 1, 2 : k + 2] = data
    same(logarithms(wide[:, 1 : k + 1, 2 : k + 2]), expected)
    shifted = np.frombuffer(b"1234" + data.tobytes(), offset=4).reshape(data.shape)
    same(logarithms(shifted), expected)
    upper = data.copy()  # which is not read
    upper[:, 0, 1:] = np.nan
    same(logarithms(upper), expected)


@pytest.mark.parametrize("digits", [0.0, 6.0, 12.0])
@pytest.mark.parametrize("k", [3, 4, 9, pytest.param(22, marks=pytest.mark.slow)])
def test_logarithms_against_forty_digits(k, digits, lanes):
    data = definite(np.random.default_rng(k), 3, k, digits)
    found = _logarithms.logarithms(data)
    assert not found.outside.any()
    logs = _symmetric.full(found.entries, k)
    with mpmath.workdps(40):
        for log, condition, matrix in zip(logs, found.condition, data, strict=True):
            exact = exact_log(matrix)
            error = float(mpmath.mnorm(mpmath.matrix(log.tolist()) - exact, "f"))
            size = float(mpmath.mnorm(exact, "f"))
            assert error <= EPS * (4.0 * size + 1.5 * np.sqrt(k) * 10.0**digits)
            assert error > 0.0
            assert condition >= 10.0**digits * (1.0 - 1e-3)


def test_matrices_that_are_tridiagonal_or_diagonal_already(lanes):
    data = np.stack(
        [
            np.eye(5),
            np.diag([1.0, 2.0, 3.0, 4.0, 1e-5]),
            np.diag(np.full(5, 2.0)) + np.diag(np.full(4, 0.9), 1) + np.diag(np.full(4, 0.9), -1),
        ]
    )
    found = _logarithms.logarithms(data)
    assert not found.outside.any()
    for log, matrix in zip(_symmetric.full(found.entries, 5), data, strict=True):
        exact = np.array(exact_log(matrix).tolist(), dtype=float)
        np.testing.assert_allclose(log, exact, atol=1e-14)
    assert not found.entries[:, 0].any()


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
    def answer(found, rest):
        rest[-3][:], rest[-2][:], rest[-1][:] = found.entries, found.condition, found.outside
        if wrong:  # as one that contracts a * b + c may be, rarely
            rest[-3][0, 250] = np.nextafter(rest[-3][0, 250], np.inf)
        return True

    def small(matrices, factor, *rest):
        return answer(_logarithms._plain_3x3(matrices, factor if len(factor) else None), rest)

    def large(matrices, *rest):
        return answer(logarithms_kxk(matrices), rest)

    assert _logarithms._same_bits_3x3(small) == (not wrong)
    assert _logarithms._same_bits(
        lambda matrices, *rest: answer(logarithms_kxk(matrices), rest)
    ) == (not wrong)
    assert not _logarithms._same_bits(lambda *_: False)


def test_kernels_are_taken_where_there_is_an_extension():
    pytest.importorskip("riemdp._lanes")
    assert _compiled.kernel("logarithms_3x3", _logarithms._same_bits_3x3) is not None
    assert _compiled.kernel("logarithms", _logarithms._same_bits) is not None
