"""What tells one kind of noise from another: densities ``exp(-U(dist / sigma))`` by their U."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import scipy

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from riemdp.manifolds._manifold import FloatArray

Kind = Literal["laplace", "gaussian"]


class Potential(ABC):
    """The function U of a density proportional to ``exp(-U(dist(x, footpoint) / sigma))``.

    Attributes
    ----------
    title : str
        How messages call the law.
    """

    title: ClassVar[str]

    @abstractmethod
    def energy(self, ratio: FloatArray) -> FloatArray:
        """``U`` at distances in units of the scale."""

    @abstractmethod
    def mean_square(self, dim: int) -> float:
        """Mean squared length on R^dim, in units of the scale."""

    @abstractmethod
    def scale_limit(self, growth: float) -> float:
        """Scale under which the law has a normaliser, where volume grows at this rate."""

    @abstractmethod
    def triangle_epsilon(self, ratio: float) -> float:
        """Bound of privacy losses by the triangle inequality, footpoints ``ratio`` scales apart."""

    @abstractmethod
    def farthest_time(self, sigma: float, k: int, growth: float, rare: float) -> float:
        """Time of a diffusion of k x k matrices that draws are seldom, ``rare``, longer than."""

    @abstractmethod
    def lossless_scale(self, sensitivity: float, epsilon: float, reach: float) -> float:
        """Scale at which the largest privacy loss is ``epsilon``; ``inf`` if it is unbounded.

        ``reach`` is the injectivity radius.
        """


class Laplace(Potential):
    """``U(x) = x``."""

    title = "Laplace"

    def energy(self, ratio: FloatArray) -> FloatArray:
        """Return the ratio itself."""
        return ratio

    def mean_square(self, dim: int) -> float:
        """``dim (dim + 1)``."""
        return dim * (dim + 1)

    def scale_limit(self, growth: float) -> float:
        """``1 / growth``."""
        return 1.0 / growth if growth else math.inf

    def triangle_epsilon(self, ratio: float) -> float:
        """Return the ratio itself."""
        return ratio

    def farthest_time(self, sigma: float, k: int, growth: float, rare: float) -> float:
        """Of a gamma law, whose rate vanishes with the normaliser."""
        rate = 0.5 * (1.0 / sigma - growth) * (1.0 / sigma + growth)
        return float(scipy.special.gammainccinv(0.5 * (k + 1), rare)) / rate

    def lossless_scale(self, sensitivity: float, epsilon: float, reach: float) -> float:  # noqa: ARG002
        """By the triangle inequality."""
        return sensitivity / epsilon


class Gaussian(Potential):
    """``U(x) = x^2 / 2``."""

    title = "Gaussian"

    def energy(self, ratio: FloatArray) -> FloatArray:
        """Half the square."""
        return np.asarray(0.5 * np.square(ratio))

    def mean_square(self, dim: int) -> float:
        """``dim``."""
        return dim

    def scale_limit(self, growth: float) -> float:  # noqa: ARG002
        """None: volume grows exponentially at most."""
        return math.inf

    def triangle_epsilon(self, ratio: float) -> float:  # noqa: ARG002
        """Unbounded."""
        return math.inf

    def farthest_time(self, sigma: float, k: int, growth: float, rare: float) -> float:  # noqa: ARG002
        """Square of the scale."""
        return sigma**2

    def lossless_scale(self, sensitivity: float, epsilon: float, reach: float) -> float:
        """Of two footpoints and a point opposite to the one, on the far side."""
        return math.sqrt(sensitivity / epsilon) * math.sqrt(reach - 0.5 * sensitivity)


_POTENTIALS: dict[str, Potential] = {"laplace": Laplace(), "gaussian": Gaussian()}


def potential(kind: str) -> Potential:
    """Return the potential of a kind of noise.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}

    Returns
    -------
    Potential

    Raises
    ------
    InvalidParameterError
        If the kind is unknown.
    """
    if not is_one_of(kind, tuple(_POTENTIALS)):
        raise InvalidParameterError(f'kind must be "laplace" or "gaussian", got {shown(kind)}')
    return _POTENTIALS[kind]
