from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
from scipy import stats

from riemdp import InvalidParameterError, NotOnManifoldError
from riemdp.mechanisms import TangentGaussian
from riemdp.privacy import GaussianCurve
from riemdp.spaces import SPDLogEuclidean
from riemdp.statistics import frechet_mean
from riemdp_papers import _log_gaussian as lg


def matrices(count, k, seed=0):
    generator = np.random.default_rng(seed)
    logs = generator.standard_normal((count, k, k))
    return np.stack([scipy.linalg.expm(0.5 * (a + a.T)) for a in logs])


def covariance(dim, seed=1):
    factor = np.random.default_rng(seed).standard_normal((dim, 2 * dim))
    product = factor @ factor.T / dim
    return 0.5 * (product + product.T)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_operations_are_those_of_table_2(k):
    x, y = matrices(2, k)
    logm, expm = scipy.linalg.logm, scipy.linalg.expm
    assert lg.plus(x, y) == pytest.approx(expm(logm(x) + logm(y)), rel=1e-8)
    assert lg.minus(x, y) == pytest.approx(expm(logm(x) - logm(y)), rel=1e-8)
    assert lg.times(-1.7, x) == pytest.approx(expm(-1.7 * logm(x)), rel=1e-8)


def test_the_operations_make_a_vector_space():
    """All eight axioms, measured in the metric."""
    space = SPDLogEuclidean(3)
    x, y, z = matrices(3, 3)
    one, a, b = np.eye(3), 0.6, -1.3
    plus, times = lg.plus, lg.times
    pairs = [
        (plus(x, y), plus(y, x)),
        (plus(plus(x, y), z), plus(x, plus(y, z))),
        (plus(x, one), x),
        (plus(x, times(-1.0, x)), one),
        (times(a, times(b, x)), times(a * b, x)),
        (times(1.0, x), x),
        (times(a, plus(x, y)), plus(times(a, x), times(a, y))),
        (times(a + b, x), plus(times(a, x), times(b, x))),
    ]
    assert max(float(space.dist(*pair)) for pair in pairs) < 1e-11
    assert float(space.dist(lg.minus(x, y), plus(x, times(-1.0, y)))) < 1e-11
    # sums and products of matrices are something else
    assert float(space.dist(plus(x, y), x @ y @ x)) > 0.1
    commuting = np.diag([2.0, 3.0, 0.5]), np.diag([0.1, 1.0, 7.0])
    assert plus(*commuting) == pytest.approx(commuting[0] @ commuting[1])


def test_the_metric_is_invariant_and_the_mean_equivariant():
    space = SPDLogEuclidean(3)
    points, shift = matrices(6, 3), matrices(1, 3, seed=8)[0]
    x, y = points[:2]
    dist = float(space.dist(x, y))
    for moved in (lg.plus, lambda p, q: lg.plus(q, p)):  # from the right and the left
        assert float(space.dist(moved(x, shift), moved(y, shift))) == pytest.approx(dist)
    inverses = np.linalg.inv(x), np.linalg.inv(y)
    assert float(space.dist(*inverses)) == pytest.approx(dist)
    assert float(space.dist(lg.times(-2.0, x), lg.times(-2.0, y))) == pytest.approx(2 * dist)
    mean = frechet_mean(space, points).value
    closed = scipy.linalg.expm(np.mean([scipy.linalg.logm(p) for p in points], axis=0))
    assert mean == pytest.approx(closed, rel=1e-8)
    moved = frechet_mean(space, lg.plus(points, shift)).value
    assert float(space.dist(moved, lg.plus(mean, shift))) < 1e-10
    # no product of matrices keeps the metric
    assert abs(float(space.dist(shift @ x @ shift, shift @ y @ shift)) - dist) > 0.1


@pytest.mark.parametrize("k", [2, 3])
def test_the_jacobian_is_that_of_differences(k):
    space, x = SPDLogEuclidean(k), matrices(1, k, seed=3)[0]
    columns = []
    for i in range(k):
        for j in range(i, k):
            unit = np.zeros((k, k))
            unit[i, j] = unit[j, i] = 1.0 if i == j else math.sqrt(0.5)
            h = 1e-6
            columns.append((space.to_chart(x + h * unit) - space.to_chart(x - h * unit)) / (2 * h))
    measured = math.log(abs(np.linalg.det(np.stack(columns))))
    assert lg.log_jacobian(x) == pytest.approx(measured, abs=1e-7)
    assert abs(lg.log_jacobian(x, as_printed=True) - measured) > 0.1
    # equal eigenvalues are the limit
    assert lg.log_jacobian(2.0 * np.eye(k)) == pytest.approx(
        lg.log_jacobian(np.diag(2.0 + 1e-6 * np.arange(k))), abs=1e-4
    )


