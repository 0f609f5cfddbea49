"""Tables with sentences under them: as text, in a notebook, and as a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from riemdp._described import frame, table

if TYPE_CHECKING:
    from collections.abc import Sequence


class Table(ABC):
    """What is shown as a table."""

    @abstractmethod
    def _table(self) -> tuple[str, list[list[str]], Sequence[str]]:
        """Return a title, lines of cells of which the first is the header, and sentences."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of a data frame."""

    #: How cells of the text are filled up.
    _justify = staticmethod(str.ljust)

    def __str__(self) -> str:
        title, lines, notes = self._table()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = (map(self._justify, line, widths) for line in lines)
        return "\n".join([title, *("  ".join(cells).rstrip() for cells in text), *notes])

    def _repr_html_(self) -> str:
        import html

        title, (header, *rows), notes = self._table()
        return table(title, rows, header) + "".join(f"<p>{html.escape(note)}</p>" for note in notes)

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame, with a column for each field of a row.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        UnsupportedError
            If pandas is not installed.
        """
        return frame(self._records())
