"""Versions of the tables: made and brought up to date by scripts, and never guessed at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import exc, inspect, text

from riemdp._errors import LedgerSchemaError
from riemdp.ledger._backend import NoLedgerError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from riemdp.ledger._backend import Backend

#: Version of the tables that this version of the library reads and writes.
VERSION = "0001"
#: Where the version is written; other programs may keep theirs beside it.
VERSION_TABLE = "riemdp_ledger_version"
_SCRIPTS = Path(__file__).parent / "migrations"
#: Lock of PostgreSQL that upgrades wait for; any number that others do not use.
_UPGRADES = 7_236_104_985


def check_schema(connection: Connection) -> None:
    """Refuse tables of another version."""
    found = _version(connection)
    if found == VERSION:
        return
    if found is None:
        raise NoLedgerError(
            "the database holds no ledger: register a data set, or call Ledger.upgrade()"
        )
    if is_newer(found):
        raise LedgerSchemaError(
            f"the tables are of version {found}, and this riemdp knows {VERSION}: use a newer one"
        )
    raise LedgerSchemaError(
        f"the tables are of version {found}, and this riemdp needs {VERSION}: make a back-up and "
        "call Ledger.upgrade()"
    )


def is_newer(version: str) -> bool:
    """Whether tables are of a version that is not known here."""
    return not version.isdecimal() or int(version) > int(VERSION)


def upgrade(backend: Backend) -> None:
    """Make the tables, or bring them up to date, all or nothing; newer ones are refused."""
    backend.written(
        _upgraded, lambda connection, _: _version(connection) == VERSION, backend.making()
    )


def _upgraded(connection: Connection) -> None:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_UPGRADES})"))
    if inspect(connection).has_table(VERSION_TABLE):
        found = _version(connection)
        if found == VERSION:
            return
        if found is not None and is_newer(found):
            check_schema(connection)
    scripts = ScriptDirectory(str(_SCRIPTS))

    def steps(revision: Any, _context: Any) -> Any:
        return scripts._upgrade_revs(VERSION, revision)

    with EnvironmentContext(Config(), scripts, fn=steps, destination_rev=VERSION) as environment:
        environment.configure(
            connection=connection, version_table=VERSION_TABLE, transactional_ddl=True
        )
        environment.run_migrations()


def _version(connection: Connection) -> str | None:
    try:
        found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all()
    except (exc.OperationalError, exc.ProgrammingError):
        connection.rollback()
        if inspect(connection).has_table(VERSION_TABLE):
            raise
        return None
    if len(found) > 1:
        raise LedgerSchemaError(
            f"{VERSION_TABLE} holds {len(found)} versions, and a ledger has one: it was changed"
        )
    return str(found[0]) if found else None
