"""What tests of spaces share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize


def _curvature(space, center, u, v, step):
    """3 (2 t^2 - d^2) / t^4 of the ends of two orthonormal rays, d apart at time t."""
    ends = (space.point(center, step * w) for w in (u, v))
    return float(3.0 * (2.0 * step**2 - space.dist(*ends) ** 2) / step**4)


def _measured(space, center, u, v):
    coarse, fine = (_curvature(space, center, u, v, step) for step in (0.05, 0.025))
    return (4.0 * fine - coarse) / 3.0  # without the next order


@pytest.fixture(scope="session")
def curvature():
    """``curvature(space, center, u, v)`` of the plane of orthonormal u, v, from distances alone."""
    return _measured


@pytest.fixture(scope="session")
def curvature_range():
    """``curvature_range(space, center)``: least and largest curvature, from distances alone."""

    def found(space, center, starts=2):
        def measured(entries):
            return _measured(space, center, *np.linalg.qr(entries.reshape(2, -1).T)[0].T)

        def least(function):
            generator = np.random.default_rng(0)
            first = generator.normal(size=(starts, 2 * space.dim))
            return min(minimize(function, start, tol=1e-7).fun for start in first)

        return least(measured), -least(lambda entries: -measured(entries))

    return found
