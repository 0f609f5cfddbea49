"""Which data sets a guarantee cannot tell apart."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

from riemdp._checks import count, kind_of
from riemdp._errors import InvalidParameterError
from riemdp._part import Part, register

if TYPE_CHECKING:
    from riemdp.manifolds import Ball
    from riemdp.statistics._statistic import Metric, Statistic


class Neighbours(Part, sort="neighbours"):
    """A relation between data sets: a guarantee is about every pair of neighbours.

    Attributes
    ----------
    implies_replace_one : bool
        Whether data sets that differ in one record are among the neighbours, so that a guarantee
        is one about these too, and an account may add it up. It is not inherited: a subclass
        measures another relation, and has to say so itself.
    """

    implies_replace_one: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """What reports call it, with the numbers that the strength of a guarantee depends on."""
        return self.name

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "implies_replace_one" not in vars(cls):
            cls.implies_replace_one = False

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
    implies_replace_one: ClassVar[bool] = True

    def sensitivity(self, statistic: Statistic, ball: Ball, n: int, metric: Metric) -> float:
        """Return :meth:`Statistic.replace_one`; see :meth:`Neighbours.sensitivity`."""
        return statistic.replace_one(ball, n, metric)


@final
@register
@dataclass(frozen=True)
class ReplacePoint(Neighbours):
    """Data sets of one public size that differ in the point of one record.

    Labels and covariates, record by record, are public: a guarantee says nothing about them. An
    account does not take it, since it adds up guarantees for whole records.
    """

    name: ClassVar[str] = "replace-point"
    proof: ClassVar[str | None] = "docs/proofs/index.md"

    def sensitivity(self, statistic: Statistic, ball: Ball, n: int, metric: Metric) -> float:
        """Return :meth:`Statistic.replace_point`; see :meth:`Neighbours.sensitivity`."""
        return statistic.replace_point(ball, n, metric)


@final
@register
@dataclass(frozen=True)
class Groups(Neighbours):
    """Data sets of one public size that differ in at most so many records, whichever these are.

    A guarantee for people who have several records each, or for records of one source. Each
    replacement moves an answer by at most what one does, and all of them by no more than the
    diameter of the ball of answers.

    Parameters
    ----------
    records : int
        Largest number of records that differ; at least 1, public.

    Raises
    ------
    InvalidParameterError
        If ``records`` is not a positive integer.
    """

    name: ClassVar[str] = "groups"
    proof: ClassVar[str | None] = "docs/proofs/index.md"
    implies_replace_one: ClassVar[bool] = True

    records: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", count(self.records, "records, the size of a group,"))

    @property
    def title(self) -> str:
        """With the number of records."""
        return f"groups of {self.records}"

    def sensitivity(self, statistic: Statistic, ball: Ball, n: int, metric: Metric) -> float:
        """Return so many times :meth:`Statistic.replace_one`; see :meth:`Neighbours.sensitivity`.

        At most the diameter of the ball of answers, which one of less weight may cross too.
        """
        one = statistic.replace_one(ball, n, metric)
        most = 2.0 * statistic.answers(ball).reach
        least = min(statistic.answer_weight(step) for step in range(statistic.steps))
        if least != 1.0:
            most = math.nextafter(most / least, math.inf)
        return min(most, math.nextafter(min(self.records, n) * one, math.inf))


def check_neighbours(neighbours: object) -> None:
    """Raise ``InvalidParameterError`` for what is no relation between data sets.

    Parameters
    ----------
    neighbours : object
    """
    if not isinstance(neighbours, Neighbours):
        raise InvalidParameterError(
            f"neighbours must be a relation such as ReplaceOne(), got {kind_of(neighbours)}"
        )
