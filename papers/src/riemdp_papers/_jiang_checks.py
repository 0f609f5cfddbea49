"""Checks of statements of Jiang et al. by sums over fine grids."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp.spaces import Sphere

if TYPE_CHECKING:
    from riemdp_papers._experiment import FloatArray


def circle_laws(sigma: float, sensitivity: float, points: int = 20_000) -> FloatArray:
    """Probabilities of two Gaussian laws in equal arcs of the unit circle, ``(2, points)``."""
    turn = 2.0 * math.pi
    angle = (np.arange(points) + 0.5) * turn / points
    gap = np.stack([angle, angle - sensitivity]) % turn
    weight = np.exp(-0.5 * np.square(np.minimum(gap, turn - gap) / sigma))
    return np.asarray(weight / np.sum(weight, axis=1, keepdims=True))


def torus_laws(shift: tuple[float, float], sigma: float, points: int = 400) -> FloatArray:
    """Probabilities of two Gaussian laws on the product of two unit circles, ``(2, cells)``.

    The distance is the root of the squares of both arcs, so that each law is a product.
    """
    first, second = (circle_laws(sigma, step, points) for step in shift)
    return np.stack([np.outer(first[i], second[i]).ravel() for i in (0, 1)])


def line_laws(sigma: float, sensitivity: float, points: int = 20_000) -> FloatArray:
    """Probabilities of two normal laws on a line in equal steps, ``(2, points)``."""
    grid = np.linspace(-12.0 * sigma, 12.0 * sigma + sensitivity, points)
    weight = np.exp(-0.5 * np.square(np.stack([grid, grid - sensitivity]) / sigma))
    return np.asarray(weight / np.sum(weight, axis=1, keepdims=True))


def sphere_normaliser(footpoint: FloatArray, sigma: float, points: int = 400) -> float:
    """``Z(footpoint, sigma)`` on ``S^2``, summed over cells that know nothing of the footpoint."""
    height = (np.arange(points) + 0.5) * 2.0 / points - 1.0  # equal areas
    angle = (np.arange(points) + 0.5) * 2.0 * math.pi / points
    root = np.sqrt(1.0 - np.square(height))[:, None]
    cells = np.stack(
        [
            np.broadcast_to(height[:, None], (points, points)),
            root * np.cos(angle),
            root * np.sin(angle),
        ],
        axis=-1,
    )
    distance = Sphere(2).dist(footpoint, cells)
    return float(4.0 * math.pi * np.mean(np.exp(-0.5 * np.square(distance / sigma))))


def hockey_stick(laws: FloatArray, epsilon: float) -> float:
    """Least ``delta`` of a pair of laws ``(2, m)`` at ``epsilon``."""
    return float(np.sum(np.maximum(laws[0] - math.exp(epsilon) * laws[1], 0.0)))


def profile_of_losses(laws: FloatArray, epsilon: float) -> float:
    """``P[L > epsilon] - exp(epsilon) Q[L' < -epsilon]`` of a pair of laws ``(2, m)``."""
    loss = np.log(laws[0]) - np.log(laws[1])
    above = loss > epsilon
    return float(np.sum(laws[0][above]) - math.exp(epsilon) * np.sum(laws[1][above]))


def trade_off_mu(laws: FloatArray) -> float:
    """Least ``mu`` whose trade-off function is below that of a pair of laws ``(2, m)``.

    By the most powerful tests, which reject where the ratio of the laws is largest. Their errors
    are ``1 - F`` and ``G``, and ``mu`` is the largest difference of their normal quantiles.
    """
    order = np.argsort(laws[1] / laws[0])
    power, level = (np.cumsum(law[order])[:-1] for law in laws)
    inner = (power < 1.0 - 1e-9) & (level > 1e-9)
    gap = scipy.special.ndtri(power[inner]) - scipy.special.ndtri(level[inner])
    return float(np.max(gap))


def chain_distance(sigma: float, steps: int, points: int = 400, *, antipode: bool = False) -> float:
    """Total variation between a Metropolis chain on the unit circle and its law.

    The chain of Section 4.1, from the footpoint or from its antipode: proposals are normal steps of
    scale ``sigma`` that are refused beyond half a turn. Computed from the matrix of the chain on
    a grid; no draws.
    """
    law = circle_laws(sigma, 0.0, points)[0]
    start = int(np.argmin(law) if antipode else np.argmax(law))
    turn = 2.0 * math.pi
    gap = np.arange(points) * turn / points
    arc = np.minimum(gap, turn - gap)
    proposal = np.exp(-0.5 * np.square(arc / sigma))
    proposal *= (1.0 - 2.0 * scipy.special.ndtr(-math.pi / sigma)) / np.sum(proposal)
    index = np.subtract.outer(np.arange(points), np.arange(points)) % points
    move = proposal[index] * np.minimum(1.0, law[None, :] / law[:, None])
    np.fill_diagonal(move, 0.0)
    np.fill_diagonal(move, 1.0 - np.sum(move, axis=1))
    state = np.zeros(points)
    state[start] = 1.0
    for _ in range(steps):
        state = state @ move
    return 0.5 * float(np.sum(np.abs(state - law)))
