import math

import numpy as np
import pytest
import scipy

from riemdp import GDP, ZCDP, PureDP
from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp.privacy import (
    AffineInvariantGaussianCurve,
    GaussianCurve,
    IsotropicCurve,
    gaussian_delta,
)
from riemdp.privacy._affine_invariant_curve import affine_invariant_sigma, affine_invariant_slope

norm = scipy.stats.norm


def hockey_stick(separation, epsilon):
    """``delta`` of two unit Gaussians at ``epsilon`` of any sign."""
    if separation == 0.0:
        return np.maximum(-np.expm1(epsilon), 0.0)
    a, b = 0.5 * separation - epsilon / separation, -0.5 * separation - epsilon / separation
    return norm.cdf(a) - np.exp(epsilon + norm.logcdf(b))


def product_delta(sigma, line, plane, epsilon, nodes=200):
    """``delta`` of two Gaussians on R x H^2(-1/2), an integral over the hyperbolic plane."""
    k, angles = math.sqrt(0.5), 4 * nodes
    # the radial density is a Gaussian around k sigma^2, cut at 0
    points, weights = np.polynomial.legendre.leggauss(nodes)
    low, high = max(0.0, k * sigma**2 - 9.0 * sigma), k * sigma**2 + 9.0 * sigma
    r = (low + 0.5 * (high - low) * (points + 1.0))[:, None]
    density = weights[:, None] * -np.expm1(-2.0 * k * r) * np.exp(k * r - r**2 / (2.0 * sigma**2))
    angle = math.pi * (np.arange(angles) + 0.5) / angles
    # log of cosh(k dist), scaled by exp(-k r)
    near = 0.5 * (1.0 + np.exp(-2.0 * k * r)) * math.cosh(k * plane)
    near = near - 0.5 * -np.expm1(-2.0 * k * r) * math.sinh(k * plane) * np.cos(angle)
    cosh = np.maximum(near * np.exp(k * r), 1.0)
    loss = ((np.arccosh(cosh) / k) ** 2 - r**2) / (2.0 * sigma**2)
    values = hockey_stick(line / sigma, epsilon - loss)
    return float(np.sum(density * values) / (np.sum(density) * angles))


def symmetric_normal(generator, n, k):
    """Standard normal symmetric matrices: every direction of norm 1 has variance 1."""
    square = generator.standard_normal((n, k, k))
    return 0.5 * (square + np.swapaxes(square, 1, 2))


def log_jacobian(values):
    first, second = np.triu_indices(values.shape[-1], 1)
    half = 0.5 * np.abs(values[..., first] - values[..., second])
    return np.sum(half + np.log(-np.expm1(-2.0 * half) / (2.0 * half)), axis=-1)


def gaussian_draws(generator, n, k, sigma):
    """Exact draws of ``log_I X``: rejection from the normal law whose Hessian bounds theirs."""
    wide = 1.0 / math.sqrt(1.0 / sigma**2 - k / 12.0)
    kept = []
    while sum(map(len, kept)) < n:
        part = wide * symmetric_normal(generator, n, k)
        part -= np.trace(part, axis1=1, axis2=2)[:, None, None] / k * np.eye(k)
        values = np.linalg.eigvalsh(part)
        log_ratio = log_jacobian(values) - k / 24.0 * np.sum(values**2, axis=1)
        assert np.all(log_ratio <= 1e-12)
        accepted = part[np.log(generator.random(n)) < log_ratio]
        trace = sigma * generator.standard_normal(len(accepted)) / math.sqrt(k)
        kept.append(accepted + trace[:, None, None] * np.eye(k))
    return np.concatenate(kept)[:n]


def slope_of(scores, least=0.1):
    """Estimate of ``max E[l; l >= q] / phi(Phi^-1(P(l >= q)))`` over the middle of the law."""
    scores = np.sort(np.concatenate([scores, -scores]))[::-1]  # inversion turns one into the other
    share = np.arange(1, scores.size) / scores.size
    above = np.cumsum(scores)[:-1] / scores.size
    inside = (share > least) & (share < 1.0 - least)
    return float(np.max(above[inside] / norm.pdf(norm.ppf(share[inside]))))


def directions(k):
    spread = np.arange(k) - 0.5 * (k - 1)
    ends = np.zeros(k)
    ends[[0, -1]] = 1.0, -1.0
    single = np.full(k, -1.0)
    single[0] = k - 1.0
    return [np.diag(v / np.linalg.norm(v)) for v in (spread, ends, single)]


