"""The options that every release has: one home for their names, defaults and checks."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from riemdp.release._relation import relation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Budget
    from riemdp.release._relation import Adjacency
    from riemdp.statistics import Neighbours

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
    named = {each.name: each for each in fields(Options)}
    own = [each for each in given.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=named[name].default, annotation=kind
        )
        for name, kind in ReleaseOptions.__annotations__.items()
    ]
    function.__signature__ = given.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function
