"""Which relation between data sets a call asks for, in the words of its arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from riemdp._checks import count, is_one_of, shown
from riemdp._combinations import N_OF_PEOPLE, PEOPLE_OF_RECORDS, SEARCH, STATED_IS_PRIVATE
from riemdp._errors import InvalidParameterError, UnsupportedNeighboursError
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    Neighbours,
    Records,
    ReplaceOne,
    ReplaceUser,
    as_records,
    check_neighbours,
    labels_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.privacy import Budget

#: How neighbouring data sets differ, whether in a record or in a person.
Adjacency = Literal["replace-one", "add-remove"]

#: An id with its type.
Person = tuple[type, int | str]

_OF_RECORDS: dict[str, type[Neighbours]] = {"replace-one": ReplaceOne, "add-remove": AddRemove}
_OF_USERS: dict[str, type[Neighbours]] = {"replace-one": ReplaceUser, "add-remove": AddRemoveUser}


def relation(
    neighbours: Neighbours | None,
    adjacency: Adjacency | None,
    budget: Budget | None,
    *,
    has_users: bool,
    people: int | Sequence[int | str] | None = None,
) -> Neighbours:
    """Return the relation that a guarantee is asked for.

    Parameters
    ----------
    neighbours : Neighbours or None
        The relation itself.
    adjacency : {"replace-one", "add-remove"} or None
        How data sets differ.
    budget : Budget or None
        Which may name its relation.
    has_users : bool
        Whether it is said whose record each is.
    people : int or sequence of int and str, optional
        Public number of people, or list of their ids. Without it their number is private.

    Returns
    -------
    Neighbours

    Raises
    ------
    InvalidParameterError
        If they say different things, or the number of people is public and not stated.
    """
    said = getattr(budget, "adjacency", ReplaceOne.name)
    if neighbours is not None:
        check_neighbours(neighbours)
        if adjacency is not None:
            raise InvalidParameterError("give either neighbours or adjacency, not both")
        found = neighbours
    else:
        if not (adjacency is None or is_one_of(adjacency, tuple(_OF_RECORDS))):
            raise InvalidParameterError(
                f'adjacency must be "replace-one" or "add-remove", got {shown(adjacency)}; for '
                "guarantees about people say whose each record is, users=..., beside either"
            )
        of_units = _OF_USERS if has_users else _OF_RECORDS
        known = {kind.name: kind for kind in of_units.values()}
        if adjacency is None and said in known and said != ReplaceOne.name:
            found = known[said]()
        else:
            default = "add-remove" if has_users and people is None else "replace-one"
            found = of_units[adjacency or default]()
    if said not in (ReplaceOne.name, found.adjacency):  # what names none is for the one asked for
        raise InvalidParameterError(
            f"the budget is about {said} data sets, and the release about {found.adjacency} ones; "
            f'ask for both under one relation, as budget.under("{found.adjacency}") does'
        )
    asked = "the adjacency of the budget" if adjacency is None else "adjacency"
    _check_people(found, people, asked="neighbours" if neighbours is not None else asked)
    return found


def _check_people(
    neighbours: Neighbours, people: int | Sequence[int | str] | None, *, asked: str
) -> None:
    """Refuse a number of people that is stated where it is private, or not where it is public."""
    about_people = "users" in neighbours.takes
    if people is None:
        if about_people and neighbours.size_is_public:
            raise InvalidParameterError(
                f"{neighbours.name} needs a public number of people, and their number is private "
                f"unless you state it: give people=... beside users=..., or leave out {asked}"
            )
        return
    number_of_people(people)
    if not about_people:
        raise InvalidParameterError(f"{neighbours.name}: {PEOPLE_OF_RECORDS}")
    if not neighbours.size_is_public:
        raise InvalidParameterError(
            f"{STATED_IS_PRIVATE.why} under {neighbours.name}: leave out people, or leave out "
            f"{asked}"
        )


def number_of_people(people: int | Sequence[int | str]) -> int:
    """Return the number that is stated, or that of a list.

    Raises
    ------
    InvalidParameterError
        If it is neither, or an id comes twice.
    """
    listed = list_of_people(people)
    return count(people if listed is None else len(listed), "people, their public number,")


def list_of_people(people: Any) -> frozenset[Person] | None:
    """Return the ids of a public list, each with its type: 7 and "7" are two. None of a number."""
    is_list = isinstance(people, Collection) and getattr(people, "ndim", 1) == 1
    if not is_list or isinstance(people, (str, bytes, Mapping)):
        return None
    found = frozenset((type(one), one) for one in labels_of(list(people), len(people), "people"))
    if len(found) < len(people):
        raise InvalidParameterError("people lists an id twice; every id may be there once")
    return found


def check_listed(users: NDArray[Any], listed: frozenset[Person]) -> None:
    """Refuse a record of nobody on a list.

    Raises
    ------
    InvalidParameterError
        Which names the row, and nobody.
    """
    for row, user in enumerate(users.tolist()):
        if (type(user), user) not in listed:
            raise InvalidParameterError(
                f"row {row}: it is of nobody on the public list that people=... is"
            )


def stated_number(
    neighbours: Neighbours, n: int | None, people: int | Sequence[int | str] | None
) -> int | None:
    """Return the number that a caller states: of records, or of people, none of whom is counted.

    Raises
    ------
    InvalidParameterError
        If a number of records is stated in place of one of people.
    """
    if "users" not in neighbours.takes:
        return n
    if n is not None:
        raise InvalidParameterError(str(N_OF_PEOPLE))
    return None if people is None else number_of_people(people)


def check_searched(neighbours: Neighbours) -> None:
    """Refuse a relation that a search for a ball is not for."""
    if neighbours not in (ReplaceOne(), AddRemove(), ReplaceUser(), AddRemoveUser()):
        raise UnsupportedNeighboursError(f"{neighbours.name}: {SEARCH}")


def says_whose(records: Records) -> bool:
    """Whether it is said whose record each is: here, or in each chunk."""
    return records.users is not None or getattr(records.points, "by_person", False)


def with_users(points: ArrayLike | Records, users: ArrayLike | None) -> Records:
    """Return records that say whose each is, if that is given; refused if they say it already."""
    given = as_records(points)
    if users is None:
        return given
    if given.users is not None:
        raise InvalidParameterError("give users once: with the records, or as an argument")
    return replace(given, users=users)
