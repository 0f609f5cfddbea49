"""Accounts stay in the process that made them: a fork copies all memory, and would double them."""

from __future__ import annotations

import os

from riemdp._errors import BudgetExceededError


def this_process() -> int:
    """Return what tells this process from the copies that a fork makes of it."""
    return os.getpid()


def check_process(made_in: int, guarantee: object, label: str) -> None:
    """Refuse to pay in another process than the one in which an account was made.

    Parameters
    ----------
    made_in : int
        What :func:`this_process` returned there.
    guarantee, label : object, str
        What is asked for, for the message.

    Raises
    ------
    BudgetExceededError
        In another process.
    """
    if made_in != this_process():
        raise BudgetExceededError(
            f"asked for {guarantee} ({label}) in a process that was forked from the one of this "
            "account: each of them would spend the whole budget. Release in the process that made "
            "the account, or give each process an account with a part of the budget"
        )
