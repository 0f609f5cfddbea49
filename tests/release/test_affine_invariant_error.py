"""The error of a private mean of 2 x 2 matrices, against values found by independent code."""

import numpy as np
import pytest

from riemdp import Ball, PureDP, RiemannianLaplace, SPDAffineInvariant, frechet_mean, research

MANIFOLD, RADIUS = SPDAffineInvariant(2), 1.5


def wishart(generator, n, radius):
    """``W(I/2, 2)``, drawn again until within the radius of the identity."""
    kept = []
    while sum(map(len, kept)) < n:
        factors = generator.standard_normal((2 * n, 2, 2))
        matrices = factors @ factors.swapaxes(1, 2) / 2.0
        matrices = matrices[np.linalg.det(matrices) > 1e-9]
        kept.append(matrices[MANIFOLD.dist(np.eye(2), matrices) <= radius])
    return np.concatenate(kept)[:n]


def vech(matrices):
    return matrices[:, [0, 0, 1], [0, 1, 1]]


def means_of(n, seed, repeats):
    generator = np.random.default_rng(seed)
    ball = Ball(MANIFOLD, np.eye(2), RADIUS)
    data = wishart(generator, repeats * n, RADIUS).reshape(repeats, n, 2, 2)
    return np.stack([frechet_mean(MANIFOLD, points, ball=ball).value for points in data])


def mean_error(mechanism, means, seed):
    """Mean over data and draws of ``|vech(private) - vech(mean)|``, and its standard error."""
    private = research.sample(mechanism, means, generator=np.random.default_rng(seed))
    errors = np.linalg.norm(vech(private) - vech(means), axis=1)
    return np.mean(errors), np.std(errors) / np.sqrt(len(errors))


def check(n, expected, repeats):
    mechanism = RiemannianLaplace.calibrate(MANIFOLD, 2.0 * RADIUS / n, PureDP(1.0))
    for seed in (n, n + 1):
        means = means_of(n, seed, repeats)
        found, error = mean_error(mechanism, means, seed)
        if abs(found - expected) < 3.0 * error:
            break
    else:
        pytest.fail(f"{found} +- {error} instead of {expected}")
    wider = RiemannianLaplace(MANIFOLD, 1.2 * mechanism.sigma)
    found, error = mean_error(wider, means, n)
    assert abs(found - expected) > 3.0 * error


@pytest.mark.slow
def test_error_with_fifty_records():
    check(50, 0.1508, repeats=500)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "expected"),
    [(20, 0.4195), (30, 0.2652), (40, 0.1943), (50, 0.1508), (100, 0.0756), (200, 0.0374)],
)
def test_errors_by_the_number_of_records(n, expected):
    check(n, expected, repeats=4_000)
