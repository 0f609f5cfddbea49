"""Plans over several numbers of records and several budgets."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._described import frame
from riemdp._described import table as as_table
from riemdp._errors import InvalidParameterError
from riemdp._progress import ticks, work
from riemdp.release._plan import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, Manifold
    from riemdp.privacy import Budget


#: Numbers that a share of a budget may have.
_LONG = re.compile(r"\d+\.\d{5,}(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class PlanGrid:
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

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each n and budget: what a data frame is made of.

        Returns
        -------
        list of dict
            With ``n``, ``budget``, ``mechanism``, ``summary``, ``expected_distance``,
            ``quantile_95``; None where nothing is available.
        """
        found = []
        for row in self.plans:
            for each in row:
                best = each.best
                found.append(
                    {
                        "n": each.n,
                        "budget": str(each.budget),
                        "mechanism": best and best.mechanism,
                        "summary": best and best.summary,
                        "expected_distance": best and best.expected_distance,
                        "quantile_95": best and best.quantile_95,
                    }
                )
        return found

    def to_frame(self) -> Any:
        """Return :meth:`to_records` as a pandas data frame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        UnsupportedError
            If pandas is not installed.
        """
        return frame(self.to_records())

    def _lines(self) -> list[list[str]]:
        lines = [["n", *map(_short, self.budgets)]]
        for n, row in zip(self.ns, self.errors, strict=True):
            lines.append([str(n), *("-" if math.isnan(x) else f"{x:.4g}" for x in row)])
        return lines

    def _title(self) -> str:
        first = self.plans[0][0]
        return f"{first.manifold}, radius {first.radius:g}: expected distance of the noise"

    def _repr_html_(self) -> str:
        header, *rows = self._lines()
        return as_table(self._title(), rows, header)

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        table = [
            "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines
        ]
        return "\n".join([self._title(), *table])


@work("plan_grid")
def plan_grid(
    manifold: Manifold,
    radius: float | Ball,
    ns: Sequence[int],
    budgets: Sequence[Budget],
    **options: Any,
) -> PlanGrid:
    """Plan for several numbers of records and several budgets, from public numbers only.

    Parameters
    ----------
    manifold : Manifold
        Space of the data.
    radius : float or Ball
        As in :func:`riemdp.plan`.
    ns : sequence of int
    budgets : sequence of Budget
    **options
        Further keywords of :func:`riemdp.plan`, the same for all.

    Returns
    -------
    PlanGrid
        Its text is a table of expected distances, a row for each n and a column for each budget.

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
    """
    for name, given in (("ns", ns), ("budgets", budgets)):
        if not hasattr(given, "__len__") or len(given) == 0:
            raise InvalidParameterError(
                f"{name} must be a sequence with at least one entry, got {shown(given)}; for one n "
                "and one budget there is riemdp.plan"
            )
    number = len(ns) * len(budgets)
    pairs = ticks(((n, budget) for n in ns for budget in budgets), number, "plans")
    found = [plan(manifold, radius, n, budget, **options) for n, budget in pairs]
    plans = tuple(tuple(found[i : i + len(budgets)]) for i in range(0, number, len(budgets)))
    return PlanGrid(tuple(row[0].n for row in plans), tuple(budgets), plans)


def _short(budget: Budget) -> str:
    """Name a budget with four digits of its numbers; all of them are in ``budgets``."""
    return _LONG.sub(lambda found: f"{float(found[0]):.4g}", str(budget))


def _error(found: Plan) -> float:
    best = found.best
    return math.nan if best is None or best.expected_distance is None else best.expected_distance
