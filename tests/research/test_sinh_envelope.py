from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import build_envelope_table as tool
from riemdp.noise._volume_series import growth_rate, log_sinhc
from riemdp.research import _sinh_envelope
from riemdp.research._sinh_envelope import envelope_table, least_line, log_volume, volume_bound

NORMS = np.geomspace(1e-3, 1500.0, 70)


def _unit(x: np.ndarray) -> np.ndarray:
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _gradient(x: np.ndarray) -> np.ndarray:
    gap = x[..., :, None] - x[..., None, :]
    safe = np.where(np.abs(gap) < 1e-4, 1.0, gap)
    slope = 0.5 / np.tanh(0.5 * safe) - 1.0 / safe
    return np.where(np.abs(gap) < 1e-4, gap / 12.0, slope).sum(axis=-1)


def worst_excess(k: int, starts: int, rounds: int = 60) -> float:
    """Largest (log J - b)/max(1, b) that an ascent on spheres of many radii finds."""
    rng = np.random.default_rng(k)
    line = np.linspace(-1.0, 1.0, k)
    shapes = [line, np.sign(line) + 1e-3 * line, np.sign(line) * np.abs(line) ** 0.3, line**3]
    shapes += [np.where(np.arange(k) == 0, 1.0, 1e-3 * line)]
    shapes += [rng.standard_normal(k) for _ in range(starts)]
    shapes += [np.sort(rng.choice([-1.0, 0.0, 1.0], k)) + 0.01 * line for _ in range(starts)]
    x = NORMS[:, None, None] * _unit(np.asarray(shapes))
    bound = np.maximum(volume_bound(k, NORMS), 0.0)[:, None]
    worst = -math.inf
    for _ in range(rounds):
        excess = (log_volume(x) - bound) / np.maximum(1.0, bound)
        worst = max(worst, float(excess.max()))
        x = NORMS[:, None, None] * _unit(_gradient(x))
    return worst


@pytest.mark.fast("2", "13")
@pytest.mark.parametrize("k", range(2, 31))
def test_no_search_gets_above_the_bound(k):
    starts = 3 if k > 12 else 8
    assert worst_excess(k, starts, 20 if k > 12 else 40) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("k", range(2, 31))
def test_no_long_search_gets_above_the_bound(k):
    assert worst_excess(k, 12, 60 if k <= 12 else 30) <= 1e-12


@pytest.mark.fast(
    "3",
    "10",
)
@pytest.mark.parametrize("k", [3, 10, 20])
def test_the_search_notices_a_table_that_is_too_low(k, monkeypatch):
    alpha, beta = envelope_table()
    monkeypatch.setattr(_sinh_envelope, "envelope_table", lambda: (0.97 * alpha, beta))
    _sinh_envelope._hull.cache_clear()
    try:
        assert worst_excess(k, 8, 40) > 1e-6
    finally:
        monkeypatch.undo()
        _sinh_envelope._hull.cache_clear()


def test_the_bound_is_exact_for_two_eigenvalues():
    logs = np.stack([-NORMS, NORMS], axis=-1) / math.sqrt(2.0)
    np.testing.assert_allclose(volume_bound(2, NORMS), log_volume(logs), rtol=1e-12)


def test_log_sinhc_keeps_its_digits():
    x = np.concatenate([np.geomspace(1e-150, 1e3, 60), [0.29999, 0.30001]])
    with mpmath.workdps(350):
        exact = [float(mpmath.log(mpmath.sinh(mpmath.mpf(v) / 2) / (mpmath.mpf(v) / 2))) for v in x]
    np.testing.assert_allclose(log_sinhc(x), exact, rtol=2e-13)
    assert log_sinhc(np.zeros(1))[0] == 0.0
    assert log_sinhc(np.array([1e300]))[0] == 5e299


def test_log_volume_is_the_sum_over_pairs():
    x = np.random.default_rng(0).standard_normal((3, 5))
    brute = [
        sum(
            math.log(math.sinh(abs(a - b) / 2) / (abs(a - b) / 2))
            for a in row
            for b in row
            if a > b
        )
        for row in x
    ]
    np.testing.assert_allclose(log_volume(x), brute, rtol=1e-12)
    assert growth_rate(5) == pytest.approx(np.linalg.norm(np.arange(5) - 2.0))


def test_least_line_is_the_minimum_over_all_rows():
    alpha, beta = envelope_table()
    spread = np.concatenate([[0.0], np.geomspace(1e-8, 1e7, 500)])
    brute = (alpha + beta * spread[:, None]).min(axis=1)
    value, slope = least_line(spread)
    np.testing.assert_allclose(value, brute, rtol=1e-14)
    assert (np.diff(slope) <= 0.0).all()


@pytest.mark.parametrize("row", [1, 60, 150, 200, 260])
def test_rows_are_certified_again(row):
    alpha, beta = envelope_table()
    atoms, weights = tool.measure(beta[row])
    assert tool.certify(beta[row], atoms, weights) == pytest.approx(alpha[row], rel=1e-6, abs=1e-9)


def test_the_certificate_holds_for_a_measure_that_is_not_optimal():
    # two atoms: the maximum over a fine grid by itself, in high precision
    beta, atom = 0.03, 7.0
    bound = tool.certify(beta, np.array([atom]), np.array([1.0]))

    def g(x):
        return mpmath.log(mpmath.sinh(x / 2) / (x / 2)) if x else mpmath.mpf(0)

    grid = np.linspace(0.0, 25.0, 1500)
    top = max(float(g(abs(x - atom)) + g(x + atom)) - beta * x * x for x in grid)
    energy = 0.5 * float(g(2 * atom))
    assert bound >= top - energy
    assert bound == pytest.approx(top - energy, rel=1e-4)


@pytest.mark.slow
def test_every_third_row_is_certified_again():
    alpha, beta = envelope_table()
    np.testing.assert_array_equal(beta[1:], tool.slopes())
    for row in range(1, beta.size, 3):
        bound = tool.certify(beta[row], *tool.measure(beta[row]))
        assert bound == pytest.approx(alpha[row], rel=1e-6, abs=1e-9)
