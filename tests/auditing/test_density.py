from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    PureDP,
    RiemannianLaplace,
    SPDAffineInvariant,
    Sphere,
    TangentGaussian,
    TangentLaplace,
)
from riemdp.auditing import audit_density_ratio, footpoint_pair
from riemdp.privacy import GaussianCurve


@pytest.mark.parametrize(
    "mechanism",
    [
        RiemannianLaplace(Euclidean(2), 0.5),
        RiemannianLaplace(Sphere(2), 0.5),
        RiemannianLaplace(Hyperbolic(2), 0.5),
        TangentLaplace(SPDAffineInvariant(2), 0.5, base=np.eye(2)),
    ],
    ids=str,
)
def test_laplace_laws_reach_their_epsilon(mechanism, rng):
    first, second = footpoint_pair(mechanism.manifold, 0.4)
    result = audit_density_ratio(mechanism, first, second, PureDP(0.8), generator=rng)
    assert result.verdict == "consistent"
    assert result.largest == pytest.approx(0.8)
    assert result.point.shape == mechanism.manifold.point_shape
    broken = audit_density_ratio(mechanism, first, second, PureDP(0.79), generator=rng)
    assert broken.verdict == "violated"


def test_gaussian_laws_have_no_pure_epsilon(rng):
    mechanism = TangentGaussian(Euclidean(1), 1.0)
    result = audit_density_ratio(mechanism, [0.0], [1.0], PureDP(1.0), generator=rng)
    assert result.verdict == "violated"
    with pytest.raises(InvalidParameterError, match="pure epsilon"):
        audit_density_ratio(mechanism, [0.0], [1.0], GaussianCurve(1.0))


def test_points_of_the_caller_count(rng):
    class Bump:
        """A density with one bad point."""

        manifold = Euclidean(1)

        def sample(self, footpoint, size, generator):
            return footpoint + generator.laplace(size=(size, 1))

        def log_density(self, point, footpoint):
            bad = (point[:, 0] == 0.123456) & (footpoint[0] == 0.0)
            return np.where(bad, np.inf, -np.abs(point[:, 0] - footpoint[0]))

    first, second = [0.0], [1.0]
    plain = audit_density_ratio(Bump(), first, second, PureDP(1.0), generator=rng)
    assert plain.verdict == "consistent"
    told = audit_density_ratio(
        Bump(), first, second, PureDP(1.0), points=[[0.123456]], generator=rng
    )
    assert told.verdict == "violated"
    assert told.largest == math.inf
    assert told.points == plain.points + 1
