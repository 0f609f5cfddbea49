"""CPU time of ``import riemdp``, with NumPy's own beside it."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys


def cpu_seconds(statement):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_import(report):
    statements = ["pass", "import numpy", "import riemdp"]
    times = {statement: [] for statement in statements}
    for _ in range(7):
        for statement in statements:
            times[statement].append(cpu_seconds(statement))
    start, numpy, ours = (statistics.median(times[statement]) for statement in statements)
    report.add(
        f"import riemdp (interpreter included, {start:.3f} s by itself) / import numpy",
        f"{ours:.3f} s",
        f"{numpy:.3f} s",
        ours / numpy,
        at_most=0.5,
        value=ours,
    )
    assert ours > start
