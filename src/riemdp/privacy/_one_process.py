"""Accounts stay in the process that made them: a copy of its memory would double them."""

from __future__ import annotations

import os

from riemdp._errors import BudgetExceededError


def this_process() -> tuple[int, ...]:
    """Return what tells this process from its copies: its number, their namespace, its start.

    A container or a raw ``clone`` may give copies the same number. Copies of a whole virtual
    machine look alike. Systems without ``/proc`` tell the number alone.
    """
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19])  # field 22 of proc(5)
    except OSError:
        return (os.getpid(),)
    return os.getpid(), namespace, started


def check_process(made_in: tuple[int, ...], guarantee: object, label: str) -> None:
    """Raise ``BudgetExceededError`` in a process that did not make an account itself."""
    if made_in != this_process():
        raise BudgetExceededError(
            f"asked for {guarantee} ({label}) in a copy of the process that made this account, "
            "forked or restored: each copy would spend the whole budget. Release in the process "
            "that made the account, give each process an account with a part of the budget, or "
            "use an account of a riemdp.ledger.Ledger, which all of them share"
        )
