"""The loops over lanes that a compiler takes, as plain Python: slow, and the same arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp.spaces import _log_lanes, _logarithms, _symmetric
from riemdp.spaces._log_fractions import fractions
from riemdp.spaces._logarithms import _run_larger, kernels

EPS = 2.0**-52


def definite(rng, n, k, digits):
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    values = 10.0 ** (-digits * rng.uniform(size=(n, k)))
    values[:, 0] = 1.0
    values[:, 1] = 10.0**-digits
    whole = (frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2)
    return _symmetric.symmetrise(whole * rng.uniform(0.01, 100.0, (n, 1, 1)))


def run(matrices):
    with np.errstate(all="ignore"):
        entries, condition, outside = _run_larger(_log_lanes.kernel, matrices)
    return full(entries, matrices.shape[-1]), condition, outside


def full(entries, k):
    logs = np.empty((len(entries), k, k))
    rows, columns = np.triu_indices(k, 1)
    logs[:, range(k), range(k)] = entries[:, :k]
    logs[:, rows, columns] = logs[:, columns, rows] = entries[:, k:]
    return logs


def exact_log(matrix):
    with mpmath.workdps(50):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        logs = mpmath.diag([mpmath.log(x) for x in values])
        return np.array((vectors * logs * vectors.T).tolist(), dtype=float)


@pytest.mark.fast(4)
@pytest.mark.parametrize("digits", [0.0, 6.0, 12.0])
@pytest.mark.parametrize("k", [4, 9])
def test_logarithms_of_larger_matrices_against_forty_digits(k, digits):
    data = definite(np.random.default_rng(k), 2, k, digits)
    logs, condition, outside = run(data)
    assert not outside.any()
    exact = np.array([exact_log(matrix) for matrix in data])
    error = np.linalg.norm(logs - exact, axis=(-2, -1))
    size = np.linalg.norm(exact, axis=(-2, -1))
    print(f"k = {k}, cond 1e{digits:g}", (error / (EPS * (size + 10.0**digits))).max())
    assert (error <= EPS * (4.0 * size + 1.5 * np.sqrt(k) * 10.0**digits)).all()
    assert (condition >= 10.0**digits * (1.0 - 1e-3)).all()


def test_lanes_of_larger_matrices_do_not_look_at_each_other():
    rng = np.random.default_rng(6)
    data = np.concatenate([definite(rng, 5, 4, digits) for digits in (0.0, 2.0, 6.0, 12.0)])
    data = data[rng.permutation(len(data))]
    data[2], data[5] = np.nan, np.diag([1.0, 1.0, 1.0, -1.0])
    data[9, 1, 0] = np.nan
    data[10, 3, 2] = np.inf
    logs, condition, outside = run(data)
    assert outside.tolist() == [i in {2, 5, 9, 10} for i in range(len(data))]
    assert not logs[outside].any()
    order = rng.permutation(len(data))
    for rows in (order, slice(3, 4), slice(6, 9), slice(8, None)):
        again = run(data[rows])
        np.testing.assert_array_equal(again[0], logs[rows])
        np.testing.assert_array_equal(again[1], condition[rows])
    # what makes this hold: a lane's poles are its own, in its own class
    assert len(np.unique(np.log10(condition[~outside]).round())) >= 4


def test_matrices_that_are_tridiagonal_or_diagonal_already():
    data = np.stack(
        [
            np.eye(5),
            np.diag([1.0, 2.0, 3.0, 4.0, 1e-5]),
            np.diag(np.full(5, 2.0)) + np.diag(np.full(4, 0.9), 1) + np.diag(np.full(4, 0.9), -1),
        ]
    )
    logs, _, outside = run(data)
    assert not outside.any()
    for log, matrix in zip(logs, data, strict=True):
        np.testing.assert_allclose(log, exact_log(matrix), atol=1e-14)


@pytest.mark.parametrize("which", range(3))  # in the last one rounding is as large
def test_a_class_takes_what_its_interval_holds_and_no_more(which, monkeypatch):
    fraction = fractions()[which]
    rng = np.random.default_rng(which)
    least = 1.0 / fraction.spread * np.geomspace(0.01, 20.0, 9)
    frames = np.linalg.qr(rng.normal(size=(9, 4, 4)))[0]
    values = np.stack([np.ones(9), np.full(9, 0.5), np.sqrt(least), least], axis=1)
    data = _symmetric.symmetrise((frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2))
    exact = np.array([exact_log(matrix) for matrix in data])
    table = fractions()[which : which + 1]
    poles = [part[which : which + 1] for part in _logarithms._poles()]
    monkeypatch.setattr(_logarithms, "fractions", lambda: table)
    monkeypatch.setattr(_logarithms, "_poles", lambda: poles)

    def errors(below):
        monkeypatch.setattr(_logarithms, "FURTHER", below)
        logs, _, outside = run(data)
        return np.linalg.norm(logs - exact, axis=(-2, -1)) * least / EPS, outside

    found, outside = errors(_logarithms.FURTHER)
    assert outside[0]
    assert not outside[-1]
    assert (found[~outside] < 20.0).all()
    # farther out the poles are wrong
    found, outside = errors(_logarithms.FURTHER / 50.0)
    assert (found[~outside] > 20.0).any()


@pytest.mark.slow
def test_compiled_lanes_have_the_bits_of_plain_ones():
    pytest.importorskip("numba")
    compiled = kernels()
    assert compiled is not None
    rng = np.random.default_rng(3)
    for k in (4, 7):
        data = np.concatenate([definite(rng, 9, k, digits) for digits in (0.0, 1.0, 7.0, 13.5)])
        data[5], data[11] = np.nan, -data[11]
        expected = run(data)
        found = _run_larger(compiled.large, data)
        np.testing.assert_array_equal(full(found[0], k), expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_array_equal(found[2], expected[2])
        assert 2 <= expected[2].sum() < len(data)
