"""A conformal factor from noisy counts: private, or from public points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import count, positive
from riemdp._errors import InvalidBudgetError
from riemdp.noise import resolve_generator
from riemdp.research._graph_metric import solve_poisson

if TYPE_CHECKING:
    from riemdp.research._net import BallNet
    from riemdp.spaces import FloatArray

#: Bound of the logarithm of the conformal factor's root.
LARGEST_SCALING = 1.0
#: Noisy counts under so many scales of their noise count as zero.
_NOISE_SCALES = 2.0


def cell_counts(partition: BallNet, points: FloatArray) -> FloatArray:
    """Numbers of points of the ball in the cells of a partition: each at its nearest node."""
    return np.bincount(partition.nearest(points), minlength=len(partition.points)).astype(float)


def noisy_cell_counts(
    partition: BallNet, points: FloatArray, epsilon: float, generator: np.random.Generator | None
) -> FloatArray:
    """Return the counts with Laplace noise of scale ``2 / epsilon``, which is epsilon-private.

    Replacing one record changes at most two counts, by one each. Noisy counts under two scales of
    the noise are set to zero afterwards, so that empty cells mostly stay empty.
    """
    counts, scale = cell_counts(partition, points), 2.0 / epsilon
    source = resolve_generator(generator)  # keyed after the points were counted
    noisy = counts + source.laplace(scale=scale, size=counts.shape)
    return np.where(noisy > _NOISE_SCALES * scale, noisy, 0.0)


def density_factor(
    net: BallNet, partition: BallNet, counts: FloatArray, n: int, *, contract_dense: bool = False
) -> FloatArray:
    """Conformal factor on a net ``(J,)``, from counts over a partition ``(M,)`` of the same ball.

    The counts, which may be noisy, are smoothed (negative ones count as zero),
    ``-div grad s = density - mean`` is solved, s is clipped to [-1, 1], and the factor is
    ``exp(2 s)``; with ``contract_dense`` it is small where the density is large, as published,
    instead of large. Nothing but the counts and public numbers enters, of which the number n of
    records is one.
    """
    mass, volume = np.zeros(len(net.points)), np.zeros(len(net.points))
    for center, cell, content in zip(partition.points, partition.volumes, counts, strict=True):
        kernel = np.exp(-0.5 * np.square(net.distances(center) / partition.covering_radius))
        mass += kernel * max(content, 0.0)
        volume += kernel * cell
    density = mass / volume / n
    scaling = np.clip(solve_poisson(net, density), -LARGEST_SCALING, LARGEST_SCALING)
    return np.asarray(np.exp(-2.0 * scaling if contract_dense else 2.0 * scaling))


def split_budget(epsilon: float, epsilon_density: float | None) -> tuple[float, float]:
    """Parts of a total for the density and for the draw; a tenth for the density by default."""
    epsilon = positive(epsilon, "epsilon", error=InvalidBudgetError)
    part = 0.1 * epsilon if epsilon_density is None else epsilon_density
    part = positive(part, "epsilon_density", error=InvalidBudgetError)
    rest = epsilon - part
    if rest <= 0.0:
        raise InvalidBudgetError(
            f"epsilon_density = {part:.6g} must stay under the total epsilon = {epsilon:.6g}, of "
            "which it is a part; a tenth is the default"
        )
    return part, rest


def cell_number(cells: int | None, dim: int, most: float) -> int:
    """Cells of the partition: at most ``most`` by default, between 4 and 16 across the ball.

    For noisy counts ``n epsilon / 2`` is a fair limit, at which an average count is as large as the
    scale of its noise.
    """
    if cells is not None:
        return count(cells, "cells")
    return int(max(4**dim, min(most, 16**dim, 1000)))
