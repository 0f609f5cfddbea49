"""The same on a server: locks, kills, and a server that stops at once."""

import pickle
import random
import time

import pytest
import sqlalchemy

from riemdp import (
    GDP,
    Accountant,
    BudgetExceededError,
    DatasetExistsError,
    InvalidParameterError,
    LedgerSchemaError,
    LedgerTamperedError,
    LedgerUnavailableError,
    PureDP,
)
from riemdp.ledger import Ledger

# charges for longer than a test takes
TOTAL, EPSILON = 0.25, 2.0**-22
WHO = {"unit": "person", "adjacency": "replace-one"}


@pytest.fixture
def url(server):
    return server.fresh("study")


@pytest.fixture
def ledger(url):
    return Ledger(url)


@pytest.fixture
def study(ledger):
    return ledger.register("study", PureDP(TOTAL), **WHO)


pytestmark = pytest.mark.slow


def test_one_account(ledger, study, server):
    entry = study.spend(PureDP(0.125), "a mean, with 100 % and 'quotes' and ü")
    assert entry.seq == 1
    with pytest.raises(BudgetExceededError, match=r"left is PureDP\(epsilon=0\.125\)"):
        study.spend(PureDP(0.2), "too much")
    reserved = study.reserve(PureDP(0.0625), "search")
    step = reserved.spend(PureDP(0.03125), "first step")
    again = Ledger(ledger.backend.location).account("study")
    assert again.entries() == (entry, reserved.entry, step)
    assert again.remaining == PureDP(0.0625)
    with pytest.raises(DatasetExistsError):
        ledger.register("study", PureDP(9.0), **WHO)
    assert ledger.verify([entry, step]).ok
    again.close()
    assert study.closed
    assert ledger.export()["datasets"][0]["entries"][0]["label"] == entry.label
    assert "password" not in repr(Ledger("postgresql://me:password@host/db"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE riemdp_entries SET label = 'x'",
        "DELETE FROM riemdp_entries",
        "TRUNCATE riemdp_entries CASCADE",
        "UPDATE riemdp_datasets SET unit = 'x'",
        "DELETE FROM riemdp_tips",
        "UPDATE riemdp_tips SET sums = '[\"0\"]'",
    ],
)
@pytest.mark.fast(1)
def test_the_tables_only_grow(ledger, study, server, statement):
    import psycopg

    study.spend(PureDP(0.125), "x")
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        server.execute(statement, ledger.backend.location)


def test_an_entry_that_a_rule_lets_fall_is_missed(ledger, study, server, url):
    server.execute("CREATE RULE r AS ON INSERT TO riemdp_entries DO INSTEAD NOTHING", url)
    with pytest.raises(LedgerTamperedError, match="while it was written"):
        study.spend(PureDP(0.25), "x")
    server.execute("DROP RULE r ON riemdp_entries", url)
    assert study.spend(PureDP(0.25), "x").seq == 1
    assert ledger.verify().ok


def test_names_that_are_registered_can_be_charged(ledger):
    random_ = random.Random(1)
    name = "".join(chr(random_.randrange(0x20000, 0x2A000)) for _ in range(500))
    account = ledger.register(name, PureDP(1.0), unit="person", adjacency="replace-one")
    assert account.spend(PureDP(0.25), "x").seq == 1
    with pytest.raises(InvalidParameterError, match="2000 bytes"):
        ledger.register(name + "x", PureDP(1.0), unit="person", adjacency="replace-one")


def test_an_analyst_needs_few_rights(ledger, study, server):
    url = ledger.backend.location
    for statement in (
        "DROP ROLE IF EXISTS analyst",
        "CREATE ROLE analyst LOGIN",
        "GRANT SELECT ON riemdp_datasets, riemdp_entries, riemdp_tips, riemdp_ledger_version "
        "TO analyst",
        "GRANT INSERT ON riemdp_entries TO analyst",
        "GRANT UPDATE ON riemdp_tips TO analyst",
    ):
        server.execute(statement, url)
    theirs = Ledger(url.replace("riemdp@", "analyst@"))
    entry = theirs.account("study").spend(PureDP(0.125), "x")
    assert theirs.verify([entry]).ok
    with pytest.raises(LedgerUnavailableError, match="permission denied"):
        theirs.register("more", PureDP(1.0), **WHO)
    server.execute("DROP OWNED BY analyst", url)
    server.execute("DROP ROLE analyst", url)


