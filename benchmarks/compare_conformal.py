"""Error of conformal noise beside plain noise, at equal and honest epsilon.

Prints the tables of the user guide's page on conformal noise. Clustered data as in the experiments
of He et al.: n = 1000 points of the unit ball of R^d about random centres, mean distance of the
released mean from the exact one. With the environment variable RIEMDP_DATA naming a folder that
holds ``fashion_mnist_part.npz``, covariance descriptors of one class too.

    python benchmarks/compare_conformal.py [--repeats 40]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import riemdp

if TYPE_CHECKING:
    from collections.abc import Callable

    Error = Callable[[np.ndarray, float], float]

#: Nodes of the nets in the plane: the noise at n = 1000, epsilon = .5 asks for that many.
NODES = 100_000
#: Share of the budget that the two-stage release spends on its ball.
SHARE = 0.2
#: Repeats of the slow methods.
FEW = 6


def clustered(rng, dim, n, clusters, spread):
    """Private points, and the centres of the clusters, which count as public knowledge."""
    centers = rng.normal(size=(clusters, dim))
    centers *= (
        0.6
        * rng.random((clusters, 1)) ** (1 / dim)
        / np.linalg.norm(centers, axis=1, keepdims=True)
    )
    points = centers[rng.integers(clusters, size=n)] + rng.normal(0, spread, (n, dim))
    return points, centers


def errors(points, centers, ball, epsilon, rng, *, nodes=NODES, published=True):
    """One error for each method."""
    space, dim = ball.manifold, ball.manifold.dim
    points = ball.project(points)
    mean = riemdp.frechet_mean(space, points).value
    sensitivity = riemdp.frechet_mean_sensitivity(ball, len(points))
    budget = riemdp.PureDP(epsilon)

    def off(value):
        return float(space.dist(mean, value))

    def released(kind, budget, **options):
        mechanism = kind.calibrate(space, sensitivity, budget, **options)
        return off(mechanism.sample_in_ball(mean, ball, rng))

    def width(x):
        """Return the closeness to the nearest public centre, in (0, 1]."""
        dist = np.min(space.dist(x[:, None], centers[None]), axis=1)
        return np.exp(-0.5 * (dist / (0.3 * ball.radius)) ** 2)

    found = {
        "plain Laplace": released(riemdp.RiemannianLaplace, budget),
        "Laplace on the ball": released(riemdp.RiemannianLaplace, budget, ball=ball),
        "tangent Gaussian, delta 1e-9": released(
            riemdp.TangentGaussian, riemdp.ApproxDP(epsilon, 1e-9)
        ),
        "public prior": off(
            riemdp.PublicPriorLaplace(ball, width, epsilon, sensitivity, bounds=(0.01, 1.0)).sample(
                mean, generator=rng
            )
        ),
    }
    lower = 0.5 ** (4.0 / max(dim, 4))  # keeps the acceptance up in high dimension
    metric = riemdp.ConformalRejection(
        ball,
        lambda x: lower + (1 - lower) * width(x),
        epsilon,
        sensitivity,
        bounds=(lower, 1.0),
        landmarks=centers,
    )
    found["conformal, public, large where dense"] = off(metric.sample(mean, generator=rng))
    if dim == 2 and nodes:
        for contract, sign in ((False, "large"), (True, "small")):
            law = riemdp.ConformalLaplace.private(
                points, ball, epsilon, nodes=nodes, contract_dense=contract, generator=rng
            )
            found[f"conformal, private, {sign} where dense"] = off(law.sample(mean, generator=rng))
    smaller = riemdp.private_ball(points, ball, SHARE * epsilon, generator=rng)
    found["private ball, then plain Laplace"] = off(
        riemdp.private_mean(
            points, smaller, riemdp.PureDP((1 - SHARE) * epsilon), generator=rng
        ).value
    )
    if published:
        # a chain needs about dim steps to forget that it started at the mean
        law = riemdp.ConformalLaplace.published(points, ball, epsilon, steps=400 + 40 * dim)
        found["as published (NOT private)"] = off(law.sample(mean, generator=rng))
    return found


def show(title, results):
    """Print mean errors of each method, with standard errors, over the runs that have it."""
    print(f"\n{title}")
    for name in dict.fromkeys(name for result in results for name in result):
        values = [result[name] for result in results if name in result]
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        print(f"  {name:<42} {np.mean(values):9.4f} ± {error:.4f}", flush=True)


def synthetic(repeats):
    """Tables for clustered points."""
    settings = [  # dim, clusters, spread, epsilon, n
        *((dim, 1, 0.1, 0.5, 1000) for dim in (2, 3, 5, 9)),
        *((3, clusters, 0.1, 0.5, 1000) for clusters in (3, 9)),
        *((3, 9, spread, 0.5, 1000) for spread in (0.5, 0.9)),
        *((3, 1, 0.1, epsilon, 1000) for epsilon in (0.1, 0.9)),
        (2, 1, 0.03, 0.5, 10_000),
        (9, 1, 0.03, 0.5, 10_000),
        (3, 1, 0.1, 0.1, 30),
    ]
    for dim, clusters, spread, epsilon, n in settings:
        rng = np.random.default_rng(0)
        ball = riemdp.Ball(riemdp.Euclidean(dim), np.zeros(dim), 1.0)
        results = []
        for repeat in range(repeats):
            points, centers = clustered(rng, dim, n, clusters, spread)
            results.append(
                errors(
                    points,
                    centers,
                    ball,
                    epsilon,
                    rng,
                    nodes=NODES if n == 1000 and repeat < FEW else 0,
                    published=n <= 1000 and repeat < FEW,
                )
            )
        title = f"d = {dim}, {clusters} clusters of spread {spread}, epsilon = {epsilon}, n = {n}"
        show(title, results)


def plane():
    """Exact mean distances over the net, for one cluster in the plane."""
    n, epsilon = 1000, 0.5
    rng = np.random.default_rng(0)
    points = rng.normal([0.3, 0.2], 0.1, (n, 2))
    mean = points.mean(axis=0)
    ball = riemdp.Ball(riemdp.Euclidean(2), np.zeros(2), 1.0)
    sensitivity = riemdp.frechet_mean_sensitivity(ball, n)
    plain = riemdp.RiemannianLaplace.calibrate(
        ball.manifold, sensitivity, riemdp.PureDP(epsilon)
    ).expected_distance()
    print(f"one cluster in the plane, n = {n}, epsilon = {epsilon}: mean distance to the draw")
    print(f"  {'plain Laplace':<42} {plain:9.4f}")
    law = riemdp.ConformalLaplace.public(ball, points, epsilon, sensitivity, NODES)
    print(f"  {'public factor, large where dense':<42} {law.expected_distance(mean):9.4f}")
    law = riemdp.ConformalLaplace.public(
        ball, lambda _: 1.0 / law.factor, epsilon, sensitivity, NODES
    )
    print(f"  {'public factor, small where dense':<42} {law.expected_distance(mean):9.4f}")
    for contract, sign in ((False, "large"), (True, "small")):
        values = [
            riemdp.ConformalLaplace.private(
                points, ball, epsilon, nodes=NODES, contract_dense=contract, generator=rng
            ).expected_distance(mean)
            for _ in range(4)
        ]
        name = f"private factor, {sign} where dense"
        print(f"  {name:<42} {np.mean(values):9.4f}", flush=True)


def fashion(repeats):
    """Table for covariance descriptors of one class of Fashion-MNIST."""
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (Path(folder) / "fashion_mnist_part.npz").exists():
        print("\nno Fashion-MNIST: set RIEMDP_DATA to the folder of fashion_mnist_part.npz")
        return
    data = np.load(Path(folder) / "fashion_mnist_part.npz")
    images = data["x_train"][data["y_train"] == 0]
    eta = 1e-3
    points = riemdp.covariance_descriptors(images, eta)
    space = riemdp.SPDLogEuclidean(points.shape[-1])
    ball = riemdp.Ball(space, np.eye(space.k), riemdp.descriptor_radius(eta, 1))
    for epsilon in (0.1, 0.9):
        rng = np.random.default_rng(0)
        results = [
            errors(points, ball.center[None], ball, epsilon, rng, published=repeat < 3)
            for repeat in range(min(repeats, FEW))
        ]
        title = f"Fashion-MNIST class 0, {space}, n = {len(points)}, radius {ball.radius:.3f}, "
        show(title + f"epsilon = {epsilon}", results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    repeats = parser.parse_args().repeats
    plane()
    synthetic(repeats)
    fashion(repeats)
