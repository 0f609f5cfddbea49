"""The account of one data set in a ledger."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from riemdp._errors import (
    BudgetExceededError,
    DatasetClosedError,
    InvalidBudgetError,
    LedgerSchemaError,
    LedgerTamperedError,
    LedgerUnavailableError,
)
from riemdp.ledger._chain import Row, read_amounts, read_sums, written_amounts, written_sums
from riemdp.ledger._entry import (
    CHARGE,
    CLOSE,
    STEP,
    Entry,
    check_text,
    entry_of,
    read_budget,
    written_budget,
)
from riemdp.ledger._store import (
    Moved,
    append,
    fresh_id,
    has_row,
    now,
    read_hash,
    read_rows,
    read_state,
)
from riemdp.privacy import Account, Anchor, Filter, Reservation, check_budget, check_same

if TYPE_CHECKING:
    from fractions import Fraction

    from sqlalchemy import Connection

    from riemdp.ledger._chain import Dataset
    from riemdp.ledger._ledger import Ledger
    from riemdp.ledger._store import State
    from riemdp.privacy import Budget

#: How often a charge is checked again after somebody came between in spite of the lock.
_ATTEMPTS = 3
#: Limits that differ by more from those that were registered are those of another definition.
_SAME_LIMIT = 1e-9


class LedgerAccount(Account):
    """Account of a data set whose charges outlive the process: goes wherever an accountant does.

    Made by :meth:`Ledger.account`. Decisions are those of :class:`riemdp.Accountant`, bit for bit.
    Threads, forked processes and other machines may share it, and it can be copied and pickled: all
    copies are about the one total in the database. Pickles hold no password and no key: see
    :class:`Ledger`.

    Attributes
    ----------
    name : str
        Of the data set.
    unit : str
        Whose data a guarantee protects: ``"person"``, ``"record"``, ...
    total : Budget
        Limit of everything together, with its relation between data sets.
    last : Anchor or None
        Of the last entry that this object wrote. It refuses a database in which that is missing.
    durable : bool
        True: charges are kept when the process ends.

    Examples
    --------
    >>> import tempfile
    >>> from riemdp import PureDP
    >>> from riemdp.ledger import Ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/ledger.db")
    >>> account = ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")
    >>> entry = account.spend(PureDP(0.25), "first mean")
    >>> account.spent, account.remaining
    (PureDP(epsilon=0.25), PureDP(epsilon=0.75))
    >>> folder.cleanup()
    """

    durable: ClassVar[bool] = True

    def __init__(self, ledger: Ledger, dataset: Dataset) -> None:
        self._ledger = ledger
        self._dataset = dataset
        self.name, self.unit = dataset.name, dataset.unit
        self.total = read_budget(dataset.total, dataset.adjacency)
        self._filter = Filter(self.total)
        _check_limits(self._filter, dataset)
        self.last: Anchor | None = None

    @property
    def adjacency(self) -> str:
        """Name of the relation that everything charged is about."""
        return self.total.adjacency

    @property
    def registered(self) -> Anchor:
        """Anchor of the registration: keep it elsewhere, to know the ledger again."""
        return Anchor(self.name, 0, self._dataset.nonce, self._dataset.genesis)

    @property
    def spent(self) -> Budget | None:
        """What was spent, as one guarantee of the total's definition; ``None`` if nothing was.

        Rounded up; see :attr:`riemdp.Accountant.spent`.
        """
        return self._filter.spent(self._sums())

    @property
    def remaining(self) -> Budget | None:
        """What may still be spent, in the total's definition; ``None`` if nothing is left.

        Rounded down; of a closed account too.
        """
        return self._filter.remaining(self._sums())

    @property
    def closed(self) -> bool:
        """Whether nothing can be charged any more."""
        return _is_closed(self._read())

    def spend(self, guarantee: Budget, label: str) -> Entry:
        """Charge a release, or raise and change nothing. Call it before the noise is drawn.

        Parameters
        ----------
        guarantee : Budget
            About the neighbours of the account.
        label : str
            What the release is; everybody who reads the ledger sees it.

        Returns
        -------
        Entry
            On the disk by now; its :attr:`Entry.anchor` goes with the release.

        Raises
        ------
        BudgetExceededError
            If less is left than is asked for.
        DatasetClosedError
            If the account was closed.
        LedgerUnavailableError
            If the database did not confirm the charge. It may be there all the same; nobody may
            draw for it.
        LedgerTamperedError
            If the ledger was changed by others than this library, or replaced by an older copy.
        UnsupportedNeighboursError
            If the guarantee is about other neighbours than the account.
        NoConversionError
            If the guarantee means nothing in the definition of the total.
        InvalidBudgetError
            If its price is none: amounts of at least 0, as many as the total has.
        InvalidParameterError
            If ``guarantee`` is no privacy definition that documents can name, or ``label`` no
            text of at most 1000 characters.
        """
        price = self._price(guarantee, label)
        return self._entered(CHARGE, guarantee, label, price)

    def reserve(
        self, guarantee: Budget, label: str, shared: Budget | None = None
    ) -> LedgerReservation:
        """Charge several steps at once, or raise and change nothing.

        The steps become entries as they are taken, which cost nothing more; nothing is given back.
        See :meth:`riemdp.Accountant.reserve`, and :meth:`spend` for what it raises.
        """
        price = self._price(guarantee, label)
        return LedgerReservation(self, guarantee, label, shared, price)

    def entries(self) -> tuple[Entry, ...]:
        """Return everything that was entered, in order.

        Returns
        -------
        tuple of Entry
        """
        ledger = self._ledger
        with ledger.backend.reading() as connection:
            self._checked(connection, read_state(connection, self.name, lock=False))
            rows = read_rows(connection, self.name)
        return tuple(entry_of(row, self.adjacency) for row in rows)

    def close(self) -> None:
        """End the account for good: nothing can be charged any more, by anybody."""
        if not self.closed:
            try:
                self._entered(CLOSE, None, "closed", (0.0,) * len(self._filter.limits))
            except DatasetClosedError:  # by somebody else in the meantime
                return

    def __repr__(self) -> str:
        return f"LedgerAccount({self.name!r}, total={self.total}, unit={self.unit!r})"

    def _price(self, guarantee: Budget, label: str) -> tuple[float | Fraction, ...]:
        check_budget(guarantee, "guarantee")
        check_text(label, "label")
        check_same(guarantee, self.adjacency, f"the account of {self.name!r}")
        return self._filter.price(guarantee)

    def _read(self) -> State:
        with self._ledger.backend.reading() as connection:
            return self._checked(connection, read_state(connection, self.name, lock=False))

    def _sums(self) -> tuple[int, ...]:
        return read_sums(self._read().tip.sums)

    def _checked(self, connection: Connection, state: State) -> State:
        """Return a state whose hashes were made again, and that goes on from what was known."""
        self._ledger.chain.check_tip(state.dataset, state.tip, state.last)
        known = self.last
        replaced = state.dataset != self._dataset or (
            known is not None and read_hash(connection, self.name, known.seq) != known.hash
        )
        if replaced:
            raise LedgerTamperedError(
                f"the ledger of {self.name!r} is not the one that this account wrote to: it was "
                "replaced, perhaps by a back-up. Nothing can be charged"
            )
        return state

    def _entered(
        self,
        kind: str,
        guarantee: Budget | None,
        label: str,
        price: tuple[float | Fraction, ...],
        parent: str = "",
    ) -> Entry:
        """Write one entry, in one transaction that checks all that it relies on."""
        text = "" if guarantee is None else self._written(guarantee)

        def work(connection: Connection) -> Row:
            state = self._checked(connection, read_state(connection, self.name, lock=True))
            if _is_closed(state):
                raise DatasetClosedError(
                    f"asked for {guarantee} ({label}) of {self.name!r}, whose account is closed"
                )
            sums = read_sums(state.tip.sums)
            after = self._filter.charged(sums, price) if kind == CHARGE else sums
            if after is None:
                left = self._filter.remaining(sums)
                raise BudgetExceededError(
                    f"asked for {guarantee!r} ({label}), left is "
                    f"{'nothing' if left is None else repr(left)} of {self.total!r}"
                )
            row = Row(
                dataset=self.name,
                seq=state.tip.seq + 1,
                charge_id=fresh_id(),
                kind=kind,
                label=label,
                guarantee=text,
                price=written_amounts(price),
                parent=parent,
                created=now(),
                previous=state.tip.hash,
            )
            row = replace(
                row, hash=self._ledger.chain.entry(state.dataset.genesis, row, written_sums(after))
            )
            append(connection, state.tip, row, written_sums(after))
            return row

        for _ in range(_ATTEMPTS):
            try:
                row = self._ledger.backend.written(work, has_row)
            except Moved:
                continue
            entry = entry_of(row, self.adjacency)
            self.last = entry.anchor
            return entry
        raise LedgerUnavailableError(
            f"others wrote to {self.name!r} in spite of its lock, {_ATTEMPTS} times: nothing was "
            "charged, and nothing may be drawn"
        )

    def _written(self, guarantee: Budget) -> str:
        text = written_budget(guarantee)
        if read_budget(text, self.adjacency) != guarantee:
            raise InvalidBudgetError(
                f"{type(guarantee).__name__} cannot be read back from what documents hold of it"
            )
        return text


class LedgerReservation(Reservation):
    """A budget that is spent already, in a ledger; every step of it becomes an entry.

    Made by :meth:`LedgerAccount.reserve`. It stays in the process that made it.

    Attributes
    ----------
    entry : Entry
        The charge that paid for all steps.

    Examples
    --------
    >>> import tempfile
    >>> from riemdp import PureDP
    >>> from riemdp.ledger import Ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/ledger.db")
    >>> account = ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")
    >>> reserved = account.reserve(PureDP(0.5), "two steps")
    >>> [step.kind for step in account.entries()], account.remaining
    (['charge'], PureDP(epsilon=0.5))
    >>> folder.cleanup()
    """

    def __init__(
        self,
        account: LedgerAccount,
        guarantee: Budget,
        label: str,
        shared: Budget | None,
        price: tuple[float | Fraction, ...],
    ) -> None:
        super().__init__(guarantee, label, shared)
        self._account = account
        self.entry = account._entered(CHARGE, guarantee, label, price)

    def spend(self, guarantee: Budget, label: str) -> Entry:
        """Take a step, or raise. Call it before the noise is drawn.

        The entry that is returned is on the disk by now. If less is left than is asked for, it is a
        ``BudgetExceededError``. The guarantee is of the definition of the steps; all of the budget
        where nothing was taken yet. Where the ledger fails (see :meth:`LedgerAccount.spend`), the
        step is taken all the same.
        """
        check_text(label, "label")
        super().spend(guarantee, label)
        free = (0.0,) * len(self.entry.price)
        return self._account._entered(STEP, guarantee, label, free, self.entry.charge_id)


def _is_closed(state: State) -> bool:
    return state.last is not None and state.last.kind == CLOSE


def _check_limits(made: Filter, dataset: Dataset) -> None:
    """Refuse a definition that adds up other amounts than when the data set was registered."""
    limits = read_amounts(dataset.limits)
    same = len(limits) == len(made.limits) and all(
        math.isclose(one, other, rel_tol=_SAME_LIMIT)
        for one, other in zip(limits, made.limits, strict=True)
    )
    if not same:
        raise LedgerSchemaError(
            f"{made.total} has another price here than when {dataset.name!r} was registered; use "
            "the version of the package that it was registered with"
        )
