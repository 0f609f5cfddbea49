"""Every numbered statement of the papers: whether it is true, where that is shown, by what."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from riemdp import InvalidParameterError
from riemdp_papers._report import PAPERS

#: What a statement can be: as printed, with a better constant here, once repaired, or not at all.
STATUSES = ("true", "true, sharper here", "true with a correction", "false")


@dataclass(frozen=True)
class Theorem:
    """A theorem, lemma, definition with a claim, algorithm or example of a paper.

    Parameters
    ----------
    paper : str
        Key of the paper, as in ``riemdp reproduce``.
    name : str
        As printed: "Theorem 4". One row may hold several, "Theorem 1, Theorem A.4".
    claim : str
        What it says, in one plain line of Markdown.
    status : str
        One of ``STATUSES``.
    where : str
        Where that is shown: a link from ``docs``, or the name of a public function.
    number : callable
        Computes the figure that shows it, in seconds at most, and returns it as a short text.

    Raises
    ------
    InvalidParameterError
        If a text is empty, or paper or status is none of those that there are.
    """

    paper: str
    name: str
    claim: str
    status: str
    where: str
    number: Callable[[], str]

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
        """Compute the line of the table: statement and claim, status, where, number.

        Raises
        ------
        InvalidParameterError
            If the number is empty.
        """
        number = self.number()
        if not number.strip():
            raise InvalidParameterError(f"number of {self.name!r} is empty")
        return [f"**{self.name}.** {self.claim}", self.status, self.where, number]


def theorems() -> tuple[Theorem, ...]:
    """Return the rows of all papers, in the papers' order."""
    modules = (importlib.import_module(f"riemdp_papers._theorems_{key}") for key in PAPERS)
    return tuple(row for module in modules for row in module.ROWS)
