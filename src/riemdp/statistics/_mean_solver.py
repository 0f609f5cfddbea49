"""How the Fréchet mean is computed and certified: one solver for each class of spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._errors import ConvergenceError, InvalidParameterError, UnsupportedManifoldError
from riemdp._part import is_proof, made_known
from riemdp.manifolds import FlatManifold, Manifold, clip_norm
from riemdp.statistics import _flat_mean
from riemdp.statistics._exact_mean import ExactMean, ExactSum
from riemdp.statistics._records import record_coordinates
from riemdp.statistics._tolerance import average_floor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds import Ball
    from riemdp.statistics._question import Partial

    FloatArray = NDArray[np.float64]


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
    certifies : bool
        Whether a mean is found by iteration and certified, and not by a formula.
    """

    proof: ClassVar[str | None] = None
    isometric: ClassVar[bool] = False
    certifies: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.proof = vars(cls).get("proof")

    @abstractmethod
    def records(self, ball: Ball, data: FloatArray) -> Partial:
        r"""Clip records to a ball, in the form that :meth:`mean` works with.

        What happens to a record alone (clipping, whitening by the centre, logarithms on flat
        spaces) needs no accuracy for privacy: it is done first, so that rounding matters only in
        what follows.

        Parameters
        ----------
        ball : Ball
        data : ndarray, shape (m, \*point_shape)
            Valid points, inside or outside.

        Returns
        -------
        ndarray or tuple
            Of arrays, or of such tuples; the records along the first axis of each array.
        """

    @abstractmethod
    def mean(self, ball: Ball, records: Partial, tol: float) -> FloatArray:
        """Certify the mean of clipped records to a public tolerance.

        Parameters
        ----------
        ball : Ball
        records : object
            See :meth:`records`.
        tol : float
            In units of geodesic distance.

        Returns
        -------
        ndarray, shape (dim,)
            Normal coordinates about the ball's centre, no longer than its radius.

        Raises
        ------
        ConvergenceError
            If rounding alone exceeds ``tol``.
        """

    def weighs(self, manifold: Manifold) -> bool:  # noqa: ARG002
        """Whether :meth:`weighted` takes weights on a space; by default not.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        bool
        """
        return False

    def weighted(
        self,
        ball: Ball,
        records: Partial,
        weights: FloatArray | None,
        tol: float,
    ) -> FloatArray:
        """Certify the weighted mean of clipped records to a public tolerance.

        Parameters
        ----------
        ball, records, tol
            See :meth:`mean`, which it is without weights.
        weights : ndarray, shape (n,), optional
            Positive, of sum 1.

        Returns
        -------
        ndarray, shape (dim,)

        Raises
        ------
        ConvergenceError
            If rounding alone exceeds ``tol``.
        UnsupportedManifoldError
            If it takes none: see :meth:`weighs`.
        """
        if weights is not None:
            raise unknown_mean(ball.manifold)
        return self.mean(ball, records, tol)

    @abstractmethod
    def floor(self, ball: Ball) -> float:
        """Return the least tolerance that every data set in a public ball can be certified to.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
            In units of geodesic distance.
        """

    def exact(self, manifold: Manifold) -> ExactMean | None:  # noqa: ARG002
        """How a mean is computed in exact arithmetic; None, by default, where nobody knows.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        ExactMean or None
        """
        return None

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
        self,
        manifold: Manifold,
        data: FloatArray,  # noqa: ARG002
        weights: FloatArray | None,  # noqa: ARG002
        ball: Ball | None,  # noqa: ARG002
        tol: float,  # noqa: ARG002
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
        raise unknown_mean(manifold)

    def solve_at_once(
        self,
        manifold: Manifold,  # noqa: ARG002
        points: ArrayLike,  # noqa: ARG002
        weights: ArrayLike | None,  # noqa: ARG002
        ball: Ball | None,  # noqa: ARG002
        tol: float,  # noqa: ARG002
    ) -> CertifiedMean | None:
        r"""Validate points and return their mean, where that is faster than one after the other.

        No release asks for it: its bits may depend on what is installed.

        Parameters
        ----------
        manifold : Manifold
        points : array_like, shape (n, \*point_shape)
            Not validated.
        weights : array_like, shape (n,), optional
            Neither are these.
        ball : Ball, optional
        tol : float

        Returns
        -------
        CertifiedMean or None
            With a bound of at most ``tol``. None, by default, where :meth:`validate`,
            :meth:`check_domain` and :meth:`solve` are to be asked, and to find what is wrong.
        """
        return None


_EXACT_SUM = ExactSum()


