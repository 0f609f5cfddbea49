"""The relation between data sets that a guarantee is about, and that what is made of it keeps."""

from __future__ import annotations

import functools
import types
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from riemdp._checks import shown
from riemdp._described import few_digits
from riemdp._errors import InvalidBudgetError, NoConversionError, UnsupportedNeighboursError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from riemdp.privacy._budget import Budget

#: The relation that is meant where none is named.
REPLACE_ONE = "replace-one"

#: Methods whose first argument is a guarantee that is held against the object, and what they do
#: about one under another relation: True for an answer of false, False for an error.
_JUDGES = {"allows": True, "follows_from": True, "implied_by": False, "price_of": False}

#: What is about no relation, as most results are.
_PLAIN = frozenset({float, int, bool, str, type(None)})


class AboutNeighbours(ABC):
    """What is proved about neighbouring data sets, under a relation with a name.

    Guarantees that a method returns are about the relation of the object, whatever the method
    says: methods and properties of every subclass are made to. None of them can lose it. A relation
    of None is any relation: the numbers are those of one sensitivity.
    """

    if TYPE_CHECKING:

        @property
        def adjacency(self) -> str | None:
            """Name of the relation."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in tuple(vars(cls).items()):
            if name == "under" or name.startswith("__"):
                continue
            if isinstance(member, types.FunctionType):
                setattr(cls, name, _kept(name, member))
            elif type(member) is property and member.fget is not None:
                kept = _kept(name, member.fget)
                setattr(cls, name, property(kept, member.fset, member.fdel, member.__doc__))

    def __str__(self) -> str:
        """Text with four digits; all of them are in ``repr``."""
        return few_digits(repr(self))

    @abstractmethod
    def under(self, adjacency: str) -> Self:
        """Return the same numbers for another relation."""


def _kept(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    if name in _JUDGES:

        @functools.wraps(method)
        def judged(self: Any, other: Any) -> Any:
            if isinstance(other, AboutNeighbours) and self.adjacency is not None:
                if other.adjacency not in (None, self.adjacency):
                    if _JUDGES[name]:
                        return False
                    raise NoConversionError(_apart([self, other]))
                if other.adjacency is None and self.adjacency != REPLACE_ONE:
                    other = other.under(self.adjacency)
            return carried(method(self, other), self.adjacency)

        return judged

    @functools.wraps(method)
    def kept(self: Any, *arguments: Any, **options: Any) -> Any:
        return carried(method(self, *arguments, **options), self.adjacency)

    return kept


def carried(result: Any, adjacency: str | None) -> Any:
    """Return what was made of a guarantee, about the relation of that guarantee.

    A budget or a curve, or each one in a tuple or list; anything else comes back as it is, and so
    does everything where ``adjacency`` is None.
    """
    if adjacency is None or type(result) in _PLAIN:
        return result
    if isinstance(result, AboutNeighbours):
        return result if result.adjacency == adjacency else result.under(adjacency)
    if type(result) in (tuple, list):
        return type(result)(carried(one, adjacency) for one in result)
    return result


def one_adjacency(parts: Iterable[AboutNeighbours]) -> str | None:
    """Return the one relation of several budgets or curves, None if no part names one.

    What names none is about data sets that differ in one record, if others name theirs. Raises
    ``UnsupportedNeighboursError`` if they are about different ones.
    """
    about = list(parts)
    names = {part.adjacency for part in about}
    if names <= {None}:
        return None
    if len({name or REPLACE_ONE for name in names}) > 1:
        raise UnsupportedNeighboursError(_apart(about))
    return next(name or REPLACE_ONE for name in names)


def check_adjacency(adjacency: object) -> None:
    """Raise ``InvalidBudgetError`` for what names no relation.

    Parameters
    ----------
    adjacency : object
    """
    if not isinstance(adjacency, str) or adjacency.strip() == "":
        raise InvalidBudgetError(
            "adjacency must name a relation between data sets, such as "
            f'"replace-one", "add-remove" or "replace-user", got {shown(adjacency)}'
        )


def check_same(guarantee: Budget, adjacency: str, holder: str) -> None:
    """Raise ``UnsupportedNeighboursError`` for a guarantee about other neighbours than an account.

    Parameters
    ----------
    guarantee : Budget
    adjacency : str
        Of what it would be charged to.
    holder : str
        What that is.
    """
    if guarantee.adjacency != adjacency:
        raise UnsupportedNeighboursError(
            f"{guarantee} is about {guarantee.adjacency} data sets and {holder} adds up guarantees "
            f"about {adjacency} ones; keep an account for each relation, as in "
            f'Accountant(total, adjacency="{guarantee.adjacency}"), or ask for all under one '
            "(budget.under)"
        )


def _apart(parts: Iterable[AboutNeighbours]) -> str:
    names = sorted({part.adjacency or REPLACE_ONE for part in parts})
    return (
        f"guarantees about {' and '.join(names)} data sets do not add up, nor does one follow "
        "from another: ask for all of them under one relation. budget.under(adjacency) asks for "
        "the numbers of a budget under another one; it is not a conversion"
    )
