"""What is read and written in one transaction."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import exc, insert, select, union, update

from riemdp._errors import LedgerTamperedError, UnknownDatasetError
from riemdp.ledger._chain import Dataset, Row, Tip
from riemdp.ledger._schema import check_schema
from riemdp.ledger._tables import DATASETS, ENTRIES, TIPS

if TYPE_CHECKING:
    from sqlalchemy import Connection, RowMapping, Table

T = TypeVar("T", Dataset, Row, Tip)


class Moved(Exception):  # noqa: N818 -- never leaves this package
    """Another transaction came between, in spite of the lock: all has to be checked again."""


class State(NamedTuple):
    """What a data set is at: nothing of it is trusted yet."""

    dataset: Dataset
    tip: Tip
    last: Row | None


def read_state(connection: Connection, name: str, *, lock: bool) -> State:
    """Read what a data set is at; with a lock nobody else does until the transaction ends.

    A name that is not registered is an :class:`UnknownDatasetError`.
    """
    check_schema(connection)
    asked = select(DATASETS, TIPS).join(TIPS).where(DATASETS.c.name == name)
    if lock:
        asked = asked.with_for_update(of=TIPS)
    found = connection.execute(asked).mappings().one_or_none()
    if found is None:
        raise UnknownDatasetError(
            f"no data set {name!r} is registered in this ledger: see Ledger.datasets()"
        )
    entries = select(ENTRIES).where(ENTRIES.c.dataset == name)
    row = connection.execute(entries.order_by(ENTRIES.c.seq.desc()).limit(1)).mappings().first()
    return State(
        _made(Dataset, found, DATASETS),
        _made(Tip, found, TIPS),
        None if row is None else _made(Row, row, ENTRIES),
    )


def read_rows(connection: Connection, name: str) -> list[Row]:
    """Read all entries of a data set, in order."""
    asked = select(ENTRIES).where(ENTRIES.c.dataset == name).order_by(ENTRIES.c.seq)
    return [_made(Row, row, ENTRIES) for row in connection.execute(asked).mappings()]


def read_names(connection: Connection) -> list[str]:
    """Read the names of all data sets."""
    check_schema(connection)
    return list(connection.execute(select(DATASETS.c.name).order_by(DATASETS.c.name)).scalars())


def read_owners(connection: Connection) -> set[str]:
    """Read the names that entries and tips are of, whether they are registered or not."""
    asked = union(select(ENTRIES.c.dataset), select(TIPS.c.dataset))
    return set(connection.execute(asked).scalars())


def read_hash(connection: Connection, name: str, seq: int) -> str | None:
    """Read the hash of one entry."""
    asked = select(ENTRIES.c.hash).where(ENTRIES.c.dataset == name, ENTRIES.c.seq == seq)
    found: str | None = connection.execute(asked).scalar_one_or_none()
    return found


def append(connection: Connection, tip: Tip, row: Row, sums: str) -> None:
    """Write an entry and move the tip to it.

    Raises :class:`Moved` if the tip is no longer what was read, or there is an entry of this
    number; :class:`LedgerTamperedError` if the database does not hold then what was written, as
    with a trigger of somebody else's.
    """
    moved = (
        update(TIPS)
        .where(TIPS.c.dataset == tip.dataset, TIPS.c.seq == tip.seq, TIPS.c.hash == tip.hash)
        .values(seq=row.seq, hash=row.hash, sums=sums)
    )
    try:
        connection.execute(insert(ENTRIES).values(asdict(row)))
        hit = connection.execute(moved).rowcount
    except exc.IntegrityError as error:
        raise Moved from error
    if hit != 1:
        raise Moved
    _, kept, last = read_state(connection, row.dataset, lock=False)
    if (kept, last) != (Tip(row.dataset, row.seq, row.hash, sums), row):
        raise LedgerTamperedError(
            f"the database changed entry {row.seq} of {row.dataset!r} while it was written, as "
            "triggers can that are not the ledger's: nothing was charged, and nothing may be drawn"
        )


def has_row(connection: Connection, row: Row) -> bool:
    """Whether an entry is there, after everybody who may still write it is done."""
    read_state(connection, row.dataset, lock=True)
    return read_hash(connection, row.dataset, row.seq) == row.hash


def fresh_id() -> str:
    """Return a name that nothing else has."""
    return secrets.token_hex(16)


def now() -> str:
    """Return the time in UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def _made(kind: type[T], found: RowMapping, table: Table) -> T:
    """Return a row whose values have the types that they were written with."""
    values: dict[str, Any] = {}
    for field in fields(kind):
        value = found[table.c[field.name]]
        if type(value) is not (int if field.name == "seq" else str):
            raise LedgerTamperedError(
                f"the ledger was changed: {field.name} in {table.name} is no "
                f"{'integer' if field.name == 'seq' else 'text'}"
            )
        values[field.name] = value
    return kind(**values)
