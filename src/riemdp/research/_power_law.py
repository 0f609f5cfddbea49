"""The law of the length of generalised Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._checks import probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray


@dataclass(frozen=True)
class PowerLaw:
    """Law of ``|x|`` for the density proportional to ``exp(-|x|^power / sigma^power)`` on R^dim.

    ``(|x| / sigma)^power`` is Gamma with shape ``dim / power``.
    """

    sigma: float
    power: float
    dim: int = 1

    def mean(self) -> float:
        """``sigma Gamma((dim+1)/power) / Gamma(dim/power)``."""
        log_gamma, dim = scipy.special.gammaln, self.dim
        logs = log_gamma((dim + 1.0) / self.power) - log_gamma(dim / self.power)
        return self.sigma * math.exp(logs)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Distance that a draw exceeds with probability ``1 - q``."""
        q = probabilities(q, "q")
        shape = self.dim / self.power
        upper = scipy.special.gammainccinv(shape, 1.0 - q)
        lower = scipy.special.gammaincinv(shape, q)
        return np.asarray(self.sigma * np.where(q > 0.5, upper, lower) ** (1.0 / self.power))

    def log_normaliser(self) -> float:
        """Log of ``sigma^dim Gamma(1 + dim/power)`` times the volume of the unit ball."""
        log_gamma, half = scipy.special.gammaln, 0.5 * self.dim
        total = math.log(2.0 * self.sigma) + float(log_gamma(1.0 + self.dim / self.power))
        if self.dim > 1:
            total += half * math.log(math.pi) - float(log_gamma(half + 1.0)) - math.log(2.0)
            total += (self.dim - 1) * math.log(self.sigma)
        return total

    def fisher_information(self) -> float:
        """``power^2 Gamma((dim - 2) / power + 2) / Gamma(dim / power) / (dim sigma^2)``.

        Infinite up to power ``1 - dim / 2``: on the line up to 1/2, nowhere from dimension two on.
        """
        order = 2.0 * self.power + (self.dim - 2.0)
        if order <= 0.0:
            return math.inf
        log_gamma = scipy.special.gammaln
        logs = log_gamma(order / self.power) - log_gamma(self.dim / self.power)
        return self.power * math.exp(logs) * self.power / self.sigma / self.sigma / self.dim
