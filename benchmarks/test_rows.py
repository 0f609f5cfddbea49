"""Private releases of many records beside the same without privacy: what a record by itself costs.

Means against geomstats are in ``test_geomstats.py``, exact draws in ``test_exact_draws.py``.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    QuotientBall,
    Rotations,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    frechet_mean,
    private_mean,
    private_median,
)

BUDGET = GDP(1.0)
RECORDS = 100_000


@functools.cache
def case(name, count=RECORDS):
    """Return a ball and records in it, uniform directions at uniform distances."""
    spaces = {
        "LE": SPDLogEuclidean,
        "AI": SPDAffineInvariant,
        "S^": Sphere,
        "R^": Euclidean,
    }
    space = spaces[name[:2]](int(name[2:]))
    ball = Ball(space, space.origin, 0.7 if name[0] == "S" else 1.0)
    random = np.random.default_rng(0)
    vectors = random.normal(size=(count, space.dim))
    vectors *= (ball.radius * random.random(count) / np.linalg.norm(vectors, axis=1))[:, None]
    return ball, space.point(ball.center, vectors)


def microseconds(taken, count):
    return f"{1e6 * taken / count:.3g} µs"


def compare(report, name, ours, peer, *, at_most, count=RECORDS, rounds=5):
    mine, theirs = report.alternate(ours, peer, rounds=rounds)
    report.add(
        name,
        microseconds(mine, count),
        microseconds(theirs, count),
        mine / theirs,
        at_most=at_most,
    )


@pytest.mark.parametrize("name", ["LE3", "S^2", "AI3", "R^10"])
def test_add_remove(report, name):
    ball, points = case(name)
    compare(
        report,
        f"private mean on {name}, add-remove / replace-one",
        lambda: private_mean(points, ball, BUDGET, adjacency="add-remove"),
        lambda: private_mean(points, ball, BUDGET),
        at_most=1.5,
    )


@pytest.mark.parametrize("name", ["LE3", "S^2", "AI3", "R^10"])
def test_people(report, name):
    ball, points = case(name)
    users = np.repeat(np.arange(RECORDS // 10), 10)
    compare(
        report,
        f"private mean on {name}, people of ten records each / records",
        lambda: private_mean(points, ball, BUDGET, users=users, people=RECORDS // 10),
        lambda: private_mean(points, ball, BUDGET),
        at_most=2.0,
    )


@pytest.mark.parametrize("name", ["LE3", "S^2", "R^10"])
def test_median(report, name):
    ball, points = case(name, 10_000)
    compare(
        report,
        f"private median on {name}, n = 1e4, add-remove / replace-one",
        lambda: private_median(points, ball, BUDGET, adjacency="add-remove"),
        lambda: private_median(points, ball, BUDGET),
        at_most=1.5,
        count=10_000,
    )


def test_rotations(report):
    space = Rotations()
    ball = QuotientBall(space, np.eye(3), 0.7, mean="intrinsic")
    vectors = np.random.default_rng(0).normal(size=(RECORDS, 3))
    vectors *= 0.6 / np.linalg.norm(vectors, axis=1).max()
    turns = Rotation.from_rotvec(vectors)
    points = turns.as_matrix()
    compare(
        report,
        "private mean of rotations / scipy's mean of their matrices",
        lambda: private_mean(points, ball, BUDGET),
        lambda: Rotation.from_matrix(points).mean(),
        at_most=0.7,
    )


@pytest.mark.parametrize(
    ("k", "count", "at_most"), [(3, 10**6, 6.0), (9, 10**5, 2.0), (22, 10**4, 2.0)]
)
def test_log_euclidean(report, k, count, at_most):
    ball, points = case(f"LE{k}", count)
    compare(
        report,
        f"private mean on LE{k}, n = {count:.0e} / frechet_mean",
        lambda: private_mean(points, ball, BUDGET),
        lambda: frechet_mean(ball.manifold, points),
        at_most=at_most,
        count=count,
        rounds=3,
    )


@pytest.mark.parametrize(
    ("k", "count", "at_most"), [(3, 10**5, 0.5), (9, 10**4, 0.5), (22, 2000, 0.8)]
)
def test_affine_invariant(report, k, count, at_most):
    mean = pytest.importorskip("pyriemann.utils.mean").mean_riemann
    ball, points = case(f"AI{k}", count)
    compare(
        report,
        f"private mean on AI{k}, n = {count:.0e} / pyriemann's mean_riemann",
        lambda: private_mean(points, ball, BUDGET),
        lambda: mean(points),
        at_most=at_most,
        count=count,
        rounds=3,
    )


@pytest.mark.parametrize("k", [3, 9])
@pytest.mark.parametrize("what", ["predict", "transform"])
def test_estimators(report, k, what):
    pytest.importorskip("sklearn")
    classification = pytest.importorskip("pyriemann.classification")
    tangentspace = pytest.importorskip("pyriemann.tangentspace")
    from riemdp.estimators import PrivateMDM, PrivateTangentSpace

    count = 10_000
    ball, points = case(f"LE{k}", count)
    if what == "predict":
        labels = np.arange(count) % 4
        ours = PrivateMDM(ball, BUDGET, [0, 1, 2, 3]).fit(points, labels)
        peer = classification.MDM(metric="logeuclid").fit(points, labels)
    else:
        ours = PrivateTangentSpace(ball, BUDGET).fit(points)
        peer = tangentspace.TangentSpace(metric="logeuclid").fit(points)
    compare(
        report,
        f"{type(ours).__name__}.{what} on LE{k} / pyriemann",
        lambda: getattr(ours, what)(points),
        lambda: getattr(peer, what)(points),
        at_most=1.5,
        count=count,
    )


FIRST = """
import time, numpy as np, riemdp
ball = riemdp.Ball(riemdp.{space}, {center}, 1.0)
points = np.array([ball.center] * 50)
start = time.process_time()
riemdp.private_mean(points, ball, riemdp.GDP(1.0))
print(time.process_time() - start)
"""


@pytest.mark.parametrize(
    ("space", "center"),
    [
        ("Sphere(2)", "np.eye(3)[0]"),
        ("SPDLogEuclidean(3)", "np.eye(3)"),
        ("SPDAffineInvariant(3)", "np.eye(3)"),
    ],
)
def test_first_release(report, space, center):
    """CPU time of the first release of a process, once its bytecode is stored."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", FIRST.format(space=space, center=center)],
                env=environment, check=True, capture_output=True, text=True,
            ).stdout
        )
        for _ in range(6)
    ]  # fmt: skip
    taken = min(times[1:])
    report.add(f"first release on {space}, after import", f"{taken:.2f} s", "", taken, at_most=0.4)
