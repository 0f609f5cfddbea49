"""Groups of records that nobody is in two of, and what holds of all of them together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp.release._options import list_of_people

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from riemdp.privacy import Budget
    from riemdp.release._options import Person

    #: Public name of a group.
    Name = int | str

#: Effort after which arrays count as sharing memory.
_MOST_WORK: Any = 10_000


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


def check_apart(groups: Mapping[Name, object]) -> None:
    """Refuse groups whose points, as they were given, are arrays that share memory.

    Nothing is read: rows of two people may be equal, so that only ids say who is in two groups.
    """
    arrays = {
        name: np.asarray(points) for name, points in groups.items() if hasattr(points, "__array__")
    }
    for one, other in itertools.combinations(arrays, 2):
        if _share_memory(arrays[one], arrays[other]):
            raise InvalidParameterError(
                f"groups {shown(one)} and {shown(other)} share memory, so that a number may be in "
                "records of both; groups must have no record in common: give copies, and say "
                "whose each record is: ids={name: one a record}"
            )


def check_people(
    ids: Mapping[Name, Sequence[Any]], listed: Mapping[Person, Name], *, many_records: bool
) -> None:
    """Refuse a person who is in two groups, or has two records where each is to have one.

    ``listed`` says on which group's public list somebody is, ``many_records`` whether a person may
    have several in one group. The error names groups and rows, nobody.
    """
    places: dict[tuple[type, Any], tuple[Name, int]] = {}
    for name, owners in ids.items():
        for row, owner in enumerate(owners):
            person = (type(owner), owner)
            if (group := listed.get(person, name)) != name:
                raise InvalidParameterError(
                    f"row {row} of group {shown(name)} is of somebody on the list of people of "
                    f"group {shown(group)}; nobody may be in two groups: leave one of them out"
                )
            group, first = places.setdefault(person, (name, row))
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


def check_lists(people: Mapping[Name, object]) -> Mapping[Person, Name]:
    """Return on which group's public list somebody is; refuse an id that is on two."""
    groups: dict[Person, Name] = {}
    for name, stated in people.items():
        for person in list_of_people(stated) or ():
            if (other := groups.setdefault(person, name)) != name:
                raise InvalidParameterError(
                    f"somebody is on the lists of people of groups {shown(other)} and "
                    f"{shown(name)}; nobody may be in two groups: leave one of them out"
                )
    return groups


def _share_memory(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if not np.may_share_memory(one, other):
        return False
    try:
        return bool(np.shares_memory(one, other, max_work=_MOST_WORK))
    except np.exceptions.TooHardError:
        return True
