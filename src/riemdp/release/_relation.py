"""Which relation between data sets a call asks for, in the words of its arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from riemdp._checks import is_one_of, shown
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
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy import Budget

#: How neighbouring data sets differ, whether in a record or in a person.
Adjacency = Literal["replace-one", "add-remove"]

_OF_RECORDS: dict[str, type[Neighbours]] = {"replace-one": ReplaceOne, "add-remove": AddRemove}
_OF_USERS: dict[str, type[Neighbours]] = {"replace-one": ReplaceUser, "add-remove": AddRemoveUser}


def relation(
    neighbours: Neighbours | None,
    adjacency: Adjacency | None,
    budget: Budget | None,
    *,
    has_users: bool,
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

    Returns
    -------
    Neighbours

    Raises
    ------
    InvalidParameterError
        If they say different things.
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
            found = of_units[adjacency or "replace-one"]()
    if said not in (ReplaceOne.name, found.adjacency):  # what names none is for the one asked for
        raise InvalidParameterError(
            f"the budget is about {said} data sets, and the release about {found.adjacency} ones; "
            f'ask for both under one relation, as budget.under("{found.adjacency}") does'
        )
    return found


def check_searched(neighbours: Neighbours) -> None:
    """Refuse a relation that a search for a ball is not for."""
    if neighbours != ReplaceOne():
        raise UnsupportedNeighboursError(
            "what a search for a ball costs is known for data sets that differ in one record, not "
            f"for {neighbours.name}; release on the public ball, or under replace-one without users"
        )


def with_users(points: ArrayLike | Records, users: ArrayLike | None) -> Records:
    """Return records that say whose each is, if that is given; refused if they say it already."""
    given = as_records(points)
    if users is None:
        return given
    if given.users is not None:
        raise InvalidParameterError("give users once: with the records, or as an argument")
    return replace(given, users=users)
