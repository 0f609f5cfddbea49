"""Which solver finds the Fréchet mean on a space: by its class, an average where it is flat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp._errors import InvalidParameterError
from riemdp._lazy import lazy_entries
from riemdp._part import is_proof
from riemdp.spaces import FlatManifold, Manifold
from riemdp.statistics.curved import _flat_mean
from riemdp.statistics.curved._mean_solver import (
    CertifiedMean,
    ExactMean,
    ExactSum,
    MeanSolver,
    unknown_mean,
)

if TYPE_CHECKING:
    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics.curved._mean_solver import Shares

_EXACT_SUM = ExactSum()


class Average(MeanSolver):
    """The mean is the average of normal coordinates: in dimension one, and of flat spaces."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def exact(self, manifold: Manifold) -> ExactMean:  # noqa: ARG002
        """As a sum of integers; see :meth:`MeanSolver.exact`."""
        return _EXACT_SUM


class FlatAverage(Average):
    """The same in the chart of a flat space."""

    proof = "docs/proofs/frechet-mean-certificate.md"
    isometric = True

    def solve(
        self, manifold: Any, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        """Average in the chart."""
        del ball, tol
        value, rounding = _flat_mean.euclidean(manifold.to_chart(data), weights)
        return CertifiedMean(manifold.from_chart(value), rounding, 1)


_solvers: dict[type[Manifold], MeanSolver] = {}
_with_subclasses: set[type[Manifold]] = set()
_before_adding, _before_asking = lazy_entries(
    "riemdp.statistics.curved",
    {
        "_solvers": (
            "Euclidean SPDLogEuclidean Sphere Hyperbolic SPDAffineInvariant Product CurvedPower"
        ),
        "_carried_means": "DiscreteQuotient Aligned",
        "_subspace_means": "PlanarShapes Grassmann",
    },
)
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
    _before_adding(kind)
    if _solvers.setdefault(kind, solver) is not solver:
        raise InvalidParameterError(f"{kind.__name__} has a solver; another space is another class")
    if subclasses:
        _with_subclasses.add(kind)
    return solver


def mean_solver(manifold: Manifold) -> MeanSolver:
    """Return the solver of a space, by its class and those that this inherits from.

    In dimension one every space is flat, and needs none. Raises ``UnsupportedManifoldError`` if no
    solver is registered for its class.
    """
    return average(manifold) if manifold.dim == 1 else space_solver(manifold)


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

    Raises ``UnsupportedManifoldError`` if no solver is registered for its class.
    """
    kind = _kind(manifold)
    if kind is None:
        raise unknown_mean(manifold)
    return _solvers[kind]


def average(manifold: Manifold) -> MeanSolver:
    """Return what averages coordinates on a space, whether or not that is the Fréchet mean."""
    kind = _kind(manifold)
    return _solvers[kind] if kind is not None and _solvers[kind].isometric else _AVERAGE


def _kind(manifold: Manifold) -> type[Manifold] | None:
    _before_asking(type(manifold))
    return next((kind for kind in type(manifold).__mro__ if kind in _solvers), None)


register_solver(FlatManifold, FlatAverage(), subclasses=True)
