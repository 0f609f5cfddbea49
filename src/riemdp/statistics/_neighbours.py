"""Which data sets a guarantee cannot tell apart."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from riemdp._part import Part, register

if TYPE_CHECKING:
    from riemdp.manifolds import Ball
    from riemdp.statistics._statistic import Metric, Statistic


class Neighbours(Part, sort="neighbours"):
    """A relation between data sets: a guarantee is about every pair of neighbours."""

    @abstractmethod
    def sensitivity(self, statistic: Statistic, ball: Ball, n: int, metric: Metric) -> float:
        """Return the largest move of one exact answer between neighbours.

        It asks the statistic for what that knows of itself, so a new relation needs no table.

        Parameters
        ----------
        statistic : Statistic
        ball : Ball
            Public ball of the records.
        n : int
            Number of records, public.
        metric : {"distance", "coordinates"}
            What the mechanism measures it in.

        Returns
        -------
        float
            Rounded up.

        Raises
        ------
        UnsupportedError
            If none is known.
        """


@final
@register
@dataclass(frozen=True)
class ReplaceOne(Neighbours):
    """Data sets of one public size that differ in one record."""

    name: ClassVar[str] = "replace-one"
    proof: ClassVar[str | None] = "docs/proofs/index.md"

    def sensitivity(self, statistic: Statistic, ball: Ball, n: int, metric: Metric) -> float:
        """Return :meth:`Statistic.replace_one`."""
        return statistic.replace_one(ball, n, metric)
