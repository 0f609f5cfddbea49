"""A total budget that releases are charged to, one after the other."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from riemdp._checks import kind_of
from riemdp._described import Described
from riemdp._errors import BudgetExceededError, InvalidBudgetError, InvalidParameterError
from riemdp.privacy._adjacency import REPLACE_ONE, check_adjacency, check_same
from riemdp.privacy._budget import Budget, check_budget
from riemdp.privacy._filter import Filter
from riemdp.privacy._reservation import (
    Account,
    LedgerEntry,
    Reservation,
    check_process,
    this_process,
)

if TYPE_CHECKING:
    from typing import NoReturn, Self


#: Entries of the ledger that a text shows.
_SHOWN = 20


class Accountant(Account, Described):
    """Filter: lets releases pass as long as they stay within a total budget, together.

    Every release may be chosen after the results of the earlier ones, its guarantee included: the
    rules used here hold for a filter, not only for a list fixed beforehand. A guarantee of another
    definition is converted to that of the total.

    =====================  =====================================================================
    total                  what is added up
    =====================  =====================================================================
    ``PureDP``             ``epsilon``
    ``ApproxDP``           ``epsilon`` and ``delta`` (takes ``PureDP`` and ``ApproxDP``)
    ``GDP``                ``mu^2``
    ``ZCDP``               ``rho`` and ``xi``
    ``RDP``                ``epsilon`` at the order of the total
    ``KLDP``               ``alpha``
    Rao, angle             ``-log cos(theta/2)``
    Rao, parametric        ``theta^2``
    =====================  =====================================================================

    A definition of another package may be a total if it has a price: ``Budget.price`` and
    ``Budget.total``.

    Parameters
    ----------
    total : Budget
        Limit of everything together; of one of the definitions above, or one with a price.
    adjacency : str, optional
        Name of the relation between data sets that everything charged has to be about:
        ``"replace-one"``, ``"add-remove"``, ``"replace-user"``, ``"add-remove-user"``, or that of
        a relation of another package. By default that of ``total``.

    Raises
    ------
    InvalidBudgetError
        If ``total`` is of no definition above, an angle of pi, which limits nothing, or so small
        or large that its parts cannot be added up in float64; or if its price is none.
        Also if ``adjacency`` is no text, or contradicts the relation that ``total`` names.

    Notes
    -----
    The requested guarantee is charged. Sums are exact. A spend passes if more than 1e-12 of the
    total is left before it, and if the sum exceeds the total by at most 1e-12 of it afterwards: ten
    tenths and three thirds fit into one, and nothing fits after them. So the account guarantees the
    total and 1e-12 of it. ``spent`` is rounded up, and may exceed the total by as much;
    ``remaining`` is rounded down. Threads may share an accountant; it cannot be
    copied or pickled, and pays for nothing in a process that was forked, as each copy would hold
    the whole budget. A restored snapshot has the account as it was then: if there are any, use an
    account of a :class:`riemdp.ledger.Ledger` outside of the image. Keep one per data set and
    relation: guarantees under different ones do not add up.

    References
    ----------
    Rogers, Roth, Ullman, Vadhan, "Privacy odometers and filters", NeurIPS 2016 (pure, approximate).
    Feldman, Zrnic, "Individual privacy accounting via a Renyi filter", NeurIPS 2021 (Renyi).
    Whitehouse, Ramdas, Rogers, Wu, "Fully adaptive composition in differential privacy", ICML 2023
    (zero-concentrated).
    Smith, Thakurta, "Fully adaptive composition for Gaussian differential privacy", 2022
    (Gaussian).
    docs/proofs/composition.md (Kullback-Leibler and Rao).

    Examples
    --------
    >>> from riemdp import Accountant, PureDP
    >>> with Accountant(PureDP(1.0)) as account:
    ...     account.spend(PureDP(0.25), "mean of the first group")
    >>> account.remaining
    PureDP(epsilon=0.75)
    """

    def __init__(self, total: Budget, *, adjacency: str | None = None) -> None:
        if not isinstance(total, Budget):
            raise InvalidBudgetError(
                f"total must be a privacy definition such as GDP(1.0), got {kind_of(total)}"
            )
        if adjacency is not None:
            check_adjacency(adjacency)
            if total.adjacency not in (REPLACE_ONE, adjacency):  # the default may be unsaid
                raise InvalidBudgetError(
                    f"the total is about {total.adjacency} data sets, and adjacency says "
                    f"{adjacency}; leave one of them out"
                )
            total = total.under(adjacency)
        self._total = total
        self._filter = Filter(total)
        self._sums = self._filter.nothing
        self._ledger: list[LedgerEntry | Reservation] = []
        self._closed = False
        self._process = this_process()
        self._lock = threading.Lock()

    @property
    def total(self) -> Budget:
        """The limit, with its relation."""
        return self._total

    @property
    def adjacency(self) -> str:
        """Name of the relation that everything charged is about."""
        return self._total.adjacency

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """Labels and guarantees as they were charged, in order."""
        with self._lock:
            found: list[LedgerEntry] = []
            for entry in self._ledger:
                found += entry.entries if isinstance(entry, Reservation) else (entry,)
            return tuple(found)

    @property
    def spent(self) -> Budget | None:
        """What was spent, as one guarantee of the total's definition; ``None`` if nothing was.

        Rounded up. Of an ``ApproxDP`` total it is a ``PureDP`` as long as no ``delta`` was spent.
        """
        with self._lock:
            return self._filter.spent(self._sums)

    @property
    def remaining(self) -> Budget | None:
        """What may still be spent, in the total's definition; ``None`` if nothing is left.

        Rounded down: together with :attr:`spent` it is at most the total. Of an ``ApproxDP`` total
        it is a ``PureDP`` once its ``delta`` is spent.
        """
        with self._lock:
            return self._filter.remaining(self._sums)

    def spend(self, guarantee: Budget, label: str) -> None:
        """Charge a release, or raise and change nothing. Call it before the noise is drawn.

        Parameters
        ----------
        guarantee : Budget
            About the neighbours of the account; what names none is about replace-one.
        label : str
            What the release is, for the ledger.

        Raises
        ------
        BudgetExceededError
            If less is left than is asked for, or the ``with`` block of the accountant is over.
        UnsupportedNeighboursError
            If the guarantee is about other neighbours than the account.
        NoConversionError
            If the guarantee means nothing in the definition of the total.
        InvalidBudgetError
            If its price is none: amounts of at least 0, as many as the total has.
        InvalidParameterError
            If ``guarantee`` is no privacy definition or ``label`` no string.
        """
        check_budget(guarantee, "guarantee")
        _check_label(label)
        self._charge(guarantee, LedgerEntry(label, guarantee))

    def reserve(self, guarantee: Budget, label: str, shared: Budget | None = None) -> Reservation:
        """Charge several steps at once, or raise and change nothing.

        The ledger lists the steps as they are taken, and what is left; nothing is given back.

        Parameters
        ----------
        guarantee : PureDP, ApproxDP, GDP or ZCDP
            Of all steps together.
        label : str
            What they are for.
        shared : PureDP, GDP or ZCDP, optional
            What the steps add up to, if that is of another definition and implies the guarantee.

        Returns
        -------
        Reservation

        Raises
        ------
        BudgetExceededError, UnsupportedNeighboursError, NoConversionError, InvalidBudgetError, \
        InvalidParameterError
            See :meth:`spend`.
        UnsupportedBudgetError
            If the guarantee is of another definition.
        """
        check_budget(guarantee, "guarantee")
        _check_label(label)
        reserved = Reservation(guarantee, label, shared)
        self._charge(guarantee, reserved)
        return reserved

    def _charge(self, guarantee: Budget, entry: LedgerEntry | Reservation) -> None:
        label = entry.label
        check_same(guarantee, self.adjacency, "this account")
        check_process(self._process, guarantee, label)
        price = self._filter.price(guarantee)
        with self._lock:
            if self._closed:
                raise BudgetExceededError(
                    f"asked for {guarantee} ({label}) after the accountant was closed; "
                    "spend inside its with block"
                )
            after = self._filter.charged(self._sums, price)
            if after is None:
                left = self._filter.remaining(self._sums)
                raise BudgetExceededError(
                    f"asked for {guarantee!r} ({label}), left is "
                    f"{'nothing' if left is None else repr(left)} of {self._total!r}"
                )
            self._sums = after
            self._ledger.append(entry)

    def close(self) -> None:
        """Refuse everything from here on; what was spent can still be read."""
        with self._lock:
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Title and lines of the text; see :class:`riemdp._described.Described`."""
        spent, left, entries = self.spent, self.remaining, self.ledger
        listed = [f"{guarantee}: {label}" for label, guarantee in entries[-_SHOWN:]]
        if len(entries) > _SHOWN:
            listed.insert(0, f"the last {_SHOWN} of {len(entries):,}")
        return f"Account of {self.total}, {self.adjacency}; 1e-12 of it more for rounding", [
            ("spent", "nothing" if spent is None else str(spent)),
            ("left", "nothing" if left is None else str(left)),
            ("releases", "\n".join(listed) or "none"),
        ]

    def __repr__(self) -> str:
        return f"Accountant(total={self._total!r}, remaining={self.remaining!r})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an accountant cannot be copied or pickled: a copy would double the budget")


def _check_label(label: object) -> None:
    if not isinstance(label, str):
        raise InvalidParameterError(f"label must be a string, got {kind_of(label)}")
