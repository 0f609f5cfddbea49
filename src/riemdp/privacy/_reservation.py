"""Budgets reserved at once and spent in steps, in one process."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from riemdp._errors import BudgetExceededError, InvalidBudgetError
from riemdp.privacy._adjacency import check_same
from riemdp.privacy._bounded_range import rest_of, within_total

if TYPE_CHECKING:
    from riemdp.privacy._budget import Budget


# Accounts stay in the process that made them: a copy of its memory would double them.


def this_process() -> tuple[int, ...]:
    """Return what tells this process from its copies: its number, their namespace, its start.

    A container or a raw ``clone`` may give copies the same number. Copies of a whole virtual
    machine look alike. Systems without ``/proc`` tell the number alone.
    """
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19])  # field 22 of proc(5)
    except OSError:
        return (os.getpid(),)
    return os.getpid(), namespace, started


def check_process(made_in: tuple[int, ...], guarantee: object, label: str) -> None:
    """Raise ``BudgetExceededError`` in a process that did not make an account itself."""
    if made_in != this_process():
        raise BudgetExceededError(
            f"asked for {guarantee} ({label}) in a copy of the process that made this account, "
            "forked or restored: each copy would spend the whole budget. Release in the process "
            "that made the account, give each process an account with a part of the budget, or "
            "use an account of a riemdp.ledger.Ledger, which all of them share"
        )


# A budget that is charged at once, and entered step by step.

#: A budget over this number is nothing: what rounding leaves.
_DUST = 10**12


class LedgerEntry(NamedTuple):
    """One release.

    Attributes
    ----------
    label : str
        What it was called.
    guarantee : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        What was charged, with its relation between data sets.

    Examples
    --------
    >>> import riemdp
    >>> account = riemdp.Accountant(riemdp.GDP(1.0))
    >>> account.spend(riemdp.GDP(0.6), "first mean")
    >>> account.ledger[0].label, account.ledger[0].guarantee
    ('first mean', GDP(mu=0.6))
    """

    label: str
    guarantee: Budget


class Account(ABC):
    """Adds up what is charged to one total, and can be charged for several steps at once."""

    @property
    @abstractmethod
    def adjacency(self) -> str:
        """Name of the relation that everything charged is about."""

    @abstractmethod
    def spend(self, guarantee: Budget, label: str) -> object:
        """Charge a release, or raise and change nothing.

        Parameters
        ----------
        guarantee : Budget
        label : str
        """

    @abstractmethod
    def reserve(self, guarantee: Budget, label: str, shared: Budget | None = None) -> Reservation:
        """Charge several steps at once, or raise and change nothing.

        Parameters
        ----------
        guarantee : Budget
        label : str
        shared : Budget, optional
            What the steps add up to.
        """


class Reservation:
    """A budget that is spent already, whatever becomes of it: nothing is given back.

    Its steps are shares of the budget itself, or of another one that implies it. It cannot be
    copied or pickled, nor spent in a process that was forked, as each copy would hold all of it.

    Parameters
    ----------
    guarantee : PureDP, ApproxDP, GDP or ZCDP
    label : str
        What it is for.
    shared : PureDP, GDP or ZCDP, optional
        What the steps add up to and what implies the guarantee; itself by default.

    Raises
    ------
    UnsupportedBudgetError
        If the definition is another one.
    InvalidBudgetError
        If ``shared`` does not imply the guarantee.
    UnsupportedNeighboursError
        If they are about different relations.
    """

    def __init__(self, guarantee: Budget, label: str, shared: Budget | None = None) -> None:
        self.guarantee, self.label = guarantee, label
        self._shared = guarantee if shared is None else shared
        check_same(self._shared, guarantee.adjacency, "this reservation")
        within_total(self._shared, [])
        if self._shared != guarantee and not guarantee.follows_from(self._shared):
            raise InvalidBudgetError(f"{self._shared!r} does not imply {guarantee!r}")
        self._steps: list[LedgerEntry] = []
        self._process = this_process()
        self._lock = threading.Lock()

    @property
    def left(self) -> Budget | None:
        """What no step has taken, rounded down; None if that is nothing."""
        with self._lock:
            return self._left()

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """What a ledger holds: one entry a step, and one for what is left.

        One in all where the steps are of another definition.
        """
        with self._lock:
            if not self._steps or type(self._shared) is not type(self.guarantee):
                return (LedgerEntry(self.label, self.guarantee),)
            left = self._left()
            rest = () if left is None else (LedgerEntry(f"{self.label}, left", left),)
            return (*self._steps, *rest)

    def spend(self, guarantee: Budget, label: str) -> object:
        """Take a step, or raise and change nothing. Call it before the noise is drawn.

        Parameters
        ----------
        guarantee : Budget
            Of the definition of the steps; all of the budget where nothing was taken yet.
        label : str

        Raises
        ------
        BudgetExceededError
            If less is left than is asked for.
        UnsupportedNeighboursError
            If the step is about other neighbours than the budget.
        """
        check_same(guarantee, self.guarantee.adjacency, "this reservation")
        check_process(self._process, guarantee, label)
        with self._lock:
            whole = not self._steps and guarantee == self.guarantee
            taken = self._shared if whole else guarantee
            parts = [*(step.guarantee for step in self._steps), taken]
            if not within_total(self._shared, parts):
                raise BudgetExceededError(
                    f"asked for {guarantee!r} ({label}), left is {self._left()!r} of "
                    f"{self.guarantee!r} ({self.label}); search for another ball, or "
                    "give each release a share"
                )
            self._steps.append(LedgerEntry(label, taken))
        return None

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a reservation cannot be copied or pickled: a copy would double the budget")

    def _left(self) -> Budget | None:
        if not self._steps:
            return self.guarantee
        left = rest_of(self._shared, [step.guarantee for step in self._steps])
        dust = left is None or _DUST * left.price()[0] <= self._shared.price()[0]
        return None if dust else left