def test_workers_get_the_password_from_the_environment(ledger, study, server, monkeypatch):
    for name in ("PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    url = ledger.backend.location
    for statement in (
        "DROP ROLE IF EXISTS worker",
        "CREATE ROLE worker LOGIN PASSWORD 'secret'",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO worker",
    ):
        server.execute(statement, url)
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all worker scram-sha-256\n{before}")
    server.execute("SELECT pg_reload_conf()")
    time.sleep(0.5)
    try:
        theirs = Ledger(url.replace("riemdp@", "worker:secret@")).account("study")
        theirs.spend(PureDP(0.0625), "with a password")
        sent = pickle.dumps(theirs)
        assert b"secret" not in sent
        with pytest.raises(LedgerUnavailableError, match=r"no pickle holds .*PGPASSFILE"):
            pickle.loads(sent).spend(PureDP(0.0625), "without")
        monkeypatch.setenv("PGPASSWORD", "secret")
        pickle.loads(sent).spend(PureDP(0.0625), "from the environment")
        assert study.remaining == PureDP(0.125)
    finally:
        rules.write_text(before)
        server.execute("SELECT pg_reload_conf()")
        server.execute("DROP OWNED BY worker", url)
        server.execute("DROP ROLE worker", url)


def test_an_empty_database_and_a_newer_one(ledger, server, url):
    with pytest.raises(LedgerSchemaError, match="holds no ledger"):
        ledger.account("study")
    ledger.upgrade()
    ledger.upgrade()
    assert ledger.datasets() == ()
    server.execute("UPDATE riemdp_ledger_version SET version_num = '9999'", url)
    for action in (ledger.datasets, ledger.upgrade):
        with pytest.raises(LedgerSchemaError, match="use a newer one"):
            action()


def test_decisions_are_those_of_an_accountant(ledger):
    source = random.Random(5)
    durable, plain = ledger.register("many", GDP(1.0), **WHO), Accountant(GDP(1.0))
    refused = 0
    for number in range(500):
        guarantee = GDP(source.choice((0.1, 0.05, source.random() / 3.0)))
        outcomes = []
        for account in (durable, plain):
            try:
                account.spend(guarantee, f"{number}")
            except BudgetExceededError as error:
                outcomes.append(str(error))
            else:
                outcomes.append("")
        assert outcomes[0] == outcomes[1]
        refused += outcomes[0] != ""
    assert 20 < refused < 480
    assert durable.spent == plain.spent
    assert durable.remaining == plain.remaining


@pytest.mark.parametrize("kills", [40, 500])
def test_killed_processes_never_overspend(kills, ledger, study, crowd, audit):
    done, draws = crowd(ledger.backend.location, kills=kills)
    assert done["killed"] == kills
    assert len(draws) > 0
    assert audit(ledger, draws) >= len(draws)
    study.spend(PureDP(EPSILON), "it goes on")


def test_the_total_is_reached_and_not_passed(ledger, study, crowd, audit):
    _, draws = crowd(ledger.backend.location, kills=10**6, epsilon=TOTAL / 100)
    assert len(draws) == 100
    assert audit(ledger, draws) == 100


def test_without_the_lock_the_second_line_holds(ledger, study, crowd, audit):
    _, draws = crowd(ledger.backend.location, how="unlocked", kills=10**6, epsilon=TOTAL / 60)
    assert 0 < len(draws) <= 60
    audit(ledger, draws)


def test_control_default_transactions_overspend(url, server, crowd):
    server.execute("CREATE TABLE naive (charge TEXT, price DOUBLE PRECISION)", url)
    _, draws = crowd(url, how="naive", kills=10**6, epsilon=TOTAL)
    assert len(draws) * TOTAL > TOTAL * (1 + 1e-9)


@pytest.mark.parametrize("stride", [13])
def test_a_kill_at_each_instruction(stride, ledger, study, killed, audit):
    done, draws = killed(ledger.backend.location, stride)
    assert len(draws) == done["through"] == 2
    assert done["killed"] * stride > 1000
    assert audit(ledger, draws) > 2


@pytest.fixture
def writers(program, tmp_path, study, ledger):
    """Four processes that write until there is a file ``stop``."""
    return program("crowd", ledger.backend.location, tmp_path, "ledger", 4, 10**6, 1, EPSILON)


def test_a_server_that_stops_at_once(study, server, writers, tmp_path, audit):

    def lines():
        return [line for p in tmp_path.glob("draws-*") for line in p.read_text().splitlines()]

    def wait_for(number, failed):
        """Until so many more are drawn, or have failed."""

        def seen():
            return sum((line == "failed") == failed for line in lines())

        before, patience = seen(), time.monotonic() + 600
        while seen() < before + number:
            assert time.monotonic() < patience
            time.sleep(0.05)

    for _ in range(5):
        wait_for(5, failed=False)  # they went on after the last time
        server.stop()
        with pytest.raises(LedgerUnavailableError, match=r"nothing (was|may be)"):
            study.spend(PureDP(EPSILON), "while it is down")
        wait_for(1, failed=True)
        server.start()
    wait_for(5, failed=False)
    (tmp_path / "stop").touch()
    writers.communicate(timeout=600)
    assert list(tmp_path.glob("error-*")) == []
    audit(study._ledger, [line for line in lines() if line != "failed"])


def test_a_commit_whose_answer_is_lost(ledger, study, monkeypatch):
    commit = sqlalchemy.Connection.commit

    def lost(after):
        def failing(connection):
            if after:
                commit(connection)
            else:
                connection.rollback()
            monkeypatch.setattr(sqlalchemy.Connection, "commit", commit)
            raise sqlalchemy.exc.OperationalError("COMMIT", {}, OSError("the line is dead"))

        monkeypatch.setattr(sqlalchemy.Connection, "commit", failing)

    lost(after=True)
    assert study.spend(PureDP(EPSILON), "it was there").seq == 1
    lost(after=False)
    with pytest.raises(LedgerUnavailableError, match=r"the line is dead.*nothing was charged"):
        study.spend(PureDP(EPSILON), "it was not")
    assert len(study.entries()) == 1


def many(account):
    patience = time.monotonic() + 600  # the server reads its settings again in a moment
    while time.monotonic() < patience:
        account.spend(PureDP(EPSILON), "kept")


def test_a_server_without_a_disk(ledger, study, server):
    server.execute("ALTER SYSTEM SET fsync = off")
    try:
        server.execute("SELECT pg_reload_conf()")
        with pytest.raises(LedgerUnavailableError, match="fsync is off"):
            many(study)
    finally:
        server.execute("ALTER SYSTEM RESET fsync")
        server.execute("SELECT pg_reload_conf()")
