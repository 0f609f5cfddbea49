"""A copy of a process has all its memory: an account pays in the process that made it alone."""

from __future__ import annotations

import os

import pytest

from riemdp import GDP, Accountant, BudgetExceededError
from riemdp.privacy import _reservation
from riemdp.privacy._reservation import check_process, this_process


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_pays_nothing():
    account = Accountant(GDP(2.0))
    reserved = account.reserve(GDP(1.0), "search")
    child = os.fork()
    if child == 0:
        refused = 0
        for spend in (account.spend, reserved.spend):
            try:
                spend(GDP(1.0), "mean")
            except BudgetExceededError:
                refused += 1
        os._exit(refused)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 2
    reserved.spend(GDP(1.0), "mean")  # here it does
    account.spend(GDP(1.0), "mean")


def test_copies_that_have_the_same_number_pay_nothing(copies):
    found = copies("""
import riemdp
def program():
    account = riemdp.Accountant(riemdp.GDP(2.0))
    reserved = account.reserve(riemdp.GDP(1.0), "search")
    account.spend(riemdp.GDP(1.0), "mean")
    def spent():
        found = []
        for spend in (account.spend, reserved.spend):
            try:
                spend(riemdp.GDP(0.5), "again")
            except riemdp.BudgetExceededError as error:
                found.append("a copy of the process" in str(error))
        return repr(found)
    return spent
""")
    assert found == ("[True, True]", "[True, True]")


@pytest.mark.parametrize("field", ["number", "namespace", "start"])
def test_another_process_is_refused(monkeypatch, field):
    here = this_process()
    if len(here) == 1 and field != "number":
        pytest.skip("this system tells the number alone")
    other = list(here)
    other[["number", "namespace", "start"].index(field)] += 1
    check_process(here, GDP(1.0), "mean")
    account = Accountant(GDP(1.0))
    monkeypatch.setattr(_reservation, "this_process", lambda: tuple(other))
    with pytest.raises(BudgetExceededError, match="forked") as error:
        account.spend(GDP(1.0), "mean")
    assert "mean" in str(error.value)
    monkeypatch.undo()
    assert not account.ledger


def test_without_proc_the_number_counts(monkeypatch):
    def missing(path):
        raise FileNotFoundError(path)

    with monkeypatch.context() as patched:
        patched.setattr(_reservation.os, "stat", missing)
        found = this_process()
    assert found == (os.getpid(),)
