"""Larger logarithms in NumPy: of each record by itself, and as accurate as their class is."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp.spaces import _log_fractions, _log_lanes, _symmetric
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
    """Matrices of all classes in no order, some of no class."""
    rng = np.random.default_rng(k)
    data = np.concatenate([definite(rng, 35, k, digits) for digits in (0.0, 1.0, 3.0, 7.0, 14.0)])
    data = data[rng.permutation(len(data))]
    data[4], data[7], data[40] = -np.eye(k), np.nan, 0.0
    return data


def same(found, expected, rows=slice(None)):
    for name in ("entries", "condition", "outside"):
        mine, theirs = getattr(found, name), getattr(expected, name)[..., rows]
        assert mine.tobytes() == theirs.tobytes()  # the sign of zero, too


def exact_log(matrix):
    with mpmath.workdps(60):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        return vectors * mpmath.diag([mpmath.log(value) for value in values]) * vectors.T


@pytest.mark.parametrize("k", [4, 9])
def test_records_alone_have_the_bits_of_many(k, monkeypatch):
    data = mixed(k)
    expected = logarithms_kxk(data)
    for i in range(0, len(data), 9):
        same(logarithms_kxk(data[i : i + 1]), expected, slice(i, i + 1))
    monkeypatch.setattr(_log_lanes, "_ENTRIES", 7 * k**2)
    same(logarithms_kxk(data), expected)
    monkeypatch.setattr(_log_lanes, "_POLES", 64)
    same(logarithms_kxk(data), expected)


def test_a_sum_by_pairs_would_have_other_bits(monkeypatch):
    # what the tests above are able to see
    data = mixed(9)
    expected = logarithms_kxk(data)
    monkeypatch.setattr(_log_lanes, "_in_order", lambda terms: terms[::-1].sum(axis=0))
    with pytest.raises(AssertionError):
        same(logarithms_kxk(data), expected)


@pytest.mark.parametrize("which", range(3))  # in the last one rounding is as large
def test_a_class_takes_what_its_interval_holds_and_no_more(which, monkeypatch):
    fraction = _log_fractions.fractions()[which]
    rng = np.random.default_rng(which)
    least = 1.0 / fraction.spread * np.geomspace(0.01, 20.0, 9)
    frames = np.linalg.qr(rng.normal(size=(9, 4, 4)))[0]
    values = np.stack([np.ones(9), np.full(9, 0.5), np.sqrt(least), least], axis=1)
    data = _symmetric.symmetrise((frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2))
    exact = np.array([np.array(exact_log(matrix).tolist(), dtype=float) for matrix in data])
    table = _log_fractions.fractions()[which : which + 1]
    poles = [part[which : which + 1] for part in _log_fractions.padded_poles()]
    monkeypatch.setattr(_log_lanes, "fractions", lambda: table)
    monkeypatch.setattr(_log_lanes, "padded_poles", lambda: poles)

    def errors(below):
        monkeypatch.setattr(_log_lanes, "FURTHER", below)
        found = logarithms_kxk(data)
        logs = _symmetric.full(found.entries, 4)
        return np.linalg.norm(logs - exact, axis=(-2, -1)) * least / EPS, found.outside

    found, outside = errors(_log_lanes.FURTHER)
    assert outside[0]
    assert not outside[-1]
    assert (found[~outside] < 20.0).all()
    # farther out the poles are wrong
    found, outside = errors(_log_lanes.FURTHER / 50.0)
    assert (found[~outside] > 20.0).any()
