"""A ledger: the accounts of data sets, in a database."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import exc, insert, select

from riemdp._errors import (
    DatasetExistsError,
    DatasetMismatchError,
    InvalidBudgetError,
    InvalidParameterError,
)
from riemdp.ledger._account import LedgerAccount
from riemdp.ledger._backend import NoLedgerError, backend_of
from riemdp.ledger._chain import Chain, Dataset, start_of, written_amounts
from riemdp.ledger._entry import written_budget
from riemdp.ledger._names import checked_name, looks_of
from riemdp.ledger._schema import check_schema, upgrade
from riemdp.ledger._store import fresh_id, now, read_names, read_rows, read_state
from riemdp.ledger._tables import DATASETS, TIPS
from riemdp.ledger._verify import Verification, verified
from riemdp.privacy import Filter, check_adjacency

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from riemdp.privacy import Budget

#: The relation that a total may leave unsaid.
_UNSAID = "replace-one"
#: PostgreSQL has at most 2704 bytes for a row of an index.
_LONGEST_NAME = 2000


class Ledger:
    """Accounts of data sets that outlive the process, in a file or on a server.

    A charge is one transaction: lock, read, check, enter, commit to disk. Only then
    :meth:`LedgerAccount.spend` returns and noise is drawn. A crash at any moment loses budget at
    worst. Nothing is ever given back, reset or deleted.

    Parameters
    ----------
    url : str or path
        ``"ledger.db"`` or ``"sqlite:///ledger.db"``: a file on a local disk, for the processes of
        one machine. ``"postgresql+psycopg://user:password@host/database"``: for several machines.
        Nothing is made before :meth:`register` or :meth:`upgrade`.
    key : bytes, optional
        Secret of at least 16 bytes. With it nobody who can write to the database, but does not know
        the key, can make hashes that match. It is never stored, and not pickled.

    Raises
    ------
    InvalidParameterError
        If ``url`` names no database of these kinds, or ``key`` is too short.

    Notes
    -----
    Entries can be added and never changed: triggers refuse it, and each entry is hashed with all
    before it. What replaces the whole database by an older copy of itself is found by the releases
    since: :meth:`verify`. A privileged user of the database can remove triggers and, without a key,
    make all hashes anew.

    A pickle, such as workers of joblib get, holds neither passwords nor the key. Where it is read,
    PostgreSQL takes a password from ``PGPASSFILE`` or ``PGPASSWORD``, and the key is read from the
    file that ``RIEMDP_LEDGER_KEY`` names, when it is first needed.

    Examples
    --------
    >>> import tempfile
    >>> from riemdp import PureDP
    >>> from riemdp.ledger import Ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/ledger.db")
    >>> account = ledger.register(
    ...     "study", PureDP(1.0), unit="person", adjacency="replace-one"
    ... )
    >>> entry = account.spend(PureDP(0.25), "mean of the first group")
    >>> Ledger(f"{folder.name}/ledger.db").account("study").remaining
    PureDP(epsilon=0.75)
    >>> folder.cleanup()
    """

    def __init__(self, url: str | os.PathLike[str], *, key: bytes | None = None) -> None:
        self.chain = Chain(key)
        self.backend = backend_of(url)

    def register(self, name: str, total: Budget, *, unit: str, adjacency: str) -> LedgerAccount:
        """Enter a data set with its total, once and for all; makes the tables if there are none.

        Parameters
        ----------
        name : str
            Of the data set: letters of one alphabet, digits, spaces and ASCII punctuation. It is
            kept in the normal form NFKC, with single spaces and none around it.
        total : Budget
            Limit of everything together, of a definition with a price; see
            :class:`riemdp.Accountant`.
        unit : str
            Whose data a guarantee protects: ``"person"``, ``"record"``, ... Kept like the name.
        adjacency : str
            Name of the relation between data sets that everything charged has to be about:
            ``"replace-one"``, ``"add-remove"``, ``"replace-user"``, ...

        Returns
        -------
        LedgerAccount

        Raises
        ------
        DatasetExistsError
            If the name is taken, or one that people do not tell from it: with other capitals, or
            with letters of another alphabet that look alike. A second registration would be a
            second budget.
        InvalidParameterError
            If ``name`` or ``unit`` have other characters, or letters of several alphabets.
        InvalidBudgetError
            If ``total`` cannot be a total, or names another relation.
        UnsupportedBudgetError
            If no filter is proved for its definition.
        LedgerError
            If the database fails or is of another version, or a file lies on a network file system.
        """
        name = checked_name(name, "name")
        if len(name.encode()) > _LONGEST_NAME:
            raise InvalidParameterError(
                f"name must have at most {_LONGEST_NAME} bytes in UTF-8, as indexes hold no more"
            )
        unit, adjacency = checked_name(unit, "unit"), checked_name(adjacency, "adjacency")
        check_adjacency(adjacency)
        dataset = self._described(name, total, unit, adjacency)
        account = LedgerAccount(self, dataset)  # what could not be read back raises here
        self._made_if_empty()

        def work(connection: Connection) -> None:
            check_schema(connection)
            taken = DatasetExistsError(
                f"the data set {name!r} is registered already: a second registration would be a "
                "second budget. Open it with Ledger.account()"
            )
            for known in read_names(connection):
                if known == name:
                    raise taken
                if looks_of(known) == looks_of(name):
                    raise DatasetExistsError(
                        f"the data set {known!r} is registered, and {name!r} looks like it: a "
                        "second registration would be a second budget. Open it with "
                        "Ledger.account(), or take another name"
                    )
            try:
                connection.execute(insert(DATASETS).values(asdict(dataset)))
                connection.execute(insert(TIPS).values(asdict(start_of(dataset))))
            except exc.IntegrityError as error:
                raise taken from error

        def kept(connection: Connection, _: None) -> bool:
            asked = select(DATASETS.c.genesis).where(DATASETS.c.name == name)
            return connection.execute(asked).scalar_one_or_none() == dataset.genesis

        self.backend.written(work, kept)
        return account

    def account(
        self, name: str, *, unit: str | None = None, adjacency: str | None = None
    ) -> LedgerAccount:
        """Return the account of a data set, for ``accountant=``.

        Parameters
        ----------
        name : str
        unit, adjacency : str, optional
            What the caller takes them to be.

        Returns
        -------
        LedgerAccount

        Raises
        ------
        UnknownDatasetError
            If it is not registered.
        DatasetMismatchError
            If it was registered with another unit or adjacency.
        LedgerError
            If the database fails, was changed or is of another version.
        """
        name = checked_name(name, "name")
        unit = None if unit is None else checked_name(unit, "unit")
        adjacency = None if adjacency is None else checked_name(adjacency, "adjacency")
        with self.backend.reading() as connection:
            dataset, tip, last = read_state(connection, name, lock=False)
        self.chain.check_algorithm(dataset)
        self.chain.check_tip(dataset, tip, last)
        for what, asked, there in (
            ("unit", unit, dataset.unit),
            ("adjacency", adjacency, dataset.adjacency),
        ):
            if asked not in (None, there):
                raise DatasetMismatchError(
                    f"the data set {name!r} was registered with {what} {there!r}, and {asked!r} is "
                    "asked for: guarantees about different ones do not add up"
                )
        return LedgerAccount(self, dataset)

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all data sets.

        Returns
        -------
        tuple of str
        """
        with self.backend.reading() as connection:
            return tuple(read_names(connection))

    def export(self) -> dict[str, Any]:
        """Return everything as it is stored, as a dictionary that JSON can write.

        No hash is checked: what was changed can be exported too. There is no way back from it into
        a database.

        Returns
        -------
        dict
        """
        with self.backend.reading() as connection:
            found = []
            for name in read_names(connection):
                state = read_state(connection, name, lock=False)
                rows = [asdict(row) for row in read_rows(connection, name)]
                found.append({**asdict(state.dataset), "tip": asdict(state.tip), "entries": rows})
        return {"format": "riemdp-ledger-export/1", "datasets": found}

    def verify(self, releases: Iterable[object] = ()) -> Verification:
        """Check every hash and sum, and releases against what was charged for them.

        Parameters
        ----------
        releases : iterable
            Releases, their documents or their anchors, of any data set of this ledger. A release
            has its anchor as the attribute or key ``anchor``.

        Returns
        -------
        Verification
            What is wrong, or nothing.

        Raises
        ------
        InvalidParameterError
            If one of them is no release, no document and no anchor; or if a data set has a key,
            and the ledger was opened without it.
        LedgerUnavailableError, LedgerSchemaError
            If the database cannot be read.
        """
        return verified(self.backend, self.chain, releases)

    def upgrade(self) -> None:
        """Make the tables, or bring those of an older version up to date; make a back-up first.

        Raises
        ------
        LedgerSchemaError
            If they are of a newer version.
        LedgerUnavailableError
            If the database fails: nothing was changed.
        """
        upgrade(self.backend)

    def __repr__(self) -> str:
        return f"Ledger({self.backend.shown!r}{', key=...' if self.chain.keyed else ''})"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.backend.location, self.chain)

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    def _described(self, name: str, total: Budget, unit: str, adjacency: str) -> Dataset:
        limits = Filter(total).limits
        if total.adjacency not in (_UNSAID, adjacency):
            raise InvalidBudgetError(
                f"the total is about {total.adjacency} data sets, and adjacency says {adjacency}; "
                "leave it out of the total"
            )
        dataset = Dataset(
            name=name,
            total=written_budget(total),
            limits=written_amounts(limits),
            unit=unit,
            adjacency=adjacency,
            algorithm=self.chain.algorithm,
            nonce=fresh_id(),
            created=now(),
        )
        return replace(dataset, genesis=self.chain.genesis(dataset))

    def _made_if_empty(self) -> None:
        """Make the tables where there are none; those of an older version stay as they are."""
        try:
            self.datasets()
        except NoLedgerError:
            self.upgrade()


def _again(location: str, chain: Chain) -> Ledger:
    """Return a ledger that was pickled: the place alone, without a password or a key."""
    found = Ledger(location)
    found.chain = chain
    return found
