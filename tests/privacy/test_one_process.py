"""A fork copies all memory: an account pays in the process that made it, and nowhere else."""

from __future__ import annotations

import os

import pytest

from riemdp import GDP, Accountant, BudgetExceededError
from riemdp.privacy import _one_process
from riemdp.privacy._one_process import check_process, this_process


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


def test_another_process_is_refused(monkeypatch):
    here = this_process()
    check_process(here, GDP(1.0), "mean")
    account = Accountant(GDP(1.0))
    monkeypatch.setattr(_one_process.os, "getpid", lambda: here + 1)
    with pytest.raises(BudgetExceededError, match="forked") as error:
        account.spend(GDP(1.0), "mean")
    assert "mean" in str(error.value)
    monkeypatch.undo()
    assert not account.ledger
