"""Accounts stay in the process that made them: a fork copies all memory, and would double them."""

from __future__ import annotations

import os

from riemdp._errors import BudgetExceededError


def this_process() -> int:
    """Return what tells this process from the copies that a fork makes of it."""
    return os.getpid()


def check_process(made_in: int, guarantee: object, label: str) -> None:
    """Raise ``BudgetExceededError`` in a process that did not make an account itself."""
    if made_in != this_process():
        raise BudgetExceededError(
            f"asked for {guarantee} ({label}) in a process that was forked from the one of this "
            "account: each of them would spend the whole budget. Release in the process that made "
            "the account, or give each process an account with a part of the budget"
        )
