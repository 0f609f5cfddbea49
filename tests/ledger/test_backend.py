import os
import pickle
import sqlite3
import threading
import time

import pytest
import sqlalchemy

from riemdp import InvalidParameterError, LedgerUnavailableError, PureDP
from riemdp.ledger import Ledger, _backend
from riemdp.ledger._backend import PostgreSQL, SQLite, backend_of


@pytest.mark.parametrize(
    "url",
    [
        "",
        ":memory:",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///x.db?mode=memory",
        "sqlite:///x.db?nolock=1",
        "mysql://host/db",
        "postgresql+asyncpg://host/db",
        "no url://",
        "postgresql://host/db?port=none",
        "postgresql://host/db?autocommit=1",
        "postgresql://host/db?client_encoding=sql_ascii",
        "a\0b",
        5,
        None,
        b"x.db",
    ],
    ids=repr,
)
@pytest.mark.fast(16)
def test_databases_that_cannot_hold_a_ledger_are_refused(url):
    with pytest.raises(InvalidParameterError):
        Ledger(url)


def test_names_of_databases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for url in ("x.db", "sqlite:///x.db", "sqlite+pysqlite:///x.db", tmp_path / "x.db"):
        found = backend_of(url)
        assert isinstance(found, SQLite)
        assert found.path == tmp_path / "x.db"
    monkeypatch.chdir("/")
    assert found.path == tmp_path / "x.db"  # wherever the process goes
    for url in ("postgresql://me:secret@host/db", "postgresql+psycopg://me:secret@host/db"):
        found = backend_of(url)
        assert isinstance(found, PostgreSQL)
        assert found.engine.dialect.driver == "psycopg"
        assert "secret" not in found.shown
    found = backend_of("postgresql://me@host/db?password=secret&sslpassword=secret&sslmode=require")
    assert found.shown == "postgresql://me@host/db"
    assert found.location == "postgresql://me@host/db?sslmode=require"
    assert "secret" not in repr(found.engine)
    with pytest.raises(InvalidParameterError, match="%40") as error:
        backend_of("postgresql://me:a@secret@host/db")
    assert "secret" not in str(error.value)


def test_a_server_that_is_not_there(monkeypatch):
    monkeypatch.setattr(_backend, "_PATIENCE", 1)
    with pytest.raises(LedgerUnavailableError, match="nothing was read") as error:
        Ledger("postgresql://me:secret@127.0.0.1:1/db").datasets()
    assert "secret" not in str(error.value)


def test_the_server_gets_the_passwords(monkeypatch):
    psycopg = pytest.importorskip("psycopg")
    seen = []

    def connect(*_, **options):
        seen.append(options)
        raise psycopg.OperationalError("fe_sendauth: no password supplied\nmore")

    monkeypatch.setattr(psycopg.Connection, "connect", connect)
    monkeypatch.setattr(psycopg, "connect", connect)
    for url in (
        "postgresql://me:one@host/db?sslpassword=two",
        "postgresql://me@host/db?password=one",
    ):
        with pytest.raises(LedgerUnavailableError, match=r"was read; no pickle .* PGPASSFILE"):
            Ledger(url).datasets()
    assert [each["password"] for each in seen] == ["one", "one"]
    assert seen[0]["sslpassword"] == "two"
    again = pickle.loads(pickle.dumps(Ledger("postgresql://me:one@host/db?sslpassword=two&port=5")))
    with pytest.raises(LedgerUnavailableError, match="PGPASSFILE"):
        again.datasets()
    assert not {"password", "sslpassword"}.intersection(seen[-1])
    assert seen[-1]["port"] == "5"


def test_odd_names_of_files(tmp_path):
    path = tmp_path / "a ?mode=memory#%20ü.db"
    account = Ledger(path).register("s", PureDP(1.0), unit="person", adjacency="replace-one")
    account.spend(PureDP(0.5), "x")
    assert path.exists()
    assert Ledger(path).account("s").remaining == PureDP(0.5)


def test_a_commit_waits_for_the_disk(ledger, account):
    with ledger.backend.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"


def test_a_writer_has_the_lock_before_it_reads(ledger, account, monkeypatch):
    monkeypatch.setattr(_backend, "_PATIENCE", 0.1)
    with ledger.backend.engine.connect() as connection:
        ledger.backend.begin(connection, write=True)
        with pytest.raises(LedgerUnavailableError, match=r"locked.*nothing was charged"):
            account.spend(PureDP(0.5), "x")
        assert account.spent is None  # to read needs no lock of a writer
    account.spend(PureDP(0.5), "x")
    with ledger.backend.engine.connect() as connection:  # control: a deferred transaction
        ledger.backend.begin(connection, write=False)
        account.spend(PureDP(0.25), "x")


def test_a_write_ahead_log_works_too(ledger, account):
    with sqlite3.connect(ledger.backend.path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    account.spend(PureDP(0.5), "x")
    assert Ledger(ledger.backend.path).account("study").remaining == PureDP(0.5)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.fast(2)
def test_a_failed_commit_of_a_file_is_never_taken_for_a_charge(kept, account, monkeypatch):
    commit = sqlalchemy.Connection.commit

    def failing(connection):
        if kept:
            commit(connection)
        raise sqlalchemy.exc.OperationalError("COMMIT", {}, sqlite3.OperationalError("disk I/O"))

    monkeypatch.setattr(sqlalchemy.Connection, "commit", failing)
    with pytest.raises(LedgerUnavailableError, match=r"disk I/O.*unknown, and nothing may"):
        account.spend(PureDP(0.5), "x")
    monkeypatch.undo()
    assert len(account.entries()) == kept


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_waits_for_those_who_write(account, monkeypatch):
    commit, order, inside = sqlalchemy.Connection.commit, [], threading.Event()

    def slow(connection):
        inside.set()
        time.sleep(0.2)
        commit(connection)
        order.append("commit")

    monkeypatch.setattr(sqlalchemy.Connection, "commit", slow)
    thread = threading.Thread(target=account.spend, args=(PureDP(0.5), "x"))
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        monkeypatch.undo()
        account.spend(PureDP(0.25), "child")
        os._exit(0)
    order.append("fork")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
    assert order == ["commit", "fork"]
    assert account.remaining == PureDP(0.25)


def test_an_interrupt_is_not_a_charge(account, monkeypatch):
    def interrupted(connection):
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlalchemy.Connection, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        account.spend(PureDP(0.5), "x")
    monkeypatch.undo()
    assert account.entries() == ()
    account.spend(PureDP(0.5), "x")


def test_a_file_that_is_none(tmp_path):
    path = tmp_path / "x.db"
    path.write_bytes(b"something else" * 100)
    with pytest.raises(LedgerUnavailableError, match="not a database"):
        Ledger(path).account("study")
    with pytest.raises(LedgerUnavailableError):
        Ledger(tmp_path).register("s", PureDP(1.0), unit="person", adjacency="replace-one")
