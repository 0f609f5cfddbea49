"""What the checks have in common: how they fail, and what they draw."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray, Manifold

#: Rounding that every comparison forgives, relative to the size of what is compared.
ROUNDING = 1e-7
#: Standard errors from which on a Monte Carlo estimate contradicts a claim: once in 1e9 checks.
ERRORS = 6.0


def require(holds: object, claim: str) -> None:
    """Raise ``AssertionError`` with the claim unless it holds."""
    if not np.all(np.asarray(holds)):
        raise AssertionError(claim)


def require_close(found: ArrayLike, wanted: ArrayLike, claim: str, scale: float = 1.0) -> None:
    """Raise ``AssertionError`` unless two arrays agree up to rounding, in the largest entry."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    require(found.shape == wanted.shape, f"{claim}: shapes {found.shape} and {wanted.shape}")
    error = float(np.max(np.abs(found - wanted), initial=0.0))
    require(error <= ROUNDING * scale, f"{claim}: they differ by {error:.3g}")


def available() -> contextlib.AbstractContextManager[None]:
    """Let a part say by ``UnsupportedError`` that something is not available."""
    return contextlib.suppress(UnsupportedError)


def refuses(error: type[Exception], call: Any, claim: str) -> None:
    """Require that a call raises this error and no other."""
    try:
        call()
    except error:
        return
    except Exception as other:
        raise AssertionError(f"{claim}; it raised {type(other).__name__}") from other
    raise AssertionError(f"{claim}; it raised nothing")


def working_radius(manifold: Manifold) -> float:
    """Radius of a ball in which geodesics are unique and triangles small, on any manifold."""
    bound = manifold.curvature_bound
    limits = [1.0, 0.4 * manifold.injectivity_radius, 0.9 * manifold.room(manifold.origin)]
    if bound > 0.0:
        limits.append(0.25 * np.pi / float(np.sqrt(bound)))
    return min(limits)


def coordinates_in_ball(manifold: Manifold, size: int, radius: float, seed: int = 0) -> FloatArray:
    """Draw normal coordinates, uniform in direction and length, shape (size, dim)."""
    random = np.random.default_rng(seed)
    directions = random.normal(size=(size, manifold.dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(radius * random.random((size, 1)) * directions)


def points_in_ball(manifold: Manifold, size: int, radius: float, seed: int = 0) -> FloatArray:
    r"""Draw points about the origin, shape (size, \*point_shape)."""
    return manifold.point(manifold.origin, coordinates_in_ball(manifold, size, radius, seed))
