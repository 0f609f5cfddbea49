"""Rebuild and certify the table that bounds the volume density of SPD matrices.

    python tools/build_envelope_table.py [--check]

Writes rows ``alpha, beta`` with ``sum_{i<j} g(x_i - x_j) <= k^2 alpha / 2 + k beta |x|^2 / 2`` for
all k and all x in R^k of mean 0, where ``g(x) = log(sinh(x/2) / (x/2))``. ``--check`` compares a
rebuilt table with the one in the package instead, up to the optimiser's freedom. The proof and
the certificate: docs/proofs/affine-invariant-sampler.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import riemdp.research
from riemdp.noise._volume_series import log_sinhc
from riemdp.research._sinh_envelope import envelope_table

PATH = Path(riemdp.research.__file__).parent / "data" / "sinh_envelope.csv"
#: g''(0): with this slope alpha is 0.
LARGEST_SLOPE = 1.0 / 12.0
#: Candidate atoms of a measure, and points of a certificate's grid.
CANDIDATES = 200
GRID = 4001
#: Allowance for rounding, relative to the largest potential on the grid.
ROUNDING = 1e-14


def slopes() -> np.ndarray:
    """Return the slopes beta of the rows, decreasing, dense where the bound bends."""
    gaps = np.geomspace(1e-6, 0.04, 190)
    return np.concatenate([LARGEST_SLOPE - gaps, np.geomspace(LARGEST_SLOPE - 0.04, 1e-3, 210)[1:]])


def potential(x: np.ndarray, atoms: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``U = g * nu`` at x for the symmetric measure with these atoms on the right half."""
    kernel = log_sinhc(np.abs(x[:, None] - atoms)) + log_sinhc(x[:, None] + atoms)
    return np.asarray(0.5 * kernel @ weights)


def measure(beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return atoms and weights, on the right half, of a symmetric probability measure.

    It is meant to maximise E(nu) - beta times the mean of x^2; the certificate holds for any.
    """
    # Two atoms at sqrt(180 (1/12 - beta)) are optimal for the first two terms of g's series.
    reach = 0.5 / beta
    if beta > 0.05:
        reach = min(reach, 3.0 * math.sqrt(180.0 * (LARGEST_SLOPE - beta)))
    atoms = np.linspace(0.0, reach, CANDIDATES)
    weights = _maximise(atoms, beta)
    step = atoms[1]
    near = atoms[weights > 1e-8][:, None] + step * np.linspace(-1.0, 1.0, 9)
    atoms = np.unique(np.abs(near))
    weights = _maximise(atoms, beta)
    return atoms[weights > 0.0], weights[weights > 0.0]


def _maximise(atoms: np.ndarray, beta: float) -> np.ndarray:
    """Maximise the concave ``w^T K w - beta w^T x^2`` over probability vectors, by active sets."""
    kernel = log_sinhc(np.abs(atoms[:, None] - atoms)) + log_sinhc(atoms[:, None] + atoms)
    kernel = 0.5 * kernel - 1e-13 * np.max(kernel) * np.eye(atoms.size)
    cost = beta * np.square(atoms)
    active = [0]
    weights = np.zeros(atoms.size)
    weights[0] = 1.0
    for _ in range(10 * atoms.size):
        slope = 2.0 * kernel @ weights - cost
        best = int(np.argmax(slope))
        if slope[best] - slope @ weights <= 1e-12 * (1.0 + abs(slope[best])) or best in active:
            break
        active.append(best)
        while True:
            target = _stationary(kernel[np.ix_(active, active)], cost[active])
            now = weights[active]
            falling = target <= 0.0
            if not falling.any():
                break
            steps = np.where(falling, now / np.where(falling, now - target, 1.0), np.inf)
            out = int(np.argmin(steps))
            weights[active] = np.maximum(now + steps[out] * (target - now), 0.0)
            weights[active.pop(out)] = 0.0
        weights[active] = target
    return weights / weights.sum()


def _stationary(kernel: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Return where the objective is stationary among vectors of sum one."""
    n = cost.size
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = 2.0 * kernel
    system[:n, n] = system[n, :n] = 1.0
    return np.linalg.solve(system, np.append(cost, 1.0))[:n]


def certify(beta: float, atoms: np.ndarray, weights: np.ndarray) -> float:
    """Return an upper bound of ``sup_x (2 U(x) - beta x^2) - E``.

    Past ``1/(2 beta)`` the function decreases. Its second derivative is at least ``-2 beta``, so
    between two points of a grid of step h it exceeds the larger of its values by at most
    ``beta h^2 / 4``.
    """
    grid = np.linspace(0.0, 0.5 / beta, GRID)
    values = 2.0 * potential(grid, atoms, weights)
    energy = float(potential(atoms, atoms, weights) @ weights)
    step = grid[-1] / (GRID - 1)
    slack = 0.25 * beta * step * step + ROUNDING * (1.0 + float(values[-1]) + energy)
    return float(np.max(values - beta * np.square(grid))) - energy + 1.000001 * slack


def build() -> np.ndarray:
    """Return the rows ``alpha, beta``; the first is the bound ``g(x) <= x^2 / 24``."""
    rows = [(0.0, math.nextafter(LARGEST_SLOPE, 1.0))]
    for beta in slopes().tolist():
        rows.append((certify(beta, *measure(beta)), beta))
    return np.asarray(rows)


def main() -> int:
    """Build and write, or build and compare."""
    table = build()
    if "--check" in sys.argv[1:]:
        alpha, beta = envelope_table()
        same = np.array_equal(beta, table[:, 1])
        close = same and np.allclose(alpha, table[:, 0], rtol=1e-6, atol=1e-9)
        print(
            f"{len(table)} rows certified; the package's table {'agrees' if close else 'differs'}"
        )
        return 0 if close else 1
    lines = [f"{alpha!r},{beta!r}" for alpha, beta in table.tolist()]
    head = "# alpha,beta: written by tools/build_envelope_table.py\n"
    PATH.write_text(head + "\n".join(lines) + "\n", encoding="ascii")
    print(f"{len(lines)} rows written to {PATH}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
