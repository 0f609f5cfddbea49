"""Run as a program: releases by workers, some of which are killed while they work.

``python cluster.py WHAT FOLDER`` prints what it found as JSON. WHAT is ``killed``, ``pools``,
``lost`` or ``told``. Functions of a program are sent to workers as they are, those of a test are
not.
"""

import json
import logging
import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

import riemdp
from riemdp import GDP, Accountant, Ball, Chunks
from riemdp.release import _run
from riemdp.statistics import FrechetMean, TangentMean
from riemdp.workers import private_mean, private_statistic, spread

N, FILES, KILLS = 240, 24, 3
#: In every file, and in no message.
MARK = 0.123456789
SPD, SPHERE = riemdp.SPDLogEuclidean(2), riemdp.Sphere(2)
MATRICES = Ball(SPD, np.eye(2), 2.0)
DIRECTIONS = Ball(SPHERE, np.array([0.0, 0.0, 1.0]), 1.0)
CAP = Ball(SPHERE, np.array([0.0, 0.0, 1.0]), 0.4)


def slowly(path, notes, seconds):
    """Open a file, and take a while; into a file of all workers goes how many records that were."""
    points = np.load(path)
    note(notes, f"begins {os.getpid()} {len(points)}")
    time.sleep(seconds)
    note(notes, f"ends {os.getpid()}")
    return points


def note(notes, text):
    with open(notes, "a") as opened:
        opened.write(f"{text}\n")


def records(folder):
    """Write the same matrices and directions in two ways, as one array and in files."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(N, 2, 2))
    matrices = rows @ np.swapaxes(rows, -1, -2) + 0.1 * np.eye(2)
    matrices[::10] = MARK * np.eye(2)
    vectors = rng.normal(size=(N, 3)) + np.array([0.0, 0.0, 2.0])
    directions = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    found = {}
    for name, points in (("matrices", matrices), ("directions", directions)):
        found[name] = points
        np.save(folder / f"{name}.npy", points)
        for i, part in enumerate(np.array_split(points, FILES)):
            np.save(folder / f"{name}{i:02}.npy", part)
        mixed = points[rng.permutation(N)]
        for i, part in enumerate(np.array_split(mixed, 7)):
            np.save(folder / f"mixed_{name}{i}.npy", part)
    return found


def chunks(folder, name, seconds=0.0, *, stated=True):
    paths = sorted(folder.glob(f"{name}[0-9]*.npy"))
    parts = [partial(slowly, path, folder / f"notes_{name}", seconds) for path in paths]
    sizes = [len(np.load(path)) for path in paths] if stated else None
    return Chunks(parts, N, sizes=sizes)


class Footpoints:
    """What noise was added to, as rational numbers."""

    def __init__(self):
        self.found, self._answer = [], _run.answer
        _run.answer = self

    def __call__(self, *arguments):
        self.found.append(self._answer(*arguments))
        return self.found[-1]

    def of(self, release):
        """Return footpoints and integers of the release that was just made, as text."""
        found, self.found = self.found, []
        return [[[str(x) for x in each] for each in found], list(map(str, release.rounded))]


def releases(matrices, directions):
    """Return functions that release, of an array or chunks."""

    def seeded():
        return {"generator": np.random.default_rng(7)}

    budget = GDP(1.0)
    return {
        "Fréchet mean": lambda: riemdp.private_mean(matrices, MATRICES, budget, **seeded()),
        "tangent mean": lambda: riemdp.private_statistic(
            TangentMean(), directions, DIRECTIONS, budget, mechanism="tangent-gaussian", **seeded()
        ),
        "moments": lambda: riemdp.private_moments(matrices, MATRICES, budget, **seeded()),
        "curved mean": lambda: riemdp.private_statistic(
            FrechetMean(),
            Chunks([directions], sizes=[N]) if isinstance(directions, np.ndarray) else directions,
            CAP,
            budget,
            mechanism="riemannian-gaussian",
            **seeded(),
        ),
        "median": lambda: riemdp.private_statistic(
            riemdp.statistics.GeometricMedian(steps=3), directions, DIRECTIONS, budget, **seeded()
        ),
    }


def made(matrices, directions):
    footpoints = Footpoints()
    return {name: footpoints.of(make()) for name, make in releases(matrices, directions).items()}


def counted(notes):
    """Return the records that tasks have counted as they went along, and how many begun again."""
    lines = [line.split() for line in notes.read_text().splitlines()]
    return sum(int(line[2]) for line in lines if line[0] == "begins")


def kill_in_the_middle(notes, killed):
    """Kill workers that have begun a part and not ended it."""
    while len(killed) < KILLS:
        time.sleep(0.02)
        lines = notes.read_text().splitlines() if notes.exists() else []
        busy = {line.split()[1] for line in lines if line.startswith("begins")}
        last = {line.split()[1]: line.split()[0] for line in lines}
        for pid in sorted(busy - set(killed)):
            if last[pid] == "begins" and len(lines) > 6 * (1 + len(killed)):
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)
                break


def cluster(folder, **options):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        local_directory=str(folder / "workers"),
        **options,
    )


def drawn_here():
    """Whether this process has made a secure generator: what that is of is loaded then alone."""
    return "randomgen" in sys.modules


def killed(folder):
    """Kill three workers in the middle of the first release; the others are made afterwards."""
    from distributed import Client

    whole = records(folder)
    found = {"serial": made(whole["matrices"], whole["directions"])}
    with cluster(folder) as workers, Client(workers) as client:
        gone, notes = [], folder / "notes_matrices"
        killer = threading.Thread(target=kill_in_the_middle, args=(notes, gone), daemon=True)
        killer.start()
        mean = spread(chunks(folder, "matrices", 0.25), client)
        release = riemdp.private_mean(
            mean, MATRICES, GDP(1.0), generator=np.random.default_rng(7), mechanism="auto"
        )
        killer.join(60)
        found["killed"] = len(gone)
        found["value"] = release.value.tolist()
        found["rounded"] = list(map(str, release.rounded))
        found["counted"] = counted(notes)
        for name, given in (("dask", ""), ("mixed", "mixed_")):
            parts = [
                spread(chunks(folder, given + each, stated=name == "dask"), client)
                for each in ("matrices", "directions")
            ]
            found[name] = made(*parts)
        private_mean(chunks(folder, "matrices"), MATRICES, GDP(1.0), client=client)
        found["draws"] = [drawn_here(), *client.run(drawn_here).values()]
        time.sleep(0.5)
        found["left"] = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    return found


def pools(folder):
    """Release with processes of joblib and of the standard library; then let one of them die."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    import joblib

    whole = records(folder)
    found = {"serial": made(whole["matrices"], whole["directions"])}
    parts = [chunks(folder, "mixed_matrices"), chunks(folder, "directions")]
    parallel = joblib.Parallel(2)
    found["joblib"] = made(*(spread(each, parallel) for each in parts))
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        found["processes"] = made(*(spread(each, pool) for each in parts))
        try:
            private_mean(
                Chunks([partial(dies, os.getpid())] * 3, N), MATRICES, GDP(1.0), client=pool
            )
        except riemdp.WorkersFailedError as error:
            found["error"] = str(error)
    return found


