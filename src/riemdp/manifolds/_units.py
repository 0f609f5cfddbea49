"""Distances in the units of those who measured the records."""

from __future__ import annotations

import math

#: Units that covariances and tensors are often in by mistake; see :attr:`Manifold.other_units`.
OF_MATRICES = (
    "covariances in microvolts squared are 1e12 times those in volts squared, diffusion tensors in "
    "mm^2/s a thousandth of those in um^2/ms"
)
#: Logarithm up to which a factor is said as a percentage, and that of the largest one.
_AS_PERCENT, _LARGEST = math.log(2.0), 700.0


def degrees(angle: float) -> str:
    """Return an angle in radians in words.

    Parameters
    ----------
    angle : float

    Returns
    -------
    str
    """
    return f"{math.degrees(angle):.3g} degrees"


def eigenvalues(distance: float) -> str:
    """Say how far eigenvalues may differ where the norm of a difference of logarithms is given.

    By Weyl's inequality each logarithm of an eigenvalue differs by at most the distance of two
    matrices, log-Euclidean or affine-invariant.

    Parameters
    ----------
    distance : float

    Returns
    -------
    str
        Empty where the factor is too large for float64.
    """
    if not distance <= _LARGEST:
        return ""
    if distance <= _AS_PERCENT:
        return f"that far, eigenvalues differ by at most {100.0 * math.expm1(distance):.3g} %"
    return f"that far, eigenvalues differ by a factor of at most {math.exp(distance):.3g}"
