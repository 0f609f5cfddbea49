"""Base points and normal coordinates that the tests of tangent mechanisms share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.spaces import Euclidean, SPDAffineInvariant, SPDLogEuclidean


@pytest.fixture(scope="session")
def base_of():
    """Give a base point of a manifold."""

    def base(manifold):
        if isinstance(manifold, Euclidean):
            return np.zeros(manifold.dim)
        if isinstance(manifold, (SPDLogEuclidean, SPDAffineInvariant)):
            return np.diag(np.arange(1.0, manifold.k + 1.0))
        point = np.zeros(manifold.dim + 1)
        point[0] = 1.0 / math.sqrt(abs(manifold.curvature))
        return point

    return base


@pytest.fixture(scope="session")
def near(base_of):
    """Give the point of a manifold with these normal coordinates about the base."""

    def point(manifold, coordinates):
        base = base_of(manifold)
        return manifold.exp(base, manifold.tangent_vector(base, coordinates))

    return point


@pytest.fixture(scope="session")
def coordinates_of(base_of):
    """Give the normal coordinates of points about the base."""

    def coordinates(manifold, points):
        base = base_of(manifold)
        return manifold.tangent_coordinates(base, manifold.log(base, points))

    return coordinates


@pytest.fixture(scope="session")
def neighbours(near):
    """Give two footpoints whose tangent vectors at the base are this far apart."""

    def pair(manifold, sensitivity):
        first = 0.1 * np.ones(manifold.dim)
        return near(manifold, first), near(manifold, first - sensitivity * np.eye(manifold.dim)[0])

    return pair
