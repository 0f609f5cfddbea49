"""Accounts: decisions of an accountant, kept; and entries that say what was charged."""

import math
import random
import threading

import pytest

from riemdp import (
    GDP,
    ZCDP,
    Accountant,
    ApproxDP,
    BudgetExceededError,
    DatasetClosedError,
    InvalidBudgetError,
    InvalidParameterError,
    LedgerSchemaError,
    NoConversionError,
    PureDP,
    RaoDP,
    UnsupportedNeighboursError,
)
from riemdp.ledger import Ledger, LedgerReservation, _account, _backend
from riemdp.privacy import Account, Anchor, Budget, LedgerEntry

WHO = {"unit": "person", "adjacency": "replace-one"}
TOTALS = {
    "pure": (PureDP(1.0), PureDP),
    "approx": (ApproxDP(1.0, 1e-6), lambda r: ApproxDP(r, 1e-6 * r)),
    "gdp": (GDP(1.0), lambda r: GDP(math.sqrt(r))),
    "zcdp": (ZCDP(0.3), lambda r: ZCDP(0.3 * r)),
    "angle": (
        RaoDP(2.0, distance="angle"),
        lambda r: RaoDP(2.0 * math.acos(math.cos(1.0) ** r), distance="angle"),
    ),
}


@pytest.fixture
def quick(monkeypatch):
    """Do not wait for the disk: what is tested is what is decided."""
    made = _backend.SQLite._connected

    def connected(self, mode):
        connection = made(self, mode)
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    monkeypatch.setattr(_backend.SQLite, "_connected", connected)


def outcome(account, guarantee, label):
    try:
        account.spend(guarantee, label)
    except BudgetExceededError as error:
        return str(error)
    return None


@pytest.mark.parametrize("count", [20, 120])
@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.fast("pure-20", "gdp-20")
def test_decisions_are_those_of_an_accountant(name, count, ledger, quick):
    total, guarantee = TOTALS[name]
    source = random.Random(3)
    durable, plain = ledger.register(name, total, **WHO), Accountant(total)
    shares = 7
    refused = 0
    for number in range(count):
        asked = guarantee(source.choice((1.0, 0.5, source.random(), 1e-9)) / shares)
        first, second = outcome(durable, asked, f"{number}"), outcome(plain, asked, f"{number}")
        assert first == second
        refused += first is not None
    assert 0 < refused < count
    assert durable.spent == plain.spent
    assert durable.remaining == plain.remaining
    kept = [(entry.label, entry.guarantee) for entry in durable.entries()]
    assert kept == [tuple(entry) for entry in plain.ledger]


def test_an_entry_says_what_was_charged(account):
    entry = account.spend(PureDP(0.125), "a mean")
    assert entry == account.entries()[0]
    assert (entry.dataset, entry.seq, entry.kind, entry.label) == ("study", 1, "charge", "a mean")
    assert (entry.guarantee, entry.price) == (PureDP(0.125), (0.125,))
    assert entry.anchor == Anchor("study", 1, entry.charge_id, entry.hash) == account.last
    assert entry.created.endswith("+00:00")
    assert account.registered.seq == 0


def test_a_refusal_changes_nothing(account):
    account.spend(PureDP(0.75), "first")
    with pytest.raises(BudgetExceededError, match=r"left is PureDP\(epsilon=0\.25\) of PureDP"):
        account.spend(PureDP(0.5), "second")
    with pytest.raises(NoConversionError):
        account.spend(ApproxDP(0.1, 1e-6), "third")
    with pytest.raises(UnsupportedNeighboursError, match="add-remove data sets and the account"):
        account.spend(PureDP(0.1, adjacency="add-remove"), "fourth")
    for guarantee, label in ((0.1, "x"), (PureDP(0.1), 5), (PureDP(0.1), "")):
        with pytest.raises(InvalidParameterError):
            account.spend(guarantee, label)
    assert len(account.entries()) == 1
    assert account.remaining == PureDP(0.25)


