"""Groups of records that nobody is in two of, and what holds of all of them together."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray
    from riemdp.privacy import Budget

    #: Public name of a group.
    Name = int | str

#: Effort after which arrays count as sharing memory.
_MOST_WORK: Any = 10_000
#: Constants of the finaliser of splitmix64.
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_GOLDEN = 0x9E3779B97F4A7C15
_WAY_OUT = (
    "if these are records of different people that happen to be equal, as discrete data are, say "
    "whose each is: ids={name: one a record}"
)


def weakest(guarantees: Sequence[Budget]) -> Budget | None:
    """Return the one of some guarantees of one definition that follows from each of them.

    None if there is none, or they are of several definitions.
    """
    if len({type(each) for each in guarantees}) > 1:
        return None
    different = list(dict.fromkeys(guarantees))
    for found in different:
        if all(found == each or found.follows_from(each) for each in different):
            return found
    return None


def check_apart(groups: Mapping[Name, FloatArray], given: Mapping[Name, object]) -> None:
    r"""Refuse a record that is in two groups, as far as points tell.

    That is a row of one group, of its valid points of shape (n, \*point_shape), that is a row of
    another one, bit by bit; or arrays, as they were given, that share memory.
    """
    arrays = {name: np.asarray(points) for name, points in given.items()}
    for one, other in itertools.combinations(arrays, 2):
        if _share_memory(arrays[one], arrays[other]):
            raise InvalidParameterError(
                f"groups {shown(one)} and {shown(other)} share memory, so that a number may be in "
                "records of both; groups must have no record in common: give copies, and say "
                "whose each record is: ids={name: one a record}"
            )
    twice = _equal_rows(list(groups.values()))
    if twice is not None:
        names = list(groups)
        (first, row), (second, other_row) = twice
        raise InvalidParameterError(
            f"row {row} of group {shown(names[first])} is row {other_row} of group "
            f"{shown(names[second])}, bit by bit; groups must have no record in common: {_WAY_OUT}"
        )


def check_people(ids: Mapping[Name, Sequence[Any]], *, many_records: bool) -> None:
    """Refuse a person who is in two groups, or has two records where each is to have one.

    ``many_records`` says whether a person may have several in one group. The error names groups and
    rows, nobody.
    """
    places: dict[tuple[type, Any], tuple[Name, int]] = {}
    for name, owners in ids.items():
        for row, owner in enumerate(owners):
            group, first = places.setdefault((type(owner), owner), (name, row))
            if group != name:
                raise InvalidParameterError(
                    f"row {row} of group {shown(name)} is of the same person as row {first} of "
                    f"group {shown(group)}; nobody may be in two groups: leave one of them out, or "
                    "release each group by itself, with a share of the budget"
                )
            if first != row and not many_records:
                raise InvalidParameterError(
                    f"group {shown(name)}: row {row} is of the same person as row {first}, and the "
                    "guarantee is about single records; ask for one about people: "
                    "users={name: one a record}"
                )


def _share_memory(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if not np.may_share_memory(one, other):
        return False
    try:
        return bool(np.shares_memory(one, other, max_work=_MOST_WORK))
    except np.exceptions.TooHardError:
        return True


def _equal_rows(groups: list[FloatArray]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the places, group and row, of two equal rows of different groups, if there are any."""
    size = math.prod(groups[0].shape[1:])
    rows = [np.ascontiguousarray(x).reshape(len(x), size) + 0.0 for x in groups]  # -0.0 is 0.0
    group = np.repeat(np.arange(len(rows)), [len(x) for x in rows])
    if not len(group):
        return None
    hashes = np.concatenate([_hashes(x) for x in rows])
    order = np.argsort(hashes, kind="stable")
    group, hashes = group[order], hashes[order]
    starts = np.flatnonzero(np.r_[True, hashes[1:] != hashes[:-1]])
    ends = np.r_[starts[1:], len(hashes)]
    # sorted stably: groups ascend in every run of equal hashes
    mixed = group[starts] != group[ends - 1]
    offsets = np.cumsum([0, *(len(x) for x in rows)])
    for start, end in zip(starts[mixed], ends[mixed], strict=True):
        seen: dict[bytes, tuple[int, int]] = {}
        for place in range(start, end):
            g = int(group[place])
            row = int(order[place] - offsets[g])
            first = seen.setdefault(rows[g][row].tobytes(), (g, row))
            if first[0] != g:
                return first, (g, row)
    return None


def _hashes(rows: FloatArray) -> NDArray[np.uint64]:
    """Return one number a row, equal for equal rows."""
    found = np.zeros(len(rows), dtype=np.uint64)
    for k, column in enumerate(rows.view(np.uint64).T):
        found ^= column + np.uint64((k + 1) * _GOLDEN % 2**64)
        for shift, factor in zip((30, 27), _MIX, strict=True):
            found = (found ^ (found >> np.uint64(shift))) * factor
    return found
