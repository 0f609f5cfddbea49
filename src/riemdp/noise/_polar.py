"""Whether a space is a space form, and whether noise may leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp._errors import UnsupportedManifoldError
from riemdp.noise._rules import is_isotropic

if TYPE_CHECKING:
    from riemdp.spaces import Manifold


def constant_curvature(manifold: Manifold) -> float:
    """Return the curvature of a space in which polar coordinates are those of a space form.

    Parameters
    ----------
    manifold : Manifold

    Returns
    -------
    float

    Raises
    ------
    UnsupportedManifoldError
        If the curvature varies, or no rule says that the space is a space form.
    """
    curvature = manifold.constant_curvature
    if curvature is None or not is_isotropic(manifold):
        raise UnsupportedManifoldError(
            f"{manifold} is not known to be a space of constant curvature like the sphere (the "
            "numbers that it states do not say so); what works are the "
            'tangent mechanisms "tangent-gaussian" and "tangent-laplace" and, on '
            "SPDAffineInvariant, RiemannianLaplace and RiemannianGaussian"
        )
    return curvature


def is_onto(manifold: Manifold) -> bool:
    """Whether exponential maps end in the space wherever they go, as on complete spaces.

    Of a product every factor is asked: the room of one may hide behind the small injectivity radius
    of another.
    """
    every = dict.fromkeys((manifold, *manifold.factors))
    return all(each.room(each.origin) >= each.injectivity_radius for each in every)


def check_onto(
    manifold: Manifold,
    advice: str = "audit with another score, such as riemdp.auditing.DistanceScore",
) -> None:
    """Raise ``UnsupportedManifoldError`` for densities on a space that noise may leave."""
    if not is_onto(manifold):
        raise UnsupportedManifoldError(
            f"noise may leave {manifold} and is moved back to its edge, so that it has no density; "
            f"{advice}"
        )
