"""Objects that a person reads: as text, and as a table in a notebook."""

from __future__ import annotations

import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

#: Numbers of an array that are shown.
_SHOWN = 16
_WIDTH = 100
#: Numbers that a share of a budget may have.
_LONG = re.compile(r"\d+\.\d{5,}(?:e[-+]?\d+)?")
#: Control characters but for the end of a line, and what turns the direction of a text.
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_STYLE = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"


class Described(ABC):
    """Text and table of what an object holds, with few digits: all of them are in ``repr``."""

    @abstractmethod
    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title, and rows of a name and a text."""

    def __str__(self) -> str:
        title, rows = self._described()
        width = max((len(name) for name, _ in rows), default=0)
        lines = [title]
        for name, text in rows:
            first = f"  {name.ljust(width)}  "
            parts = text.splitlines() or [""]
            wrapped = [piece for part in parts for piece in _wrapped(part, _WIDTH - len(first))]
            lines += [
                (first if i == 0 else " " * len(first)) + one for i, one in enumerate(wrapped)
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title, rows = self._described()
        return table(title, [[name, text] for name, text in rows])

    def _described(self) -> tuple[str, list[tuple[str, str]]]:
        """Return what is described, where names of a document that was read steer no terminal."""
        title, rows = self._describe()
        return _tame(title, "\n"), [(_tame(name, "\n"), _tame(text)) for name, text in rows]


def _tame(text: str, more: str = "") -> str:
    """Write control characters, and what else is named, as Python does."""
    if more:
        text = text.replace(more, ascii(more)[1:-1])
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def _wrapped(text: str, width: int) -> list[str]:
    """Break a sentence; a row of an array stays as it is."""
    return [text] if text.startswith(("[", " [")) else textwrap.wrap(text, width) or [""]


def table(title: str, rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Return an HTML table of texts, which are escaped here; ``header`` names the columns."""
    import html

    head = "".join(f'<th style="{_STYLE}">{html.escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_STYLE};white-space:pre-wrap">{html.escape(cell)}</td>' for cell in row
        )
        + "</tr>"
        for row in rows
    )
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    return (
        f'<table><caption style="caption-side:top;text-align:left;font-weight:bold">'
        f"{html.escape(title)}</caption>{head}<tbody>{body}</tbody></table>"
    )


def digits(value: NDArray[Any] | float) -> str:
    """Return numbers with four significant digits; of a long array few of them, and the shape."""
    array = np.asarray(value)
    if array.dtype.kind != "c":
        array = np.asarray(array, dtype=float)
    if array.ndim == 0:
        return f"{array.item():.4g}"
    if array.size > _SHOWN:
        few = ", ".join(f"{x:.4g}" for x in array.ravel()[:4].tolist())
        return f"[{few}, ...], shape {array.shape}"
    formatter = dict.fromkeys(("float_kind", "complex_kind"), "{:.4g}".format)
    return np.array2string(array, formatter=formatter, max_line_width=_WIDTH)  # type: ignore[arg-type]


def few_digits(text: str) -> str:
    """Return a text, such as that of a share of a budget, long numbers in it with four digits."""
    return _LONG.sub(lambda found: f"{float(found[0]):.4g}", text)


def value_rows(value: Any) -> list[tuple[str, str]]:
    """Return a line for a point, or one for each value that has a name."""
    if not isinstance(value, Mapping):
        return [("value", digits(np.asarray(value)))]
    found = []
    for name, each in value.items():
        array = np.asarray(each)
        found.append((name, digits(array) if array.dtype.kind in "fiuc" else str(each)))
    return found


def frame(records: Sequence[dict[str, Any]]) -> Any:
    """Return a pandas data frame; :class:`UnsupportedError` where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        raise UnsupportedError("data frames need pandas: pip install pandas") from None
    return pd.DataFrame.from_records(list(records))
