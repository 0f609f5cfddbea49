from __future__ import annotations

import copy
import pickle

import pytest

from riemdp import (
    GDP,
    KLDP,
    Accountant,
    ApproxDP,
    BudgetExceededError,
    InvalidBudgetError,
    PureDP,
    UnsupportedBudgetError,
)
from riemdp.privacy import LedgerEntry, Reservation


def test_the_whole_is_charged_at_once_and_entered_step_by_step():
    account = Accountant(PureDP(1.0))
    account.spend(PureDP(0.25), "before")
    reserved = account.reserve(PureDP(0.5), "search")
    assert account.remaining == PureDP(0.25)
    assert account.ledger[1:] == (LedgerEntry("search", PureDP(0.5)),)
    reserved.spend(PureDP(0.125), "first")
    account.spend(PureDP(0.25), "beside")
    assert account.remaining is None
    assert account.ledger == (
        LedgerEntry("before", PureDP(0.25)),
        LedgerEntry("first", PureDP(0.125)),
        LedgerEntry("search, left", PureDP(0.375)),
        LedgerEntry("beside", PureDP(0.25)),
    )
    with pytest.raises(BudgetExceededError, match="left is PureDP"):
        reserved.spend(PureDP(0.376), "too much")
    reserved.spend(reserved.left, "second")
    assert reserved.left is None
    assert [entry.label for entry in account.ledger] == ["before", "first", "second", "beside"]
    assert account.spent == PureDP(1.0)
    with pytest.raises(BudgetExceededError):
        reserved.spend(PureDP(0.375), "twice")


def test_what_exceeds_the_total_reserves_nothing():
    account = Accountant(GDP(1.0))
    with pytest.raises(BudgetExceededError):
        account.reserve(GDP(1.1), "search")
    with pytest.raises(UnsupportedBudgetError):
        Accountant(KLDP(1.0)).reserve(KLDP(0.5), "search")
    assert account.ledger == ()
    assert account.spent is None


def test_steps_of_another_definition_are_one_entry():
    account = Accountant(ApproxDP(1.0, 1e-6))
    reserved = account.reserve(ApproxDP(1.0, 1e-6), "search", GDP(0.2))
    reserved.spend(GDP(0.1), "first")
    assert account.ledger == (LedgerEntry("search", ApproxDP(1.0, 1e-6)),)
    assert reserved.left.mu == pytest.approx(0.1732, abs=1e-4)
    with pytest.raises(InvalidBudgetError, match="imply"):
        Reservation(ApproxDP(1.0, 1e-6), "search", GDP(0.3))


def test_the_whole_may_be_one_step():
    reserved = Reservation(ApproxDP(1.0, 1e-6), "search", GDP(0.2))
    assert reserved.left == ApproxDP(1.0, 1e-6)
    reserved.spend(ApproxDP(1.0, 1e-6), "release")
    assert reserved.left is None


def test_little_is_left_until_it_is_nothing():
    reserved = Reservation(PureDP(1.0), "search")
    reserved.spend(PureDP(0.9999), "first")
    assert reserved.left.epsilon == pytest.approx(1e-4)
    reserved.spend(PureDP(1e-4 - 1e-14), "second")
    assert reserved.left is None


def test_a_copy_would_double_the_budget():
    reserved = Reservation(GDP(1.0), "search")
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="double"):
            attempt(reserved)
