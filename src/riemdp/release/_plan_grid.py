"""Plans over several numbers of records and several budgets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._progress import ticks, work
from riemdp.release._plan import Plan, plan
from riemdp.release._plan_pictures import draw_grid
from riemdp.release._table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from riemdp.privacy import Budget
    from riemdp.spaces import Ball, Manifold


@dataclass(frozen=True)
class PlanGrid(Table):
    """Plans for several n and budgets.

    Attributes
    ----------
    ns : tuple of int
    budgets : tuple of Budget
    plans : tuple of tuple of Plan
        ``plans[i][j]`` is for ``ns[i]`` and ``budgets[j]``.

    Examples
    --------
    >>> import riemdp
    >>> budgets = [riemdp.GDP(0.5), riemdp.GDP(1.0)]
    >>> grid = riemdp.plan_grid(riemdp.Sphere(2), 1.0, [100, 400], budgets)
    >>> grid.errors.shape, grid.plans[0][1].best.mechanism
    ((2, 2), 'tangent-gaussian')
    """

    ns: tuple[int, ...]
    budgets: tuple[Budget, ...]
    plans: tuple[tuple[Plan, ...], ...]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Expected distances of what ``"auto"`` takes, shape (len(ns), len(budgets)).

        NaN where nothing is available or its expected distance is not known.
        """
        return np.array([[_error(each) for each in row] for row in self.plans])

    @property
    def manifold(self) -> Manifold:
        """Space of the data."""
        return self.plans[0][0].manifold

    @property
    def target_error(self) -> float | None:
        """Expected distance to reach, where one was given."""
        return self.plans[0][0].target_error

    @property
    def meets_target(self) -> NDArray[np.bool_]:
        """Where the expected distance is at most the target, shape (len(ns), len(budgets)).

        Everywhere false without a target.
        """
        return np.asarray(self.errors <= (-math.inf if (t := self.target_error) is None else t))

    @property
    def required_n(self) -> tuple[int | None, ...]:
        """Smallest n that meets the target under each budget, whether in the grid or not.

        With a mechanism that ``"auto"`` takes somewhere in the grid; None where none is known, or
        without a target.
        """
        columns = zip(*self.plans, strict=True)
        return tuple(
            min((n for each in column if (n := _required(each)[0]) is not None), default=None)
            for column in columns
        )

    @property
    def required_budgets(self) -> tuple[tuple[Budget, ...], ...]:
        """Least budgets that meet the target at each n, one for each definition among ``budgets``.

        Whether in the grid or not; empty where none is known, or without a target.
        """
        found = []
        for row in self.plans:
            known = [budget for each in row if (budget := _required(each)[1]) is not None]
            found.append(tuple({str(budget): budget for budget in known}.values()))
        return tuple(found)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each n and budget: what a data frame is made of.

        Returns
        -------
        list of dict
            With ``n``, ``budget``, ``mechanism``, ``summary``, ``expected_distance``,
            ``quantile_95``; None where nothing is available. With a target also ``meets_target``,
            ``required_n`` and ``required_budget``, of that mechanism.
        """
        return [
            {
                "n": each.n,
                "budget": repr(each.budget),
                "mechanism": (best := each.best) and best.mechanism,
                "summary": best and best.summary,
                "expected_distance": best and best.expected_distance,
                "quantile_95": best and best.quantile_95,
                **self._of_target(each),
            }
            for row in self.plans
            for each in row
        ]

    def _of_target(self, each: Plan) -> dict[str, Any]:
        """Return what a record says of the target, nothing without one."""
        if self.target_error is None:
            return {}
        n, budget = _required(each)
        return {
            "meets_target": _error(each) <= self.target_error,
            "required_n": n,
            "required_budget": None if budget is None else repr(budget),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the expected error against n, a curve for each budget, with the target.

        What lies in the shaded part meets the target. On ``ax``, or on new
        ``matplotlib.axes.Axes``, which are returned. See :meth:`riemdp.Plan.plot`.
        """
        return draw_grid(self, ax)

    def _records(self) -> list[dict[str, Any]]:
        return self.to_records()

    _justify = staticmethod(str.rjust)

    def _table(self) -> tuple[str, list[list[str]], tuple[str, ...]]:
        has_target = self.target_error is not None
        lines = [["n", *map(str, self.budgets), *(["budget needed"] * has_target)]]
        rows = zip(self.ns, self.errors, self.meets_target, self.required_budgets, strict=True)
        for n, errors, met, needed in rows:
            cells = [
                "-" if math.isnan(x) else f"{x:.4g}" + ("*" if is_met else " " * has_target)
                for x, is_met in zip(errors, met, strict=True)
            ]
            last = [" or ".join(map(str, needed)) or "-"] * has_target
            lines.append([str(n), *cells, *last])
        if has_target:
            sizes = ["-" if n is None else str(n) for n in self.required_n]
            lines.append(["n needed", *(f"{size} " for size in sizes), ""])
        return self.title, lines, self.notes

    @property
    def title(self) -> str:
        """What it is about, in a line."""
        first = self.plans[0][0]
        return f"{first.manifold}, radius {first.radius:g}: expected distance of the noise"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences under the table."""
        target = self.target_error
        if target is None:
            return ()
        if not self.meets_target.any():
            return (f"no entry is at most the target error {target:.4g}",)
        return (f"* at most the target error {target:.4g}",)


@work("plan_grid")
def plan_grid(
    manifold: Manifold,
    radius: float | Ball,
    ns: Sequence[int] | None,
    budgets: Sequence[Budget],
    *,
    people: Sequence[int] | None = None,
    **options: Any,
) -> PlanGrid:
    """Plan for several numbers of records and several budgets, from public numbers only.

    Parameters
    ----------
    manifold : Manifold
        Space of the data.
    radius : float or Ball
        As in :func:`riemdp.plan`.
    ns : sequence of int or None
        Numbers of records, or of people, as in :func:`riemdp.plan`. None with ``people``.
    budgets : sequence of Budget
    people : sequence of int, optional
        Public numbers of people, in place of ``ns``.
    **options
        Further keywords of :func:`riemdp.plan`, the same for all.

    Returns
    -------
    PlanGrid
        Its text is a table of expected distances, a row for each n and a column for each budget.
        With ``target_error`` it marks those that are at most that, and says which n each budget
        needs, and which budget each n.

    Raises
    ------
    InvalidParameterError
        If one of the sequences is empty or none; or as :func:`riemdp.plan` raises it.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.SPDLogEuclidean(3)
    >>> print(riemdp.plan_grid(space, 1.0, [100, 1000], [riemdp.GDP(0.5), riemdp.GDP(1.0)]))
    SPDLogEuclidean(k=3), radius 1: expected distance of the noise
       n  GDP(mu=0.5)  GDP(mu=1.0)
     100        0.094        0.047
    1000       0.0094       0.0047

    With an error to reach:

    >>> print(riemdp.plan_grid(space, 1.0, [100, 1000], [riemdp.GDP(1.0)], target_error=0.01))
    SPDLogEuclidean(k=3), radius 1: expected distance of the noise
           n  GDP(mu=1.0)  budget needed
         100       0.047     GDP(mu=4.7)
        1000      0.0047*   GDP(mu=0.47)
    n needed         470
    * at most the target error 0.01
    """
    if ns is not None and people is not None:
        raise InvalidParameterError("people=... takes the place of ns: give None for ns")
    sizes: Any = people if ns is None else ns
    for name, given in (("ns" if people is None else "people", sizes), ("budgets", budgets)):
        if not hasattr(given, "__len__") or len(given) == 0:
            raise InvalidParameterError(
                f"{name} must be a sequence with at least one entry, got {shown(given)}; for one n "
                "and one budget there is riemdp.plan"
            )
    number = len(sizes) * len(budgets)
    pairs = ticks(((size, budget) for size in sizes for budget in budgets), number, "plans")
    found = [
        plan(manifold, radius, size, budget, **options)
        if people is None
        else plan(manifold, radius, None, budget, people=size, **options)
        for size, budget in pairs
    ]
    plans = tuple(tuple(found[i : i + len(budgets)]) for i in range(0, number, len(budgets)))
    return PlanGrid(tuple(row[0].n for row in plans), tuple(budgets), plans)


def _required(found: Plan) -> tuple[int | None, Budget | None]:
    """Return the n and the budget that the best mechanism needs for the target."""
    best = found.best
    return (None, None) if best is None else (best.required_n, best.required_budget)


def _error(found: Plan) -> float:
    best = found.best
    return math.nan if best is None or best.expected_distance is None else best.expected_distance
