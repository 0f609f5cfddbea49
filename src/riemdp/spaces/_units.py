"""Distances in the units of those who measured the records."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from riemdp.spaces._points import FloatArray

#: Units that covariances and tensors are often in by mistake; see :attr:`Manifold.other_units`.
OF_MATRICES = (
    "covariances in microvolts squared are 1e12 times those in volts squared, diffusion tensors in "
    "mm^2/s a thousandth of those in um^2/ms"
)
#: By how much fractional anisotropy changes at most for each unit of distance.
_ANISOTROPY = math.sqrt(2.0 / 3.0)
#: Logarithm up to which a factor is said as a percentage, and that of the largest one.
_AS_PERCENT, _LARGEST = math.log(2.0), 700.0


class Unit(ABC):
    """What distances are said in by those who measured the records, and how.

    Attributes
    ----------
    label : str
        What an axis in this unit is called.

    Examples
    --------
    >>> import riemdp
    >>> unit = riemdp.Sphere(2).unit(0.5)
    >>> unit.label, unit.said(0.5)
    ('degrees', '28.6 degrees')
    """

    label: ClassVar[str]

    @abstractmethod
    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return geodesic distances in this unit.

        Parameters
        ----------
        distance : array_like, shape (...)

        Returns
        -------
        ndarray, shape (...)
        """

    @abstractmethod
    def back(self, value: FloatArray | float) -> FloatArray:
        """Return the geodesic distances that are so much in this unit.

        Parameters
        ----------
        value : array_like, shape (...)

        Returns
        -------
        ndarray, shape (...)
        """

    @abstractmethod
    def said(self, distance: float) -> str:
        """Say a distance in words, to follow its number in brackets.

        Parameters
        ----------
        distance : float

        Returns
        -------
        str
        """

    def short(self, distance: float) -> str:
        """Say it in few words, as pictures have room for; by default those of :meth:`said`.

        Parameters
        ----------
        distance : float

        Returns
        -------
        str
        """
        return self.said(distance)


@dataclass(frozen=True)
class Degrees(Unit):
    """Degrees of an angle.

    Parameters
    ----------
    per_distance : float, default 1.0
        Radians for each unit of geodesic distance.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.spaces import Degrees
    >>> degrees = Degrees()
    >>> float(degrees.of(np.pi)), degrees.said(0.1)
    (180.0, '5.73 degrees')
    """

    label = "degrees"

    per_distance: float = 1.0

    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return distances in degrees; see :meth:`Unit.of`."""
        return np.asarray(np.degrees(self.per_distance * np.asarray(distance)))

    def back(self, value: FloatArray | float) -> FloatArray:
        """Inverse of :meth:`of`."""
        return np.asarray(np.radians(value) / self.per_distance)

    def said(self, distance: float) -> str:
        """As in ``"1.5 degrees"``; see :meth:`Unit.said`."""
        return f"{math.degrees(self.per_distance * distance):.3g} degrees"


@dataclass(frozen=True)
class _Eigenvalues(Unit):
    """The largest change of eigenvalues that is possible at a distance.

    With ``anisotropy``, for matrices of size 3, how far that may differ is said too.
    """

    form: ClassVar[tuple[str, str]]

    anisotropy: bool = False

    def said(self, distance: float) -> str:
        """As in ``"that far, eigenvalues differ by at most 5 %"``; see :meth:`Unit.said`."""
        said = f"that far, eigenvalues differ by {self.form[0].format(float(self.of(distance)))}"
        most = _ANISOTROPY * distance
        if not (self.anisotropy and most < 1.0):  # 1 is all it can differ
            return said
        return f"{said}, fractional anisotropy by at most {most:.3g}"

    def short(self, distance: float) -> str:
        """As in ``"eigenvalues: 5 %"``; see :meth:`Unit.short`."""
        return f"eigenvalues: {self.form[1].format(float(self.of(distance)))}"


class EigenvaluePercent(_Eigenvalues):
    """Change of eigenvalues in percent."""

    label = "eigenvalues differ by at most, in %"
    form = "at most {:.3g} %", "{:.3g} %"

    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return ``100 (e^distance - 1)``; see :meth:`Unit.of`."""
        with np.errstate(over="ignore"):
            return np.asarray(100.0 * np.expm1(distance))

    def back(self, value: FloatArray | float) -> FloatArray:
        """Inverse of :meth:`of`."""
        return np.asarray(np.log1p(np.maximum(np.asarray(value) / 100.0, -0.99)))


class EigenvalueFactor(_Eigenvalues):
    """Change of eigenvalues as a factor."""

    label = "eigenvalues differ by a factor of at most"
    form = "a factor of at most {:.3g}", "factor {:.3g}"

    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return ``e^distance``; see :meth:`Unit.of`."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(distance))

    def back(self, value: FloatArray | float) -> FloatArray:
        """Inverse of :meth:`of`."""
        return np.asarray(np.log(np.maximum(value, 1e-300)))


def eigenvalues(distance: float, k: int) -> Unit | None:
    """Return how far eigenvalues of k x k matrices may differ, by the distance of their logarithms.

    By Weyl's inequality each logarithm of an eigenvalue differs by at most the distance of two
    matrices, log-Euclidean or affine-invariant. Of size 3 fractional anisotropy is said too: it
    moves by at most sqrt(2/3) for each unit of distance (docs/proofs/anisotropy.md). None where the
    factor at the largest distance is too large for float64.
    """
    if not distance <= _LARGEST:
        return None
    unit = EigenvaluePercent if distance <= _AS_PERCENT else EigenvalueFactor
    return unit(anisotropy=k == 3)
