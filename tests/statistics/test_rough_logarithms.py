"""Logarithms by products alone: their digits, where they are of use."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.manifolds import _symmetric
from riemdp.statistics._rough_logarithms import rough_logarithms, series


def matrices(rng, n, k, least, largest):
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    values = np.exp(rng.uniform(math.log(least), math.log(largest), size=(n, k)))
    values[:, 0], values[:, 1] = least, largest
    return _symmetric.symmetrise((frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2))


@pytest.mark.parametrize("error", [1e-2, 1e-5, 1e-9, 1e-12])
@pytest.mark.parametrize("ends", [(0.9, 1.1), (0.3, 2.5), (0.02, 1.0)])
def test_polynomials_are_as_near_the_logarithm_as_asked_for(ends, error):
    found = series(*ends, error)
    t = (np.geomspace(*ends, 500) - found.middle) / found.reach
    width = found.terms.shape[1]
    angles = np.arccos(np.clip(t, -1.0, 1.0))
    within = np.cos(np.arange(width)[:, None] * angles)
    between = np.cos(np.arange(len(found.terms))[:, None] * width * angles)
    value = np.einsum("ji,it,jt->t", found.terms, within, between)
    gap = np.abs(value - np.log(found.middle + found.reach * t)).max()
    assert gap <= error + 1e-14
    # not by far more than what is asked for: that would take time
    assert gap >= 1e-4 * error - 1e-14


def test_there_is_no_polynomial_where_its_degree_would_be_too_high():
    assert series(1e-2, 1.0, 1e-4) is not None
    assert series(1e-4, 1.0, 1e-4) is None


@pytest.mark.parametrize(
    "ends",
    [(1e-140, 1e160), (1e-20, 1e20), (0.0, 1.0), (0.0, 0.0), (1.0, math.inf), (math.nan, 1.0)],
)
def test_nor_where_one_record_is_far_from_the_others(ends):
    assert series(*ends, 1e-9) is None
    assert series(*ends, 1e3) is None


@pytest.mark.parametrize("k", [2, 5, 9])
def test_logarithms_of_whitened_matrices(k):
    rng = np.random.default_rng(k)
    data = matrices(rng, 300, k, 0.2, 3.0)
    factor = np.tril(rng.normal(size=(k, k))) + 3.0 * np.eye(k)
    seen = _symmetric.symmetrise(factor @ data @ factor.T)
    exact = _symmetric.logm(data).reshape(300, -1)
    found = rough_logarithms(np.linalg.inv(factor), seen, series(0.2, 3.0, 1e-9))
    error = np.linalg.norm(found - exact, axis=1)
    assert error.max() <= 1e-9 * math.sqrt(k)
    # beyond the interval they are wrong, and by how much nobody knows
    far = rough_logarithms(np.linalg.inv(factor), seen, series(0.6, 3.0, 1e-9))
    assert np.linalg.norm(far - exact, axis=1).max() > 1e-6
