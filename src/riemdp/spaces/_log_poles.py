"""Poles and weights of the logarithm, and which of them a matrix is held against."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

#: By how much the bounds of a spectrum are widened, which covers the rounding of what they are
#: computed from as long as the product of the traces is under 1e13.
WIDER, FURTHER = 1.02, 1.1


@dataclass(frozen=True)
class Fraction:
    """``log x = (x - 1) sum_j w_j / (x + s_j)`` on an interval, all numbers positive.

    Attributes
    ----------
    spread : float
        The interval is ``[top / spread, top]``.
    top : float
    error : float
        Proved bound of the relative error on the interval.
    shifts, weights : tuple of float
        The numbers ``s_j``, ascending, and ``w_j``.

    References
    ----------
    docs/proofs/matrix-logarithms.md
    """

    spread: float
    top: float
    error: float
    shifts: tuple[float, ...]
    weights: tuple[float, ...]


@functools.cache
def fractions() -> tuple[Fraction, ...]:
    """Return the fractions in the package, spreads increasing."""
    from importlib import resources

    path = resources.files("riemdp.spaces").joinpath("data/log_poles.json")
    table = json.loads(path.read_text("ascii"))
    return tuple(
        Fraction(
            row["spread"], table["top"], row["error"], tuple(row["poles"]), tuple(row["weights"])
        )
        for row in table["classes"]
    )


@dataclass(frozen=True)
class Classes:
    """Which fraction a k x k matrix A takes, by ``T = tr(A) tr(A^-1)`` alone.

    Attributes
    ----------
    limits : tuple of float
        A matrix is of the first class i with ``T <= limits[i]``; of none beyond the last.
    levels : tuple of float
        Divided by the power of two next above ``levels[i] tr(A)``, the spectrum of a matrix of
        class i lies on the interval of its fraction.
    """

    limits: tuple[float, ...]
    levels: tuple[float, ...]


@functools.lru_cache(maxsize=64)
def classes(k: int) -> Classes:
    """Return limits and levels of k x k matrices, public numbers.

    With ``x = (tr A - m) / m``, m an eigenvalue of A, ``T >= (1 + x)(1 + (k - 1)^2 / x)``. So no
    eigenvalue exceeds ``f tr(A)``, ``f = 1 / (1 + x)`` at the least x of that T, and by the same
    for the inverse none is under ``1 / (f tr(A^-1))``.
    """
    limits, levels = [], []
    for fraction in fractions():
        limit = _largest_product(k, fraction.spread / (2.0 * FURTHER))
        limits.append(limit)
        levels.append(_largest_share(k, limit) * WIDER / fraction.top)
    return Classes(tuple(limits), tuple(levels))


def _largest_share(k: int, product: float) -> float:
    """Largest share of the trace that an eigenvalue may have, f, where ``T <= product``."""
    others = (k - 1.0) ** 2
    half = 0.5 * (product - 1.0 - others)
    root = math.sqrt(max(half * half - others, 0.0))
    return 1.0 / (1.0 + others / (half + root)) if half > 0.0 else 1.0


def _largest_product(k: int, spread: float) -> float:
    """Largest T with ``T f(T)^2 <= spread``, rounded down; none is under ``k^2``."""
    low, high = float(k * k), 4.0 * k * k * spread
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle * _largest_share(k, middle) ** 2 <= spread:
            low = middle
        else:
            high = middle
    return low
