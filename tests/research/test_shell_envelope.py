from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats

from riemdp.noise._volume_series import growth_rate
from riemdp.research._shell_envelope import ShellEnvelope
from riemdp.research._sinh_envelope import volume_bound

CASES = [
    ("gaussian", 2, 0.3),
    ("gaussian", 3, 1e-4),
    ("gaussian", 5, 1.0),
    ("gaussian", 10, 3.0),
    ("gaussian", 30, 0.3),
    ("laplace", 2, 0.9),
    ("laplace", 3, 1e-3),
    ("laplace", 10, 0.65),
    ("laplace", 30, 0.8),
]


def _case(kind: str, k: int, scale: float) -> tuple[ShellEnvelope, float]:
    sigma = scale / growth_rate(k) if kind == "laplace" else scale
    return ShellEnvelope.of(kind, k, sigma), sigma


def _bound(envelope: ShellEnvelope, rho: np.ndarray) -> np.ndarray:
    shell = np.searchsorted(envelope.edges, rho, side="right") - 1
    return envelope.heights[shell] + envelope.slopes[shell] * (rho - envelope.edges[shell])


@pytest.mark.parametrize(("kind", "k", "scale"), CASES)
def test_it_lies_above_density_times_bound(kind, k, scale):
    envelope, _ = _case(kind, k, scale)
    last = envelope.edges[-1]
    rho = np.concatenate([np.geomspace(1e-6 * last, 3.0 * last, 20_000), envelope.edges[1:]])
    gap = _bound(envelope, rho) - envelope.log_flat(rho) - volume_bound(k, rho)
    scale_of_terms = 1.0 + np.abs(envelope.log_flat(rho)) + volume_bound(k, rho)
    assert (gap >= -1e-13 * scale_of_terms).all()


@pytest.mark.fast(1)
@pytest.mark.parametrize(("kind", "k", "scale"), CASES)
def test_it_wastes_less_than_two_percent(kind, k, scale):
    envelope, _ = _case(kind, k, scale)
    rho = np.linspace(0.0, envelope.edges[-1], 400_001)[1:]
    values = envelope.log_flat(rho) + volume_bound(k, rho)
    mass = scipy.integrate.trapezoid(np.exp(values - envelope.log_mass), rho)
    assert 0.98 < mass < 1.0 + 1e-6


@pytest.mark.parametrize("sigma", [0.2, 1.0])
def test_the_flat_density_integrates_the_trace_out(sigma):
    envelope = ShellEnvelope.of("laplace", 2, sigma)
    for rho in (0.1, 1.0, 3.0):
        line, _ = scipy.integrate.quad(lambda t: math.exp(-math.hypot(t, rho) / sigma), 0.0, 60.0)  # noqa: B023
        expected = math.log(2.0 * line) + math.log(rho)
        assert envelope.log_flat(np.array([rho]))[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("kind", "k", "scale"), CASES)
def test_draws_follow_the_bound(kind, k, scale, holds):
    envelope, _ = _case(kind, k, scale)
    starts = envelope.edges
    cumulative = np.concatenate([[0.0], envelope.shares])

    def cdf(rho):
        shell = np.searchsorted(starts, rho, side="right") - 1
        width = np.append(np.diff(starts), np.inf)[shell]
        slope, offset = envelope.slopes[shell], rho - starts[shell]
        part = np.expm1(slope * offset) / np.expm1(slope * width)
        return cumulative[shell] + part * (cumulative[shell + 1] - cumulative[shell])

    def pvalue(generator: np.random.Generator) -> float:
        rho, gap = envelope.sample(20_000, generator)
        np.testing.assert_allclose(gap, _bound(envelope, rho) - envelope.log_flat(rho), atol=1e-6)
        return scipy.stats.kstest(rho, cdf).pvalue

    assert holds(pvalue)
