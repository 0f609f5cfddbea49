"""What a caller chooses of a release: one home for options, and the relation they name."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar

from riemdp._checks import count, is_one_of, kind_of
from riemdp._combinations import N_OF_PEOPLE, PEOPLE_OF_RECORDS, SEARCH, STATED_IS_PRIVATE
from riemdp._errors import InvalidParameterError, UnsupportedNeighboursError
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    Neighbours,
    Records,
    ReplaceOne,
    ReplacePoint,
    ReplaceUser,
    as_records,
    labels_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Budget


# Which relation between data sets a call asks for, in the words of its arguments.

#: How neighbouring data sets differ. Of people the first two mean what they mean of records.
Adjacency = Literal["replace-one", "add-remove", "replace-user", "add-remove-user", "replace-point"]

#: An id with its type.
Person = tuple[type, int | str]

_KINDS: dict[str, type[Neighbours]] = {
    kind.name: kind for kind in (ReplaceOne, AddRemove, ReplaceUser, AddRemoveUser, ReplacePoint)
}
_OF_USERS: dict[str, type[Neighbours]] = {"replace-one": ReplaceUser, "add-remove": AddRemoveUser}


def relation(
    adjacency: Adjacency | Neighbours | None,
    budget: Budget | None,
    *,
    has_users: bool,
    people: int | Sequence[int | str] | None = None,
    contribution: int = 1,
) -> Neighbours:
    """Return the relation that a guarantee is asked for.

    Parameters
    ----------
    adjacency : Adjacency, Neighbours or None
        How data sets differ; by default as the budget says, and else in one record, or in one
        person: added or removed, unless the number of people is public.
    budget : Budget or None
        Which may name its relation.
    has_users : bool
        Whether it is said whose record each is.
    people : int or sequence of int and str, optional
        Public number of people, or list of their ids. Without it their number is private.
    contribution : int, default 1
        How many records a person counts for at most.

    Returns
    -------
    Neighbours

    Raises
    ------
    InvalidParameterError
        If they say different things, or the number of people is public and not stated.
    """
    said = getattr(budget, "adjacency", ReplaceOne.name)
    if isinstance(adjacency, Neighbours):
        found = adjacency
    else:
        kinds = _KINDS | _OF_USERS if has_users else _KINDS
        name: Any = adjacency
        if name is None:
            default = "add-remove" if has_users and people is None else "replace-one"
            is_of_unit = said in _KINDS and ("users" in _KINDS[said].takes) == has_users
            name = said if is_of_unit and said != ReplaceOne.name else default
        if not is_one_of(name, tuple(kinds)):
            known = ", ".join(f'"{name}"' for name in kinds)
            raise InvalidParameterError(
                f"adjacency must be one of {known}, or a Neighbours of riemdp.statistics, got "
                f"{kind_of(name)}; for guarantees about people say whose each record is, "
                "users=..."
            )
        found = kinds[name]()
    if said not in (ReplaceOne.name, found.adjacency):  # what names none is for the one asked for
        raise InvalidParameterError(
            f"the budget is about {said} data sets, and the release about {found.adjacency} ones; "
            f'ask for both under one relation, as budget.under("{found.adjacency}") does'
        )
    _check_people(found, people)
    return _with_contribution(found, contribution)


def _with_contribution(neighbours: Neighbours, contribution: int) -> Neighbours:
    """Return a relation between people, who count for up to so many records."""
    if contribution == 1:
        return neighbours
    if "users" not in neighbours.takes:
        raise InvalidParameterError(f"{neighbours.name}: {PEOPLE_OF_RECORDS}")
    people: Any = neighbours
    if people.contribution != 1:
        raise InvalidParameterError("give contribution once: in adjacency, or as an argument")
    found: Neighbours = replace(people, contribution=contribution)
    return found


def _check_people(neighbours: Neighbours, people: int | Sequence[int | str] | None) -> None:
    """Refuse a number of people that is stated where it is private, or not where it is public."""
    about_people = "users" in neighbours.takes
    if people is None:
        if about_people and neighbours.size_is_public:
            raise InvalidParameterError(
                f"{neighbours.name} needs a public number of people, and their number is private "
                f"unless you state it: give people=... beside users=..., or ask for add-remove"
            )
        return
    number_of_people(people)
    if not about_people:
        raise InvalidParameterError(f"{neighbours.name}: {PEOPLE_OF_RECORDS}")
    if not neighbours.size_is_public:
        raise InvalidParameterError(
            f"{STATED_IS_PRIVATE.why} under {neighbours.name}: leave out people, or ask for "
            "replace-one"
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


# The options that every release has: one home for their names, defaults and checks.

F = TypeVar("F", bound="Callable[..., Any]")


class SupportsSpend(Protocol):
    """Anything that keeps the account of a total budget."""

    def spend(self, guarantee: Budget, label: str) -> object:
        """Charge a guarantee, or raise and change nothing."""


class ReleaseOptions(TypedDict, total=False):
    """Keywords of every release, which :func:`riemdp.private_mean` documents."""

    mechanism: str | type[Mechanism] | Choice | Mechanism
    adjacency: Adjacency | Neighbours | None
    users: ArrayLike | None
    people: int | Sequence[int | str] | None
    contribution: int
    weights: ArrayLike | None
    private_weights: bool
    n: int | None
    generator: np.random.Generator | None
    accountant: SupportsSpend | None
    allow_unproven: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Options:
    """What a caller chose of a release; see :class:`ReleaseOptions`.

    ``averaged`` says that records are one of each person already, where a statistic needs no ball.
    """

    mechanism: str | type[Mechanism] | Choice | Mechanism = "auto"
    adjacency: Adjacency | Neighbours | None = None
    users: ArrayLike | None = None
    people: int | Sequence[int | str] | None = None
    contribution: int = 1
    weights: ArrayLike | None = None
    private_weights: bool = False
    n: int | None = None
    generator: np.random.Generator | None = None
    accountant: SupportsSpend | None = None
    allow_unproven: bool = False
    averaged: bool = False

    def relation(self, budget: Budget | None, *, has_users: bool) -> Neighbours:
        """Return the relation that a guarantee is asked for; see :func:`relation`."""
        return relation(
            self.adjacency,
            budget,
            has_users=has_users,
            people=self.people,
            contribution=self.contribution,
        )


def with_options(function: F) -> F:
    """Name the options in the signature of a function, in place of its ``**options``."""
    given = inspect.signature(function)
    own = [each for each in given.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type
        )
        for each in fields(Options)
        if each.name in ReleaseOptions.__annotations__
    ]
    function.__signature__ = given.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function
