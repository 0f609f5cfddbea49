"""Transactions on the databases that a ledger can be kept in."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

import sqlalchemy
from sqlalchemy import exc, text
from sqlalchemy.pool import NullPool

from riemdp._checks import kind_of, shown
from riemdp._errors import (
    InvalidParameterError,
    LedgerSchemaError,
    LedgerUnavailableError,
    RiemdpError,
)
from riemdp.ledger._file_systems import check_local, check_one_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import URL, Connection, Engine

T = TypeVar("T")

#: Seconds that a spend waits for those before it.
_PATIENCE = 30
_NOTHING = "nothing was charged, and nothing may be drawn"
_UNKNOWN = (
    "whether the charge was kept is unknown, and nothing may be drawn: it counts if it is there"
)
#: Held while a file is written to, and during a fork.
_FORKS = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_FORKS.acquire, after_in_parent=_FORKS.release, after_in_child=_FORKS.release
    )
#: Options that are not of the server, but change what a connection here does.
_OURS = frozenset(
    [
        "autocommit",
        "client_encoding",
        "context",
        "cursor_factory",
        "prepare_threshold",
        "row_factory",
    ]
)
#: Options of PostgreSQL that are secrets themselves, and no names of files.
_SECRETS = frozenset(
    ["oauth_client_secret", "password", "scram_client_key", "scram_server_key", "sslpassword"]
)
_FAILURES = (exc.SQLAlchemyError, sqlite3.Error, OSError)


class NoLedgerError(LedgerSchemaError):
    """There are no tables yet: they may be made."""


class Backend(ABC):
    """A database, and how its transactions are made to last.

    Every use has a connection of its own, so that threads and forked processes share none.
    ``shown`` says where it is, for people to read, and ``location`` for :func:`backend_of`; both
    without a password.
    """

    #: Whether what another connection finds after an error of a commit is sure to last.
    sure: ClassVar[bool]

    def __init__(self, name: str, location: str, engine: Engine) -> None:
        self.shown = name
        self.location = location
        self.engine = engine

    @abstractmethod
    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin a transaction, with the lock of a writer or to read alone."""

    def unforked(self) -> contextlib.AbstractContextManager[object]:
        """Keep this process from being forked where that would harm a transaction."""
        return contextlib.nullcontext()

    @abstractmethod
    def making(self) -> Engine:
        """Return an engine that makes the database where there is none, if that is possible."""

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read in one transaction."""
        with self._named("nothing was read"), self.engine.connect() as connection:
            self.begin(connection, write=False)
            yield connection

    def written(
        self,
        work: Callable[[Connection], T],
        kept: Callable[[Connection, T], bool],
        engine: Engine | None = None,
    ) -> T:
        """Do something in one transaction, and return only when the disk has it.

        Any error of ``work`` undoes all. ``kept`` says whether what was done is there, asked on
        another connection if a commit failed to say so. :class:`LedgerUnavailableError` is raised
        if the database fails, or does not say that it has it.
        """
        with (
            self._named(_NOTHING),
            self.unforked(),
            (engine or self.engine).connect() as connection,
        ):
            self.begin(connection, write=True)
            done = work(connection)
            try:
                connection.commit()
            except _FAILURES as error:
                failure = error
            else:
                return done
        if not self.sure:
            raise self._unavailable(failure, _UNKNOWN) from failure
        with self._named(_UNKNOWN), self.engine.connect() as connection:
            self.begin(connection, write=True)
            if kept(connection, done):
                return done
        raise self._unavailable(failure, _NOTHING) from failure

    @contextlib.contextmanager
    def _named(self, consequence: str) -> Iterator[None]:
        try:
            yield
        except RiemdpError:
            raise
        except _FAILURES as error:
            raise self._unavailable(error, consequence) from error

    def _unavailable(self, error: BaseException, consequence: str) -> LedgerUnavailableError:
        cause = getattr(error, "orig", None) or error
        lines = str(cause).strip().splitlines() or [""]
        if "no password supplied" in str(cause):
            consequence += (
                "; no pickle holds a password: name the file that does in the variable PGPASSFILE, "
                "or open the ledger again"
            )
        return LedgerUnavailableError(
            f"the ledger {self.shown} failed ({type(cause).__name__}: {lines[0]}): {consequence}"
        )


class SQLite(Backend):
    """A file on a local disk. A commit returns after the journal's end is in its folder."""

    # a journal whose end never reached the disk would undo the charge after a loss of power
    sure = False

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(path.name, str(path), self._made("rw"))

    def making(self) -> Engine:
        """Return an engine that makes the file where there is none."""
        return self._made("rwc")

    def unforked(self) -> contextlib.AbstractContextManager[object]:
        """Let forks wait: a child that closes its copy of a connection would roll it back."""
        return _FORKS

    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; a writer has the lock from the start, or two could check the same sums."""
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    def _made(self, mode: str) -> Engine:
        return sqlalchemy.create_engine(
            "sqlite+pysqlite://",
            creator=lambda: self._connected(mode),
            poolclass=NullPool,
            hide_parameters=True,
        )

    def _connected(self, mode: str) -> sqlite3.Connection:
        check_local(self.path)
        check_one_name(self.path)
        if mode == "rw" and not self.path.exists():
            raise NoLedgerError(
                f"there is no ledger {self.shown}: register a data set, which makes it, or name "
                "the right file"
            )
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,  # transactions begin where begin() says
            check_same_thread=False,
        )
        try:
            for pragma in ("synchronous=EXTRA", "fullfsync=ON", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:  # a file that holds no database
            connection.close()
            raise
        return connection


class PostgreSQL(Backend):
    """A server, for several machines. A commit returns after its log is on the server's disk."""

    # what is visible there was on the disk before
    sure = True

    def __init__(self, url: URL) -> None:
        secrets = {name: url.query[name] for name in _SECRETS.intersection(url.query)}
        public = url.difference_update_query(secrets)
        engine = sqlalchemy.create_engine(
            public.set(drivername="postgresql+psycopg"),  # texts show it without its password
            poolclass=NullPool,
            isolation_level="READ COMMITTED",
            hide_parameters=True,
            connect_args={"connect_timeout": _PATIENCE, **secrets},
        )
        named = url.set(query={}).render_as_string(hide_password=True)
        located = sqlalchemy.URL.create(
            url.drivername, url.username, None, url.host, url.port, url.database, public.query
        ).render_as_string(hide_password=False)
        super().__init__(named, located, engine)

    def making(self) -> Engine:
        """Return the engine: the server has the database."""
        return self.engine

    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; the rows of a data set are locked by who reads them to write."""
        if not write:  # one view of everything
            connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            return
        asked = text(
            "SELECT current_setting('fsync'), set_config('synchronous_commit', 'on', true), "
            f"set_config('lock_timeout', '{_PATIENCE}s', true)"
        )
        if connection.execute(asked).one()[0] != "on":
            raise LedgerUnavailableError(
                f"the server of {self.shown} does not write to its disk (fsync is off), so that a "
                f"charge may be lost: {_NOTHING}"
            )


def backend_of(url: object) -> Backend:
    """Return the database that a URL or a path names, if a ledger can be kept in it."""
    if isinstance(url, os.PathLike) or (isinstance(url, str) and "://" not in url):
        name = os.fspath(url)
        if not isinstance(name, str) or not name or name.startswith(":") or "\0" in name:
            raise InvalidParameterError(
                f"a ledger needs the path of a file on a disk, got {shown(name)}"
            )
        return SQLite(Path(os.path.abspath(name)))
    if not isinstance(url, str):
        raise InvalidParameterError(f"url must be a text or a path, got {kind_of(url)}")
    try:
        found = sqlalchemy.make_url(url)
    except (exc.ArgumentError, ValueError):
        found = None
    driver = "" if found is None else found.drivername
    if found is not None and driver in ("sqlite", "sqlite+pysqlite"):
        if found.query or not found.database:
            raise InvalidParameterError(
                "a ledger in SQLite is named by its file alone: sqlite:///ledger.db, or four "
                "slashes before an absolute path; no options"
            )
        return backend_of(found.database)
    if found is not None and driver in ("postgresql", "postgresql+psycopg"):
        if "@" in (found.host or ""):
            raise InvalidParameterError(  # without the host, which holds the end of a password
                'the URL has an "@" too many: write %40 for one in a password'
            )
        if refused := sorted(_OURS.intersection(found.query)):
            raise InvalidParameterError(
                f"a ledger sets {' and '.join(refused)} itself: leave it out"
            )
        ports = found.query.get("port", ())
        listed = (ports,) if isinstance(ports, str) else ports
        if all(port.isdigit() for each in listed for port in each.split(",")):
            try:
                return PostgreSQL(found)
            except (exc.ArgumentError, ValueError, TypeError):
                pass  # the text may hold a password
        raise InvalidParameterError("the options of the URL cannot be read, such as its port")
    raise InvalidParameterError(
        f"a ledger cannot be kept in {shown(driver)}; name a file, sqlite:///file, or "
        "postgresql+psycopg://user:password@host/database"
    )
