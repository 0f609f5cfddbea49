"""What tells one kind of noise from another: densities ``exp(-U(dist / sigma))`` by their U."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
import scipy

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

Kind = Literal["laplace", "gaussian"]
#: A float, an array, or an enclosure of python-flint.
Number = TypeVar("Number")


class Potential(ABC):
    """The function U of a density proportional to ``exp(-U(dist(x, footpoint) / sigma))``.

    ``title`` is how messages call the law, ``degree`` the power of the distance in U.
    """

    title: ClassVar[str]
    degree: ClassVar[int]

    @property
    def is_linear(self) -> bool:
        """Whether U grows linearly: then volume can outgrow it, and privacy losses are bounded."""
        return self.degree == 1

    @abstractmethod
    def energy(self, ratio: Number) -> Number:
        """``U`` at distances in units of the scale."""

    @abstractmethod
    def inverse(self, energy: FloatArray) -> FloatArray:
        """Distances in units of the scale at which ``U`` has these values."""

    # On flat space, where U itself has a gamma law.

    @abstractmethod
    def gamma_shape(self, dim: int) -> float:
        """Shape of the gamma law of ``U`` on R^dim."""

    @abstractmethod
    def log_radial_constant(self, shape: float) -> float:
        """Log of the factor by which the radial integral exceeds the gamma function."""

    @abstractmethod
    def flat_mean(self, dim: int, sigma: float) -> float:
        """Mean length on R^dim."""

    @abstractmethod
    def spread(self, dim: int) -> int:
        """Mean squared length on R^dim, in units of ``dim sigma^2``."""

    @abstractmethod
    def cut_quantile(self, uniform: FloatArray, end: float) -> FloatArray:
        """Inverse of the distribution function of the length in [0, end], in units of the scale."""

    # Where it meets the growth of volume.

    @abstractmethod
    def pull(self, r: Any, sigma: Any) -> Any:
        """``d U(r / sigma) / dr``."""

    @abstractmethod
    def bend(self, gap: float, sigma: float) -> float:
        """How much the pull grows along a distance."""

    @abstractmethod
    def excess(self, ratio: FloatArray) -> FloatArray | float:
        """``U`` above its tangent, so far from where that touches."""

    @abstractmethod
    def mode(self, power: int, sign: int, sigma: float) -> float:
        """Root of ``U'(r) = power s'(r) / s(r)`` for unit curvature of a sign; may be infinite."""

    @abstractmethod
    def scale_limit(self, growth: float) -> float:
        """Scale under which the law has a normaliser, where volume grows at this rate."""

    @abstractmethod
    def farthest_time(self, sigma: float, k: int, growth: float, rare: float) -> float:
        """Time of a diffusion of k x k matrices that draws are seldom, ``rare``, longer than."""

    # What privacy knows of it.

    @abstractmethod
    def information(self, dim: int, sigma: float, mean_square: Callable[[], float]) -> float:
        """Fisher information of the footpoint, from the mean squared distance."""

    @abstractmethod
    def triangle_epsilon(self, ratio: float) -> float:
        """Bound of privacy losses by the triangle inequality, footpoints ``ratio`` scales apart."""

    @abstractmethod
    def lossless_scale(self, sensitivity: float, epsilon: float, reach: float) -> float:
        """Scale at which the largest privacy loss is ``epsilon``; ``inf`` if it is unbounded.

        ``reach`` is the injectivity radius.
        """


class Laplace(Potential):
    """``U(x) = x``."""

    title = "Laplace"
    degree = 1

    def energy(self, ratio: Number) -> Number:
        """Return the ratio itself."""
        return ratio

    def inverse(self, energy: FloatArray) -> FloatArray:
        """Return the energy itself."""
        return energy

    def gamma_shape(self, dim: int) -> float:
        """``dim``."""
        return float(dim)

    def log_radial_constant(self, shape: float) -> float:  # noqa: ARG002
        """None."""
        return 0.0

    def flat_mean(self, dim: int, sigma: float) -> float:
        """``dim sigma``."""
        return dim * sigma

    def spread(self, dim: int) -> int:
        """``dim + 1``."""
        return dim + 1

    def cut_quantile(self, uniform: FloatArray, end: float) -> FloatArray:
        """Of an exponential law."""
        return -np.log1p(uniform * math.expm1(-end))

    def pull(self, r: Any, sigma: Any) -> Any:  # noqa: ARG002
        """``1 / sigma``."""
        return 1.0 / sigma

    def bend(self, gap: float, sigma: float) -> float:  # noqa: ARG002
        """Not at all."""
        return 0.0

    def excess(self, ratio: FloatArray) -> float:  # noqa: ARG002
        """None."""
        return 0.0

    def mode(self, power: int, sign: int, sigma: float) -> float:
        """In closed form."""
        if sign > 0:
            return math.atan(power * sigma)
        if sign == 0:
            return power * sigma
        return math.atanh(power * sigma) if power * sigma < 1.0 else math.inf

    def scale_limit(self, growth: float) -> float:
        """``1 / growth``."""
        return 1.0 / growth if growth else math.inf

    def farthest_time(self, sigma: float, k: int, growth: float, rare: float) -> float:
        """Of a gamma law, whose rate vanishes with the normaliser."""
        rate = 0.5 * (1.0 / sigma - growth) * (1.0 / sigma + growth)
        return float(scipy.special.gammainccinv(0.5 * (k + 1), rare)) / rate

    def information(self, dim: int, sigma: float, mean_square: Callable[[], float]) -> float:  # noqa: ARG002
        """Of a score of length ``1 / sigma`` everywhere."""
        return 1.0 / dim / sigma / sigma

    def triangle_epsilon(self, ratio: float) -> float:
        """Return the ratio itself."""
        return ratio

    def lossless_scale(self, sensitivity: float, epsilon: float, reach: float) -> float:  # noqa: ARG002
        """By the triangle inequality."""
        return sensitivity / epsilon


class Gaussian(Potential):
    """``U(x) = x^2 / 2``."""

    title = "Gaussian"
    degree = 2

    def energy(self, ratio: Any) -> Any:
        """Half the square."""
        return 0.5 * ratio * ratio

    def inverse(self, energy: FloatArray) -> FloatArray:
        """Root of twice the energy."""
        return np.sqrt(2.0 * energy)

    def gamma_shape(self, dim: int) -> float:
        """``dim / 2``."""
        return 0.5 * dim

    def log_radial_constant(self, shape: float) -> float:
        """``2^(shape - 1)``."""
        return (shape - 1.0) * math.log(2.0)

    def flat_mean(self, dim: int, sigma: float) -> float:
        """Of a chi law."""
        gammaln, shape = scipy.special.gammaln, self.gamma_shape(dim)
        return sigma * math.sqrt(2.0) * math.exp(gammaln(shape + 0.5) - gammaln(shape))

    def spread(self, dim: int) -> int:  # noqa: ARG002
        """Return 1."""
        return 1

    def cut_quantile(self, uniform: FloatArray, end: float) -> FloatArray:
        """Of half a normal law."""
        half = math.sqrt(0.5)
        return np.asarray(scipy.special.erfinv(uniform * math.erf(end * half)) / half)

    def pull(self, r: Any, sigma: Any) -> Any:
        """``r / sigma^2``."""
        return r / sigma / sigma

    def bend(self, gap: float, sigma: float) -> float:
        """``gap / sigma^2``."""
        return gap / sigma / sigma

    def excess(self, ratio: FloatArray) -> FloatArray:
        """Half the square."""
        return np.asarray(0.5 * np.square(ratio))

    def mode(self, power: int, sign: int, sigma: float) -> float:
        """By bisection off flat space."""
        if sign == 0:
            return math.sqrt(power) * sigma
        # r tan r = c or r tanh r = c with c = power sigma^2, divided by c to stay in range
        if sign > 0:
            tangent, low, high = math.tan, 0.0, min(math.sqrt(power) * sigma, 0.5 * math.pi)
        else:
            tangent, low, high = math.tanh, 0.0, (power * sigma + math.sqrt(power)) * sigma
        for _ in range(100):
            middle = 0.5 * (low + high)
            if (middle / sigma) * (tangent(middle) / sigma) < power:
                low = middle
            else:
                high = middle
        return high

    def scale_limit(self, growth: float) -> float:  # noqa: ARG002
        """None: volume grows exponentially at most."""
        return math.inf

    def farthest_time(self, sigma: float, k: int, growth: float, rare: float) -> float:  # noqa: ARG002
        """Square of the scale."""
        return sigma**2

    def information(self, dim: int, sigma: float, mean_square: Callable[[], float]) -> float:
        """By the mean square."""
        return mean_square() / dim / sigma / sigma / sigma / sigma

    def triangle_epsilon(self, ratio: float) -> float:  # noqa: ARG002
        """Unbounded."""
        return math.inf

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
    given: object = kind
    found = _POTENTIALS.get(given) if isinstance(given, str) else None
    if found is None:
        raise InvalidParameterError(f'kind must be "laplace" or "gaussian", got {shown(kind)}')
    return found
