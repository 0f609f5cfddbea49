"""Closed geodesic balls: the public domain of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import real, shown
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedBallError
from riemdp.manifolds import _symmetric
from riemdp.manifolds._hyperbolic import Hyperbolic
from riemdp.manifolds._manifold import FlatManifold, Manifold, as_floats, long_norm
from riemdp.manifolds._spd_affine_invariant import (
    SPDAffineInvariant,
    colour,
    spectral_log,
)
from riemdp.manifolds._spd_log_euclidean import SPDLogEuclidean
from riemdp.manifolds._sphere import Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds._manifold import FloatArray

#: Largest radius of a ball of data in hyperbolic space, in units of 1/sqrt(-curvature).
HYPERBOLIC_RADIUS_LIMIT = 8.0
#: Half the range of log-eigenvalues that float64 holds in one matrix, with a margin.
_SPD_REACH = 15.0
#: Relative rounding that ``contains`` forgives.
_CONTAINS_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Ball(ArrayFields):
    """Closed geodesic ball, chosen without looking at the data.

    Parameters
    ----------
    manifold : Manifold
        Space of the points.
    center : array_like, shape (*point_shape,)
        Centre, on the manifold.
    radius : float
        Radius in units of geodesic distance, positive, finite, under the injectivity radius;
        on hyperbolic space at most ``8 / sqrt(-curvature)``, where float64 coordinates still
        carry distances.

    Raises
    ------
    NotOnManifoldError
        If the centre is not one point of the manifold.
    InvalidParameterError
        If the manifold is none, or the radius not a number.
    UnsupportedBallError
        If the radius is not positive and finite, or too large for the manifold; on hyperbolic
        space also if the centre lies farther than that from the origin of coordinates.
    """

    manifold: Manifold
    center: FloatArray = field(repr=False)
    radius: float

    def __post_init__(self) -> None:
        if not isinstance(self.manifold, Manifold):
            raise InvalidParameterError(
                f"manifold must be a riemdp manifold, got {shown(self.manifold)}"
            )
        center = np.array(self.manifold.validate(self.center))
        if center.shape != self.manifold.point_shape:
            raise NotOnManifoldError(
                f"the centre must be one point of shape {self.manifold.point_shape}, "
                f"got shape {center.shape}"
            )
        center.flags.writeable = False
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "radius", real(self.radius, "radius"))
        self._check_radius()

    def _check_radius(self) -> None:
        radius, limit = self.radius, self.manifold.injectivity_radius
        if not (0.0 < radius < math.inf):
            raise UnsupportedBallError(f"radius must be positive and finite, got {radius}")
        if radius >= limit:
            raise UnsupportedBallError(
                f"radius {radius:.6g} must stay under the injectivity radius {limit:.6g} of "
                f"{self.manifold}; choose a smaller ball"
            )
        if isinstance(self.manifold, Hyperbolic):
            far = HYPERBOLIC_RADIUS_LIMIT / math.sqrt(-self.manifold.curvature)
            if radius > far:
                raise UnsupportedBallError(
                    f"radius {radius:.6g} exceeds {far:.6g} = 8/sqrt(-curvature), where float64 "
                    "hyperboloid coordinates no longer carry distances; choose a smaller ball"
                )
            away = float(self.manifold.dist(self.manifold.origin, self.center))
            if away > far * (1.0 + _CONTAINS_TOLERANCE):
                raise UnsupportedBallError(
                    f"the centre lies {away:.6g} from the origin of coordinates, beyond {far:.6g} "
                    "= 8/sqrt(-curvature), where float64 hyperboloid coordinates no longer carry "
                    "distances; move the data by an isometry so that the centre is the origin"
                )

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        r"""Whether points lie in the ball.

        Up to a relative 1e-9 of the radius, and what rounding of coordinates makes of distances.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray of bool, shape (...)
        """
        dist = self.manifold.dist(self.center, points)
        return np.asarray(dist <= self.radius * (1.0 + _CONTAINS_TOLERANCE) + self._rounding)

    @property
    def _rounding(self) -> float:
        """Error of a distance from the centre that the rounding of coordinates explains."""
        eps = float(np.finfo(np.float64).eps)
        if isinstance(self.manifold, Sphere):
            return 4.0 * eps / math.sqrt(self.manifold.curvature)
        if isinstance(self.manifold, Hyperbolic):
            k = math.sqrt(-self.manifold.curvature)
            away = float(self.manifold.dist(self.manifold.origin, self.center))
            return 8.0 * eps * math.cosh(k * away) * math.cosh(k * (away + self.radius)) / k
        if isinstance(self.manifold, (SPDLogEuclidean, SPDAffineInvariant)):
            # An eigenvalue is known to eps times the largest one.
            k = self.manifold.k
            spread = _log_condition(self.center) + math.sqrt(2.0) * self.radius
            return 4.0 * k * eps * math.exp(min(spread, 2.0 * _SPD_REACH))
        return 4.0 * eps * float(long_norm(self.center))

    def point(self, coordinates: ArrayLike) -> FloatArray:
        r"""Point with these normal coordinates about the centre.

        On SPD matrices a point whose eigenvalues float64 cannot hold together is moved: the
        eigenvalues of its logarithm, seen from the centre, are clipped to a range of 30 about the
        centre's. That is a function of public numbers and the point alone.

        Parameters
        ----------
        coordinates : array_like, shape (..., dim)
            Orthonormal coordinates of a tangent vector at the centre.

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """
        manifold = self.manifold
        coordinates = as_floats(coordinates)
        if isinstance(manifold, SPDLogEuclidean):
            logarithm = _symmetric.logm(self.center)
            total = logarithm + _symmetric.unvecd(coordinates, manifold.k)
            levels = np.linalg.eigvalsh(logarithm)
            middle = float(np.mean(levels))
            reach = max(_SPD_REACH, float(np.max(np.abs(levels - middle))))
            return _symmetric.expm_within(total, middle, reach)
        if isinstance(manifold, SPDAffineInvariant):
            scale = np.sqrt(np.diagonal(self.center))
            reach = max(
                _SPD_REACH - 0.5 * _log_condition(self.center / np.outer(scale, scale)), 1.0
            )
            inside = _symmetric.unvecd(coordinates, manifold.k)
            factor = np.asarray(np.linalg.cholesky(self.center), dtype=np.float64)
            return colour(factor, _symmetric.expm_within(inside, 0.0, reach))
        if isinstance(manifold, FlatManifold):
            return manifold.from_chart(manifold.to_chart(self.center) + coordinates)
        return manifold.exp(self.center, manifold.tangent_vector(self.center, coordinates))

    def project(self, points: ArrayLike) -> FloatArray:
        r"""Move points outside the ball along the geodesic from the centre to its boundary.

        Points inside come back unchanged, bit by bit. Every record is treated by itself, so
        that projecting costs no privacy; how many were moved is private. The exact antipode of
        the centre of a sphere, from which no direction is singled out, goes to one fixed point
        of the boundary.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """
        points = as_floats(points)
        if isinstance(self.manifold, FlatManifold):
            return self._project_flat(self.manifold, points)
        dist = self.manifold.dist(self.center, points)
        outside = dist > self.radius
        if not outside.any():
            return points.copy()
        # All records are moved, those inside nowhere: a record's neighbours in memory, and so the
        # rounding of its result, never depend on which others are outside.
        axes = (*dist.shape, *(1 for _ in self.manifold.point_shape))
        shrink = np.where(outside, self.radius / np.where(outside, dist, 1.0), 0.0).reshape(axes)
        moved = self.manifold.exp(self.center, shrink * self._log(points))
        return np.where(outside.reshape(axes), moved, points)

    def coordinates(self, points: ArrayLike) -> FloatArray:
        r"""Clipped normal coordinates about the centre.

        The orthonormal coordinates of ``log(center, x)``, shortened to the radius where they
        exceed it: what the record is after :meth:`project`, seen from the centre.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray, shape (..., dim)
        """
        points = as_floats(points)
        if isinstance(self.manifold, FlatManifold):
            with np.errstate(over="ignore"):  # of a record at the other end of float64
                offset = self.manifold.to_chart(points) - self.manifold.to_chart(self.center)
        elif isinstance(self.manifold, SPDAffineInvariant):
            offset = _symmetric.vecd(_symmetric.compose(*spectral_log(self.center, points)))
        else:
            offset = self.manifold.tangent_coordinates(self.center, self._log(points))
        return clip_norm(offset, self.radius)

    def _log(self, points: FloatArray) -> FloatArray:
        """Logarithm at the centre, with a fixed direction for the exact antipode."""
        if not isinstance(self.manifold, Sphere):
            return self.manifold.log(self.center, points)
        log, antipodal = self.manifold.log_or_antipode(self.center, points)
        direction = np.zeros(self.manifold.dim)
        direction[0] = self.manifold.injectivity_radius
        fixed = self.manifold.tangent_vector(self.center, direction)
        return np.where(antipodal[..., None], fixed, log)

    def _project_flat(self, manifold: FlatManifold, points: FloatArray) -> FloatArray:
        center = manifold.to_chart(self.center)
        offset = manifold.to_chart(points) - center
        clipped = clip_norm(offset, self.radius)
        outside = (clipped != offset).any(axis=-1)
        axes = (*outside.shape, *(1 for _ in manifold.point_shape))
        if not outside.any():
            return points.copy()
        return np.where(outside.reshape(axes), manifold.from_chart(center + clipped), points)


def _log_condition(matrix: FloatArray) -> float:
    """Logarithm of the condition number of a symmetric positive definite matrix."""
    values = np.linalg.eigvalsh(matrix)
    return math.log(values[-1] / max(float(values[0]), 1e-300))


def clip_norm(vectors: FloatArray, radius: float) -> FloatArray:
    """Shorten vectors ``(..., d)`` to at most ``radius``; shorter ones stay as they are.

    Each is scaled by a power of two first, which changes no digit, so that squares neither overflow
    nor vanish.
    """
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.abs(vectors).max(axis=-1, keepdims=True))[1]
        scaled = np.ldexp(vectors, -exponent)
        norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
        outside = np.ldexp(norm, exponent) > radius
        if not outside.any():
            return np.asarray(vectors)
        shortened = scaled * (radius / np.where(outside, norm, 1.0))
    return np.where(outside, shortened, vectors)
