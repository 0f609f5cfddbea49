"""Matrices without full rank are refused by a public limit, not by the luck of rounding."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    NotOnManifoldError,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
)

SPACES = [SPDLogEuclidean, SPDAffineInvariant, SPDLogCholesky, SPDPower]


def average_referenced(rng, channels, samples=256):
    signal = np.cumsum(rng.normal(size=(channels, samples)), axis=1)
    return np.cov(signal - signal.mean(axis=0))


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("channels", [2, 8, 64])
def test_average_referenced_covariances_are_all_refused(kind, channels):
    rng = np.random.default_rng(channels)
    for _ in range({2: 500, 8: 500, 64: 25}[channels]):
        with pytest.raises(NotOnManifoldError, match="identity, use fewer channels, or shrink"):
            kind(channels).validate(average_referenced(rng, channels))


def test_without_the_limit_rounding_would_decide():
    """The negative control: Cholesky alone lets many of them pass."""
    rng = np.random.default_rng(8)
    passed = 0
    for _ in range(200):
        try:
            np.linalg.cholesky(average_referenced(rng, 8))
            passed += 1
        except np.linalg.LinAlgError:
            continue
    assert 10 < passed < 190


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("k", [2, 3, 5, 10])
@pytest.mark.parametrize("decades", [0, 6, 60, 140])
def test_graded_matrices_are_accepted(kind, k, decades):
    """The limit leaves alone what rescaling the coordinates does."""
    rng = np.random.default_rng(k)
    factors = rng.normal(size=(20, k, 3 * k))
    scale = 10.0 ** rng.uniform(-decades, decades, (20, k))
    data = scale[:, :, None] * (factors @ np.swapaxes(factors, 1, 2)) * scale[:, None, :]
    data = 0.5 * data + 0.5 * np.swapaxes(data, 1, 2)
    assert kind(k).validate(data).tobytes() == data.tobytes()


@pytest.mark.parametrize("kind", SPACES)
def test_a_remedy_that_the_message_names_is_enough(kind):
    rng = np.random.default_rng(3)
    for _ in range(20):
        matrix = average_referenced(rng, 8)
        kind(8).validate(matrix + 1e-3 * np.eye(8))
        kind(8).validate(0.99 * matrix + 0.01 * np.trace(matrix) / 8 * np.eye(8))
        signal = np.cumsum(rng.normal(size=(8, 256)), axis=1)
        kind(7).validate(np.cov((signal - signal.mean(axis=0))[:7]))


@pytest.mark.parametrize("kind", SPACES)
def test_the_limit_does_not_depend_on_the_precision_that_the_data_came_in(kind):
    for off, passes in ((1e-6, True), (0.0, False)):
        matrix = np.array([[1.0, 1.0 - off], [1.0 - off, 1.0]])
        for given in (matrix, matrix.astype(np.float32)):
            if passes:
                kind(2).validate(given)
                continue
            with pytest.raises(NotOnManifoldError, match=r"carry.* exceed 1\.4e-14 = 32 k eps"):
                kind(2).validate(given)


@pytest.mark.parametrize("kind", SPACES)
def test_the_first_bad_row_is_named(kind):
    data = np.tile(np.eye(3), (5, 1, 1))
    data[3] = 1.0
    with pytest.raises(NotOnManifoldError, match=r"^row 3 is not positive definite"):
        kind(3).validate(data)
    data[3] = [[1e-320, 0.0, 1e300], [0.0, 1.0, 0.0], [1e300, 0.0, 1.0]]
    with pytest.raises(NotOnManifoldError, match=r"^row 3 is not positive definite"):
        kind(3).validate(data)
