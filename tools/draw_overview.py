"""Draw the picture of the README and of the documentation's home page.

    python tools/draw_overview.py docs/images/overview.png

Made-up records and a seeded generator, so that the picture is the same again. A seeded release is
not private.
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import riemdp

EXACT, PRIVATE, RECORDS = "black", "#d62728", "#9ecae1"
BUDGET = riemdp.GDP(1.0)


def matrices(axes: Any, rng: np.random.Generator) -> None:
    """Covariance matrices as ellipses."""
    space = riemdp.SPDLogEuclidean(2)
    center = np.array([[1.6, 0.5], [0.5, 0.8]])
    points = space.point(center, rng.normal(0.0, 0.35, (150, 3)))
    ball = riemdp.Ball(space, np.eye(2), 2.0)
    exact = riemdp.tangent_mean(ball, points)
    released = riemdp.private_mean(points, ball, BUDGET, generator=rng)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = np.stack([np.cos(angle), np.sin(angle)])

    def ellipse(matrix: Any, **style: Any) -> None:
        axes.plot(*(np.linalg.cholesky(matrix) @ circle), **style)

    for point in points[:40]:
        ellipse(point, color=RECORDS, linewidth=0.8)
    ellipse(space.exp(ball.center, exact), color=EXACT, linewidth=2.5, label="exact mean")
    ellipse(released.value, color=PRIVATE, linewidth=2.5, linestyle="--", label="private mean")
    axes.set(title=f"150 covariance matrices, {BUDGET}", aspect="equal")
    axes.legend(loc="lower right", frameon=False)
    axes.set_axis_off()


def directions(axes: Any, rng: np.random.Generator) -> None:
    """Directions on a sphere, in a public ball."""
    space = riemdp.Sphere(2)
    ball = riemdp.Ball(space, [0.0, 0.0, 1.0], 1.0)
    points = ball.project(ball.point(rng.normal([0.25, 0.15], 0.28, (300, 2))))
    released = riemdp.private_mean(points, ball, BUDGET, generator=rng)
    exact = space.exp(ball.center, riemdp.tangent_mean(ball, points))
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.7, 0.714], [0.0, -0.714, 0.7]]).T

    def seen(x: Any) -> Any:
        return (x @ turn)[..., :2].T

    angle = np.linspace(0.0, 2.0 * np.pi, 300)
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    axes.plot(*rim.T, color="0.6", linewidth=1.0)
    for height in np.radians([0.0, 30.0, 60.0]):
        ring = np.column_stack([np.cos(height) * rim, np.full(300, np.sin(height))])
        ring[(ring @ turn)[:, 2] < 0.0] = np.nan
        axes.plot(*seen(ring), color="0.85", linewidth=0.8)
    axes.plot(
        *seen(ball.point(rim)), color="0.3", linewidth=1.2, linestyle=":", label="public ball"
    )
    axes.plot(*seen(points), ".", color=RECORDS, markersize=4)
    axes.plot(*seen(exact), "o", color=EXACT, markersize=9, label="exact mean")
    axes.plot(*seen(released.value), "x", color=PRIVATE, markersize=9, mew=3, label="private mean")
    axes.set(title=f"300 directions, {BUDGET}", aspect="equal")
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    axes.set_axis_off()


def errors(axes: Any) -> None:
    """Draw what a plan says before any data are read."""
    sizes = np.geomspace(30, 30_000, 13).astype(int)
    space = riemdp.SPDLogEuclidean(3)
    for budget, color in ((riemdp.GDP(0.5), "#756bb1"), (riemdp.GDP(1.0), "#3182bd")):
        found = [riemdp.plan(space, 2.0, int(n), budget).best for n in sizes]
        expected = [row.expected_distance for row in found if row is not None]
        axes.loglog(sizes, expected, color=color, linewidth=2.5, label=str(budget))
    axes.set(title="expected error, before the data", xlabel="number of records")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def main(path: str) -> None:
    """Write the picture."""
    rng = np.random.default_rng(3)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    matrices(left, rng)
    directions(middle, rng)
    errors(right)
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1])
