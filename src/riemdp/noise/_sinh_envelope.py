"""An upper bound of the volume density of SPD matrices by the norm of their logarithm alone."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from riemdp.manifolds import FloatArray

#: Below this the logarithm's terms cancel and a power series takes over.
_SERIES_BELOW = 0.3


def log_sinhc(x: FloatArray) -> FloatArray:
    """``g(x) = log(sinh(x/2) / (x/2))`` for ``x >= 0``, without cancellation or overflow."""
    small = x < _SERIES_BELOW
    safe = np.where(small, 1.0, x)
    large = 0.5 * safe + np.log(-np.expm1(-safe) / safe)
    square = np.square(np.where(small, x, 0.0))
    series = 1.0 / 181440.0 - square * (1.0 / 9676800.0 - square / 479001600.0)
    series = square * (1.0 / 24.0 - square * (1.0 / 2880.0 - square * series))
    return np.where(small, series, large)


def log_volume(logs: FloatArray) -> FloatArray:
    """``log J = sum_{i<j} g(|x_i - x_j|)`` of log-eigenvalues ``(..., k)`` in any order.

    ``J`` is the Riemannian volume of ``Exp(S)`` per Lebesgue volume of the symmetric matrix S
    with these eigenvalues.
    """
    total = np.zeros(logs.shape[:-1])
    for step in range(1, logs.shape[-1]):
        total += log_sinhc(np.abs(logs[..., step:] - logs[..., :-step])).sum(axis=-1)
    return total


def growth_rate(k: int) -> float:
    """``|delta| = sqrt(k (k^2 - 1) / 12)``: log J grows like this multiple of the distance."""
    return math.sqrt(k * (k * k - 1) / 12.0)


@functools.cache
def envelope_table() -> tuple[FloatArray, FloatArray]:
    """Return the certified ``alpha`` and ``beta``, each of shape ``(rows,)``, beta decreasing."""
    from importlib import resources

    text = resources.files("riemdp.noise").joinpath("data/sinh_envelope.csv").read_text("ascii")
    rows = np.loadtxt(text.splitlines(), delimiter=",")
    return rows[:, 0].copy(), rows[:, 1].copy()


def volume_bound(k: int, rho: FloatArray) -> FloatArray:
    """Return an upper bound ``b(rho)`` of :func:`log_volume` over x in R^k of mean 0 and norm rho.

    The least of the tabulated parabolas ``k^2 alpha/2 + k beta rho^2/2``, of the line
    ``|delta| rho`` and of ``N g(rho sqrt(2/(k-1)))``, ``N = k (k-1)/2``, ``k >= 2``; for k = 2 the
    last one is exact. Every member is convex. Proof: docs/proofs/affine-invariant-sampler.
    """
    pairs = 0.5 * k * (k - 1)
    even = pairs * log_sinhc(rho * math.sqrt(2.0 / (k - 1)))
    spread = np.square(rho) / k
    parabola = 0.5 * k * k * least_line(spread)[0]
    return np.minimum(np.minimum(parabola, growth_rate(k) * rho), even)


def least_line(spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``min alpha + beta spread`` over the table, and the slope beta where it is attained."""
    alpha, beta, breaks = _hull()
    row = np.searchsorted(breaks, spread)
    return alpha[row] + beta[row] * spread, beta[row]


@functools.cache
def _hull() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lines that are least somewhere, steepest first, and where each gives way."""
    alpha, beta = envelope_table()
    kept: list[int] = []
    breaks: list[float] = []
    for row in range(alpha.size):
        while kept:
            last = kept[-1]
            cross = (alpha[row] - alpha[last]) / (beta[last] - beta[row])
            if not breaks or cross > breaks[-1]:
                breaks.append(cross)
                break
            kept.pop()
            breaks.pop()
        kept.append(row)
    return alpha[kept], beta[kept], np.asarray(breaks)
