"""Milliseconds of a spend from a durable account, and of the same account in memory.

    python benchmarks/ledger.py [--entries 10 100000] [--spends 50] [--url URL] [--folder FOLDER]

A line is a database and the number of entries that are in it before. The first entries are written
in one transaction; what is measured is a spend as it is. Beside the median stand the quartiles,
and the time of a check of all entries. A URL names an empty database of PostgreSQL, where a ledger
is left behind; SQLite's file lies in the folder.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import insert, text, update

from riemdp import Accountant, PureDP
from riemdp.ledger import Ledger
from riemdp.ledger._chain import Row, read_sums, written_amounts, written_sums
from riemdp.ledger._entry import written_budget
from riemdp.ledger._store import fresh_id, now, read_state
from riemdp.ledger._tables import ENTRIES, TIPS
from riemdp.privacy import added

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

PRICE = 2.0**-30


def filled(ledger: Ledger, name: str, entries: int) -> None:
    """Enter as many charges, in one transaction, as spends would."""
    ledger.register(name, PureDP(1.0), unit="person", adjacency="replace-one")

    def work(connection: Connection) -> None:
        dataset, tip, _ = read_state(connection, name, lock=True)
        sums, previous, rows = read_sums(tip.sums), tip.hash, []
        budget, price = written_budget(PureDP(PRICE)), written_amounts((PRICE,))
        for seq in range(1, entries + 1):
            sums = added(sums, (PRICE,))
            row = Row(name, seq, fresh_id(), "charge", "x", budget, price, "", now(), previous)
            row = replace(row, hash=ledger.chain.entry(dataset.genesis, row, written_sums(sums)))
            previous = row.hash
            rows.append(asdict(row))
        connection.execute(insert(ENTRIES), rows)
        server = connection.dialect.name == "postgresql"
        drop = "DROP TRIGGER IF EXISTS riemdp_tips_moves_on"
        connection.execute(text(f"{drop} ON riemdp_tips" if server else drop))
        moved = {"seq": entries, "hash": previous, "sums": written_sums(sums)}
        connection.execute(update(TIPS).where(TIPS.c.dataset == name).values(moved))

    ledger.backend.written(work, lambda *_: True)


def milliseconds(action: Callable[[], object], times: int) -> list[float]:
    """Return the quartiles of as many runs."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        found.append(1e3 * (time.perf_counter() - started))
    return statistics.quantiles(found, n=4)


def line(name: str, entries: int, ledger: Ledger, spends: int) -> None:
    """Print one line."""
    dataset = f"bench-{fresh_id()}"
    filled(ledger, dataset, entries)
    account = ledger.account(dataset)
    low, middle, high = milliseconds(lambda: account.spend(PureDP(PRICE), "x"), spends)
    started = time.perf_counter()
    ok = ledger.verify().ok
    seconds = time.perf_counter() - started
    print(f"{name:<12}{entries:>9}{middle:>9.2f}{low:>9.2f}{high:>9.2f}{seconds:>9.2f}  {ok}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, nargs="+", default=[10, 100_000])
    parser.add_argument("--spends", type=int, default=50)
    parser.add_argument("--url")
    parser.add_argument("--folder")
    asked = parser.parse_args()
    print("database      entries   median      25%      75%  verify s")
    account = Accountant(PureDP(1.0))
    low, middle, high = milliseconds(lambda: account.spend(PureDP(PRICE), "x"), 10_000)
    print(f"{'memory':<12}{0:>9}{middle:>9.4f}{low:>9.4f}{high:>9.4f}")
    for entries in asked.entries:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            line("SQLite", entries, Ledger(Path(folder) / "ledger.db"), asked.spends)
        if asked.url:
            line("PostgreSQL", entries, Ledger(asked.url), asked.spends)


if __name__ == "__main__":
    main()
