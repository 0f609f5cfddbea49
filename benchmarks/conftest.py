"""Ratios against peers, measured side by side in one run, in one Markdown table at the end."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import statistics
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy

import riemdp


@dataclass
class Report:
    """The rows of the table, and how they are measured."""

    HEAD: ClassVar = ("row", "ours", "peer", "ratio", "target", "met")
    rows: list[tuple[str, ...]] = field(default_factory=list)

    @staticmethod
    def times(ours, peer, *, rounds=5):
        """Seconds of CPU time of two functions, called in turn after one warm-up each.

        CPU time of this thread: what else the machine does disturbs it least.
        """
        times = {ours: [], peer: []}
        for function in times:
            function()
        for _ in range(rounds):
            for function, taken in times.items():
                start = time.thread_time()
                function()
                taken.append(time.thread_time() - start)
        return times[ours], times[peer]

    @classmethod
    def alternate(cls, ours, peer, *, rounds=5):
        """Medians of :meth:`times`."""
        first, second = cls.times(ours, peer, rounds=rounds)
        return statistics.median(first), statistics.median(second)

    def add(self, name, ours, peer, ratio, *, at_least=None, at_most=None, value=None):
        """Add a row; the target is for the ratio, or for ``value`` where that is given."""
        measured = ratio if value is None else value
        target, met = "", ""
        if at_least is not None:
            target, met = f"≥ {at_least:g}", "yes" if measured >= at_least else "**no**"
        if at_most is not None:
            target, met = f"≤ {at_most:g}", "yes" if measured <= at_most else "**no**"
        if value is not None:
            target += " (ours)"
        text = f"{ratio:.1e}" if ratio >= 1e3 else f"{ratio:.2f}"
        self.rows.append((name, ours, peer, text, target, met))

    def table(self):
        """Return the rows in Markdown."""
        lines = [self.HEAD, ("---",) * len(self.HEAD), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


_REPORT = Report()


@pytest.fixture(scope="session")
def report():
    return _REPORT


@pytest.fixture(autouse=True, scope="session")
def _one_core():
    """Keep this process on one core, so that both sides compute with one thread."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


def pytest_addoption(parser):
    parser.addoption("--rows", type=Path, help="write the rows and the machine to this JSON file")


def pytest_terminal_summary(terminalreporter, config):
    if not _REPORT.rows:
        return
    if (path := config.getoption("--rows")) is not None:
        skipped = [
            f"`{report.nodeid.split('[')[0]}`: {report.longrepr[-1].removeprefix('Skipped: ')}"
            for report in terminalreporter.stats.get("skipped", [])
        ]
        document = {
            "machine": _machine(),
            "head": Report.HEAD,
            "rows": _REPORT.rows,
            "skipped": list(dict.fromkeys(skipped)),
        }
        path.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    terminalreporter.section("ratios")
    terminalreporter.write_line(_machine())
    terminalreporter.write_line("")
    terminalreporter.write_line(_REPORT.table())


def _machine():
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, StopIteration), open("/proc/cpuinfo") as lines:
        name = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    peers = ""
    for peer in ("pyriemann", "geomstats", "autodp", "dp-accounting", "diffprivlib"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            peers += f", {peer} {metadata.version(peer)}"
    return (
        f"riemdp {riemdp.__version__}, {name}, {os.cpu_count()} cores{load}, Python "
        f"{platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}{peers}; "
        "CPU time of one thread, medians of alternating calls, unless a row says otherwise"
    )
