"""Tables in Parquet, by pyarrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._files import opened, too_many
from riemdp.readers._optional import library, said_plainly
from riemdp.readers._table import TEXTS, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BATCH = 2**16
_OTHER_LENGTH = "has a list of another length than before"


def read_parquet(
    path: Path, columns: Mapping[str, Sequence[str]], most: int, advice: str
) -> dict[str, Any]:
    """Read columns of a Parquet file, batch by batch, for each field of the records.

    Columns are numbers, or one column of lists of equally many numbers, which make an array of
    shape (n, columns); of labels and users integers or texts, which make a list. Errors are those
    of :func:`riemdp.readers.read_records`.
    """
    parquet = library("pyarrow.parquet", path)
    found: dict[str, list[Any]] = {field: [] for field in columns}
    wanted = [name for each in columns.values() for name in each]
    row, left = 0, most
    with opened(path) as file, said_plainly(path):
        source = parquet.ParquetFile(file)
        for name in wanted:
            place_of(name, source.schema_arrow.names, path)
        if source.metadata.num_rows * len(wanted) > most:
            raise too_many(path, most, advice)
        for batch in source.iter_batches(_BATCH, columns=list(dict.fromkeys(wanted))):
            for field, names in columns.items():
                read = [_Column(batch.column(name), name, row, path) for name in names]
                if field in TEXTS:
                    found[field] += read[0].ids()
                    continue
                stacked = np.concatenate([column.numbers() for column in read], axis=1)
                left -= stacked.size
                if left < 0:
                    raise too_many(path, most, advice)
                if found[field] and found[field][0].shape[1:] != stacked.shape[1:]:
                    raise read[0].broken(0, _OTHER_LENGTH)
                found[field].append(stacked)
            row += batch.num_rows
    return {
        field: values if field in TEXTS else np.concatenate(values or [np.empty((0, 1))])
        for field, values in found.items()
    }


@dataclass(frozen=True)
class _Column:
    """A column of a batch, whose first row is this one of the file."""

    values: Any
    name: str
    row: int
    path: Path

    def broken(self, place: int, said: str) -> InvalidParameterError:
        """Return the error about one row of the batch."""
        return InvalidParameterError(
            f"row {self.row + place} of {self.path.name}: column {shown(self.name)} {said}"
        )

    def complete(self) -> Any:
        """Return the values, none of which is missing."""
        if self.values.null_count:
            raise self.broken(int(np.argmax(np.asarray(self.values.is_null()))), "has no value")
        return self.values

    def ids(self) -> list[int] | list[str]:
        """Return integers or texts."""
        types = library("pyarrow.types", self.path)
        kind = self.values.type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if not (types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind)):
            raise self._of_another_type("integers or texts")
        found: list[int] | list[str] = self.complete().to_pylist()
        return found

    def numbers(self) -> NDArray[Any]:
        """Return numbers, shape (n, 1), or lists of k numbers, shape (n, k)."""
        types = library("pyarrow.types", self.path)
        kind, values = self.values.type, self.values
        width = 1
        if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            lengths = np.asarray(
                library("pyarrow.compute", self.path).list_value_length(self.complete())
            )
            width = int(lengths[0]) if len(lengths) else 1
            if np.any(lengths != width):
                raise self.broken(int(np.argmax(lengths != width)), _OTHER_LENGTH)
            values = values.flatten()
            if values.null_count:
                first = int(np.argmax(np.asarray(values.is_null())))
                raise self.broken(first // width, "has no value in its list")
            kind = values.type
        elif types.is_integer(kind) or types.is_floating(kind):
            self.complete()
        if not (types.is_integer(kind) or types.is_floating(kind)):
            raise self._of_another_type("numbers, or lists of them")
        return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(-1, width)

    def _of_another_type(self, wanted: str) -> InvalidParameterError:
        return InvalidParameterError(
            f"column {shown(self.name)} of {self.path.name} must hold {wanted}"
        )
