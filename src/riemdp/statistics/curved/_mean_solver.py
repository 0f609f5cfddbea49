"""What a solver of intrinsic means does, and the exact value of its answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._errors import ConvergenceError, UnsupportedBallError, UnsupportedManifoldError
from riemdp.kernel import UNIT, Sum, added, added_with_weights, on_grid
from riemdp.spaces import Manifold, in_units
from riemdp.statistics._records import mean_of, record_coordinates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._query import Partial
    from riemdp.statistics.curved._descent import Descent

    #: Weights of records, of sum 1, shape (n,); None where all are equal.
    Shares = FloatArray | None


# Means in exact arithmetic: sums of integers, of records that a public grid rounds one by one.


class ExactMean(ABC):
    """How a mean is computed so that its tolerance is proved, with no allowance for rounding.

    ``proof`` says where. Balls are public; coordinates ``(m, dim)`` are normal ones about their
    centre. Weights ``(m,)`` are integers, at least 0 and at most ``2^40``; None where all count
    alike.
    """

    proof: ClassVar[str]

    @property
    def adds(self) -> bool:
        """Whether chunks are sums of integers, so that no record is kept; by default not."""
        return False

    @abstractmethod
    def floor(self, ball: Ball) -> float:
        """Least public tolerance, a geodesic distance, that every data set can be certified to.

        Zero where nothing is rounded but the records.
        """

    def rows_of(self, ball: Ball, data: FloatArray) -> Partial:
        """Return :meth:`rows` of valid points, inside or outside, each of its own point alone."""
        return self.rows(ball, shortened(ball, data))

    def rows(self, ball: Ball, coordinates: FloatArray) -> Partial:  # noqa: ARG002
        """Say what is needed of each record, by coordinates of exact norm at most ``ball.reach``.

        Arrays, alone or in nested tuples, each with the records along its first axis; by default
        the coordinates.
        """
        return coordinates

    def summed(self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None) -> Partial:  # noqa: ARG002
        """Add rows, times weights, where :attr:`adds`; by default all of them are needed."""
        return rows

    @abstractmethod
    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Return normal coordinates of a point that is proved to lie within ``tol`` of the mean.

        Weights are positive, and belong to :meth:`rows`; without them it is given what
        :meth:`summed` returned. Raises ``ConvergenceError`` if that cannot be proved.
        """

    def descent(self, ball: Ball, tol: float) -> Descent | None:  # noqa: ARG002
        """Return steps that end within ``tol`` of the mean of any records in a ball.

        None, by default, where nobody has proved that any public number of them is enough.
        """
        return None


def shortened(ball: Ball, data: FloatArray) -> FloatArray:
    """Coordinates ``(n, dim)`` of records that lie in the ball as real numbers, not up to rounding.

    Points near the boundary or beyond it are shortened to the radius less ``2^-40`` of it, or less
    ``(dim + 8) 2^-52`` if that is more, which is what rounding takes from a norm and a quotient.
    """
    coordinates = np.ascontiguousarray(record_coordinates(ball, data))
    margin = max(2.0**-40, (coordinates.shape[-1] + 8.0) * 2.0**-52)
    return ball.shorten(coordinates, 1.0 - margin)