@pytest.mark.fast(1)
@pytest.mark.parametrize(("sigma", "sensitivity"), [(0.3, 0.4), (1.0, 1.0), (2.5, 0.8)])
def test_on_two_by_two_matrices_the_curve_is_an_integral_and_no_pair_exceeds_it(sigma, sensitivity):
    curve = IsotropicCurve("gaussian", 2, -0.5, sigma, sensitivity)
    scale = sensitivity / sigma
    for epsilon in (0.0, 2.0 * scale):
        proved = float(curve.delta_at(epsilon))
        found = []
        for angle in 0.1 * math.pi * np.arange(5):
            line, plane = sensitivity * math.cos(angle), sensitivity * math.sin(angle)
            found.append(product_delta(sigma, line, plane, epsilon))
        found.append(product_delta(sigma, 0.0, sensitivity, epsilon, nodes=400))
        assert np.all(np.diff(found) > 0.0)  # curved directions are worse, one after the other
        assert found[-1] == pytest.approx(proved, rel=2e-5)
        # closer pairs are no worse, a little farther ones are, and so is more than the flat bound
        assert product_delta(sigma, 0.5 * sensitivity, 0.7 * sensitivity, epsilon) < proved
        assert product_delta(sigma, 0.0, 1.01 * sensitivity, epsilon) > proved
        assert float(gaussian_delta(scale, epsilon)) < 0.9999 * found[-1]


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.3, 1.0, 2.0])
def test_the_closed_bound_holds_for_two_by_two_matrices(sigma):
    lower, _ = IsotropicCurve("gaussian", 2, -0.5, sigma, 0.5).mu_bracket()
    closed = AffineInvariantGaussianCurve(2, sigma, 0.5).mu()
    assert lower <= closed
    if sigma <= 0.3:  # a fourth-order difference
        assert closed <= lower * (1.0 + 0.07 * sigma**2 * (sigma**2 + 0.04 * 0.5**2) + 1e-6)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("k", "expected"), [(3, 1.126), (4, 1.171), (5, 1.217)])
def test_the_slope_bounds_every_direction_and_is_close(k, expected):
    bound = affine_invariant_slope(k, 1.0)
    draws = gaussian_draws(np.random.default_rng(20 + k), 50_000, k, 1.0)
    scores = [np.einsum("nij,ij->n", draws, u) for u in directions(k)]
    slopes = [slope_of(score) for score in scores]
    assert max(slopes) == pytest.approx(expected, abs=0.02)
    assert max(slopes) < bound < 1.1 * max(slopes)
    assert min(slopes) > bound / 1.2  # a bound this much smaller is wrong
    # an independent lower bound: the score is no more spread out than its Gaussian
    assert max(np.std(score) for score in scores) < bound
    trace = np.trace(draws, axis1=1, axis2=2) / math.sqrt(k)
    assert slope_of(trace) == pytest.approx(1.0, abs=0.02)
    assert scipy.stats.kstest(trace, "norm").pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("k", "sigma", "sensitivity"), [(3, 1.0, 1.0), (5, 0.6, 1.2)])
def test_a_pair_of_footpoints_is_as_private_as_said(k, sigma, sensitivity):
    draws = gaussian_draws(np.random.default_rng(7), 100_000, k, sigma)
    values, vectors = np.linalg.eigh(draws)
    mu = AffineInvariantGaussianCurve(k, sigma, sensitivity).mu()
    measured = []
    for u in [*directions(k), np.eye(k) / math.sqrt(k)]:
        # distance to the other footpoint, Expm(sensitivity u)
        scaled = np.exp(-0.5 * sensitivity * np.diag(u))[:, None] * vectors
        other = np.linalg.eigvalsh((scaled * np.exp(values)[:, None, :]) @ scaled.swapaxes(1, 2))
        loss = (np.sum(np.log(other) ** 2, axis=1) - np.sum(values**2, axis=1)) / (2.0 * sigma**2)
        # the inversion that swaps the footpoints turns P_2(L >= q) into P_1(L <= -q)
        measured.append(
            max(
                norm.ppf(np.mean(loss >= q)) - norm.ppf(np.mean(loss <= -q))
                for q in (0.0, 0.3 * mu, 0.8 * mu)
            )
        )
    error = 4.0 * 2.5 / math.sqrt(100_000)
    assert max(measured) <= mu + error
    assert max(measured) >= mu / 1.1
    assert max(measured) > 1.04 * sensitivity / sigma + error  # the flat formula is wrong
    assert measured[-1] == pytest.approx(sensitivity / sigma, abs=error)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_no_direction_bends_the_volume_more_than_k_over_12(k):
    generator = np.random.default_rng(k)

    def log_volume(matrix):
        return float(log_jacobian(np.linalg.eigvalsh(matrix)))

    def bend(point, direction, step=1e-2):
        sides = log_volume(point + step * direction) + log_volume(point - step * direction)
        return (sides - 2.0 * log_volume(point)) / step**2

    for scale in (0.3, 2.0, 8.0):
        for _ in range(30):
            direction = symmetric_normal(generator, 1, k)[0]
            direction -= np.trace(direction) / k * np.eye(k)
            direction /= np.linalg.norm(direction)
            value = bend(scale * symmetric_normal(generator, 1, k)[0], direction)
            assert -1e-6 < value < k / 12.0
    assert bend(1e-3 * symmetric_normal(generator, 1, k)[0], direction) > 0.99 * k / 12.0


