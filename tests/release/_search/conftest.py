from __future__ import annotations

import numpy as np
import pytest

from riemdp import GDP, Ball, Euclidean, private_ball, private_mean


def cluster(n, dim, spread=0.05, offset=0.3, seed=0):
    """Records about a point that is not the centre."""
    rng = np.random.default_rng(seed)
    return offset / np.sqrt(dim) + rng.normal(0.0, spread / np.sqrt(dim), (n, dim))


@pytest.fixture(scope="session")
def plane():
    return Ball(Euclidean(2), np.zeros(2), 1.0)


@pytest.fixture(scope="session")
def found(plane):
    return private_ball(cluster(600, 2), plane, GDP(1.0), generator=np.random.default_rng(1))


@pytest.fixture(scope="session")
def release(plane):
    rng = np.random.default_rng(1)
    return private_mean(cluster(600, 2), plane, GDP(1.0), method="adaptive", generator=rng)
