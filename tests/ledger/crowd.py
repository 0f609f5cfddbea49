"""Run as a program: processes that spend from one account, and are killed while they do.

``python crowd.py URL FOLDER HOW PROCESSES KILLS SEED``: each process writes the id of a charge into
a file of its own once it has been told that it may draw. HOW is ``ledger``, ``unlocked`` (the
ledger without its locks) or ``naive`` (sum, check and insert by a driver's default transactions, by
all at once). Stops after so many kills, or when nothing is left, or a file ``stop`` appears. Kills
begin with the first draw: on a slow machine none would come before the last.
"""

import json
import os
import random
import secrets
import signal
import sqlite3
import sys
import time
from pathlib import Path

from riemdp import BudgetExceededError, LedgerTamperedError, LedgerUnavailableError, PureDP
from riemdp.ledger import Ledger
from riemdp.ledger import _account as account_module
from riemdp.ledger import _backend as backend
from riemdp.ledger import _store as store

SPENT, FAILED = 3, 4
#: After which one may ask again. Without locks the tip and the last entry may be of two moments.
REFUSALS = [LedgerUnavailableError]


class Naive:
    """What one writes without thinking of others."""

    def __init__(self, url, total, folder, processes):
        self.url, self.total = url, total
        self.folder, self.processes, self.met = folder, processes, False

    def _connected(self):
        if self.url.startswith("postgresql"):
            import psycopg

            return psycopg.connect(self.url.replace("+psycopg", ""))
        return sqlite3.connect(self.url, timeout=30)

    def spend(self, guarantee, label):
        connection = self._connected()
        spent = connection.execute("SELECT coalesce(sum(price), 0) FROM naive").fetchone()[0]
        if spent + guarantee.epsilon > self.total:
            raise BudgetExceededError(label)
        self._meet()
        charge = secrets.token_hex(16)
        connection.execute(f"INSERT INTO naive VALUES ('{charge}', {guarantee.epsilon})")
        connection.commit()
        connection.close()
        return charge

    def _meet(self):
        """Wait at the first charge until everybody has seen the same sum."""
        if not self.met:
            (self.folder / f"seen-{os.getpid()}").touch()
            while len(list(self.folder.glob("seen-*"))) < self.processes:
                time.sleep(0.005)
        self.met = True


def spender(account, folder, epsilon):
    """Spend and draw until nothing is left."""
    draws = os.open(folder / f"draws-{os.getpid()}", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    while True:
        try:
            paid = account.spend(PureDP(epsilon), "a draw")
        except BudgetExceededError:
            os._exit(SPENT)
        except tuple(REFUSALS):
            os.write(draws, b"failed\n")
            time.sleep(0.05)
            continue
        os.write(draws, f"{getattr(paid, 'charge_id', paid)}\n".encode())


def started(account, folder, epsilon):
    child = os.fork()
    if child == 0:
        try:
            spender(account, folder, epsilon)
        except BaseException as error:
            (folder / f"error-{os.getpid()}").write_text(repr(error))
        finally:
            os._exit(FAILED)
    return child


def drawn(folder):
    """Whether somebody has drawn."""
    lines = (line for path in folder.glob("draws-*") for line in path.read_text().splitlines())
    return any(line != "failed" for line in lines)


def main(url, folder, how, *numbers):
    processes, kills, seed, epsilon = numbers
    folder, source = Path(folder), random.Random(int(seed))
    if how == "unlocked":
        REFUSALS.append(LedgerTamperedError)
        read = store.read_state
        account_module.read_state = lambda connection, name, lock: read(
            connection, name, lock=False
        )
        begin = backend.SQLite.begin
        backend.SQLite.begin = lambda self, connection, write: begin(self, connection, write=False)
    total = 0.25
    if how == "naive":
        account = Naive(url, total, folder, int(processes))
    else:
        account = Ledger(url).account("study")
    children = [started(account, folder, float(epsilon)) for _ in range(int(processes))]
    while children and not drawn(folder):  # nobody is killed before
        time.sleep(0.005)
        children = [child for child in children if not os.waitpid(child, os.WNOHANG)[0]]
    killed, parent = 0, os.getppid()
    while killed < int(kills) and children and not (folder / "stop").exists():
        if os.getppid() != parent:  # who asked for this is gone
            break
        time.sleep(source.uniform(0.0, 0.02))
        if int(kills) < 10**6:
            victim = source.choice(children)
            os.kill(victim, signal.SIGKILL)
            killed += 1
        for child in list(children):
            flag = 0 if int(kills) < 10**6 and child == victim else os.WNOHANG
            done, status = os.waitpid(child, flag)
            if done:
                children.remove(child)
                if os.WIFSIGNALED(status):
                    children.append(started(account, folder, float(epsilon)))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(json.dumps({"killed": killed, "left": len(children)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