def test_an_account_is_closed_for_good(ledger, account):
    account.spend(PureDP(0.5), "x")
    reserved = account.reserve(PureDP(0.25), "search")
    assert not account.closed
    account.close()
    account.close()
    for twin in (account, ledger.account("study"), reserved):
        with pytest.raises(DatasetClosedError, match="whose account is closed"):
            twin.spend(PureDP(0.25), "late")
    assert account.closed
    assert [entry.kind for entry in account.entries()] == ["charge", "charge", "close"]
    assert account.entries()[-1].guarantee is None
    assert account.spent == PureDP(0.75)
    assert ledger.verify().ok


def test_a_reservation_is_charged_at_once_and_entered_step_by_step(account):
    plain = Accountant(PureDP(1.0))
    assert isinstance(account, Account)
    reserved, other = (one.reserve(PureDP(0.75), "search") for one in (account, plain))
    assert isinstance(reserved, LedgerReservation)
    assert account.remaining == plain.remaining == PureDP(0.25)
    step = reserved.spend(PureDP(0.5), "first")
    other.spend(PureDP(0.5), "first")
    assert step.parent == reserved.entry.charge_id
    assert (step.kind, step.price, step.guarantee) == ("step", (0.0,), PureDP(0.5))
    assert reserved.left == other.left
    assert (
        reserved.entries
        == other.entries
        == (
            LedgerEntry("first", PureDP(0.5)),
            LedgerEntry("search, left", PureDP(0.25)),
        )
    )
    for one in (reserved, other):
        with pytest.raises(BudgetExceededError, match="left is"):
            one.spend(PureDP(0.5), "second")
    assert account.spent == plain.spent
    assert len(account.entries()) == 2
    with pytest.raises(BudgetExceededError):
        account.reserve(PureDP(0.5), "too much")


def test_threads_share_an_account(account, quick):
    passed = []

    def spend():
        for _ in range(3):
            passed.append(outcome(account, PureDP(0.125), "x") is None)

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert passed.count(True) == 8
    assert len(passed) == 12


def test_another_packages_definition_is_kept(ledger, registry, monkeypatch):
    from dataclasses import dataclass

    from riemdp import register

    @register
    @dataclass(frozen=True)
    class Total(Budget):
        name = "test_account.Total"
        proof = "https://example.org"
        amount: float
        sizes = ("amount",)
        scale = 1.0

        def delta_at(self, epsilon):
            return 0.0 * epsilon

        def epsilon_at(self, delta):
            return self.amount

        def price(self):
            return (self.scale * self.amount,)

        def total(self, prices):
            return Total(prices[0]) if prices[0] > 0.0 else None

    account = ledger.register("foreign", Total(1.0), **WHO)
    account.spend(Total(0.25), "x")
    again = ledger.account("foreign")
    assert again.remaining == Total(0.75)
    assert again.entries()[0].guarantee == Total(0.25)
    monkeypatch.setattr(Total, "scale", 2.0)  # as another version of the package might
    with pytest.raises(LedgerSchemaError, match="another price here than when"):
        ledger.account("foreign")


def test_what_documents_cannot_name_is_no_total(ledger):
    class Unregistered(PureDP):
        pass

    with pytest.raises(InvalidParameterError, match="is not registered"):
        ledger.register("x", Unregistered(0.1), **WHO)
    assert not ledger.backend.path.exists()


def test_a_guarantee_that_does_not_come_back_is_not_charged(account, monkeypatch):
    monkeypatch.setattr(_account, "read_budget", lambda text, adjacency: PureDP(0.5))
    with pytest.raises(InvalidBudgetError, match="cannot be read back"):
        account.spend(PureDP(0.25), "x")
    monkeypatch.undo()
    assert account.spent is None


def test_repr_names_no_secrets(tmp_path):
    ledger = Ledger(tmp_path / "x.db", key=b"secret secret secret")
    account = ledger.register("study", PureDP(1.0), **WHO)
    assert "secret" not in repr(account)
    assert "study" in repr(account)