class ExactSum(ExactMean):
    """Average of coordinates: each record is rounded to a public grid, and integers are added.

    So the sum is exact and the order of the records does not count, and the vectors that are added
    have norm at most the radius: the average moves by at most ``2 radius / n``, exactly. See
    docs/proofs/exact-draws.md, "Sums".
    """

    proof = "docs/proofs/exact-draws.md"
    adds = True

    def floor(self, ball: Ball) -> float:  # noqa: ARG002
        """Zero."""
        return 0.0

    def rows_of(self, ball: Ball, data: FloatArray) -> NDArray[np.int64]:
        """Clip, and round towards zero; see :meth:`ExactMean.rows_of`."""
        return on_grid(ball.unit_coordinates(data))

    def rows(self, ball: Ball, coordinates: FloatArray) -> NDArray[np.int64]:
        """Round each record towards zero, in units of the radius; see :meth:`ExactMean.rows`."""
        return on_grid(in_units(coordinates, ball.reach))

    def summed(
        self,
        ball: Ball,  # noqa: ARG002
        rows: NDArray[np.int64],
        whole: NDArray[np.int64] | None,
    ) -> Sum:
        """Add rows, or products and weights; see :meth:`ExactMean.summed`."""
        if whole is None:
            return added(rows, UNIT**2)
        return added_with_weights(rows, whole, UNIT**2)

    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Divide, as rational numbers; see :meth:`ExactMean.weighted`."""
        del tol
        return mean_of(rows if whole is None else self.summed(ball, rows, whole), ball.reach)


# How the Fréchet mean is computed and certified: one solver for each class of spaces.


@dataclass(frozen=True, eq=False)
class CertifiedMean(ArrayFields):
    """A Fréchet mean and the proof of its accuracy. It describes the data: it is not private.

    Attributes
    ----------
    value : ndarray, shape (*point_shape,)
        The mean.
    error_bound : float
        Certified bound of the geodesic distance from ``value`` to the exact mean, at most the
        tolerance that was asked for; it includes an allowance for rounding.
    passes : int
        Passes over the data.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> ball = riemdp.Ball(sphere, [1.0, 0.0, 1.0] / np.sqrt(2.0), 1.0)
    >>> found = riemdp.frechet_mean(sphere, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], ball=ball, tol=1e-9)
    >>> found.value.round(4), found.error_bound <= 1e-9
    (array([0.7071, 0.    , 0.7071]), True)
    """

    value: FloatArray
    error_bound: float
    passes: int

    def __post_init__(self) -> None:
        self._seal()


class MeanSolver(ABC):
    """What is known of the Fréchet mean on the spaces of one class, beyond their geometry.

    Attributes
    ----------
    proof : str or None
        Where it is proved that means are as near as is certified; see :class:`riemdp.Part`. It is
        not inherited.
    isometric : bool
        Whether normal coordinates about any centre keep distances, as on flat spaces.
    """

    proof: ClassVar[str | None] = None
    isometric: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.proof = vars(cls).get("proof")

    @abstractmethod
    def exact(self, manifold: Manifold) -> ExactMean | None:
        """How a mean is computed for a release; None where nobody knows.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        ExactMean or None
        """

    def parts(self, manifold: Manifold) -> tuple[Manifold, ...]:  # noqa: ARG002
        """Return other spaces whose solvers this one uses.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        tuple of Manifold
        """
        return ()

    def validate(self, manifold: Manifold, points: ArrayLike) -> FloatArray:
        r"""Check points as far as :meth:`solve` needs it; see :meth:`Manifold.validate`.

        Parameters
        ----------
        manifold : Manifold
        points : array_like, shape (n, \*point_shape)

        Returns
        -------
        ndarray, shape (n, \*point_shape)
        """
        return manifold.validate(points)

    def check_domain(  # noqa: B027 -- the mean is unique everywhere, by default
        self, manifold: Manifold, data: FloatArray, ball: Ball | None
    ) -> None:
        r"""Refuse data whose mean need not be unique.

        Parameters
        ----------
        manifold : Manifold
        data : ndarray, shape (n, \*point_shape)
        ball : Ball, optional
            That holds the data.

        Raises
        ------
        UnsupportedBallError
        """

    def solve(
        self, manifold: Manifold, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        r"""Return the mean of valid data, in the space itself; see :func:`riemdp.frechet_mean`.

        Parameters
        ----------
        manifold : Manifold
        data : ndarray, shape (n, \*point_shape)
        weights : ndarray, shape (n,), optional
            Of sum 1.
        ball : Ball, optional
            That holds the data.
        tol : float
            What an iteration has to reach; a formula need not.

        Raises
        ------
        UnsupportedManifoldError
            By default.
        """
        del data, weights, ball, tol
        raise unknown_mean(manifold)


def ball_of_mean(manifold: Any, ball: Ball | None, way_out: str = "") -> Ball:
    """Return the ball that data lie in; ``UnsupportedBallError`` where a mean need not be unique.

    ``way_out`` says how a ball is made, if not by a centre and a radius.
    """
    limit = manifold.convexity_radius
    if ball is None or ball.manifold != manifold:
        way_out = way_out or (
            f"Ball(manifold, center, radius) with the data inside it and a radius under {limit:.6g}"
        )
        raise UnsupportedBallError(
            f"on {manifold} the mean is unique only inside a ball: pass ball={way_out}"
        )
    if not ball.radius < limit:
        raise UnsupportedBallError(
            f"radius {ball.radius:.6g} must stay under {limit:.6g} for the Fréchet mean to be "
            "unique; choose a smaller ball or the tangent mean"
        )
    return ball


def check_bound(bound: float, tol: float) -> None:
    """Raise ``ConvergenceError`` for a certificate that exceeds the tolerance."""
    if not bound <= tol:
        raise ConvergenceError(
            f"the mean cannot be certified to tol = {tol:.3g}: float64 rounding exceeds it on "
            "these data; scale the data, choose a smaller ball, or allow a larger tol"
        )


def unknown_mean(manifold: Manifold) -> UnsupportedManifoldError:
    """Error for a space whose Fréchet mean nobody can certify."""
    return UnsupportedManifoldError(
        f"no certified Fréchet mean is known for {type(manifold).__name__}; use tangent_mean"
    )
