"""Whether two data sets are neighbours, under the relation that a claim is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import plain_array
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    Array = np.ndarray[Any, np.dtype[Any]]

#: What a data set may have beside its points, that belongs to a record.
_COLUMNS = ("labels", "covariates", "weights")


def check_neighbours(
    dataset: object,
    neighbour: object,
    adjacency: str = "replace-one",
    users: object = None,
    neighbour_users: object = None,
) -> None:
    """Check that data sets are neighbours; the first axis counts records.

    Arrays, numbers and sequences are checked, under relations between people also objects with
    ``points`` and ``users``. Anything else is taken as it is, and so is a pair under a relation
    that is none of riemdp's. The same data set twice passes where something is replaced: it may be
    replaced by itself.

    Under ``"replace-one"`` one record at most differs; under ``"add-remove"`` one data set has one
    record more, at any place; under ``"replace-user"`` there are equally many people, of whom one
    has other records, or more or fewer; under ``"add-remove-user"`` one data set has all records of
    one person more. The others are the same, in the same order.

    ``users`` and ``neighbour_users`` say whose record each is, shape (n,). An
    ``InvalidParameterError`` if they are no neighbours; its message has no records in it, and no
    person.
    """
    rule = _OF_USERS.get(adjacency)
    if rule is None:
        if not (users is None and neighbour_users is None):
            raise InvalidParameterError(
                f"whose record each is does not count under {adjacency}; leave users out, or give "
                "a claim about people, under replace-user or add-remove-user"
            )
        check = _OF_RECORDS.get(adjacency)
        if check is not None and _is_plain(dataset) and _is_plain(neighbour):
            check(dataset, neighbour)
        return
    first = _People.of(dataset, users, "users")
    second = _People.of(neighbour, neighbour_users, "neighbour_users")
    if first is not None and second is not None:
        rule(first, second)


def _one_replaced(dataset: Any, neighbour: Any) -> None:
    first, second = as_array(dataset), as_array(neighbour)
    if first.shape != second.shape:
        raise InvalidParameterError(
            f"dataset and neighbour must have the same number of records of the same shape, got "
            f"{first.shape} and {second.shape}; neighbours differ by replacing one record, not by "
            'adding or removing it: that is a claim under "add-remove"'
        )
    if first.size == 0:
        raise InvalidParameterError("dataset and neighbour have no records")
    changed = _changed(first, second)
    if changed > 1:
        raise InvalidParameterError(
            f"dataset and neighbour differ in {changed} records and are not neighbours: one record "
            "may be replaced; a single record that is an array needs a leading axis, x[None]"
        )


def _one_more(dataset: Any, neighbour: Any) -> None:
    first, second = as_array(dataset), as_array(neighbour)
    counted = first.ndim > 0 and second.ndim > 0
    if not counted or abs(len(first) - len(second)) != 1:
        raise InvalidParameterError(
            "under add-remove one data set has exactly one record more than the other, got "
            f"{first.shape} and {second.shape}"
        )
    if first.dtype.kind != second.dtype.kind and "O" in (first.dtype.kind, second.dtype.kind):
        first, second = _objects(dataset), _objects(neighbour)  # an array makes texts of numbers
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    # the first record that differs was removed, or one of equal ones before it
    differs = _differs(longer[:-1], shorter)
    place = int(np.argmax(differs)) if differs.any() else len(shorter)
    if _differs(longer[place + 1 :], shorter[place:]).any():
        raise InvalidParameterError(
            "under add-remove the records that both data sets have are equal and in the same "
            "order, and these differ in more than the one that is removed"
        )


_OF_RECORDS: dict[str, Callable[[Any, Any], None]] = {
    "replace-one": _one_replaced,
    "add-remove": _one_more,
}


class _People:
    """Records with whose each is."""

    def __init__(self, columns: Sequence[Array], users: Sequence[Hashable]) -> None:
        self.columns, self.users = columns, users
        self.people = frozenset(users)

    @classmethod
    def of(cls, dataset: Any, users: object, name: str) -> _People | None:
        """Return what a data set holds; None for what is taken as it is."""
        held = not _is_plain(dataset)
        if held and not hasattr(dataset, "points"):
            return None
        if users is None:
            users = getattr(dataset, "users", None)
        if users is None:
            raise InvalidParameterError(
                f"a claim about people needs {name}: for each record of the data set whose it is"
            )
        columns = [as_array(dataset.points if held else dataset)]
        found = (getattr(dataset, column, None) for column in _COLUMNS if held)
        columns += [as_array(column) for column in found if column is not None]
        ids = plain_array(users, name)
        if ids is None or ids.ndim != 1 or any(part.shape[:1] != ids.shape for part in columns):
            shape = "texts and numbers" if ids is None else f"shape {ids.shape}"
            raise InvalidParameterError(
                f"{name} must have one entry for each of the records, got {shape} for data of "
                f"shape {columns[0].shape}"
            )
        return cls(columns, ids.tolist())

    def keep(self, people: frozenset[Hashable] | set[Hashable]) -> _People:
        """Return the records of some people, in order."""
        rows = [row for row, user in enumerate(self.users) if user in people]
        return _People([part[rows] for part in self.columns], [self.users[row] for row in rows])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _People):
            return NotImplemented
        pairs = list(zip(self.columns, other.columns, strict=False))
        same = len(self.columns) == len(other.columns) and self.users == other.users
        return same and not any(len(a) != len(b) or _differs(a, b).any() for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


def _one_person_replaced(first: _People, second: _People) -> None:
    if len(first.people) != len(second.people):
        raise InvalidParameterError(
            f"under replace-user data sets have equally many people, got {len(first.people)} and "
            f'{len(second.people)}; one person more or less is a claim under "add-remove-user"'
        )
    gone, new = first.people - second.people, second.people - first.people
    changed = set(gone)
    for person in first.people & second.people:
        if first.keep({person}) != second.keep({person}):
            changed.add(person)
    if len(changed) > 1:
        raise InvalidParameterError(
            f"dataset and neighbour differ in the records of {len(changed)} people and are not "
            "neighbours: those of one may be replaced"
        )
    _check_rest(first, second, changed | new)


def _one_person_more(first: _People, second: _People) -> None:
    more, fewer = sorted((first.people, second.people), key=len, reverse=True)
    if not (fewer < more and len(more) == len(fewer) + 1):
        raise InvalidParameterError(
            "under add-remove-user one data set has the people of the other and exactly one more, "
            f"got {len(first.people)} and {len(second.people)} people, of whom both have "
            f"{len(more & fewer)}"
        )
    _check_rest(first, second, set(more - fewer))


def _check_rest(first: _People, second: _People, person: set[Hashable]) -> None:
    if first.keep(first.people - person) != second.keep(second.people - person):
        raise InvalidParameterError(
            "dataset and neighbour differ in more than the records of one person: those of all "
            "others have to be the same, in the same order"
        )


_OF_USERS: dict[str, Callable[[_People, _People], None]] = {
    "replace-user": _one_person_replaced,
    "add-remove-user": _one_person_more,
}


def same_records(first: object, second: object) -> bool:
    """Whether two arrays or sequences hold the same records."""
    one, other = as_array(first), as_array(second)
    return one.shape == other.shape and _changed(one, other) == 0


def _changed(first: Array, second: Array) -> int:
    """Count the records in which two arrays of one shape differ."""
    return int(np.count_nonzero(_differs(first, second)))


def _differs(first: Array, second: Array) -> Array:
    """Whether each record of two arrays of as many differs."""
    if first.ndim and (first.shape != second.shape or "O" in (first.dtype.kind, second.dtype.kind)):
        pairs = zip(first, second, strict=True)
        return np.asarray([not _equal(a, b) for a, b in pairs], dtype=bool)
    differs = np.asarray(first != second)
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        differs &= ~(np.isnan(first) & np.isnan(second))
    return np.asarray(differs.any(axis=tuple(range(1, differs.ndim))) if differs.ndim else differs)


def _equal(first: Any, second: Any) -> bool:
    """Whether two records are equal, arrays of different shapes among them."""
    if first is second:
        return True
    one, other = np.asarray(first), np.asarray(second)
    numbers = one.dtype.kind in "fc" and other.dtype.kind in "fc"
    return bool(np.array_equal(one, other, equal_nan=numbers))


def _is_plain(dataset: object) -> bool:
    return isinstance(dataset, (np.ndarray, np.generic, list, tuple, int, float, bool)) or hasattr(
        dataset, "__array__"
    )


def as_array(values: Any, name: str = "a data set") -> Array:
    """Return a sequence as an array, of objects where they are of different kinds or shapes.

    ``name`` is for the message about a masked one.
    """
    array = plain_array(values, name)
    return _objects(values) if array is None else array


def _objects(dataset: Any) -> Array:
    array = np.empty(len(dataset), dtype=object)
    for row, record in enumerate(dataset):
        array[row] = record
    return array
