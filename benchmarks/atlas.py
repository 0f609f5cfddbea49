"""Atlases: time, memory and size from records to a verified file, noise, regions, denoising.

    RIEMDP_DATA=folder python benchmarks/atlas.py [--quick] [--only TEXT]

Every line is a number beside what it is held against. Times are CPU seconds of this process, on one
core where the environment says so (``OMP_NUM_THREADS=1 taskset -c 0``). Subjects are simulated. The
lines on denoising need the real block of tensors; without the data they are of a made-up field.
``--quick`` takes a hundredth of the voxels where it measures time and noise, and draws less often.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import riemdp
from riemdp import GDP, research

try:
    import resource
except ImportError:  # there is none on Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Row = tuple[str, str, str]

T = TypeVar("T")

SPACE = riemdp.SPDLogEuclidean(3)
DIM = SPACE.dim
GAUSSIAN: dict[str, Any] = {"mechanism": "tangent-gaussian"}
#: Of the task, in seconds: a release of 100,000 tensors of 100 people; and what a loop took.
TARGET, LOOP = 15.0, 324.0


def rms(values: Any) -> float:
    """Root mean square."""
    return math.sqrt(float(np.mean(np.square(values))))


def measured(work: Callable[[], T]) -> tuple[T, float, float]:
    """Return what work returns, its CPU time and its wall time."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return found, time.process_time() - cpu, time.perf_counter() - wall


def peak() -> str:
    """Return the largest memory that this process has had."""
    if resource is None:
        return "not known here"
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"


def simulated(voxels: int, n: int, spread: float = 0.3) -> FloatArray:
    """Return tensors of n people about the identity, shape (n, voxels, 3, 3)."""
    random, found = np.random.default_rng(0), np.empty((n, voxels, 3, 3))
    for row in found:
        row[:] = SPACE.from_chart(spread * random.normal(size=(voxels, DIM)))
    return found


