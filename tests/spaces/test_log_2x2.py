"""Logarithms of 2x2 matrices in closed form against 400 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp.spaces import _symmetric

EPS = np.finfo(float).eps


def exact_log(matrix):
    """Logarithm of a float matrix, to far more digits than float64 has."""
    with mpmath.workdps(400):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        logs = mpmath.diag([mpmath.log(x) for x in values])
        return np.array((vectors * logs * vectors.T).tolist(), dtype=float)


TWO_BY_TWO = {
    "plain": [[2.0, 0.5], [0.5, 1.0]],
    "diagonal": [[3.0, 0.0], [0.0, 0.25]],
    "nearly singular": [[1.0, 1.0 - 1e-10], [1.0 - 1e-10, 1.0]],
    "more nearly singular": [[1.0, 1.0 - 1e-14], [1.0 - 1e-14, 1.0]],
    "graded": [[1e8, 0.3], [0.3, 1e-8]],
    "very graded": [[1e12, 0.3], [0.3, 1e-12]],
    "tiny gap": [[1.0, 1e-9], [1e-9, 1.0 + 1e-9]],
    "gap of one ulp": [[1.0, 0.0], [0.0, 1.0 + EPS]],
    "gap that underflows": [[1.0, 1e-170], [1e-170, 1.0]],
    "tiny gap, scaled": [[5e6, 1e-4], [1e-4, 5e6]],
    "large": [[3e100, 1e100], [1e100, 1e100]],
    "small": [[3e-100, 1e-100], [1e-100, 1e-100]],
    "larger": [[3e200, 1e200], [1e200, 1e200]],
    "smaller": [[3e-200, 1e-200], [1e-200, 1e-200]],
}


@pytest.mark.parametrize("name", TWO_BY_TWO)
def test_closed_form_logarithm(name):
    matrix = np.array(TWO_BY_TWO[name])
    exact = exact_log(matrix)
    log = _symmetric.logm(matrix)
    np.testing.assert_array_equal(log, log.T)
    # Entries that rounding of det = ac - b^2 reaches; grading by itself costs nothing.
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[1, 1]
    lost = 8.0 * EPS / (1.0 - (b / a) * (b / c))
    assert np.abs(log - exact).max() <= lost + 8.0 * EPS * np.abs(exact).max()
    # The off-diagonal entry keeps its relative accuracy however small it is.
    assert abs(log[0, 1] - exact[0, 1]) <= (lost + 8.0 * EPS) * abs(exact[0, 1])


@pytest.mark.parametrize("scale", [1e-100, 0.3, 1.0, 7.0, 1e100])
def test_logarithm_of_a_multiple_of_the_identity_is_one(scale):
    log = _symmetric.logm(scale * np.eye(2))
    assert log[0, 1] == log[1, 0] == 0.0
    np.testing.assert_allclose(np.diag(log), math.log(scale), rtol=4 * EPS)


@given(seed=st.integers(0, 2**32 - 1), digits=st.floats(0.0, 12.0))
def test_closed_form_agrees_with_50_digits_on_random_matrices(seed, digits, random_rotation):
    rng = np.random.default_rng(seed)
    rotation = random_rotation(rng, 2)
    matrix = _symmetric.symmetrise(rotation * [1.0, 10.0**-digits] @ rotation.T)
    error = np.abs(_symmetric.logm(matrix) - exact_log(matrix)).max()
    assert error <= 8.0 * EPS * 10.0**digits
