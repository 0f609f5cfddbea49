"""Laws of distances that combine independent ones, or are of a part."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._checks import probabilities
from riemdp._potential import potential
from riemdp._zero import zero_between
from riemdp.noise._radial import RadialLaw

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.noise._law import DistanceLaw, FactorLaw
    from riemdp.spaces import FloatArray

#: Equally likely values that stand for the law of a distance.
_VALUES = 512
#: Nodes of the quadrature over shares of the squared length.
_SHARE_NODES = 200
#: Half of the other coordinates from which on the law of the share is smooth.
_MANY = 8.0


@dataclass(frozen=True)
class IndependentRadial:
    """Law of the root of a sum of squares of independent distances, to about three digits.

    ``counts`` says how many independent distances have the law of each part.
    """

    parts: tuple[DistanceLaw, ...]
    counts: tuple[int, ...]

    def mean(self) -> float:
        """Mean distance."""
        return float(np.mean(self._values))

    def quantile(self, q: ArrayLike) -> FloatArray:
        """See :meth:`DistanceLaw.quantile`."""
        levels = (np.arange(_VALUES) + 0.5) / _VALUES
        return np.asarray(np.interp(probabilities(q, "q"), levels, self._values))

    @functools.cached_property
    def _values(self) -> FloatArray:
        levels = (np.arange(_VALUES) + 0.5) / _VALUES
        total = np.zeros(1)
        for part, count in zip(self.parts, self.counts, strict=True):
            power = np.square(np.asarray(part.quantile(levels)))
            for bit in reversed(f"{count:b}"):  # sums of 1, 2, 4, ... of them
                total = _sums(total, power) if bit == "1" else total
                power = _sums(power, power)
        return np.sqrt(total)


def _sums(first: FloatArray, second: FloatArray) -> FloatArray:
    """Equally likely values that stand for those of a sum of two independent numbers."""
    sums = np.sort((first[:, None] + second).reshape(-1))
    return np.asarray(sums.reshape(_VALUES, -1).mean(axis=1))


def part_of(radial: RadialLaw, dim: int) -> FactorLaw:
    """Law of the length of some coordinates of a vector with uniform direction.

    Parameters
    ----------
    radial : RadialLaw
        Of the whole length, on a flat space.
    dim : int
        How many coordinates, at least 1 and at most ``radial.dim``.

    Returns
    -------
    FactorLaw
        The coordinates of a Gaussian vector are independent, so
        that it is of the same kind; of others it is a mixture.

    References
    ----------
    docs/proofs/products.md, claim 7
    """
    if dim == radial.dim:
        return radial
    if potential(radial.kind).degree == 2:
        return RadialLaw(radial.kind, dim, 0.0, radial.sigma)
    return PartOfRadial(radial, dim)


@dataclass(frozen=True)
class PartOfRadial:
    """Law of ``r sqrt(B)``: ``B``, of law Beta(dim / 2, (radial.dim - dim) / 2), beside ``r``.

    Parameters
    ----------
    radial : RadialLaw
        Of ``r``, the whole length.
    dim : int
        Coordinates of the part, fewer than ``radial.dim``.
    """

    radial: RadialLaw
    dim: int

    def mean(self) -> float:
        """Mean length, in closed form."""
        own, whole = self.dim / 2.0, self.radial.dim / 2.0
        ratio = _log_half_step(own) - _log_half_step(whole)
        return self.radial.mean() * math.exp(ratio)

    def mean_square(self) -> float:
        """Mean squared length: its share of the whole."""
        return self.radial.mean_square() * self.dim / self.radial.dim

    def quantile(self, q: ArrayLike) -> FloatArray:
        """See :meth:`DistanceLaw.quantile`; by quadrature."""
        return np.asarray(np.vectorize(self._quantile, otypes=[float])(probabilities(q, "q")))

    def _quantile(self, q: float) -> float:
        if q <= 0.0 or q >= 1.0:
            return 0.0 if q <= 0.0 else self.radial.upper
        own, rest = self.dim / 2.0, (self.radial.dim - self.dim) / 2.0
        lengths, shares, weights = self._nodes

        def excess(log_length: float) -> float:
            length = math.exp(log_length)
            if rest < _MANY:
                return float(weights @ self.radial.cdf(length / shares)) - q
            inside = np.minimum(np.square(length / lengths), 1.0)
            return float(weights @ scipy.special.betainc(own, rest, inside)) - q

        low = high = math.log(self.mean())
        while excess(low) > 0.0:
            low -= 1.0
        while excess(high) < 0.0:
            high += 1.0
        return math.exp(zero_between(excess, low, high, xtol=1e-12))

    @functools.cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Whole lengths, lengths of the part over the whole, and how likely the levels are."""
        nodes, weights = np.polynomial.legendre.leggauss(_SHARE_NODES)
        rest = (self.radial.dim - self.dim) / 2.0
        # levels are squares of sines, whose angles have nothing special at their ends
        angles = 0.25 * math.pi * (1.0 + nodes)
        levels = np.square(np.sin(angles))
        weights = 0.25 * math.pi * weights * np.sin(2.0 * angles)
        shares = np.sqrt(scipy.special.betaincinv(self.dim / 2.0, rest, levels))
        return self.radial.quantile(levels), shares, weights


def _log_half_step(half: float) -> float:
    """Logarithm of ``Gamma(half + 1/2) / Gamma(half)``."""
    return math.log(float(scipy.special.poch(half, 0.5)))
