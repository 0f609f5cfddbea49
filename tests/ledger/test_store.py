import sqlite3

import pytest

from riemdp import LedgerTamperedError, LedgerUnavailableError, PureDP
from riemdp.ledger import _account, _backend, _store
from riemdp.ledger._store import Moved, append, read_state


def test_the_second_line_checks_again(account, ledger, monkeypatch):
    """With the lock taken away, what another one entered in between is seen."""
    monkeypatch.setattr(_backend.SQLite, "begin", lambda self, connection, write: None)
    read = read_state
    between = [PureDP(0.5), PureDP(0.125)]

    def late(connection, name, *, lock):
        found = read(connection, name, lock=lock)
        if lock and between:
            budget = between.pop()
            connection.rollback()
            monkeypatch.setattr(_account, "read_state", read)
            ledger.account("study").spend(budget, "in between")
            monkeypatch.setattr(_account, "read_state", late)
        return found

    monkeypatch.setattr(_account, "read_state", late)
    entry = account.spend(PureDP(0.25), "x")
    assert entry.seq == 3
    assert account.remaining == PureDP(0.125)
    between.extend([PureDP(2.0**-10)] * 10)
    with pytest.raises(LedgerUnavailableError, match="in spite of its lock, 3 times"):
        account.spend(PureDP(2.0**-10), "x")
    assert account.entries()[-1].label == "in between"


@pytest.mark.parametrize("what", ["seq", "hash"])
@pytest.mark.fast(2)
def test_a_tip_that_moved_is_not_moved_again(what, account, ledger):
    entry = account.spend(PureDP(0.5), "x")
    with ledger.backend.engine.connect() as connection:
        ledger.backend.begin(connection, write=True)
        _, tip, row = read_state(connection, "study", lock=True)
        changed = {"seq": 5, "hash": "x"}[what]
        wrong = _store.Tip(**{**vars(tip), what: changed})
        with pytest.raises(Moved):
            append(connection, wrong, _store.Row(**{**vars(row), "seq": 2, "charge_id": "y"}), "")
    assert account.entries() == (entry,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE riemdp_entries SET label = 'x'",
        "DELETE FROM riemdp_entries",
        "UPDATE riemdp_datasets SET total = 'x'",
        "DELETE FROM riemdp_datasets",
        "DELETE FROM riemdp_tips",
        "UPDATE riemdp_tips SET sums = 'x'",
        "UPDATE riemdp_tips SET seq = 0",
    ],
)
@pytest.mark.fast(7)
def test_the_tables_only_grow(statement, account, ledger):
    account.spend(PureDP(0.5), "x")
    connection = sqlite3.connect(ledger.backend.path)
    with pytest.raises(sqlite3.IntegrityError, match="the ledger is append-only"):
        connection.execute(statement)
    connection.close()
    assert ledger.verify(account.entries()).ok


def test_a_charge_has_a_name_of_its_own():
    assert len({_store.fresh_id() for _ in range(100)}) == 100


TRIGGERS = {
    "lost": "BEFORE INSERT ON riemdp_entries BEGIN SELECT RAISE(IGNORE); END",
    "changed": "AFTER INSERT ON riemdp_entries WHEN NEW.label <> '' BEGIN "
    "INSERT OR REPLACE INTO riemdp_entries SELECT dataset, seq, charge_id, kind, '', guarantee, "
    "price, parent, created, previous, hash FROM riemdp_entries WHERE seq = NEW.seq; END",
    "undone": "AFTER UPDATE ON riemdp_tips WHEN NEW.sums <> '[\"0\"]' BEGIN "
    "UPDATE riemdp_tips SET sums = '[\"0\"]', seq = seq + 1; END",
}


@pytest.mark.parametrize("name", TRIGGERS)
def test_what_others_let_the_database_do_with_a_charge_is_seen(name, account, ledger):
    account.spend(PureDP(0.25), "x")
    with sqlite3.connect(ledger.backend.path) as connection:
        connection.execute(f"CREATE TRIGGER theirs {TRIGGERS[name]}")
    connection.close()
    with pytest.raises(LedgerTamperedError, match="while it was written"):
        account.spend(PureDP(0.25), "y")
    with sqlite3.connect(ledger.backend.path) as connection:
        connection.execute("DROP TRIGGER theirs")
    connection.close()
    assert ledger.verify().ok
    assert account.spend(PureDP(0.25), "z").seq == 2
