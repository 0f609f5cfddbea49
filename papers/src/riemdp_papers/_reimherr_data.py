"""What the experiments of Reimherr, Bharath, Soto (NeurIPS 2021) share: balls and data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp.spaces import Ball, SPDAffineInvariant, Sphere
from riemdp.statistics import frechet_mean

if TYPE_CHECKING:
    from riemdp_papers._experiment import FloatArray

EPSILON = 1.0
#: Of the authors' scripts; the text of the paper names 20-40 on matrices, and none on the sphere.
SIZES = tuple(range(20, 501, 10))
#: Of the utility on the sphere there.
SPHERE_SIZES = tuple(range(25, 501, 25))
#: The same in a quick run.
QUICK_SIZES, QUICK_SPHERE_SIZES = (20, 30, 40, 60, 100, 200, 500), (25, 50, 100, 200, 500)
LARGE = 200
BOUNDS: tuple[Literal["theorem", "tight", "exact"], ...] = ("theorem", "tight", "exact")
NAMES = {"theorem": "Theorem 2", "tight": "tight", "exact": "exact"}

SPHERE = Ball(Sphere(2), np.array([0.0, 0.0, 1.0]), math.pi / 8.0)
#: Radius of the Euclidean ball about the pole that holds the geodesic one (supplement A.3.2).
SPHERE_RADIUS = 2.0 * math.sin(SPHERE.radius / 2.0)
SPD = Ball(SPDAffineInvariant(2), np.eye(2), 1.5)
#: The same for matrices, in Frobenius norm (supplement, Proposition 1).
SPD_RADIUS = math.expm1(SPD.radius)


def sphere_data(n: int, generator: np.random.Generator) -> FloatArray:
    """Points with uniform polar angle in [0, r] and azimuth (supplement A.3.1)."""
    polar = generator.uniform(0.0, SPHERE.radius, n)
    azimuth = generator.uniform(0.0, 2.0 * math.pi, n)
    x, y = np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth)
    return np.stack([x, y, np.cos(polar)], axis=-1)


def spd_data(n: int, generator: np.random.Generator) -> FloatArray:
    """Draws of W(I/2, 2) that lie within the radius of I (supplement A.2.1)."""
    kept = np.empty((0, 2, 2))
    while len(kept) < n:
        factors = generator.standard_normal((4 * n, 2, 2)) / math.sqrt(2.0)
        draws = factors @ np.swapaxes(factors, -1, -2)
        # rounding can leave a determinant of 0, at a distance without bound
        draws = draws[np.linalg.det(draws) > 1e-12]
        inside = SPD.manifold.dist(SPD.center, draws) < SPD.radius
        kept = np.concatenate([kept, draws[inside]])
    return kept[:n]


def draw_data(ball: Ball, n: int, generator: np.random.Generator) -> FloatArray:
    """``n`` records of the ball, drawn as in the paper."""
    return sphere_data(n, generator) if ball is SPHERE else spd_data(n, generator)


def fixed_mean(ball: Ball, points: FloatArray) -> FloatArray:
    """Fréchet mean; points that rounding left outside the ball are put on its boundary."""
    return frechet_mean(ball.manifold, ball.project(points), ball=ball).value


def label(ball: Ball) -> str:
    """Short name of a ball's manifold."""
    return "S²" if ball is SPHERE else "P(2)"


def worst_pair(ball: Ball, n: int) -> tuple[FloatArray, FloatArray]:
    """Means of two neighbouring data sets whose distance comes near the exact bound; odd ``n``.

    On the sphere equally many points lie at both ends of a diameter of the ball, and one moves
    along the diameter across. On matrices all lie on a geodesic, and one moves along all of it.
    """
    along, across = ball.radius * np.eye(ball.manifold.dim)[:2]
    if ball is SPHERE:
        rest = np.repeat([along, -along], (n - 1) // 2, axis=0)
    else:
        rest = np.repeat([across], n - 1, axis=0)
    one, two = (
        fixed_mean(
            ball,
            ball.manifold.exp(
                ball.center,
                ball.manifold.tangent_vector(ball.center, np.vstack([rest, [end]])),
            ),
        )
        for end in (across, -across)
    )
    return one, two


def largest_step(ball: Ball, n: int) -> float:
    """Euclidean distance of the means of two neighbouring data sets, chosen to be large."""
    if ball is SPHERE:
        one, two = worst_pair(ball, n)
        return float(np.linalg.norm(one - two))
    # All records are diag(e^r, 1), and one moves to diag(e^-r, 1); they commute.
    return math.exp(ball.radius) - math.exp(ball.radius * (1.0 - 2.0 / n))
