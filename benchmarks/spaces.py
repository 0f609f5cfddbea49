"""Errors of private means of rotations, axes, shapes, angles, subspaces and products.

    RIEMDP_DATA=folder python benchmarks/spaces.py [--draws 100] [--only TEXT] [--markdown]

A line is a cell of data, ball, mean and noise. Its error is the mean distance of releases, in exact
arithmetic, to the exact mean of the same kind of the records in the ball; beside it stand its
standard error, the ``expected_distance`` that was known before, their ratio, and the time of a
release after the first. Below the table stands what no budget takes away: the share of records that
are clipped, how far the kinds of means lie apart, and the error of sampling. Balls and templates
are round numbers or come from records that are left out.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import contourpy
import numpy as np
from scipy.spatial.transform import Rotation

import riemdp
from riemdp import GDP, Ball, QuotientBall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Landmarks of an outline.
LANDMARKS = 20
BOOT = 9
GAUSSIAN = ("riemannian-gaussian", "wrapped-gaussian", "tangent-gaussian", "auto")
HEAD = ("data", "n", "ball", "mechanism", "mean", "error", "se", "expected", "ratio", "proven")


@dataclass(frozen=True)
class Cell:
    """Records in a public ball, to be released at a budget with several mechanisms."""

    name: str
    points: Any
    ball: Ball
    place: str
    mechanisms: tuple[str, ...] = GAUSSIAN
    mu: float = 1.0
    unit: float = 1.0


def load(name: str, *keys: str) -> list[Any]:
    """Return arrays of a data file."""
    with np.load(Path(os.environ["RIEMDP_DATA"]) / name) as data:
        return [data[key] for key in keys]


# Data.


def joint(name: str) -> Any:
    """Return rotations of a joint of people who drill, as matrices."""
    quaternions, joints = load("rotations_drill_nickel.npz", "drill_quat_wxyz", "drill_joint")
    scalar_last = quaternions[joints == name][:, [1, 2, 3, 0]]
    return riemdp.Rotations().validate(scalar_last)


def outline(image: Any, count: int = LANDMARKS) -> Any:
    """Landmarks at equal steps along the longest contour, from straight above its middle.

    The contour goes anticlockwise. A landmark depends on this image alone.
    """
    padded = np.pad(image.astype(float), 1)
    lines = contourpy.contour_generator(z=padded).lines(60.0)
    path = max(lines, key=lambda line: np.abs(np.diff(line, axis=0)).sum())[:-1]
    z = path[:, 0] - 1j * path[:, 1]
    if np.sum(np.imag(np.conj(z) * np.roll(z, -1))) < 0.0:
        z = z[::-1]
    middle = 0.5 * (z.real.max() + z.real.min() + 1j * (z.imag.max() + z.imag.min()))
    z = np.roll(z, -int(np.argmax(np.real((z - middle) / 1j) - 3.0 * np.abs(np.real(z - middle)))))
    closed = np.append(z, z[0])
    along = np.append(0.0, np.cumsum(np.abs(np.diff(closed))))
    at = along[-1] * np.arange(count) / count
    return np.interp(at, along, closed.real) + 1j * np.interp(at, along, closed.imag)


@functools.cache
def boots() -> tuple[Any, Any]:
    """Return outlines of ankle boots, private and public ones."""
    found = []
    for part in ("train", "test"):
        images, labels = load("fashion_mnist_part.npz", f"x_{part}", f"y_{part}")
        found.append(np.array([outline(image) for image in images[labels == BOOT]]))
    return found[0], found[1]


@functools.cache
def boots_template() -> Any:
    """Full Procrustes mean of the public boots: a leading eigenvector."""
    _, public = boots()
    shapes = riemdp.PlanarShapes(LANDMARKS).validate(public) @ [1.0, 1j]
    return np.linalg.eigh(np.einsum("ni,nj->ij", shapes, np.conj(shapes)))[1][:, -1]


def torsions(n: int = 1000) -> Any:
    """Return pairs of angles like those of a helix, simulated: wide, and a little correlated."""
    random = np.random.default_rng(0)
    spread = np.radians([[18.0, 0.0], [-9.0, 15.0]])
    return np.radians([-64.0, -42.0]) + random.normal(size=(n, 2)) @ spread.T


# Cells.


def cells() -> Iterator[Cell]:
    """All cells, one kind of data after the other."""
    yield from rotations()
    yield from outlines()
    yield from nerves()
    yield from axes()
    yield from angles()
    yield from subspaces()
    yield from tensors()
    yield from large_sphere()


def rotations() -> Iterator[Cell]:
    """Joints, in degrees; the centres are rounded to a coordinate axis and 80 degrees."""
    space, about = riemdp.Rotations(), np.eye(3)
    turned = Rotation.from_euler("z", -80.0, degrees=True).as_matrix()
    degree = np.pi / 180.0
    for name, center in (("Wrist", about), ("Elbow", turned), ("Shoulder", about)):
        points = joint(name)
        for angle, mean in ((60, "intrinsic"), (89, "aligned"), (120, "aligned")):
            ball = QuotientBall(space, center, angle * degree, mean=mean)
            names = GAUSSIAN if name == "Wrist" else ("riemannian-gaussian", "tangent-gaussian")
            yield Cell(f"{name.lower()} [deg]", points, ball, f"{mean} {angle}", names, unit=degree)


def outlines() -> Iterator[Cell]:
    """Shapes of ankle boots about the mean shape of others."""
    private, _ = boots()
    space = riemdp.PlanarShapes(LANDMARKS)
    for radius, mean in (
        (0.4, "intrinsic"), (0.7, "intrinsic"), (0.4, "aligned"), (0.7, "aligned"), (1.2, "aligned")
    ):  # fmt: skip
        ball = QuotientBall(space, boots_template(), radius, mean=mean)
        yield Cell("outlines", private, ball, f"{mean} {radius}")


def nerves() -> Iterator[Cell]:
    """Landmarks of optic nerves of monkeys; the first is the template, and no record."""
    (landmarks,) = load("geomstats_small.npz", "optical_nerves")
    template, records = landmarks[0].astype(float), landmarks[1:].astype(float)
    flat = riemdp.PlanarShapes(5)
    for radius, mean in ((0.6, "intrinsic"), (0.6, "aligned")):
        ball = QuotientBall(flat, template[:, :2], radius, mean=mean)
        names = ("riemannian-gaussian", "auto")
        yield Cell("nerves, 2-D", records[..., :2], ball, f"{mean} {radius}", names)
    ball = QuotientBall(riemdp.KendallShapes(5), template, 0.6, mean="aligned")
    yield Cell("nerves, 3-D", records, ball, "aligned 0.6", ("riemannian-gaussian", "auto"))


def axes() -> Iterator[Cell]:
    """Epicentres as axes, about that of the date line."""
    (points,) = load("sphere_earthquakes.npz", "xyz")
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    space, center = riemdp.ProjectiveSpace(2), [-1.0, 0.0, 0.0]
    degree = np.pi / 180.0
    for radius, mean in ((0.78, "intrinsic"), (1.2, "aligned"), (1.5, "aligned")):
        ball = QuotientBall(space, center, radius, mean=mean)
        yield Cell("axes [deg]", points, ball, f"{mean} {radius}", mu=0.5, unit=degree)
    ball = Ball(space, center, 1.5)
    yield Cell("axes [deg]", points, ball, "1.5", ("tangent-gaussian",), 0.5, degree)


def angles() -> Iterator[Cell]:
    """Torsion angles, in degrees, about round numbers."""
    ball = Ball(riemdp.Torus(2), np.radians([-60.0, -45.0]), 1.0)
    yield Cell("torsions [deg]", torsions(), ball, "1.0", unit=np.pi / 180.0)


def subspaces() -> Iterator[Cell]:
    """Planes of R^5 that scatter about a known one."""
    space = riemdp.Grassmann(2, 5)
    center = np.eye(5)[:, :2]
    random = np.random.default_rng(0)
    points = space.point(center, 0.15 * random.normal(size=(1000, 6)) + 0.05)
    for radius in (0.5, 0.75):
        ball = Ball(space, center, radius)
        names = ("wrapped-gaussian", "tangent-gaussian", "auto")
        yield Cell("planes", points, ball, f"{radius}", names)


def tensors() -> Iterator[Cell]:
    """Twenty diffusion tensors a record."""
    (found,) = load("dti_dipy.npz", "tensors")
    points = found[:1720].reshape(86, 20, 3, 3)
    space = riemdp.Power(riemdp.SPDLogEuclidean(3), 20)
    for given in ({"rms_radius": 2.0}, {"radii": 2.0}, {"rms_radius": 2.0, "radii": 4.0}):
        ball = riemdp.ProductBall(space, np.eye(3), **given)
        place = ", ".join(f"{key} {value:g}" for key, value in given.items())
        names = ("riemannian-gaussian", "tangent-gaussian", "auto")
        yield Cell("20 tensors", points, ball, place, names)


def large_sphere() -> Iterator[Cell]:
    """Directions in 200 dimensions, simulated, in nearly half a sphere."""
    space = riemdp.Sphere(199)
    random = np.random.default_rng(0)
    ball = Ball(space, space.origin, 1.5)
    points = space.point(space.origin, 0.05 * random.normal(size=(1628, 199)))
    yield Cell("S^199", points, ball, "1.5")


# Measurements.


def exact_mean(cell: Cell, statistic: str) -> Any:
    """Mean of the kind, of the records in the ball."""
    ball = cell.ball
    if statistic == "tangent-mean":
        return ball.manifold.exp(ball.center, riemdp.tangent_mean(ball, cell.points))
    return riemdp.frechet_mean(ball.manifold, ball.project(cell.points), ball=ball).value


def measured(cell: Cell, mechanism: str, draws: int) -> list[Any]:
    """One line of the table; ``refused`` where there is no such release."""
    given = (cell.points, cell.ball, GDP(cell.mu))
    seeds = np.random.SeedSequence(zlib.crc32(f"{cell.name} {cell.place} {mechanism}".encode()))
    begin = [cell.name, len(cell.points), cell.place, mechanism]
    space = cell.ball.manifold
    errors, times = [], []
    try:
        for i, seed in enumerate(seeds.spawn(draws)):
            start = time.perf_counter()
            generator = np.random.default_rng(seed)
            release = riemdp.private_mean(*given, mechanism=mechanism, generator=generator)
            times.append(time.perf_counter() - start)
            if i == 0:
                exact = exact_mean(cell, release.statistic.name)
            errors.append(float(space.dist(exact, space.read(release.value))) / cell.unit)
    except riemdp.UnsupportedError as refusal:
        return [*begin, "refused: " + str(refusal).split(";")[0]]
    named = f"{mechanism} ({release.mechanism.name})" if mechanism == "auto" else mechanism
    expected = release.expected_distance / cell.unit
    error = statistics.fmean(errors)
    proven = str(release.proven)
    return [
        *begin[:3], named, release.statistic.name, error, np.std(errors) / np.sqrt(draws),
        expected, error / expected, proven, 1e3 * statistics.median(times[1:]),
    ]  # fmt: skip


def rotations_without_a_ball(only: str, draws: int) -> Iterator[list[Any]]:
    """Projected arithmetic means over all rotations, beside those in balls."""
    for name in ("Wrist", "Elbow", "Shoulder"):
        if only not in f"{name.lower()} [deg]":
            continue
        turns = Rotation.from_matrix(joint(name))
        exact, errors, times = turns.mean().inv(), [], []
        for seed in range(draws):
            start = time.perf_counter()
            generator = np.random.default_rng(seed)
            release = riemdp.private_rotation_mean(turns.as_matrix(), GDP(1.0), generator=generator)
            times.append(time.perf_counter() - start)
            found = exact * Rotation.from_matrix(release.value.rotation)
            errors.append(np.degrees(found.magnitude()))
        proven = str(release.proven)
        yield [
            f"{name.lower()} [deg]", len(turns), "none", release.mechanism.name, "rotation-mean",
            statistics.fmean(errors), np.std(errors) / np.sqrt(draws), None, None, proven,
            1e3 * statistics.median(times[1:]),
        ]  # fmt: skip


def between_means(only: str) -> Iterator[str]:
    """Say what no budget takes away: clipping, kinds of means, and sampling."""
    for cell in cells():
        if only not in cell.name:
            continue
        space, ball = cell.ball.manifold, cell.ball
        if cell.name.startswith("S^"):
            continue
        inside = ball.project(cell.points)
        share = 100.0 * float(np.mean(~ball.contains(cell.points)))
        middle = exact_mean(cell, "tangent-mean")
        text = f"{cell.name}, {cell.place}: {share:.0f} % clipped"
        if "riemannian-gaussian" in cell.mechanisms or "wrapped-gaussian" in cell.mechanisms:
            mean = exact_mean(cell, "frechet-mean")
            spread = np.sqrt(np.mean(np.square(space.dist(mean, inside))))
            apart = float(space.dist(mean, middle)) / cell.unit
            sampling = spread / np.sqrt(len(cell.points)) / cell.unit
            text += (
                f"; spread {spread / cell.unit:.3g}; tangent to Fréchet mean {apart:.2g}"
                f"; sampling {sampling:.3g}"
            )
            if isinstance(space, riemdp.spaces.Aligned):
                text += between_quotient_means(cell, mean)
            if cell.ball.manifold.point_shape == (3, 3):
                free = Rotation.from_matrix(cell.points).mean().as_matrix()
                text += f"; to the ball-free mean {float(space.dist(mean, free)) / cell.unit:.2g}"
            delta = riemdp.frechet_mean_sensitivity(ball, len(cell.points)) * len(cell.points)
            text += f"; n Delta {delta:.4g}, of the tangent mean {2.0 * ball.radius:.4g}"
        yield text


def between_quotient_means(cell: Cell, aligned: Any) -> str:
    """Text of how far the aligned mean of clipped records is from their intrinsic one."""
    space, ball = cell.ball.manifold.space, cell.ball
    try:
        own = Ball(space, ball.center, ball.radius)
        mean = riemdp.frechet_mean(space, own.project(cell.points), ball=own).value
    except riemdp.UnsupportedBallError:
        return ""
    return f"; aligned to intrinsic mean {float(space.dist(mean, aligned)) / cell.unit:.2g}"


def shown(row: list[Any], *, markdown: bool) -> str:
    """Text of a line."""
    texts = ["" if x is None else f"{x:.3g}" if isinstance(x, float) else str(x) for x in row]
    if markdown:
        return "| " + " | ".join(texts) + " |"
    widths = (15, 6, 24, 30, 14, 8, 8, 8, 6, 6, 6)
    return " ".join(text.ljust(width) for text, width in zip(texts, widths, strict=False))


def main() -> None:
    """Print the table, and what lies between the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--markdown", action="store_true", help="lines of docs/spaces_in_use.md")
    chosen = parser.parse_args()
    show: Callable[[list[Any]], None] = lambda row: print(  # noqa: E731
        shown(row, markdown=chosen.markdown), flush=True
    )
    show([*HEAD, "ms"])
    if chosen.markdown:
        print("|" + 11 * "---|")
    for cell in cells():
        if chosen.only in cell.name:
            for mechanism in cell.mechanisms:
                show(measured(cell, mechanism, chosen.draws))
    for row in rotations_without_a_ball(chosen.only, chosen.draws):
        show(row)
    print()
    for text in between_means(chosen.only):
        print(text, flush=True)


if __name__ == "__main__":
    main()
