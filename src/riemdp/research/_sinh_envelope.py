"""An upper bound of the volume density of SPD matrices by the norm of their logarithm alone."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.noise._volume_series import growth_rate, log_sinhc

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray


def log_volume(logs: FloatArray) -> FloatArray:
    """``log J = sum_{i<j} g(|x_i - x_j|)`` of log-eigenvalues ``(..., k)`` in any order.

    ``J`` is the Riemannian volume of ``Exp(S)`` per Lebesgue volume of the symmetric matrix S
    with these eigenvalues.
    """
    total = np.zeros(logs.shape[:-1])
    for step in range(1, logs.shape[-1]):
        total += log_sinhc(np.abs(logs[..., step:] - logs[..., :-step])).sum(axis=-1)
    return total


@functools.cache
def envelope_table() -> tuple[FloatArray, FloatArray]:
    """Return the certified ``alpha`` and ``beta``, each of shape ``(rows,)``, beta decreasing."""
    from importlib import resources

    text = resources.files("riemdp.research").joinpath("data/sinh_envelope.csv").read_text("ascii")
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
