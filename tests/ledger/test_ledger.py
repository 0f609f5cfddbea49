"""Ledgers: what is registered once stays, and everything else is refused by name."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import riemdp.ledger
from riemdp import (
    Accountant,
    ApproxDP,
    Ball,
    DatasetExistsError,
    DatasetMismatchError,
    Euclidean,
    InvalidBudgetError,
    InvalidParameterError,
    LedgerError,
    LedgerSchemaError,
    LedgerTamperedError,
    MeanCDP,
    PureDP,
    RiemdpError,
    UnknownDatasetError,
    UnsupportedBudgetError,
    private_ball,
    private_mean,
)
from riemdp.ledger import Ledger
from riemdp.ledger._chain import KEY_VARIABLE

WHO = {"unit": "person", "adjacency": "replace-one"}


def test_a_budget_survives_the_process(ledger, tmp_path):
    ledger.register("study", PureDP(1.0), **WHO).spend(PureDP(0.25), "here")
    script = (
        "import sys\n"
        "from riemdp import PureDP\n"
        "from riemdp.ledger import Ledger\n"
        "account = Ledger(sys.argv[1]).account('study')\n"
        "print(account.spend(PureDP(0.5), 'there').seq, account.remaining)\n"
    )
    command = [sys.executable, "-c", script, f"sqlite:///{ledger.backend.path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "2 PureDP(epsilon=0.25)\n"
    assert [entry.label for entry in ledger.account("study").entries()] == ["here", "there"]


def test_nothing_is_made_by_looking(ledger):
    for look in (ledger.datasets, ledger.verify, ledger.export, lambda: ledger.account("x")):
        with pytest.raises(LedgerSchemaError, match=r"there is no ledger ledger\.db"):
            look()
    assert not ledger.backend.path.exists()
    ledger.upgrade()
    assert ledger.datasets() == ()
    with pytest.raises(UnknownDatasetError, match="no data set 'x'"):
        ledger.account("x")


def test_a_data_set_is_registered_once(ledger):
    account = ledger.register("study", ApproxDP(1.0, 1e-6), unit="visit", adjacency="add-remove")
    account.spend(ApproxDP(0.5, 1e-7, adjacency="add-remove"), "x")
    with pytest.raises(DatasetExistsError, match="a second registration would be a second budget"):
        ledger.register("study", ApproxDP(1.0, 1e-6), unit="visit", adjacency="add-remove")
    again = ledger.account("study", unit="visit", adjacency="add-remove")
    assert again.total == ApproxDP(1.0, 1e-6, adjacency="add-remove")
    assert (again.unit, again.adjacency, again.name) == ("visit", "add-remove", "study")
    assert again.spent == ApproxDP(0.5, 1e-7, adjacency="add-remove")
    assert again.registered == account.registered
    assert ledger.datasets() == ("study",)
    for option in ({"unit": "person"}, {"adjacency": "replace-one"}):
        with pytest.raises(DatasetMismatchError, match="do not add up"):
            ledger.account("study", **option)


@pytest.mark.parametrize(
    ("total", "error"),
    [
        (1.0, InvalidBudgetError),
        (PureDP(1.0, adjacency="add-remove"), InvalidBudgetError),
        (PureDP(1e-300), InvalidBudgetError),
        (MeanCDP(1.0, 1.0), UnsupportedBudgetError),
    ],
    ids=["number", "relation", "small", "no filter"],
)
def test_what_cannot_be_a_total_is_not_registered(ledger, total, error):
    with pytest.raises(error):
        ledger.register("study", total, **WHO)
    assert not ledger.backend.path.exists()


@pytest.mark.parametrize("text", ["", "a\0b", "\ud800", "x" * 1001, 5, None], ids=repr)
@pytest.mark.parametrize("what", ["name", "unit", "adjacency"])
@pytest.mark.fast(4)
def test_names_are_texts_that_a_database_can_keep(ledger, what, text):
    given = {"name": "study", **WHO, what: text}
    with pytest.raises(InvalidParameterError):
        ledger.register(given.pop("name"), PureDP(1.0), **given)


def test_copies_are_about_one_total(ledger, account):
    for twin in (copy.deepcopy(account), pickle.loads(pickle.dumps(account))):
        twin.spend(PureDP(0.25), "twin")
    assert account.remaining == PureDP(0.5)
    assert pickle.loads(pickle.dumps(ledger)).datasets() == ("study",)


SECRETS = "postgresql+psycopg://me:secret%21@host/db?sslmode=require&password=secret2"


def test_pickles_hold_neither_passwords_nor_keys(account, tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    key = b"k" * 32
    for text in (repr(Ledger(SECRETS, key=key)), str(pickle.dumps(Ledger(SECRETS, key=key)))):
        assert "secret" not in text
        assert "kkkk" not in text
    again = pickle.loads(pickle.dumps(Ledger(SECRETS, key=key)))
    assert again.backend.location == "postgresql+psycopg://me@host/db?sslmode=require"
    assert repr(again) == "Ledger('postgresql+psycopg://me@host/db', key=...)"
    keyed = Ledger(tmp_path / "keyed.db", key=key)
    paid = keyed.register("study", PureDP(1.0), **WHO)
    assert b"kkkk" not in pickle.dumps(paid) + pickle.dumps(keyed.chain)
    twin = pickle.loads(pickle.dumps(paid))
    for action in (lambda: twin.spend(PureDP(0.5), "x"), lambda: twin.remaining):
        with pytest.raises(InvalidParameterError, match=f"in no pickle: .*{KEY_VARIABLE}.*set_par"):
            action()
    assert paid.remaining == PureDP(1.0)
    # both ways out
    Ledger(tmp_path / "keyed.db", key=key).account("study").spend(PureDP(0.25), "opened again")
    (tmp_path / "key").write_bytes(key + b"\n")
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "key"))
    twin.spend(PureDP(0.25), "from the file")
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(InvalidParameterError, match=f"{KEY_VARIABLE} names cannot be read"):
        pickle.loads(pickle.dumps(keyed)).account("study")
    # copies in the process keep the key
    for each in (copy.copy(paid), copy.deepcopy(paid)):
        assert each.remaining == paid.remaining == PureDP(0.5)
    assert copy.copy(keyed).verify().ok
    assert copy.deepcopy(keyed).verify().ok
    assert keyed.verify().ok
    # negative control: another key
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "key"))
    (tmp_path / "key").write_bytes(b"q" * 32)
    with pytest.raises(LedgerTamperedError):
        pickle.loads(pickle.dumps(paid)).spend(PureDP(0.25), "x")


def test_pickles_name_the_file_wherever_they_are_read(account, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = pickle.dumps(Ledger("ledger.db").account("study"))
    monkeypatch.chdir("/")
    pickle.loads(there).spend(PureDP(0.25), "x")
    assert account.remaining == PureDP(0.75)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_share_one_total(account):
    child = os.fork()
    if child == 0:
        account.spend(PureDP(0.25), "child")
        os._exit(0)
    account.spend(PureDP(0.25), "parent")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert account.remaining == PureDP(0.5)


def test_a_key_is_needed_where_there_is_one(ledger):
    path, key = ledger.backend.path, b"k" * 32
    keyed = Ledger(path, key=key)
    keyed.register("study", PureDP(1.0), **WHO).spend(PureDP(0.5), "x")
    assert keyed.verify().ok
    assert "k" * 32 not in repr(keyed)
    with pytest.raises(InvalidParameterError, match="open the ledger with key="):
        ledger.account("study")
    ledger.register("other", PureDP(1.0), **WHO)
    with pytest.raises(InvalidParameterError, match="open it without a key, unless you know"):
        keyed.account("other")
    with pytest.raises(LedgerTamperedError, match="hashes do not match"):
        Ledger(path, key=b"l" * 32).account("study")
    for short in (b"short", "k" * 32, 5):
        with pytest.raises(InvalidParameterError, match="at least 16 random bytes"):
            Ledger(path, key=short)


def test_export_is_json_of_everything(ledger, account):
    account.spend(PureDP(0.25), "ü")
    found = json.loads(json.dumps(ledger.export()))
    (study,) = found["datasets"]
    assert found["format"] == "riemdp-ledger-export/1"
    assert study["name"] == "study"
    assert json.loads(study["total"]) == {"type": "PureDP", "epsilon": 1.0}
    (entry,) = study["entries"]
    assert entry["label"] == "ü"
    assert study["tip"]["hash"] == entry["hash"]


def test_errors_are_of_one_kind():
    names = [name for name in riemdp.__all__ if name.startswith(("Ledger", "Dataset", "Network"))]
    assert len(names) == 8
    for name in [*names, "UnknownDatasetError"]:
        assert issubclass(getattr(riemdp, name), LedgerError)
    assert issubclass(LedgerError, RiemdpError)


def test_a_mean_and_a_search_are_paid_from_it(account):
    points = np.random.default_rng(1).normal(size=(4000, 2)) * 0.1
    ball = Ball(Euclidean(2), np.zeros(2), 4.0)
    private_mean(points, ball, PureDP(0.25), accountant=account)
    found = private_ball(points, ball, PureDP(0.5), accountant=account)
    private_mean(points, found, accountant=None)
    kinds = [entry.kind for entry in account.entries()]
    assert kinds[:2] == ["charge", "charge"]
    assert set(kinds[2:]) == {"step"}
    assert len(kinds) > 3
    assert account.entries()[-1].parent == account.entries()[1].charge_id
    assert account.remaining == PureDP(0.25)
    # what an accountant in memory says of the same
    plain = Accountant(PureDP(1.0))
    private_mean(points, ball, PureDP(0.25), accountant=plain)
    assert plain.ledger[0].label == account.entries()[0].label


def test_without_the_extra_the_error_names_it():
    script = (
        "import sys\n"
        "import riemdp\n"
        "assert not {'sqlalchemy', 'alembic', 'psycopg', 'riemdp.ledger'} & set(sys.modules)\n"
        "sys.modules['sqlalchemy'] = None\n"
        "import riemdp.ledger\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert 'pip install "riemdp[ledger]"' in done.stderr.splitlines()[-1]


def test_scripts_are_part_of_the_package():
    place = Path(riemdp.ledger.__file__).parent
    assert (place / "migrations" / "versions" / "v0001.py").exists()