def dies(driver):
    """Take the worker along."""
    if os.getpid() != driver:
        os._exit(1)


class Heard(logging.Handler):
    """What the holder of the data is told."""

    def __init__(self):
        super().__init__()
        self.found = []
        logging.getLogger("riemdp.data_holder").addHandler(self)

    def emit(self, record):
        self.found.append([record.exc_info[0].__name__, str(record.exc_info[1])])


def lost(folder):
    """Lose the whole cluster in the middle, and never close it: that would wait for it."""
    from distributed import Client

    records(folder)
    notes, heard, account = folder / "notes_matrices", Heard(), Accountant(GDP(1.0))
    workers = cluster(folder)
    client = Client(workers)

    def close():
        while not notes.exists() or len(notes.read_text().splitlines()) < 10:
            time.sleep(0.02)
        workers.loop.add_callback(workers.scheduler.close)

    threading.Thread(target=close, daemon=True).start()
    try:
        private_statistic(
            FrechetMean(),
            chunks(folder, "matrices", 0.1),
            MATRICES,
            GDP(0.5),
            client=client,
            accountant=account,
        )
    except riemdp.RiemdpError as error:
        return {
            "error": [type(error).__name__, str(error)],
            "heard": heard.found,
            "spent": account.spent.mu,
            "begun": counted(notes),
        }
    return {}


def told(folder):
    """Return what is said, and what the cluster has written down, of a record that is not valid."""
    from distributed import Client

    whole = records(folder)
    broken = whole["matrices"][:10].copy()
    broken[6, 0, 1] += MARK
    np.save(folder / "matrices03.npy", broken)
    found = {}
    with cluster(folder) as workers, Client(workers) as client:
        for name, account in (("paid", Accountant(GDP(1.0))), ("plain", None)):
            given = {"client": client, "accountant": account}
            try:
                private_mean(chunks(folder, "matrices"), MATRICES, GDP(0.5), **given)
            except riemdp.RiemdpError as error:
                found[name] = [type(error).__name__, str(error)]
                kept = error  # with its traceback, as a notebook keeps it
        time.sleep(0.5)
        found["left"] = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        del kept
        found["logs"] = repr([client.get_scheduler_logs(), client.get_worker_logs()])
        client.submit({}.__getitem__, MARK).exception()
        found["control"] = repr(client.get_worker_logs())
    return found


if __name__ == "__main__":
    what = {each.__name__: each for each in (killed, pools, lost, told)}[sys.argv[1]]
    print("\n" + json.dumps(what(Path(sys.argv[2]))), flush=True)
    os._exit(0)  # what is lost cannot be closed