def test_what_the_curve_says_follows_from_mu():
    curve = AffineInvariantGaussianCurve(10, 0.3, 0.2)
    mu = 0.2 / (0.3 * math.sqrt(1.0 - 10 * 0.09 / 12.0))
    assert mu <= curve.mu() <= mu * (1.0 + 1e-12)
    lower, upper = curve.mu_bracket()
    assert 0.2 / 0.3 * (1.0 - 1e-15) <= lower <= 0.2 / 0.3 < upper == curve.mu()
    assert curve.pure_epsilon() == math.inf
    assert curve.zcdp_rho() == pytest.approx(0.5 * mu**2, rel=1e-12)
    epsilon = np.array([0.0, 0.5, 3.0])
    np.testing.assert_allclose(curve.delta_at(epsilon), gaussian_delta(mu, epsilon), rtol=1e-11)
    assert np.all(curve.delta_at(epsilon) >= gaussian_delta(mu, epsilon))
    assert float(curve.delta_at(curve.epsilon_at(1e-6))) <= 1e-6
    assert curve.satisfies(GDP(1.001 * mu))
    assert not curve.satisfies(GDP(0.999 * mu))
    assert curve.satisfies(ZCDP(0.51 * mu**2))
    assert not curve.satisfies(PureDP(100.0))
    assert curve.rao("angle").theta == GaussianCurve(curve.mu()).rao("angle").theta
    assert curve.self_compose(4).mu() == pytest.approx(2.0 * mu, rel=1e-9)


@pytest.mark.parametrize("k", [2, 3, 10, 30])
@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("sensitivity", [1e-12, 0.05])
def test_calibration_gives_the_smallest_sigma(k, mu, sensitivity):
    sigma = affine_invariant_sigma(k, sensitivity, mu)
    assert mu * (1.0 - 1e-12) < AffineInvariantGaussianCurve(k, sigma, sensitivity).mu() <= mu


def test_the_floor_is_noticed_and_named():
    with pytest.raises(NotAttainableError, match=r"least sensitivity sqrt\(k/3\) = 0\.316228"):
        affine_invariant_sigma(30, 0.1, 0.3)
    for mu in (0.3163, math.sqrt(0.1) * (1.0 + 1e-12)):
        assert affine_invariant_sigma(30, 0.1, mu) <= math.sqrt(6.0 / 30.0)


def test_a_sigma_without_a_guarantee_is_refused():
    limit = math.sqrt(12.0 / 7.0)
    assert AffineInvariantGaussianCurve(7, limit * (1.0 - 1e-12), 0.1).mu() > 1e4
    with pytest.raises(NotAttainableError, match=r"below sqrt\(12/k\) = 1\.30931"):
        AffineInvariantGaussianCurve(7, limit * (1.0 + 1e-12), 0.1)


@pytest.mark.parametrize(
    "arguments", [(0, 1.0, 1.0), (2.0, 1.0, 1.0), (3, 0.0, 1.0), (3, 1.0, -1.0)]
)
def test_parameters_are_checked(arguments):
    with pytest.raises(InvalidParameterError):
        AffineInvariantGaussianCurve(*arguments)


def test_lines_are_refused():
    with pytest.raises(InvalidParameterError, match="at least 2"):
        AffineInvariantGaussianCurve(1, 1.0, 1.0)
