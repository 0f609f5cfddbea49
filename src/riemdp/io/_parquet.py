"""Tables in Parquet, by pyarrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._files import most_numbers, opened, too_many
from riemdp.io._optional import library, said_plainly
from riemdp.io._table import TEXTS, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BATCH = 2**16
_OTHER_LENGTH = "has a list of another length than before"
#: Encodings in which every text stands whole, once or more often. In others a text may repeat the
#: start of the text before it, which may be as long as the file.
_ENCODINGS = {
    "PLAIN",
    "PLAIN_DICTIONARY",
    "RLE_DICTIONARY",
    "RLE",
    "BIT_PACKED",
    "DELTA_LENGTH_BYTE_ARRAY",
}
#: Bytes of the widest number, and of what stands beside the numbers of a column.
_WIDEST, _BESIDE = 16, 2**16


def read_parquet(
    path: Path, columns: Mapping[str, Sequence[str]], most: int | None, advice: str
) -> dict[str, Any]:
    """Read columns of a Parquet file, batch by batch, for each field of the records.

    Columns are numbers, or one column of lists of equally many numbers, which make an array of
    shape (n, columns); of labels and users integers or texts, which make a list. What the metadata
    declares is checked before a column is decoded. Errors are those of
    :func:`riemdp.io.read_records`.
    """
    parquet = library("pyarrow.parquet", path)
    found: dict[str, list[Any]] = {field: [] for field in columns}
    wanted = [name for each in columns.values() for name in each]
    row = 0
    with opened(path) as file, said_plainly(path):
        limit = left = most_numbers(most, path.stat().st_size)
        # of texts the different ones are decoded, and the places of each
        texts = [name for field in columns.keys() & set(TEXTS) for name in columns[field]]
        source = parquet.ParquetFile(file, read_dictionary=texts)
        for name in wanted:
            place_of(name, source.schema_arrow.names, path)
        for field, names in columns.items():
            for name in names:
                _check_type(source.schema_arrow.field(name).type, name, field, path)
        if _declared(source.metadata, wanted, path) > limit:
            raise too_many(path, limit, advice)
        known: dict[str, str] = {}
        for batch in source.iter_batches(_BATCH, columns=list(dict.fromkeys(wanted))):
            for field, names in columns.items():
                read = [_Column(batch.column(name), name, row, path) for name in names]
                if field in TEXTS:
                    found[field] += read[0].ids(known)
                    continue
                stacked = np.concatenate([column.numbers() for column in read], axis=1)
                left -= stacked.size
                if left < 0:
                    raise too_many(path, limit, advice)
                if found[field] and found[field][0].shape[1:] != stacked.shape[1:]:
                    raise read[0].broken(0, _OTHER_LENGTH)
                found[field].append(stacked)
            row += batch.num_rows
    return {
        field: values if field in TEXTS else np.concatenate(values or [np.empty((0, 1))])
        for field, values in found.items()
    }


def _check_type(kind: Any, name: str, field: str, path: Path) -> None:
    """Refuse a column of another type than its field takes, before it is decoded."""
    types = library("pyarrow.types", path)
    if field in TEXTS:
        kind = kind.value_type if types.is_dictionary(kind) else kind
        wanted, fits = "integers or texts", _is_text(kind, path) or types.is_integer(kind)
    else:
        kind = kind.value_type if _is_list(kind, path) else kind
        wanted = "numbers, or lists of them"
        fits = types.is_integer(kind) or types.is_floating(kind)
    if not fits:
        raise InvalidParameterError(f"column {shown(name)} of {path.name} must hold {wanted}")


def _declared(metadata: Any, wanted: Sequence[str], path: Path) -> int:
    """Return how many numbers columns make once they are decoded, by what the metadata says."""
    numbers = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for j in range(group.num_columns):
            chunk = group.column(j)
            name = next((each for each in wanted if _is_part(chunk.path_in_schema, each)), None)
            if name is None:
                continue
            if chunk.physical_type == "BYTE_ARRAY" and not set(chunk.encodings) <= _ENCODINGS:
                raise InvalidParameterError(
                    f"column {shown(name)} of {path.name} has texts in an encoding that may take "
                    "any amount of memory; write it anew with pyarrow.parquet.write_table"
                )
            # pages may hold more than the numbers: a dictionary, or texts
            beside = max(0, chunk.total_uncompressed_size - _WIDEST * chunk.num_values - _BESIDE)
            numbers += chunk.num_values * wanted.count(name) + beside // 8
    return numbers


def _is_part(of: str, name: str) -> bool:
    """Whether a column of the file is one that was asked for, or what its lists hold."""
    return of == name or of.startswith(f"{name}.")


def _is_text(kind: Any, path: Path) -> bool:
    types = library("pyarrow.types", path)
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_list(kind: Any, path: Path) -> bool:
    types = library("pyarrow.types", path)
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


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

    def ids(self, known: dict[str, str]) -> list[int] | list[str]:
        """Return integers or texts, of which equal ones are one object, wherever they stand."""
        values = self.complete()
        if not library("pyarrow.types", self.path).is_dictionary(values.type):
            found: list[int] | list[str] = values.to_pylist()
            return found
        places, inverse = np.unique(np.asarray(values.indices), return_inverse=True)
        texts = values.dictionary.take(library("pyarrow", self.path).array(places)).to_pylist()
        different = [known.setdefault(text, text) for text in texts]
        return [different[i] for i in inverse.tolist()]

    def numbers(self) -> NDArray[Any]:
        """Return numbers, shape (n, 1), or lists of k numbers, shape (n, k)."""
        kind, values = self.values.type, self.values
        width = 1
        if _is_list(kind, self.path):
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
        else:
            self.complete()
        return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(-1, width)
