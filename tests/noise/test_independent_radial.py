"""Distances on products."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from riemdp.noise import RadialLaw
from riemdp.noise._independent_radial import IndependentRadial

LEVELS = np.array([0.05, 0.3, 0.5, 0.7, 0.95])


@pytest.mark.parametrize(
    ("dim", "count"),
    [
        (1, 1),
        (3, 5),
        pytest.param(2, 50, marks=pytest.mark.slow),
        pytest.param(1, 10_000, marks=pytest.mark.slow),
    ],
)
def test_of_flat_factors_it_is_that_of_the_whole_space(dim, count):
    part = RadialLaw("gaussian", dim, 0.0, 0.7)
    found = IndependentRadial((part,), (count,))
    wanted = stats.chi(dim * count, scale=0.7)
    assert found.mean() == pytest.approx(wanted.mean(), rel=2e-3)
    np.testing.assert_allclose(found.quantile(LEVELS), wanted.ppf(LEVELS), rtol=5e-3)
    fewer = IndependentRadial((part,), (count + 1,))  # the control
    assert abs(fewer.mean() / wanted.mean() - 1.0) > 0.4 / (count + 1) - 1e-9


def test_counts_are_those_of_their_part():
    one, other = RadialLaw("gaussian", 2, 0.0, 0.3), RadialLaw("laplace", 2, 0.0, 0.2)
    found = IndependentRadial((one, other), (3, 2))
    rng = np.random.default_rng(0)
    squares = [np.square(one.sample(40_000, rng)) for _ in range(3)]
    squares += [np.square(other.sample(40_000, rng)) for _ in range(2)]
    dist = np.sqrt(np.sum(squares, axis=0))
    np.testing.assert_allclose(found.quantile(LEVELS), np.quantile(dist, LEVELS), rtol=0.02)
