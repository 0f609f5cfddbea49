"""Peak memory of a mean of a million 3 x 3 matrices, beside pyriemann, with two threads."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

import pytest

N = 1_000_000

_PEAK = """
import os, sys, time
os.sched_setaffinity(0, range(os.cpu_count()))
import numpy as np
import riemdp
which, kind = sys.argv[1:]
if which == "peer":
    try:
        from pyriemann.geometry.mean import mean_logeuclid, mean_riemann
    except ImportError:
        from pyriemann.utils.mean import mean_logeuclid, mean_riemann
rng = np.random.default_rng(0)
points = np.empty((1_000_000, 3, 3))
for start in range(0, len(points), 10_000):
    factors = rng.normal(size=(10_000, 3, 6))
    points[start:start + 10_000] = factors @ np.swapaxes(factors, 1, 2) / 6
manifold = getattr(riemdp, kind)(3)
few = points[:1000]
def mean(points):
    if which == "ours":
        return riemdp.frechet_mean(manifold, points, tol=1e-8)
    return (mean_logeuclid if kind == "SPDLogEuclidean" else mean_riemann)(points)
mean(few)
def status(name):
    with open("/proc/self/status") as lines:
        return next(float(line.split()[1]) for line in lines if line.startswith(name))
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # from here on the peak counts
before = status("VmRSS")
start = time.perf_counter()
mean(points)
taken = time.perf_counter() - start
print(status("VmHWM") - before, taken)
"""


@pytest.mark.parametrize("kind", ["SPDLogEuclidean", "SPDAffineInvariant"])
def test_memory(report, kind):
    pytest.importorskip("pyriemann", exc_type=ImportError)
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("peak memory is read as Linux reports it")
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    sides = ("ours", "peer")
    peaks, times = ({which: [] for which in sides} for _ in range(2))
    for _ in range(5):
        for which in sides:
            done = subprocess.run(
                [sys.executable, "-c", _PEAK, which, kind],
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            )
            peak, taken = done.stdout.split()
            peaks[which].append(float(peak) / 1024.0)
            times[which].append(float(taken))
    ours, theirs = (statistics.median(peaks[which]) for which in sides)
    name = f"{kind}(3) mean, n={N}, two threads"
    report.add(
        f"{name}, peak memory over the {N * 72 / 2**20:.0f} MiB of the points: pyriemann / ours",
        f"{ours:.0f} MiB",
        f"{theirs:.0f} MiB",
        theirs / max(ours, 1.0),
        at_least=1.0,
    )
    ours, theirs = (statistics.median(times[which]) for which in sides)
    report.add(
        f"{name}, wall time: pyriemann / ours", f"{ours:.2f} s", f"{theirs:.2f} s", theirs / ours
    )
