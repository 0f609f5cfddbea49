"""Whatever is killed or full, and whoever comes between: drawn <= charged <= total."""

import os
import sqlite3
import subprocess
import sys

import pytest

from riemdp import BudgetExceededError, LedgerUnavailableError, PureDP
from riemdp.ledger import Ledger, _backend

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
# charges for longer than a test takes
TOTAL, EPSILON = 0.25, 2.0**-22


@pytest.fixture
def study(ledger):
    return ledger.register("study", PureDP(TOTAL), unit="person", adjacency="replace-one")


@pytest.mark.parametrize("kills", [12, 500])
@pytest.mark.fast("12")
def test_killed_processes_never_overspend(kills, ledger, study, crowd, audit):
    done, draws = crowd(ledger.backend.path, kills=kills)
    assert done["killed"] == kills
    assert len(draws) > 0
    charged = audit(ledger, draws)
    assert charged >= len(draws)
    study.spend(PureDP(EPSILON), "it goes on")


@pytest.mark.slow
def test_the_total_is_reached_and_not_passed(ledger, study, crowd, audit):
    done, draws = crowd(ledger.backend.path, kills=10**6, epsilon=TOTAL / 30)
    assert done["left"] == 0  # all stopped since nothing was left
    assert len(draws) == 30
    assert audit(ledger, draws) == 30
    with pytest.raises(BudgetExceededError):
        study.spend(PureDP(EPSILON), "too much")


@pytest.mark.slow
def test_without_the_lock_the_second_line_holds(ledger, study, crowd, audit):
    _, draws = crowd(ledger.backend.path, how="unlocked", kills=10**6, epsilon=TOTAL / 60)
    assert 0 < len(draws) <= 60
    audit(ledger, draws)


@pytest.mark.slow
def test_control_default_transactions_overspend(tmp_path, crowd):
    path = tmp_path / "naive.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE naive (charge TEXT, price REAL)")
    connection.close()
    _, draws = crowd(path, how="naive", kills=10**6, epsilon=TOTAL)
    # the check that every test here makes of draws fails
    assert len(draws) * TOTAL > TOTAL * (1 + 1e-9)


@pytest.mark.parametrize("stride", [911, 1])
@pytest.mark.fast("911")
def test_a_kill_at_each_instruction(stride, ledger, study, killed, audit):
    done, draws = killed(ledger.backend.path, stride)
    assert len(draws) == done["through"] == 2
    assert done["killed"] * stride > 1000  # so many instructions there are
    charged = audit(ledger, draws)
    # a kill between the commit and the draw costs budget; few of them find that place by chance
    assert charged > 2 if stride == 1 else charged >= 2


def test_a_full_disk(ledger, account, monkeypatch):
    account.spend(PureDP(0.125), "before")
    made = _backend.SQLite._connected

    def full(self, mode):
        connection = made(self, mode)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    monkeypatch.setattr(_backend.SQLite, "_connected", full)

    def fill():
        while True:
            account.spend(PureDP(2.0**-20), "x" * 1000)

    with pytest.raises(LedgerUnavailableError, match=r"full.*nothing was charged"):
        fill()
    before = account.entries()
    monkeypatch.undo()
    account.spend(PureDP(0.125), "after")
    assert len(account.entries()) == len(before) + 1
    assert ledger.verify(before).ok


@pytest.mark.slow
def test_files_that_may_not_grow(ledger, account, program, tmp_path):
    script = (
        "import resource, signal, sys\n"
        "from riemdp import LedgerUnavailableError, PureDP\n"
        "from riemdp.ledger import Ledger\n"
        "account = Ledger(sys.argv[1]).account('study')\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    account.spend(PureDP(0.5), 'x')\n"
        "except LedgerUnavailableError:\n"
        "    print('unavailable')\n"
    )
    command = [sys.executable, "-c", script, str(ledger.backend.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "unavailable\n"
    assert Ledger(ledger.backend.path).account("study").spent is None
    account.spend(PureDP(0.5), "x")
