"""Means of disjoint public groups: each has the whole budget, and the account is charged once."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from riemdp._checks import kind_of, shown
from riemdp._combinations import SEARCH_IN_GROUPS, WEIGHTS_OF_GROUPS
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._keywords import with_advice
from riemdp._progress import ticks, work
from riemdp.noise import source_of
from riemdp.privacy import Budget, check_budget, label_of_groups
from riemdp.release._charging import after_charge, charged
from riemdp.release._disjoint import check_apart, check_lists, check_people, weakest
from riemdp.release._group_releases import (
    PrivateMeans,
    check_names,
    check_one_group,
    plain_name,
)
from riemdp.release._options import Options, relation, with_users
from riemdp.release._private_mean import checked_method, mean_of
from riemdp.release._remarks import tell
from riemdp.release._run import Ready, prepared
from riemdp.release._streams import no_stream
from riemdp.release._unopened import check_shapes
from riemdp.spaces import check_ball
from riemdp.statistics import Records, as_records, labels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Anchor
    from riemdp.release._disjoint import Name
    from riemdp.release._options import Adjacency, SupportsSpend
    from riemdp.spaces import Ball
    from riemdp.statistics import Neighbours

T = TypeVar("T")


@with_advice
@work("private_means")
def private_means(
    groups: Mapping[Name, ArrayLike | Records],
    ball: Ball,
    budget: Budget | Mapping[Name, Budget],
    *,
    ids: Mapping[Name, ArrayLike] | None = None,
    users: Mapping[Name, ArrayLike] | None = None,
    people: Mapping[Name, int | Sequence[int | str]] | None = None,
    n: Mapping[Name, int] | None = None,
    method: Literal["auto", "one-shot", "refined"] = "auto",
    mechanism: str | type[Mechanism] | Choice | Mechanism = "auto",
    adjacency: Adjacency | Neighbours | None = None,
    contribution: int = 1,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    allow_unproven: bool = False,
) -> PrivateMeans:
    r"""Release the mean of each of several disjoint groups, each with the whole budget.

    Neighbouring data sets differ in one record, which is in one group: the other groups tell
    nothing of it (parallel composition), so that all means together have the guarantee of one.

    **Groups are public.** Which group a record is in is not protected, nor are the names, nor,
    where neighbours are of one size, how many records each group has. A label that is private
    touches two groups when it changes: use :class:`riemdp.statistics.ClassMoments`.

    Parameters
    ----------
    groups : mapping of int or str to array_like, shape (n, \*point_shape), or Records
        Data by public name. Nobody may be in two groups.
    ball : Ball
        Public ball of all groups, chosen without looking at the data.
    budget : Budget, or mapping of int or str to Budget
        What the release of each group has to satisfy; by name budgets of one definition, one of
        which follows from all others. That one is the guarantee, and what is charged.
    ids : mapping of int or str to array_like of int or str, shape (n,), optional
        Whose each record is; by default what ``ids`` of :class:`riemdp.Records` say, of all groups
        or of none. An id that is in two groups is refused; where the guarantee is about single
        records, so is an id that comes twice. Without ids that groups are disjoint is your
        claim: the library does not compare rows, because records of two people may be equal.
    users : mapping of int or str to array_like of int or str, shape (n,), optional
        The same where people have several records each and the guarantee is about people.
    people : mapping of int or str to (int, or sequence of int and str), optional
        Public number of people of each group, or list of their ids, beside ``users``; see
        :func:`riemdp.private_mean`. Nobody may be on two lists.
        Without it these numbers are private.
    n : mapping of int or str to int, optional
        Number of records of each group, where it is public and no shape or length says it.
    method, mechanism, contribution, allow_unproven
        See :func:`riemdp.private_mean`; ``"adaptive"`` is not for groups. ``"auto"`` chooses group
        by group, by public numbers.
    adjacency : {"replace-one", "add-remove"} or Neighbours, optional
        With ``"add-remove"``, the default with ``users`` and without ``people``, the sizes of the
        groups are private; a group without records is released like any other.
    generator : numpy.random.Generator, optional
        Source of noise; a new secure generator by default. Any other marks the releases
        ``private=False``, and draws in the order of the groups.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged once for all groups, before any record is opened. An account of a ledger gives one
        anchor, of which each release carries its part.

    Returns
    -------
    PrivateMeans
        By name, each a :class:`riemdp.Release`.

    Raises
    ------
    InvalidParameterError
        If somebody is in two groups, as ids say (the message names groups and rows); arrays of
        two groups share memory; or an argument is of the wrong kind or outside its domain.
    UnsupportedNeighboursError
        If neighbours may differ in several groups.
    RiemdpError
        What :func:`riemdp.private_mean` raises, with the name of the group.

    References
    ----------
    docs/proofs/neighbours.md, Disjoint groups

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Accountant, Ball, Euclidean, PureDP, private_means
    >>> rows = np.random.default_rng(0).normal(size=(2, 100, 3))
    >>> ball = Ball(Euclidean(3), np.zeros(3), 4.0)
    >>> with Accountant(PureDP(1.0)) as account:
    ...     means = private_means(
    ...         {"treated": rows[0], "control": rows[1]}, ball, PureDP(1.0), accountant=account
    ...     )
    >>> account.spent, means.means.shape
    (PureDP(epsilon=1.0), (2, 3))
    """
    check_ball(ball)
    given = _groups(groups)
    if any(each.weights is not None for each in given.values()):
        raise InvalidParameterError(str(WEIGHTS_OF_GROUPS))
    for each in given.values():
        no_stream(each.points, "a check that groups have no record in common")
    budgets, entry = _budgets(budget, given)
    if checked_method(method) == "adaptive":
        raise InvalidParameterError(str(SEARCH_IN_GROUPS))
    wanted = mean_of(method)
    if ids is not None and users is not None:
        raise InvalidParameterError(
            "give ids or users, not both: users where the guarantee is about people"
        )
    has_users = users is not None or any(each.users is not None for each in given.values())
    numbers = dict.fromkeys(given) if people is None else _by_group(people, given, "people")
    listed = check_lists(numbers)
    known = next(iter(numbers.values()), None)
    between = relation(
        adjacency, entry, has_users=has_users, people=known, contribution=contribution
    )
    check_one_group(between)
    takes_users = "users" in between.takes
    whose = users if users is not None else ids
    owners: dict[Name, Any] | None
    if whose is None:
        owners = None if takes_users else _own_ids(given)
    else:
        owners = named = _by_group(whose, given, "users" if has_users else "ids")
        if takes_users or users is not None:
            given = {name: _of_group(name, with_users, given[name], named[name]) for name in given}
    sizes = dict.fromkeys(given) if n is None else _by_group(n, given, "n")
    options = Options(
        mechanism=mechanism,
        adjacency=between,
        generator=source_of(generator),
        accountant=accountant,
        allow_unproven=allow_unproven,
    )

    def prepared_group(name: Name) -> Ready:
        chosen = replace(options, n=sizes[name], people=numbers[name])
        return prepared(wanted, given[name], ball, budgets[name], chosen, together=True)

    ready = {name: _of_group(name, prepared_group, name) for name in given}
    if takes_users:
        owners = {name: each.users for name, each in given.items()}
    elif owners is not None:
        for name, each in given.items():
            _of_group(name, check_shapes, Records(each.points, ids=owners[name]), None, None)

    if owners is None:
        check_apart({name: each.points for name, each in given.items()})

    def check_groups() -> None:
        seen = {name: _of_group(name, each.opened) for name, each in ready.items()}
        if owners is not None:
            everybody = {
                # users are one for each record: it has been looked at
                name: _of_group(name, _ids, owners[name], None if takes_users else len(each))
                for name, each in seen.items()
            }
            check_people(everybody, listed, many_records=takes_users)

    entry = entry.under(between.adjacency)
    label = label_of_groups("private_means", len(given))

    def released(anchor: Anchor | None) -> PrivateMeans:
        check_groups()
        # how long each takes would tell a size that is private
        number = len(ready) if between.size_is_public else None
        releases = (
            each.release(None if anchor is None else anchor._replace(part=part))
            for part, each in enumerate(ticks(ready.values(), number, "groups"), 1)
        )
        return PrivateMeans(tuple(given), tuple(releases), entry)

    charge = functools.partial(charged, accountant, entry, label)  # once, for all groups
    return tell(after_charge(accountant, charge, released, read=check_groups))


def _groups(groups: object) -> dict[Name, Records]:
    if not isinstance(groups, Mapping):
        raise InvalidParameterError(
            "groups must be a mapping of public names to points, such as {'a': points_a, 'b': "
            f"points_b}}, got {kind_of(groups)}"
        )
    found = {plain_name(name): as_records(points) for name, points in groups.items()}
    if len(found) != len(groups):
        raise InvalidParameterError("two groups have the same name; give each its own")
    check_names(tuple(found))
    return found


def _own_ids(groups: Mapping[Name, Records]) -> dict[Name, Any] | None:
    """Return the ids that the records of all groups bring with them, None if none has any."""
    found = {name: each.ids for name, each in groups.items()}
    bare = [name for name, ids in found.items() if ids is None]
    if len(bare) == len(found):
        return None
    if bare:
        raise InvalidParameterError(
            f"the records of group {shown(bare[0])} have no ids, those of others have; say whose "
            "each record is in all groups: Records(points, ids=...), or ids={name: one a record}"
        )
    return found


def _ids(values: Any, rows: int | None) -> list[int | str]:
    """Return ids, one for each of so many rows where it is known how many; they may be opened."""
    given = values() if callable(values) else values
    found: list[int | str] = labels_of(given, len(given) if rows is None else rows, "ids").tolist()
    return found


def _by_group(values: object, groups: Mapping[Name, Records], what: str) -> dict[Name, Any]:
    """Return a mapping by the names of the groups, all of them."""
    if not isinstance(values, Mapping):
        raise InvalidParameterError(
            f"{what} must be a mapping with the names of the groups, got {kind_of(values)}"
        )
    found = {plain_name(name): value for name, value in values.items()}
    if found.keys() != groups.keys():
        raise InvalidParameterError(
            f"{what} must have the names of the groups and no other, one entry for each group"
        )
    return found


def _budgets(
    budget: Budget | Mapping[Name, Budget], groups: Mapping[Name, Records]
) -> tuple[dict[Name, Budget], Budget]:
    """Return the budget of each group, and what follows from all of them."""
    if not isinstance(budget, Mapping):
        check_budget(budget)
        return dict.fromkeys(groups, budget), budget
    budgets = _by_group(budget, groups, "a budget by group")
    for name, each in budgets.items():
        check_budget(each, f"the budget of group {shown(name)}")
    entry = weakest(list(budgets.values()))
    if entry is None:
        raise InvalidParameterError(
            "none of these budgets follows from all others, so that none is the guarantee of all "
            "groups together; give budgets of one definition and relation that differ in their "
            "size, or one for all groups"
        )
    return budgets, entry


def _of_group(name: Name, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function, whose errors are to name the group."""
    try:
        return function(*arguments)
    except RiemdpError as error:
        error.args = (f"group {shown(name)}: {error}",)
        raise
