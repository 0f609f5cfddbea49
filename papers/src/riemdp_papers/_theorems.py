"""Every numbered statement of the papers: whether it is true, where that is shown, by what."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from riemdp import InvalidParameterError
from riemdp_papers._report import PAPERS

#: What a statement can be: as printed, with a better constant here, once repaired, or not at all.
STATUSES = ("true", "true, sharper here", "true with a correction", "false")


Number = Callable[[], str]


@dataclass(frozen=True)
class Theorem:
    """A theorem, lemma, definition with a claim, algorithm or example of a paper.

    ``paper`` is its key in ``riemdp reproduce`` and ``name`` as printed, maybe of several:
    "Theorem 1, Theorem A.4". ``claim`` is one plain line of Markdown, ``status`` one of
    ``STATUSES``, ``where`` a link from ``docs`` or the name of a public function. ``number``
    computes the figure that shows it, in seconds at most, as a short text.
    """

    paper: str
    name: str
    claim: str
    status: str
    where: str
    number: Number

    def __post_init__(self) -> None:
        for field in ("paper", "name", "claim", "status", "where"):
            if not getattr(self, field).strip():
                raise InvalidParameterError(f"{field} of {self.name!r} is empty")
        if self.paper not in PAPERS:
            raise InvalidParameterError(
                f"paper must be one of {', '.join(PAPERS)}, got {self.paper!r}"
            )
        if self.status not in STATUSES:
            raise InvalidParameterError(
                f"status must be one of {'; '.join(STATUSES)}, got {self.status!r}"
            )

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements of the paper that the row is about."""
        return tuple(self.name.split(", "))

    def cells(self) -> list[str]:
        """Compute the line of the table: statement and claim, status, where, number."""
        number = self.number()
        if not number.strip():
            raise InvalidParameterError(f"number of {self.name!r} is empty")
        return [f"**{self.name}.** {self.claim}", self.status, self.where, number]


class Statements(list[Theorem]):
    """The rows of a paper, in its order."""

    def __init__(self, paper: str) -> None:
        super().__init__()
        self._paper = paper

    def row(self, name: str, claim: str, status: str, where: str) -> Callable[[Number], Number]:
        """Enter a row, of which the decorated function computes the number."""

        def enter(number: Number) -> Number:
            self.append(Theorem(self._paper, name, claim, status, where, number))
            return number

        return enter


def theorems() -> tuple[Theorem, ...]:
    """Return the rows of all papers, in the papers' order."""
    modules = (importlib.import_module(f"riemdp_papers._theorems_{key}") for key in PAPERS)
    return tuple(row for module in modules for row in module.ROWS)
