"""Accuracy of the private classifiers on a recording, and what public directions gain.

``RIEMDP_DATA`` names the folder of the data. With no arguments every table is printed;
``accuracy``, ``components`` or ``projection`` prints one of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from riemdp import GDP, ApproxDP, Ball, Euclidean, SPDLogEuclidean, frechet_mean
from riemdp.estimators import (
    PrivateMDM,
    PrivateTangentLDA,
    PrivateTangentPCA,
    PublicProjection,
    make_private_pipeline,
)
from riemdp.statistics import ReplacePoint

DIVISIONS = 40
FISTS, FEET = 3, 4
#: Public guess of the power of a channel, in squared microvolts; records lie about 7 from it.
MIDDLE = 10.0
BALL = Ball(SPDLogEuclidean(8), MIDDLE * np.eye(8), 12.0)


def load(name: str, *keys: str) -> tuple[np.ndarray, ...]:
    """Return arrays of a data file."""
    with np.load(Path(os.environ["RIEMDP_DATA"]) / name) as data:
        return tuple(data[key] for key in keys)


def eeg() -> tuple[np.ndarray, np.ndarray]:
    """Return covariances of 8 channels, one second each, and labels: 1440 of them."""
    points, labels = load("eeg_eegmmidb_s001.npz", "cov8_1s", "label_1s")
    points = points.astype(float)
    return 0.5 * (points + np.swapaxes(points, 1, 2)), labels


def mean_and_error(found: list[float]) -> str:
    """Text of a mean and its standard error."""
    return f"{np.mean(found):.3f} ± {np.std(found) / np.sqrt(len(found)):.3f}"


def divided(count: int, parts: list[int], seed: int) -> list[np.ndarray]:
    """Return random disjoint sets of records."""
    return np.split(np.random.default_rng(seed).permutation(count), parts)


def without_noise(points: np.ndarray, labels: np.ndarray) -> dict[str, str]:
    """Accuracy of the nearest mean and of linear discriminant analysis that are not private."""
    vectors = BALL.manifold.coordinates(BALL.center, points)
    found: dict[str, list[float]] = {"MDM": [], "LDA": []}
    for i in range(DIVISIONS):
        train, test = divided(len(labels), [int(0.7 * len(labels))], i)
        kinds = np.unique(labels)
        means = np.array([vectors[train][labels[train] == k].mean(axis=0) for k in kinds])
        far = np.linalg.norm(vectors[test][:, None] - means, axis=-1)
        found["MDM"].append(np.mean(kinds[far.argmin(axis=1)] == labels[test]))
        lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        found["LDA"].append(
            lda.fit(vectors[train], labels[train]).score(vectors[test], labels[test])
        )
    return {name: mean_and_error(values) for name, values in found.items()}


def models(budget: Any, classes: list[int]) -> dict[str, Callable[[np.ndarray], Any]]:
    """Return functions from the labels of the private records to a classifier, by name."""
    given = (BALL, budget, classes)

    def public(labels: np.ndarray) -> Any:
        sizes = [int(np.sum(labels == each)) for each in classes]
        return PrivateMDM(*given, base="public", sizes=sizes, adjacency=ReplacePoint())

    return {
        "MDM, public labels": public,
        "MDM, about the centre": lambda _: PrivateMDM(*given, base="public"),
        "MDM, recentred": lambda _: PrivateMDM(*given),
        "LDA, recentred": lambda _: PrivateTangentLDA(*given),
    }


def accuracy() -> None:
    """Print accuracies of classifiers that are trained on seven tenths of the records."""
    points, labels = eeg()
    moving = labels >= FISTS
    for title, X, y in (
        ("fists or feet", points[moving], labels[moving]),
        ("rest or movement", points, (labels > 0).astype(int)),
    ):
        print(f"\n{title}: n = {int(0.7 * len(y))}; not private {without_noise(X, y)}")
        for mu in (0.5, 1.0, 2.0):
            for name, made in models(GDP(mu), np.unique(y).tolist()).items():
                found = []
                for i in range(DIVISIONS):
                    train, test = divided(len(y), [int(0.7 * len(y))], i)
                    model = made(y[train]).set_params(random_state=i)
                    found.append(model.fit(X[train], y[train]).score(X[test], y[test]))
                print(f"  mu = {mu:g}, {name}: {mean_and_error(found)}", flush=True)


def components() -> None:
    """Print the share of the variance of the records that released directions hold."""
    (tensors,) = load("dti_dipy.npz", "tensors")
    for title, points, ball, kept in (
        ("EEG", eeg()[0], BALL, 5),
        ("tensors", tensors, Ball(SPDLogEuclidean(3), np.eye(3), 6.0), 2),
    ):
        covariance = np.cov(ball.manifold.coordinates(ball.center, points).T)
        values = np.linalg.eigvalsh(covariance)[::-1]
        print(f"\n{title}: n = {len(points)}, {kept} directions of {len(values)}; of the data")
        print(f"  themselves {values[:kept].sum() / values.sum():.3f}")
        for mu in (0.25, 1.0):
            for base in ("public", "recentred"):
                found = []
                for i in range(DIVISIONS):
                    pca = PrivateTangentPCA(
                        ball, GDP(mu), n_components=kept, base=base, random_state=i
                    )
                    rows = pca.fit(points).components_
                    held = np.trace(rows @ covariance @ rows.T) / np.trace(covariance)
                    found.append(float(held))
                print(f"  mu = {mu:g}, {base}: {mean_and_error(found)}", flush=True)


def projection() -> None:
    """Print accuracies at epsilon 1 of fifty private records a class, and a hundred public ones."""
    points, labels = eeg()
    points, labels = points[labels >= FISTS], labels[labels >= FISTS]
    space, budget = SPDLogEuclidean(8), ApproxDP(1.0, 1e-6)
    found: dict[str, list[float]] = {}
    for i in range(DIVISIONS):
        public, private, test = divided(len(labels), [100, 200], i)
        centre = frechet_mean(space, points[public]).value
        radius = float(np.quantile(space.dist(centre, points[public]), 0.95))
        ball = Ball(space, centre, radius)
        cases: dict[str, tuple[list[Any], Ball]] = {"36 dimensions": ([], ball)}
        for kept in (3, 5, 8):
            few = PublicProjection(points[public], ball, kept).fit()
            cases[f"{kept} of them"] = ([few], few.ball_)
            seen = few.transform(points[public])
            middle = seen.mean(axis=0)
            far = float(np.quantile(np.linalg.norm(seen - middle, axis=1), 0.95))
            cases[f"{kept} of them, in a ball of the public vectors"] = (
                [few],
                Ball(Euclidean(kept), middle, far),
            )
        for name, (steps, end) in cases.items():
            for kind in (PrivateMDM, PrivateTangentLDA):
                last = kind(end, budget, [FISTS, FEET], base="public")
                model = make_private_pipeline(*steps, last)
                last.random_state = i  # after the check, which refuses seeds
                model.fit(points[private], labels[private])
                score = model.score(points[test], labels[test])
                found.setdefault(f"{kind.__name__}, {name}", []).append(score)
        lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        for name, known in (
            ("the public records, had they labels", public),
            ("the private records, without noise", private),
        ):
            lda.fit(ball.coordinates(points[known]), labels[known])
            score = lda.score(ball.coordinates(points[test]), labels[test])
            found.setdefault(f"LDA of {name}", []).append(score)
    print(f"\n{budget}, 100 private records")
    for name, values in found.items():
        print(f"  {name}: {mean_and_error(values)}")


if __name__ == "__main__":
    tables = {"accuracy": accuracy, "components": components, "projection": projection}
    for chosen in sys.argv[1:] or tables:
        tables[chosen]()
