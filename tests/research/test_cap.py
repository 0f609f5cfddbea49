from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.stats

from riemdp.research._cap import log_cap_share, sample_cap


@pytest.mark.parametrize("dim", [2, 3, 9, 100, 1000, 5000])
@pytest.mark.parametrize("x", [1e-12, 1e-4, 0.1, 0.4, 0.5, 0.9])
def test_log_share(dim: int, x: float):
    with mpmath.workdps(40):
        h = mpmath.mpf(dim - 1) / 2
        exact = mpmath.log(mpmath.betainc(h, h, 0, x, regularized=True))
        assert log_cap_share(np.array([x]), dim)[0] == pytest.approx(
            float(exact), rel=1e-10, abs=1e-10
        )


def test_two_points():
    np.testing.assert_allclose(log_cap_share(np.array([0.1, 0.9]), 1), math.log(0.5))
    generator = np.random.default_rng(0)
    assert not sample_cap(np.full(100, 0.7), 1, generator).any()
    whole = sample_cap(np.ones(50_000), 1, generator)
    assert set(whole) == {0.0, 1.0}
    assert abs(whole.mean() - 0.5) < 0.01


@pytest.mark.parametrize(
    ("dim", "x"), [(2, 0.3), (3, 1.0), (9, 0.05), (9, 1e-9), (100, 0.5), (400, 1e-3), (4000, 0.2)]
)
def test_draws_are_uniform_on_the_cap(dim: int, x: float, holds):
    # log I_y - log I_x is the logarithm of a uniform variable; the last two underflow
    def pvalue(generator: np.random.Generator) -> float:
        opening = np.full(5_000, x)
        drawn = sample_cap(opening, dim, generator)
        assert np.all((drawn >= 0.0) & (drawn <= x))
        share = np.exp(log_cap_share(drawn, dim) - log_cap_share(opening, dim))
        return scipy.stats.kstest(share, "uniform").pvalue

    assert holds(pvalue)
