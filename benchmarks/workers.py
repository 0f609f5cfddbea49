"""Processor time of a mean by workers of Dask, against that of one process.

    python benchmarks/workers.py [--records 10000000] [--tasks 10 40 153] [--quick]

3x3 tensors lie in a file, and the mean of them is released by one process; by two workers of Dask
that are given as many tasks; and by two workers of which three are killed on the way. Seconds are
those of all processes together, of the release alone and with what it costs to start and to stop;
a release has the same integers every time, or there is an error. ``--quick`` takes 200,000.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import riemdp
from riemdp.workers import private_mean

CHUNK = 2**16
KILLS = 3


def written(path: Path, records: int) -> None:
    """Write tensors, a part at a time."""
    rng = np.random.default_rng(0)
    found = np.lib.format.open_memmap(path, "w+", np.float64, (records, 3, 3))
    for start in range(0, records, CHUNK):
        rows = rng.normal(size=(min(CHUNK, records - start), 3, 3))
        found[start : start + CHUNK] = rows @ np.swapaxes(rows, -1, -2) + 0.1 * np.eye(3)


def released(points: object, **options: object) -> list[int]:
    """Release, and return the integers."""
    ball = riemdp.Ball(riemdp.SPDLogEuclidean(3), np.eye(3), 2.0)
    budget, generator = riemdp.GDP(1.0), np.random.default_rng(1)
    mean = private_mean if options else riemdp.private_mean
    return list(mean(points, ball, budget, generator=generator, **options).rounded)


def seconds_here() -> float:
    return time.process_time()


def kill(cluster: object, seconds: float, done: threading.Event) -> None:
    """Kill a worker every so many seconds, three in all."""
    gone: set[int] = set()
    while len(gone) < KILLS and not done.wait(seconds):
        pids = {nanny.pid for nanny in cluster.workers.values()} - gone - {None}  # type: ignore[attr-defined]
        for pid in sorted(pids)[:1]:
            os.kill(pid, signal.SIGKILL)
            gone.add(pid)


def one(path: Path) -> dict[str, object]:
    """Release in this process."""
    points = np.load(path, mmap_mode="r")
    start = seconds_here()
    integers = released(points)
    return {"integers": integers, "seconds": seconds_here() - start}


def two(path: Path, tasks: int, every: float | None) -> dict[str, object]:
    """Release with two workers."""
    from dask.distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=folder,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(lambda: __import__("riemdp"))  # imports are a part of the start
        if every is None:
            start = seconds_here() + sum(client.run(seconds_here).values())
            integers = released(path, client=client, tasks=tasks)
            seconds = seconds_here() + sum(client.run(seconds_here).values()) - start
            return {"integers": integers, "seconds": seconds}
        done = threading.Event()
        killer = threading.Thread(target=kill, args=(cluster, every, done), daemon=True)
        killer.start()
        integers = released(path, client=client, tasks=tasks)
        done.set()
        killer.join()
        # the time of a worker that was killed went with it: it is in that of all children
        return {"integers": integers, "seconds": None}


def measured(*arguments: str) -> dict[str, object]:
    """Run this program in a process of its own, and add up all time that was spent."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        env=os.environ | threads,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    found["all"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found["wall"] = time.perf_counter() - started
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10**7)
    parser.add_argument("--tasks", type=int, nargs="+", default=[10, 40, 153])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--run", nargs=3, metavar=("PATH", "TASKS", "EVERY"), help="one of them")
    options = parser.parse_args()
    if options.run:
        path, tasks, every = options.run
        pause = float(every) if every != "never" else None
        found = one(Path(path)) if tasks == "one" else two(Path(path), int(tasks), pause)
        print("\n" + json.dumps(found))
        return
    records = 200_000 if options.quick else options.records
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tensors.npy"
        written(path, records)
        print(f"{records:,} tensors: CPU s, of one, with start, wall")
        base = measured("--run", str(path), "one", "never")
        every = str(max(0.3, base["seconds"] / 8))  # type: ignore[operator]
        runs = [("one process", "one", "never")]
        runs += [(f"{tasks} tasks", str(tasks), "never") for tasks in options.tasks]
        runs += [("three killed", str(options.tasks[-1]), every)]
        for name, tasks, pause in runs:
            found = base if tasks == "one" else measured("--run", str(path), tasks, pause)
            if found["integers"] != base["integers"]:
                raise SystemExit(f"{name}: other integers than those of one process")
            seconds = of = "-"
            if found["seconds"] is not None:
                seconds = f"{found['seconds']:.2f}"
                of = f"{found['seconds'] / base['seconds']:.2f}"  # type: ignore[operator]
            print(
                f"{name:<20} {seconds:>8} {of:>7} {found['all']:>12.2f} {found['wall']:>6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