class Average(MeanSolver):
    """The mean is the average of normal coordinates: in dimension one, and of flat spaces."""

    proof = "docs/proofs/frechet-mean-certificate.md"
    certifies = False

    def exact(self, manifold: Manifold) -> ExactMean:  # noqa: ARG002
        """As a sum of integers; see :meth:`MeanSolver.exact`."""
        return _EXACT_SUM

    def records(self, ball: Ball, data: FloatArray) -> FloatArray:
        """Clipped coordinates; see :func:`record_coordinates`."""
        return record_coordinates(ball, data)

    def mean(self, ball: Ball, records: Partial, tol: float) -> FloatArray:
        """Average, and clip the average."""
        return self.weighted(ball, records, None, tol)

    def weighs(self, manifold: Manifold) -> bool:  # noqa: ARG002
        """See :meth:`MeanSolver.weighs`."""
        return True

    def weighted(
        self, ball: Ball, records: Partial, weights: FloatArray | None, tol: float
    ) -> FloatArray:
        """See :meth:`MeanSolver.weighted`."""
        check_bound(_flat_mean.summation_allowance(len(records), ball.reach), tol)
        return clip_norm(_flat_mean.stable_mean(records, weights), ball.radius)

    def floor(self, ball: Ball) -> float:
        """Allow for sums, and for the few digits left of records in a tiny, far ball."""
        return average_floor(ball, self._size(ball))

    def _size(self, ball: Ball) -> float:
        if ball.manifold.constant_curvature is None:
            return 0.0  # records are seen from the centre before any are subtracted
        return float(np.linalg.norm(ball.center))


class FlatAverage(Average):
    """The same in the chart of a flat space."""

    proof = "docs/proofs/frechet-mean-certificate.md"
    isometric = True

    def solve(
        self,
        manifold: Manifold,
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,  # noqa: ARG002
        tol: float,  # noqa: ARG002
    ) -> CertifiedMean:
        """Average in the chart."""
        value, rounding = _flat_mean.euclidean(_chart(manifold).to_chart(data), weights)
        return CertifiedMean(_chart(manifold).from_chart(value), rounding, 1)

    def _size(self, ball: Ball) -> float:
        return float(np.linalg.norm(_chart(ball.manifold).to_chart(ball.center)))


_solvers: dict[type[Manifold], MeanSolver] = {}
_with_subclasses: set[type[Manifold]] = set()
_AVERAGE = Average()


def register_solver(kind: type[Any], solver: MeanSolver, *, subclasses: bool = False) -> MeanSolver:
    """Say how the Fréchet mean is found on the spaces of a class.

    Parameters
    ----------
    kind : type
        Class of manifolds.
    solver : MeanSolver
    subclasses : bool, default False
        Whether what is claimed holds on every subclass, as on those of a base that fixes the
        geometry. Otherwise a subclass gets the solver, but counts as unproven.

    Returns
    -------
    MeanSolver
        The solver itself.

    Raises
    ------
    InvalidParameterError
        If the class has a solver.
    """
    if _solvers.setdefault(kind, solver) is not solver:
        raise InvalidParameterError(f"{kind.__name__} has a solver; another space is another class")
    if subclasses:
        _with_subclasses.add(kind)
    made_known()
    return solver


def mean_solver(manifold: Manifold) -> MeanSolver:
    """Return the solver of a space, by its class and those that this inherits from.

    In dimension one every space is flat, and needs none.

    Raises
    ------
    UnsupportedManifoldError
        If no solver is registered for its class.
    """
    kind = _kind(manifold)
    if manifold.dim == 1 and (kind is None or not _solvers[kind].isometric):
        return _AVERAGE
    if kind is None:
        raise unknown_mean(manifold)
    return _solvers[kind]


def is_solved(manifold: Manifold) -> bool:
    """Whether the solver of a space, and those that it uses, are proved for its very class."""
    kind = _kind(manifold)
    if manifold.dim == 1:
        return True
    if kind is None or not (kind is type(manifold) or kind in _with_subclasses):
        return False
    solver = _solvers[kind]
    return is_proof(solver.proof) and all(map(is_solved, solver.parts(manifold)))


def space_solver(manifold: Manifold) -> MeanSolver:
    """Return the solver of a space as :meth:`MeanSolver.solve` needs it, in dimension one too.

    Raises
    ------
    UnsupportedManifoldError
        If no solver is registered for its class.
    """
    kind = _kind(manifold)
    if kind is None:
        raise unknown_mean(manifold)
    return _solvers[kind]


def average(manifold: Manifold) -> MeanSolver:
    """Return what averages coordinates on a space, whether or not that is the Fréchet mean."""
    kind = _kind(manifold)
    flat = kind is not None and _solvers[kind].isometric
    return _solvers[kind] if kind is not None and flat else _AVERAGE


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


def _kind(manifold: Manifold) -> type[Manifold] | None:
    return next((kind for kind in type(manifold).__mro__ if kind in _solvers), None)


def _chart(manifold: Manifold) -> FlatManifold:
    """Return the manifold, which is one of those that the solver is registered for."""
    chart: FlatManifold = manifold  # type: ignore[assignment]
    return chart


register_solver(FlatManifold, FlatAverage(), subclasses=True)
