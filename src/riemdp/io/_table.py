"""Tables in CSV, with a header; columns go by name. Messages never repeat what a file holds."""

from __future__ import annotations

import array
import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._files import opened
from riemdp.io._csv import lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: Fields of records that may be texts.
TEXTS = ("labels", "users")


def read_table(
    path: Path, columns: Mapping[str, Sequence[str]], most: int | None, advice: str
) -> dict[str, Any]:
    """Read columns of a CSV file in UTF-8 whose first row names them, by field of the records.

    They make arrays of shape (n, columns), of labels and users lists of texts as they stand there.
    Errors are those of :func:`riemdp.io.read_records`.
    """
    numbers = {field: array.array("d") for field in columns if field not in TEXTS}
    texts: dict[str, list[str]] = {field: [] for field in columns if field in TEXTS}
    with opened(path) as binary, io.TextIOWrapper(binary, "utf-8-sig", newline="") as file:
        rows = csv.reader(lines(file, path, most, advice), strict=True)
        row = -1
        try:
            header = next(rows, [])
            places = {
                field: [place_of(name, header, path) for name in names]
                for field, names in columns.items()
            }
            for row, cells in enumerate(rows):
                if len(cells) != len(header):
                    raise _broken(path, row, "it has not as many cells as the header")
                for field, found in numbers.items():
                    for place, name in zip(places[field], columns[field], strict=True):
                        found.append(_number(cells[place], name, row, path))
                for field, ids in texts.items():
                    text = cells[places[field][0]].strip()
                    if not text:
                        raise _broken(path, row, f"column {shown(columns[field][0])} is empty")
                    ids.append(text)
        except (csv.Error, UnicodeDecodeError):
            raise _broken(path, row + 1, "it is no row of a CSV file in UTF-8") from None
    stacked = {
        field: np.array(found).reshape(-1, len(columns[field])) for field, found in numbers.items()
    }
    return {**stacked, **texts}


def place_of(name: str, names: Sequence[str], path: Path) -> int:
    """Return where a column is; of all names only this one is repeated in messages.

    Where there is no header the names are data.
    """
    found = [place for place, other in enumerate(names) if other.strip() == name]
    if len(found) != 1:
        many = "no column" if not found else "more than one column"
        raise InvalidParameterError(f"{path.name} has {many} of the name {shown(name)}")
    return found[0]


def _number(cell: str, name: str, row: int, path: Path) -> float:
    try:
        if cell.isascii() and "_" not in cell:
            return float(cell)
    except ValueError:
        pass
    raise _broken(path, row, f"column {shown(name)} holds no number")


def _broken(path: Path, row: int, said: str) -> InvalidParameterError:
    return InvalidParameterError(f"row {row} of {path.name}: {said}")
