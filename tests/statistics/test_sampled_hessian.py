"""Hessians of samples: of all records they are exact, and second moments know commutators."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import SPDAffineInvariant
from riemdp.manifolds import _symmetric
from riemdp.statistics import _sampled_hessian
from riemdp.statistics._affine_invariant_mean import hessian
from riemdp.statistics._affine_invariant_passes import Dense
from riemdp.statistics._sampled_hessian import (
    bounded_step,
    positions,
    sampled_step,
    second_moments,
)
from riemdp.statistics._whitened_logarithms import packed


def evaluated(k, n, random_points, size=1.0):
    rng = np.random.default_rng(k)
    data = random_points(SPDAffineInvariant(k), rng, n, size)
    return Dense(data, None).evaluate(np.eye(k)), _symmetric.logm(data)


@pytest.mark.parametrize(("n", "d"), [(300, 6), (500, 45), (70, 130), (20_000, 70)])
def test_second_moments_are_those_of_the_rows(n, d):
    rows = np.random.default_rng(d).normal(size=(n, d))
    shares = np.linspace(0.0, 1.0, n)
    expected = np.tril(np.einsum("n,ni,nj->ij", shares, rows, rows, optimize=True))
    found = np.tril(second_moments(rows, shares))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(
        np.tril(second_moments(rows, 0.5)), np.tril(0.5 * rows.T @ rows), atol=1e-9
    )


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_second_moments_know_squared_commutators(k, random_points):
    _, logs = evaluated(k, 40, random_points)
    moments = second_moments(logs[:, *packed(k)], 1.0 / 40)
    tangent = _symmetric.symmetrise(np.random.default_rng(1).normal(size=(k, k)))
    once = logs @ tangent - tangent @ logs
    expected = (logs @ once - once @ logs).mean(axis=0)
    found = _sampled_hessian._squared_commutator(moments, k)(tangent)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    if k > 1:
        assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("k", [2, 3, 5])
def test_steps_solve_the_newton_equation(k, random_points):
    at, logs = evaluated(k, 40, random_points)
    moments = second_moments(logs[:, *packed(k)], 1.0 / 40)
    for known in (None, moments):  # the sample is all there is: nothing to correct
        step = sampled_step(at, at.gradient, known)
        rest = np.linalg.norm(hessian(at, None)(step) - at.gradient)
        assert rest <= 1.1e-5 * at.size
    # the bound of the Hessian is nearly tight for small data, and larger for others
    step = bounded_step(at.gradient, moments)
    assert np.vdot(step, hessian(at, None)(step)) <= 1.02 * np.vdot(step, at.gradient)


def test_moments_of_all_records_mend_the_hessian_of_a_few(random_points):
    k, n = 4, 2000
    at, logs = evaluated(k, n, random_points, 2.0)
    sample = Dense(_symmetric.expm(logs[::20]), None).evaluate(np.eye(k))
    moments = second_moments(logs[:, *packed(k)], 1.0 / n)
    exact = hessian(at, None)
    rests = [
        np.linalg.norm(exact(sampled_step(sample, at.gradient, known)) - at.gradient)
        for known in (None, moments)
    ]
    assert rests[1] <= 0.2 * rests[0]


def test_samples_are_spread_by_weight():
    np.testing.assert_array_equal(positions(1000, None, 4), [125, 375, 625, 875])
    weights = np.zeros(1000)
    weights[[10, 700]] = 0.25, 0.75
    np.testing.assert_array_equal(positions(1000, weights, 4), [10, 700, 700, 700])
    uniform = np.full(1000, 1e-3)
    assert np.abs(positions(1000, uniform, 50) - positions(1000, None, 50)).max() <= 1