def whole(voxels: int, *, quick: bool) -> Iterator[Row]:
    """Release, save and verify an atlas. It comes first: memory is that of the process."""
    n = 100
    atlas = riemdp.Power(SPACE, voxels)
    subjects = simulated(voxels, n)
    ball = riemdp.ProductBall(atlas, np.eye(3), rms_radius=0.8)
    before, name = peak(), f"V = {voxels}, n = {n}: "
    _, cpu, wall = measured(lambda: atlas.validate(subjects))
    yield name + "validation alone", f"{cpu:.2f} s", f"wall {wall:.2f} s"
    release, cpu, wall = measured(lambda: riemdp.private_mean(subjects, ball, GDP(1.0), **GAUSSIAN))
    yield (
        name + "private_mean",
        f"{cpu:.2f} s",
        f"wall {wall:.2f} s" + ("" if quick else f"; at most {TARGET:g} s wanted"),
    )
    yield name + "peak memory", peak(), f"{before} of them with the data alone"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "atlas.json"
        files, cpu, _ = measured(lambda: release.save(path, container=True))
        sizes = [f"{file.stat().st_size / 1e6:.3g} MB" for file in files]
        yield name + "save, container and certificate", f"{cpu:.2f} s", ", ".join(sizes)
        read, cpu, _ = measured(lambda: riemdp.Release.load(path))
        yield (
            name + "load",
            f"{cpu:.2f} s",
            f"same value: {np.array_equal(read.value, release.value)}",
        )
        found, cpu, _ = measured(lambda: riemdp.verify(read))
        yield name + "verify", f"{cpu:.2f} s", f"passed: {found.passed}"
        yield name + "as JSON", f"{len(release.to_json()) / 1e6:.3g} MB", "without a container"
    side = round(voxels ** (1.0 / 3.0))
    if side**3 == voxels:
        grid = (side,) * 3
    else:
        grid = (voxels // 100, 10, 10)
    _, cpu, _ = measured(lambda: release.denoise(grid=grid))
    yield name + f"denoise on {grid}", f"{cpu:.2f} s", ""

    some = 100
    alone = riemdp.Ball(SPACE, np.eye(3), 2.5)
    own = [np.ascontiguousarray(subjects[:, voxel]) for voxel in range(some)]
    riemdp.private_mean(own[0], alone, GDP(1.0), **GAUSSIAN)  # the first one imports
    _, cpu, _ = measured(
        lambda: [riemdp.private_mean(each, alone, GDP(1.0), **GAUSSIAN) for each in own]
    )
    yield (
        f"a loop over {voxels} voxels, from {some}",
        f"{cpu * voxels / some:.0f} s",
        f"once {LOOP:g} s for 100,000; each voxel with a budget of its own",
    )


def formula(rho: float, copies: int, n: int, mu: float = 1.0) -> float:
    """Return ``2 rho sqrt(K d) / (n mu)``, the noise per mean."""
    return 2.0 * rho * math.sqrt(copies * DIM) / (n * mu)


def noise(voxels: int) -> Iterator[Row]:
    """Noise per mean, as released, as stated and by the formula."""
    rho, budget = 0.4, GDP(1.0)
    for copies in (voxels, 400, 48):
        atlas = riemdp.Power(SPACE, copies)
        ball = riemdp.ProductBall(atlas, np.eye(3), rms_radius=rho)
        for n in (100, 500, 5000):
            chosen = riemdp.plan(atlas, ball, n, budget, mechanisms=["tangent-gaussian"]).best
            mechanism = riemdp.TangentGaussian(atlas, chosen.sigma)
            center = np.asarray(ball.center)
            draws = max(1, 20_000 // copies)
            random = np.random.default_rng(0)
            away = [
                SPACE.dist(np.eye(3), research.sample(mechanism, center, generator=random))
                for _ in range(draws)
            ]
            yield (
                f"{copies} means, n = {n}, rho = {rho:g}: drawn",
                f"{rms(away):.4g}",
                f"formula {formula(rho, copies, n):.4g}, "
                f"stated {chosen.expected_distance / math.sqrt(copies):.4g}",
            )
    atlas = riemdp.Power(SPACE, voxels)
    boxes = riemdp.ProductBall(atlas, np.eye(3), radii=2.5)
    for n in (100, 500, 5000):
        chosen = riemdp.plan(atlas, boxes, n, budget, mechanisms=["tangent-gaussian"]).best
        yield (
            f"{voxels} means, n = {n}, each clipped at 2.5: stated",
            f"{chosen.expected_distance / math.sqrt(voxels):.4g}",
            f"formula {formula(2.5, voxels, n):.4g}",
        )
    for n in (100, 500, 5000):
        yield (
            f"means at which privacy costs what sampling does, c = 1, n = {n}",
            f"{n / (4.0 * DIM):.1f} tensors",
            f"{int(n / 4.0)} scalars: n mu^2 / (4 c^2 d)",
        )


def regions(voxels: int, draws: int) -> Iterator[Row]:
    """Mean of one coordinate over all voxels, with and without projection."""
    n, true, rho = 100, 0.3, 0.65
    atlas = riemdp.Power(SPACE, voxels)
    ball = riemdp.ProductBall(atlas, np.eye(3), rms_radius=rho)
    random = np.random.default_rng(0)
    coordinates = 0.2 * random.normal(size=(n, voxels, DIM))
    coordinates -= coordinates.mean(axis=(0, 1))  # of all people and voxels, exactly
    coordinates[..., 0] += true
    subjects = SPACE.from_chart(coordinates)
    for project, wanted in ((False, ".297 +- .013"), (True, ".060 +- .001")):
        found = []
        for seed in range(draws):
            generator = np.random.default_rng(seed)
            release = riemdp.private_mean(subjects, ball, GDP(1.0), generator=generator, **GAUSSIAN)
            value = ball.project(release.value[None])[0] if project else release.value
            found.append(float(SPACE.to_chart(value)[:, 0].mean()))
        yield (
            f"mean over {voxels} voxels, true {true:.3f}, {draws} releases, "
            f"{'projected' if project else 'as they are'}",
            f"{np.mean(found):.4f} +- {np.std(found, ddof=1):.4f}",
            f"{wanted}; noise of one coordinate over all: "
            f"{formula(rho, voxels, n) / math.sqrt(DIM * voxels):.4f}",
        )


def block() -> tuple[FloatArray, str]:
    """Return logarithms of a block of 6 x 10 x 10 tensors, real ones where they are at hand."""
    shape, folder = (6, 10, 10), os.environ.get("RIEMDP_DATA")
    path = Path(folder) / "dti_dipy.npz" if folder else None
    if path is not None and path.exists():
        with np.load(path) as data:
            tensors = data["tensors"][data["source"] == 0]
        return SPACE.to_chart(tensors).reshape(*shape, DIM), "real block"
    place = np.stack(np.meshgrid(*(np.linspace(0.0, 3.0, s) for s in shape), indexing="ij"), -1)
    waves = np.random.default_rng(3).normal(size=(3, DIM))
    return 0.5 * np.sin(place @ waves) - 0.3, "MADE-UP block"


def denoising(enlarged: int, draws: int) -> Iterator[Row]:
    """Errors per voxel of simulated subjects around a block, and around it enlarged."""
    from scipy.ndimage import zoom

    n, spread, rho, template = 500, 0.4, 1.0, 0.7 * np.eye(3)
    field, source = block()
    larger = zoom(field, (*(enlarged,) * 3, 1), order=1)
    for logs in (field, larger) if enlarged > 1 else (field,):
        grid, middle = logs.shape[:3], logs.reshape(-1, DIM)
        atlas = riemdp.Power(SPACE, len(middle))
        random = np.random.default_rng(0)
        # the mean of so many people, and who is clipped, hardly depend on any one of them
        subjects = SPACE.from_chart(
            middle + spread / math.sqrt(DIM) * random.normal(size=(n, len(middle), DIM))
        )
        name = f"{source}, {' x '.join(map(str, grid))} voxels, n = {n}: "
        whole_ball = riemdp.ProductBall(atlas, template, rms_radius=rho)
        boxes = riemdp.ProductBall(atlas, template, radii=2.5)
        yield (
            name + "the template",
            f"{rms(np.linalg.norm(middle - SPACE.to_chart(template), axis=-1)):.3f}",
            "rms distance per voxel, as in all lines",
        )
        for how, ball in (("each voxel at 2.5", boxes), (f"the whole at {rho:g}", whole_ball)):
            raw, smooth = [], []
            for seed in range(draws):
                release = riemdp.private_mean(
                    subjects, ball, GDP(1.0), generator=np.random.default_rng(seed), **GAUSSIAN
                )
                denoised = release.denoise("wiener", grid=grid)
                for kept, value in ((raw, release.value), (smooth, denoised.value)):
                    kept.append(rms(np.linalg.norm(SPACE.to_chart(value) - middle, axis=-1)))
            yield (
                name + how,
                f"{np.mean(raw):.3f}, denoised {np.mean(smooth):.3f}",
                f"noise stated {release.noise_per_mean:.3f}, sampling {spread / math.sqrt(n):.3f}",
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="parts whose name holds this text")
    chosen = parser.parse_args()
    quick = chosen.quick
    voxels, draws = (1_000, 3) if quick else (100_000, 20)
    parts: tuple[tuple[str, Callable[[], Iterator[Row]]], ...] = (
        ("whole", lambda: whole(voxels, quick=quick)),
        ("noise", lambda: noise(voxels)),
        ("regions", lambda: regions(10_000, draws)),
        ("denoising", lambda: denoising(1 if quick else 2, min(draws, 5))),
    )
    for name, part in parts:
        if chosen.only not in name:
            continue
        for row in part():
            print(f"{row[0]:70}  {row[1]:26}  {row[2]}", flush=True)


if __name__ == "__main__":
    main()
