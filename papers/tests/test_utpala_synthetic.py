from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special

from riemdp.spaces import SPDLogEuclidean
from riemdp.statistics import frechet_mean
from riemdp_papers import _utpala_synthetic
from riemdp_papers._utpala_synthetic import (
    ANALYTIC,
    CLASSICAL,
    LAPLACE,
    LOG_RANGE,
    banded,
    extrinsic_sensitivity,
    synthetic_matrices,
    synthetic_mechanisms,
)

#: Multiples of the sensitivity at (0.1, 1e-6): the classical one by its formula, the analytic one
#: as in Balle and Wang.
NOISE = {CLASSICAL: math.sqrt(2 * math.log(1.25e6)) / 0.1, ANALYTIC: 36.305}


def test_the_settings_are_those_of_the_paper():
    expected = {
        "SIZES": (2, 5, 10, 15, 20, 25, 30),
        "EPSILONS": (0.1, 0.2, 0.3, 0.4),
        "DELTAS": (1e-6, 1e-7, 1e-8, 1e-9),
        "RECORDS": 500,
        "LOG_RANGE": 0.25,
        "IMAGE_EPSILONS": (0.1, 0.3, 0.5, 0.7, 0.9),
        "IMAGE_DELTAS": (1e-5, 1e-7, 1e-9),
        "CLASSES": 4,
        "ETA": 1e-6,
        "BURN_INS": (10_000, 30_000, 50_000),
    }
    assert {name: getattr(_utpala_synthetic, name) for name in expected} == expected


@pytest.mark.parametrize("k", [2, 30])
def test_expected_distances_are_the_closed_forms(k):
    dim, sensitivity = k * (k + 1) // 2, math.sqrt(k) / 1000
    chi = math.sqrt(2) * math.exp(
        scipy.special.gammaln((dim + 1) / 2) - scipy.special.gammaln(dim / 2)
    )
    found = synthetic_mechanisms(k, 0.1, 1e-6)
    expected = {name: noise * sensitivity * chi for name, noise in NOISE.items()}
    expected[LAPLACE] = dim * sensitivity / 0.1
    for name, value in expected.items():
        assert found[name].expected_distance() == pytest.approx(value, rel=2e-5), name


def test_the_figures_quoted_for_thirty_by_thirty():
    found = synthetic_mechanisms(30, 0.1, 1e-6)
    assert found[LAPLACE].expected_distance() == pytest.approx(25.47, abs=5e-3)
    assert found[CLASSICAL].expected_distance() == pytest.approx(6.255, abs=5e-4)
    assert found[ANALYTIC].expected_distance() == pytest.approx(4.286, abs=5e-4)


def test_matrices_lie_in_the_ball_with_the_eigenvalues_of_the_paper():
    k = 4
    points = synthetic_matrices(k, 2000, np.random.default_rng(0))
    values = np.linalg.eigvalsh(points)
    assert values.min() >= math.exp(-LOG_RANGE) * (1 - 1e-12)
    assert values.max() <= math.exp(LOG_RANGE) * (1 + 1e-12)
    assert values.mean() == pytest.approx(math.cosh(LOG_RANGE), abs=0.01)
    dist = SPDLogEuclidean(k).dist(np.eye(k), points)
    assert dist.max() <= LOG_RANGE * math.sqrt(k)
    # Haar eigenvectors: the mean is a multiple of the identity
    np.testing.assert_allclose(points.mean(axis=0), math.cosh(LOG_RANGE) * np.eye(k), atol=0.02)


@pytest.mark.parametrize("radius", [0.3, LOG_RANGE * math.sqrt(30)])
def test_the_published_extrinsic_sensitivity_is_exceeded_and_the_valid_one_is_not(radius):
    n, k = 50, 3
    published, valid = extrinsic_sensitivity(radius, n)
    far, near = np.diag(np.exp([radius, 0.0, 0.0])), np.diag(np.exp([-radius, 0.0, 0.0]))
    data = np.broadcast_to(far, (n, k, k)).copy()
    other = data.copy()
    other[0] = near
    space = SPDLogEuclidean(k)
    means = [frechet_mean(space, x).value for x in (data, other)]
    moved = np.linalg.norm(means[0] - means[1])
    assert published < moved < valid
    # what the published one is right for
    assert np.linalg.norm(data.mean(axis=0) - other.mean(axis=0)) <= published


def test_random_neighbours_stay_under_the_valid_extrinsic_sensitivity():
    rng, space, n, radius = np.random.default_rng(1), SPDLogEuclidean(3), 5, 1.2
    _, valid = extrinsic_sensitivity(radius, n)
    chart = rng.standard_normal((200, n + 1, space.dim))
    chart *= radius / np.linalg.norm(chart, axis=2, keepdims=True)
    first = space.from_chart(chart[:, :n].mean(axis=1))
    second = space.from_chart(chart[:, 1:].mean(axis=1))
    assert np.linalg.norm(first - second, axis=(1, 2)).max() <= valid


def test_bands_are_two_standard_deviations():
    line = banded("a", (1.0, 2.0), [np.array([0.0, 2.0]), np.array([3.0, 3.0])])
    assert line.y == (1.0, 3.0)
    assert line.spread == (2.0, 0.0)
    assert "2 sd" in line.label
