"""Errors of noisy steps beside one-shot means on EEG covariances and diffusion tensors.

``RIEMDP_DATA`` names the folder of the data. With no arguments every table is printed; ``time``
prints what a median costs beside a mean.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

import riemdp
from riemdp import GDP, Ball, SPDAffineInvariant, SPDLogEuclidean
from riemdp.statistics import HuberMean, frechet_mean

DRAWS = 40
#: Public guess of the power of a channel, in squared microvolts; records lie about 6 from it.
MIDDLE = 10.0


def load(name: str, key: str) -> np.ndarray:
    """Return an array of a data file, in float64."""
    with np.load(Path(os.environ["RIEMDP_DATA"]) / name) as data:
        return np.asarray(data[key], dtype=np.float64)


def eeg() -> np.ndarray:
    """Return covariances of 8 channels, one second each, shape (1440, 8, 8)."""
    found = load("eeg_eegmmidb_s001.npz", "cov8_1s")
    return 0.5 * (found + np.swapaxes(found, 1, 2))


def tensors() -> np.ndarray:
    """Return diffusion tensors, shape (1732, 3, 3)."""
    return load("dti_dipy.npz", "tensors")


def exact_median(space: riemdp.spaces.Manifold, points: np.ndarray) -> np.ndarray:
    """Geometric median by Weiszfeld's algorithm."""
    found = points[0]
    for _ in range(300):
        seen = space.coordinates(found, points)
        weights = 1.0 / np.maximum(np.linalg.norm(seen, axis=-1), 1e-12)
        found = space.point(found, (weights @ seen) / weights.sum())
    return found


def releases(points: np.ndarray, ball: Ball, mu: float) -> dict[str, object]:
    """Return a function from a generator to a release, by name."""
    budget, gaussian = GDP(mu), "tangent-gaussian"
    mean, median = riemdp.private_mean, riemdp.private_median
    return {
        "one shot": lambda g: mean(points, ball, budget, mechanism=gaussian, generator=g),
        "refined": lambda g: mean(points, ball, budget, method="refined", generator=g),
        "3 rounds, alpha 1.25": lambda g: mean(
            points, ball, budget, method="refined", rounds=3, alpha=1.25, generator=g
        ),
        "median": lambda g: median(points, ball, budget, generator=g),
        "Huber": lambda g: riemdp.private_huber(points, ball, budget, generator=g),
    }


def huber_target(space: riemdp.spaces.Manifold, points: np.ndarray) -> np.ndarray:
    """Huber mean whose length is the root mean square distance to the mean."""
    found = frechet_mean(space, points).value
    length = np.sqrt(np.mean(np.square(space.dist(found, points)))) * HuberMean().threshold
    for _ in range(300):
        seen = space.coordinates(found, points)
        norm = np.linalg.norm(seen, axis=-1, keepdims=True)
        found = space.point(found, (seen * np.minimum(1.0, length / norm)).mean(axis=0))
    return found


def table(
    title: str, points: np.ndarray, ball: Ball, mus: tuple[float, ...], clean: object = None
) -> None:
    """Print mean distances to the exact values, or to the mean of clean records."""
    space = ball.manifold
    mean = frechet_mean(space, points).value if clean is None else clean
    targets = {
        "median": exact_median(space, points) if clean is None else clean,
        "Huber": huber_target(space, points) if clean is None else clean,
    }
    spread = np.sqrt(np.mean(np.square(space.dist(mean, points))))
    print(f"\n{title}: n = {len(points)}, r = {ball.radius:g}, spread {spread:.3g}")
    for mu in mus:
        row = []
        for name, release in releases(points, ball, mu).items():
            target = targets.get(name, mean)
            errors = [
                float(space.dist(release(np.random.default_rng(seed)).value, target))
                for seed in range(DRAWS)
            ]
            error = np.std(errors) / np.sqrt(DRAWS)
            row.append(f"{name} {np.mean(errors):.4g} ± {error:.1g}")
        print(f"  mu = {mu:g}: " + "; ".join(row), flush=True)


def with_outliers(points: np.ndarray, ball: Ball, share: float = 0.1) -> np.ndarray:
    """Return points of which a share is moved to one far point of the ball."""
    far = np.zeros(ball.manifold.dim)
    far[0] = ball.radius
    found = points.copy()
    found[:: round(1.0 / share)] = ball.point(far)
    return found


def seconds(call: object, repeats: int = 7) -> float:
    """Least time of a call in this process."""
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found)


def times() -> None:
    """Print what a median of 12 steps costs, in means with the tangent Gaussian."""
    for space, points, radius in (
        (SPDLogEuclidean(8), eeg(), 12.0),
        (SPDAffineInvariant(8), eeg(), 12.0),
        (SPDLogEuclidean(3), tensors(), 6.0),
    ):
        ball, budget = Ball(space, space.origin, radius), GDP(1.0)
        mean = seconds(
            lambda p=points, b=ball, g=budget: riemdp.private_mean(
                p, b, g, mechanism="tangent-gaussian"
            )
        )
        for name, call in (
            ("median", riemdp.private_median),
            ("refined", lambda *a: riemdp.private_mean(*a, method="refined")),
        ):
            cost = seconds(lambda c=call, p=points, b=ball, g=budget: c(p, b, g))
            print(
                f"{space}: mean {1e3 * mean:.1f} ms, {name} {1e3 * cost:.1f} ms: "
                f"{cost / mean:.1f} times"
            )


def main() -> None:
    """Print the tables that are asked for."""
    if sys.argv[1:] == ["time"]:
        times()
        return
    flat, middle = SPDLogEuclidean(8), MIDDLE * np.eye(8)
    for radius in (12.0, 24.0):
        table("EEG, log-Euclidean", eeg(), Ball(flat, middle, radius), (0.2, 1.0))
    ball = Ball(flat, middle, 12.0)
    outliers, clean = with_outliers(eeg(), ball), frechet_mean(flat, eeg()).value
    table("EEG, 10 % outliers, to the clean mean", outliers, ball, (0.2, 1.0), clean)
    flat = SPDLogEuclidean(3)
    for radius in (6.0, 12.0):
        table("DTI, log-Euclidean", tensors(), Ball(flat, flat.origin, radius), (0.2, 1.0))
    curved = SPDAffineInvariant(8)
    table("EEG, affine-invariant", eeg(), Ball(curved, middle, 12.0), (0.2,))


if __name__ == "__main__":
    main()