def test_draws_and_density_are_those_of_the_normal_law():
    mean, cov = matrices(1, 2, seed=5)[0], covariance(3)
    draws = lg.draw(mean, cov, 4000, np.random.default_rng(2))
    chart = SPDLogEuclidean(2).to_chart(draws)
    middle = SPDLogEuclidean(2).to_chart(mean)
    normal = stats.multivariate_normal(middle, cov)
    assert lg.log_density(draws[:5], mean, cov) == pytest.approx(normal.logpdf(chart[:5]))
    white = np.linalg.solve(np.linalg.cholesky(cov), (chart - middle).T)
    squares = np.sum(white**2, axis=0)
    assert stats.kstest(squares, stats.chi2(3).cdf).pvalue > 1e-4
    assert stats.kstest(squares / 1.1, stats.chi2(3).cdf).pvalue < 1e-4


def test_the_separation_is_that_of_the_privacy_loss():
    """The loss of a pair is normal with variance |Sigma^(-1/2) v|^2, which some pair attains."""
    cov, sensitivity = covariance(6), 0.3
    mu = lg.gaussian_separation(cov, sensitivity)
    values, vectors = np.linalg.eigh(cov)
    assert mu == pytest.approx(sensitivity / math.sqrt(values[0]), rel=1e-11)
    assert mu >= sensitivity / math.sqrt(values[0])
    space = SPDLogEuclidean(3)
    first = matrices(1, 3)[0]
    second = space.from_chart(space.to_chart(first) + sensitivity * vectors[:, 0])
    draws = lg.draw(first, cov, 20_000, np.random.default_rng(7))
    loss = lg.log_density(draws, first, cov) - lg.log_density(draws, second, cov)
    assert stats.kstest(loss, stats.norm(mu**2 / 2, mu).cdf).pvalue > 1e-4
    # what an isotropic law of the same mean variance would claim is too little
    tempting = sensitivity / math.sqrt(np.trace(cov) / 6)
    claimed = float(GaussianCurve(tempting).delta_at(0.1))
    attained = float(np.mean(loss > 0.1) - math.exp(0.1) * stats.norm.cdf(-0.1 / mu - mu / 2))
    assert attained > 2.0 * claimed
    # directions at random are never worse
    v = np.random.default_rng(3).standard_normal((500, 6))
    v *= sensitivity / np.linalg.norm(v, axis=1, keepdims=True)
    assert np.max(np.sqrt(np.sum(v * np.linalg.solve(cov, v.T).T, axis=1))) <= mu


def test_an_isotropic_covariance_is_the_tangent_gaussian():
    mechanism = TangentGaussian(SPDLogEuclidean(3), 0.7)
    cov = 0.49 * np.eye(6)
    assert lg.gaussian_separation(cov, 0.2) == pytest.approx(mechanism.privacy(0.2).mu(), rel=1e-11)


def test_the_least_covariance_is_private_and_has_the_least_error():
    shape, mu = covariance(3, seed=4) / 50, 0.5
    best = lg.least_covariance(shape, mu)
    assert lg.gaussian_separation(best, shape) == pytest.approx(mu, rel=1e-10)
    round_one = np.max(np.linalg.eigvalsh(shape)) / mu**2 * np.eye(3)
    assert lg.gaussian_separation(round_one, shape) <= mu * (1 + 1e-10)
    assert np.trace(best) < 0.9 * np.trace(round_one)
    generator = np.random.default_rng(0)
    for _ in range(200):
        other = covariance(3, seed=int(generator.integers(10**6)))
        scaled = other * (lg.gaussian_separation(other, shape) / mu) ** 2
        assert np.trace(scaled) >= np.trace(best) * (1 - 1e-9)


def test_what_is_no_covariance_is_refused():
    with pytest.raises(InvalidParameterError, match="positive definite"):
        lg.gaussian_separation(np.diag([1.0, -1.0, 1.0]), 1.0)
    with pytest.raises(InvalidParameterError, match="symmetric"):
        lg.gaussian_separation(np.array([[1.0, 0.5], [0.0, 1.0]]), 1.0)
    with pytest.raises(InvalidParameterError, match=r"shape \(3, 3\)"):
        lg.draw(np.eye(2), np.eye(2), 1)
    with pytest.raises(InvalidParameterError, match="square"):
        lg.gaussian_separation(np.ones((2, 3)), 1.0)
    with pytest.raises(InvalidParameterError, match="differences must be positive"):
        lg.gaussian_separation(np.eye(3), 0.0)
    with pytest.raises(InvalidParameterError, match="mu must be positive"):
        lg.least_covariance(np.eye(3), -1.0)
    with pytest.raises(NotOnManifoldError):
        lg.plus(np.eye(2), -np.eye(2))
