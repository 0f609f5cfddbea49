"""The published mechanism is caught by an audit, with the samples that the docs state."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from riemdp import Ball, Euclidean, PureDP
from riemdp.auditing import audit
from riemdp_papers import PublishedConformalLaplace

DOCS = Path(__file__).resolve().parents[2] / "docs" / "auditing.md"


def published_log_density(records, grid):
    """Log mass of the published Conformal-DP on the grid, at nominal epsilon 0.1."""
    line = Euclidean(1)
    law = PublishedConformalLaplace(
        records, Ball(line, [0.0], 1.0), 0.1, bandwidth=0.1, neighbours=10, kernel_width=0.5
    )
    scaling = law.log_scaling_at(grid[:, None])
    along = np.cumsum(np.exp(scaling)) * (grid[1] - grid[0])
    log_mass = scaling - law.rate * np.abs(along - np.interp(records.mean(), grid, along))
    return log_mass - np.log(np.sum(np.exp(log_mass)))


def published_conformal(samples, generator):
    grid = np.linspace(-1.0, 1.0, 20_001)
    records = np.random.default_rng(0).normal(0.0, 0.1, (20, 1))
    neighbour = records.copy()
    neighbour[0] = 0.9
    laws = [published_log_density(points, grid) for points in (records, neighbour)]
    cumulative = [np.cumsum(np.exp(law)) for law in laws]

    def mechanism(data, source):
        return float(np.interp(source.random(), cumulative[int(data[0, 0] == 0.9)], grid))

    return audit(
        mechanism,
        records,
        neighbour,
        PureDP(0.1),
        samples=samples,
        score=lambda outputs: np.interp(outputs, grid, laws[0] - laws[1]),
        generator=generator,
    )


def test_it_is_caught_with_the_samples_that_the_docs_state():
    row = r"^\| published Conformal-DP on a line, 20 records, pure 0.1 \| (\d+) \|$"
    (samples,) = re.findall(row, DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for seed in range(5):
        found = published_conformal(int(samples), np.random.default_rng(seed))
        assert found.verdict == "violated", seed
