"""Time and memory of a private mean of tensors that are read from a file in chunks.

    python benchmarks/streaming.py 1e7 --folder /tmp

It writes n random 3 x 3 tensors (72 bytes each) once, releases their mean from the memory map, and
then that of the same file ten times over. Memory is that of the process above what it held before.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path

import numpy as np

from riemdp import GDP, Ball, Chunks, SPDLogEuclidean, private_mean
from riemdp.release import chunks_of

#: Records that are written at a time.
_ROWS = 10**5


class Memory:
    """Largest resident memory of this process above what it was, in MiB, looked at all the time."""

    def __enter__(self) -> Memory:
        self.start = self.most = _resident()
        self._going = True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._going = False
        self._thread.join()

    @property
    def growth(self) -> float:
        """Largest growth so far."""
        return self.most - self.start

    def _watch(self) -> None:
        while self._going:
            self.most = max(self.most, _resident())
            time.sleep(0.005)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def tensors(path: Path, n: int) -> np.memmap:
    """Write n tensors where there are none yet, and map them."""
    if not path.exists() or path.stat().st_size != 72 * n:
        source = np.random.default_rng(0)
        with path.open("wb") as file:
            for start in range(0, n, _ROWS):
                root = source.normal(size=(min(_ROWS, n - start), 3, 3))
                file.write((np.eye(3) + 0.2 * root @ root.transpose(0, 2, 1)).tobytes())
    return np.memmap(path, np.float64, "r", shape=(n, 3, 3))


def several_times(points: np.memmap, times: int) -> Chunks:
    """Return the chunks of an array, so many times over."""
    once = chunks_of(points)
    sizes = [stop - start for start, stop in map(once.rows, range(once.number))]
    return Chunks(list(once.parts) * times, sizes=sizes * times)


def measured(points: np.memmap | Chunks) -> tuple[float, float, float]:
    """Return CPU seconds, wall seconds and MiB of a release."""
    ball = Ball(SPDLogEuclidean(3), np.eye(3), 2.0)
    private_mean(np.broadcast_to(np.eye(3), (10, 3, 3)), ball, GDP(1.0))  # imports, tables
    with Memory() as memory:
        cpu, wall = time.process_time(), time.perf_counter()
        private_mean(points, ball, GDP(1.0))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return cpu, wall, memory.growth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=float, nargs="?", default=1e7)
    parser.add_argument("--folder", type=Path, default=Path())
    given = parser.parse_args()
    points = tensors(given.folder / "tensors.f64", int(given.n))
    once = measured(points)
    ten = measured(several_times(points, 10))
    for name, (cpu, wall, growth) in ((f"{given.n:.0e}", once), ("ten times", ten)):
        print(f"{name:>10}: {cpu:8.1f} s CPU, {wall:8.1f} s, {growth:6.1f} MiB")
    print(f"     ratio: {ten[0] / once[0]:8.2f} of CPU, {ten[1] / once[1]:.2f} of time")


if __name__ == "__main__":
    main()
