"""Errors and audits under each relation between data sets: records, people, sites.

    RIEMDP_DATA=folder python benchmarks/neighbours.py [--draws 100] [--only TEXT]

Every line is a number beside what it is held against. Records of 40 epochs a person are made of
the epochs of one real person, with a shift for every made-up one, since the data have one only.
Without the data those lines are left out.
"""

from __future__ import annotations

import argparse
import math
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import riemdp
from riemdp import GDP, Ball
from riemdp.statistics import (
    AddRemove,
    Records,
    ReplaceUser,
    TangentMean,
    answer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

GAUSSIAN = {"mechanism": "tangent-gaussian"}
PEOPLE, EPOCHS = 500, 40
#: Root mean square length of the shift of a person, beside 1.58 within the real one.
BETWEEN = 1.0
Row = tuple[str, str, str]


def rms(values: Any) -> float:
    """Root mean square."""
    return math.sqrt(float(np.mean(np.square(values))))


# A record more or less.


def add_remove(draws: int) -> Iterator[Row]:
    """Error of the mean of a private number of records, beside its formula and its bound."""
    n, dim, mu = 1000, 6, 0.5
    ball = Ball(riemdp.Euclidean(dim), np.zeros(dim), 1.0)
    random = np.random.default_rng(0)
    directions = random.normal(size=(n, dim))
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    points = 0.6 * directions / lengths * random.random((n, 1)) ** (1.0 / dim)
    points[:, 0] += 0.378 - points[:, 0].mean()
    mean = points.mean(axis=0)
    form = AddRemove().form(TangentMean(), ball)
    asked = next(form.queries(ball))
    exact = [float(x) for x in answer(asked, ball, points, 0.0)]
    given = points, ball, GDP(mu)
    first = riemdp.private_mean(*given, adjacency=AddRemove(), generator=random, **GAUSSIAN)
    sigma = first.mechanism.sigma
    # the same sums, with noise of the scale that the release has
    noisy = np.array(exact) + sigma * random.normal(size=(200_000, dim + 1))
    quotient = form.weight * noisy[:, :-1] / np.maximum(noisy[:, -1:], exact[-1] / n)
    many = rms(np.linalg.norm(quotient - mean, axis=1))
    released = [
        np.linalg.norm(
            riemdp.private_mean(
                *given, adjacency=AddRemove(), generator=np.random.default_rng(i), **GAUSSIAN
            ).value
            - mean
        )
        for i in range(draws)
    ]
    square = 1.0 / math.sqrt(dim)
    formula = math.sqrt((1.0 + square) * (dim + float(mean @ mean) / square)) / (n * mu)
    bound = (math.sqrt(dim) + 1.0) / (n * mu)
    held = f"formula {formula:.5f}, bound {bound:.5f}"
    yield "add-remove, n = 1000, d = 6, mu = .5: rms of the sums", f"{many:.5f}", held
    yield f"the same of {draws} releases", f"{rms(released):.5f}", held
    public = [
        np.linalg.norm(
            riemdp.private_mean(*given, generator=np.random.default_rng(i), **GAUSSIAN).value - mean
        )
        for i in range(draws)
    ]
    yield (
        "replace-one, public n, the same number mu",
        f"{rms(public):.5f}",
        f"formula {2.0 * math.sqrt(dim) / (n * mu):.5f}; another promise",
    )


def conversion(samples: int = 4000) -> Iterator[Row]:
    """Audits of a mean under add-remove at mu = 1, on the worst pair under replace-one."""
    dim, n, mu = 6, 20, 1.0
    ball = Ball(riemdp.Euclidean(dim), np.zeros(dim), 1.0)
    factor = 2.0 / math.sqrt(1.0 + dim**-0.5)
    dataset = np.zeros((n, dim))
    neighbour = dataset.copy()
    dataset[0, 0], neighbour[0, 0] = 1.0, -1.0
    kept: list[float] = []

    def sums(points: FloatArray, generator: np.random.Generator) -> float:
        release = riemdp.private_mean(
            points, ball, GDP(mu), adjacency=AddRemove(), generator=generator, **GAUSSIAN
        )
        kept.append(float(release.value[0]) * max(release.count, 1.0))
        return kept[-1]

    for claim in (mu, factor * mu, 2.0 * mu):
        again = iter(list(kept))  # outputs do not depend on the claim that they are held against
        found = riemdp.audit(
            sums if not kept else lambda *_, again=again: next(again),
            dataset,
            neighbour,
            GDP(claim),
            samples=samples,
            generator=np.random.default_rng(0),
        )
        one, other = np.array(kept[:samples]), np.array(kept[samples:])
        seen = (one.mean() - other.mean()) / math.sqrt(0.5 * (one.var() + other.var()))
        yield (
            f"add-remove at mu = 1, replace-one pair, claim {claim:.4f}",
            f"{found.verdict}, mu at least {found.mu_lower:.3f}, seen {seen:.3f}",
            f"true {factor * mu:.4f}",
        )


def worst_record(samples: int = 4000) -> Iterator[Row]:
    """Audits of a mean under add-remove at mu = 1, on a record more at the boundary."""
    dim, n, mu, weight = 6, 20, 1.0, 6**-0.25
    ball = Ball(riemdp.Euclidean(dim), np.zeros(dim), 1.0)
    fewer = np.zeros((n, dim))
    more = np.concatenate([np.eye(dim)[:1], fewer])
    kept: list[float] = []

    def along(points: FloatArray, generator: np.random.Generator) -> float:
        """Return what is released along the move of the sums, which is the best score."""
        release = riemdp.private_mean(
            points, ball, GDP(mu), adjacency="add-remove", generator=generator, **GAUSSIAN
        )
        kept.append(float(release.value[0]) * max(release.count, 1.0) + weight**2 * release.count)
        return kept[-1]

    for claim in (mu, 0.8 * mu):
        again = iter(list(kept))
        found = riemdp.audit(
            along if not kept else lambda *_, again=again: next(again),
            more,
            fewer,
            GDP(claim).under("add-remove"),
            samples=samples,
            generator=np.random.default_rng(0),
        )
        yield (
            f"add-remove at mu = 1, one record more, claim {claim:g}",
            f"{found.verdict}, mu at least {found.mu_lower:.3f}",
            "true 1",
        )


# People.


def epochs() -> FloatArray:
    """Return covariances of one second of one person, shape (1440, 8, 8)."""
    with np.load(Path(os.environ["RIEMDP_DATA"]) / "eeg_eegmmidb_s001.npz") as data:
        found = np.asarray(data["cov8_1s"], dtype=np.float64)
    return 0.5 * (found + np.swapaxes(found, 1, 2))


def eeg_ball() -> Ball:
    """Public ball: about 10 squared microvolts in every channel."""
    return Ball(riemdp.SPDLogEuclidean(8), 10.0 * np.eye(8), 12.0)


@cache
def study() -> FloatArray:
    """Coordinates of 40 epochs each of 500 made-up people, shape (500, 40, 36)."""
    random = np.random.default_rng(0)
    vectors = eeg_ball().coordinates(epochs())
    shifts = random.normal(size=(PEOPLE, 1, 36)) * BETWEEN / 6.0
    return vectors[random.integers(len(vectors), size=(PEOPLE, EPOCHS))] + shifts


def people(draws: int) -> Iterator[Row]:
    """Errors for people beside those for records, at one mu."""
    ball, vectors = eeg_ball(), study()
    flat = vectors.reshape(-1, 36)
    points = ball.point(flat)
    users = np.repeat(np.arange(PEOPLE), EPOCHS)
    relation = ReplaceUser()
    means = relation.units(ball, Records(points, users=users)).points  # once; noise is drawn again
    spread = rms(np.linalg.norm(flat - flat.mean(axis=0), axis=1))
    between = ball.coordinates(means)
    spread_of_means = rms(np.linalg.norm(between - between.mean(axis=0), axis=1))
    yield (
        "EEG, 500 x 40, r = 12: spread of records, of people",
        f"{spread:.3f}, {spread_of_means:.3f}",
        f"farthest {np.linalg.norm(flat, axis=1).max():.1f}",
    )
    for mu in (0.5, 1.0):
        for method in ("one-shot", "refined"):
            options: dict[str, Any] = {**GAUSSIAN, "method": method}
            seeded = np.random.default_rng(0)
            by_user = riemdp.private_mean(
                Records(points, users=users),
                ball,
                GDP(mu),
                adjacency=relation,
                people=PEOPLE,
                generator=np.random.default_rng(0),
                **options,
            )
            errors = {}
            for name, data in (("records", points), ("people", means)):
                seeds = np.random.SeedSequence(7).spawn(draws)
                errors[name] = []
                for seed in seeds:
                    seeded = np.random.default_rng(seed)
                    release = riemdp.private_mean(data, ball, GDP(mu), generator=seeded, **options)
                    away = ball.coordinates(release.value) - flat.mean(axis=0)
                    errors[name].append(np.linalg.norm(away))
            assert by_user.sensitivity == release.sensitivity  # the same release of the means
            yield (
                f"EEG, mu = {mu:g}, {method}: error for people",
                f"{np.mean(errors['people']):.4f}",
                f"for records, another promise: {np.mean(errors['records']):.4f}, which is mu = "
                f"{EPOCHS * mu:g} for people",
            )


def whitening(samples: int = 300) -> Iterator[Row]:
    """Audits of records that are recentred by the mean of their person, for both relations."""
    few, r = 10, 4.0
    space = riemdp.SPDLogEuclidean(8)
    ball = Ball(space, np.eye(8), r)
    along = np.asarray(ball.coordinates(np.exp(1.0) * np.eye(8)))
    unit = along / np.linalg.norm(along)
    extreme = 2.0 * EPOCHS * r * unit
    pair = study()[:few].copy(), study()[:few].copy()
    pair[0][0, 0], pair[1][0, 0] = extreme, -extreme
    users = np.repeat(np.arange(few), EPOCHS)

    def recentred(vectors: FloatArray) -> FloatArray:
        own = vectors.reshape(few, EPOCHS, 36)
        return np.asarray(ball.point((own - own.mean(axis=1, keepdims=True)).reshape(-1, 36)))

    def released(records: Any, generator: np.random.Generator, **options: Any) -> float:
        found = riemdp.private_mean(
            records, ball, GDP(1.0), generator=generator, **GAUSSIAN, **options
        )
        return float(ball.coordinates(found.value) @ unit)

    def of_records(vectors: FloatArray, generator: np.random.Generator) -> float:
        return released(recentred(vectors), generator)

    kept: dict[bytes, Any] = {}

    def of_people(vectors: FloatArray, generator: np.random.Generator) -> float:
        # people are averaged once: noise is what differs
        if vectors.tobytes() not in kept:
            records = Records(recentred(vectors), users=users)
            kept[vectors.tobytes()] = ReplaceUser().units(ball, records).points
        return released(kept[vectors.tobytes()], generator)

    def plain(vectors: FloatArray, generator: np.random.Generator) -> float:
        return released(ball.point(vectors), generator)

    flat = [each.reshape(-1, 36) for each in pair]
    cases: tuple[tuple[str, Callable[..., float], Any, str], ...] = (
        ("recentred by person, for records", of_records, flat, "true: about 38"),
        ("recentred by person, for people", of_people, pair, "true: .95 on this pair"),
        ("as they are, for records", plain, flat, "true: 1"),
    )
    for name, mechanism, (dataset, neighbour), true in cases:
        found = riemdp.audit(
            mechanism, dataset, neighbour, GDP(1.0), samples=samples,
            generator=np.random.default_rng(0),
        )  # fmt: skip
        yield f"EEG, {name}: audit of mu = 1", f"{found.verdict}, {found.mu_lower:.2f}", true


# Groups and sites.


def groups() -> Iterator[Row]:
    """Means of five classes, each at epsilon = 1, in one account."""
    with np.load(Path(os.environ["RIEMDP_DATA"]) / "eeg_eegmmidb_s001.npz") as data:
        labels = data["label_1s"]
    points, ball = epochs(), eeg_ball()
    classes = {int(label): points[labels == label] for label in np.unique(labels)}
    account = riemdp.Accountant(riemdp.PureDP(1.0))
    released = riemdp.private_means(
        classes, ball, riemdp.PureDP(1.0), accountant=account, generator=np.random.default_rng(0)
    )
    yield (
        f"EEG, means of {len(released)} classes at epsilon = 1",
        f"spent {account.spent}, left {account.remaining}",
        f"sizes {[len(each) for each in classes.values()]}",
    )
    classes[1] = np.concatenate([classes[1], classes[0][:1]])
    try:
        riemdp.private_means(classes, ball, riemdp.PureDP(1.0))
    except riemdp.InvalidParameterError as refusal:
        yield "the same with one record in two of them", "refused", str(refusal).split(";")[0]


def sites(draws: int) -> Iterator[Row]:
    """Error of the combination of five sites beside that of one of them."""
    number, n, dim = 5, 400, 6
    ball = Ball(riemdp.Euclidean(dim), np.zeros(dim), 1.0)
    random = np.random.default_rng(0)
    points = np.clip(0.2 * random.normal(size=(number, n, dim)), -0.4, 0.4)
    points += 0.1 - points.mean(axis=1, keepdims=True)  # sites of one mean
    alone, together, everything = [], [], []
    for _ in range(4 * draws):
        released = [
            riemdp.private_mean(each, ball, GDP(0.5), generator=random, **GAUSSIAN)
            for each in points
        ]
        alone += [np.linalg.norm(each.value - 0.1) for each in released]
        together.append(np.linalg.norm(riemdp.combine(released).value - 0.1))
        pooled = riemdp.private_mean(
            points.reshape(-1, dim), ball, GDP(0.5), generator=random, **GAUSSIAN
        )
        everything.append(np.linalg.norm(pooled.value - 0.1))
    guarantee = riemdp.combine(released).guarantee
    yield (
        f"{number} sites, n = {n} each, mu = .5: rms of one, of all",
        f"{rms(alone):.5f}, {rms(together):.5f}: ratio {rms(together) / rms(alone):.4f}",
        f"1/sqrt(5) = {number**-0.5:.4f}; {guarantee} of all together",
    )
    yield (
        "the records of all sites in one place",
        f"{rms(everything):.5f}: ratio {rms(everything) / rms(alone):.4f}",
        f"1/5 = {1.0 / number:.4f}",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--only", default="", help="parts whose name holds this text")
    chosen = parser.parse_args()
    parts: tuple[tuple[str, bool, Callable[[], Iterator[Row]]], ...] = (
        ("add-remove", False, lambda: add_remove(chosen.draws)),
        ("conversion", False, conversion),
        ("worst record", False, worst_record),
        ("people", True, lambda: people(min(chosen.draws, 30))),
        ("whitening", True, whitening),
        ("groups", True, groups),
        ("sites", False, lambda: sites(chosen.draws)),
    )
    for name, takes_data, part in parts:
        if chosen.only not in name:
            continue
        if takes_data and "RIEMDP_DATA" not in os.environ:
            print(f"{name}: left out, as RIEMDP_DATA does not say where the data are")
            continue
        for row in part():
            print(f"{row[0]:62}  {row[1]:50}  {row[2]}", flush=True)


if __name__ == "__main__":
    main()
