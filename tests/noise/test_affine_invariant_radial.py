from __future__ import annotations

import functools
import math

import mpmath
import numpy as np
import pytest
import scipy.integrate

from riemdp._errors import InvalidParameterError, NotAttainableError, UnsupportedError
from riemdp.noise import RadialLaw, _volume_series
from riemdp.noise._affine_invariant_radial import LARGEST_TABULATED, AffineInvariantRadial
from riemdp.noise._volume_series import growth_rate

LAWS = [
    AffineInvariantRadial("gaussian", 2, 0.3),
    AffineInvariantRadial("gaussian", 3, 1.0),
    AffineInvariantRadial("gaussian", 5, 3.0),
    AffineInvariantRadial("gaussian", 10, 0.3),
    AffineInvariantRadial("gaussian", 30, 0.1),
    AffineInvariantRadial("laplace", 2, 1.0),
    AffineInvariantRadial("laplace", 3, 0.2),
    AffineInvariantRadial("laplace", 5, 0.25),
    AffineInvariantRadial("laplace", 10, 0.05),
]


@pytest.mark.parametrize(
    ("sigma", "mean"), [(0.3, 0.4811), (1.0, 1.6855), (2.0, 3.926), (1e-4, 1.595769e-4)]
)
def test_gaussian_means_of_two_by_two(sigma, mean):
    assert AffineInvariantRadial("gaussian", 2, sigma).mean() == pytest.approx(mean, rel=2e-4)


def _struve_moment(sigma: float, power: int) -> mpmath.mpf:
    """Integral of r^power times the density of the distance at k = 2, up to a constant."""

    def density(r):
        return r ** (1 + power) * mpmath.exp(-r / sigma) * mpmath.struvel(0, r / mpmath.sqrt(2))

    return mpmath.quad(density, [0, 1, 5, 10, 20, 40, 80, 160])


@pytest.mark.fast(1)
@pytest.mark.parametrize(("sigma", "mean"), [(0.067, 0.2014), (0.2, 0.6109), (1.0, 5.77797)])
def test_laplace_means_of_two_by_two(sigma, mean):
    law = AffineInvariantRadial("laplace", 2, sigma)
    exact = float(_struve_moment(sigma, 1) / _struve_moment(sigma, 0))
    assert law.mean() == pytest.approx(exact, rel=1e-8)
    assert law.mean() == pytest.approx(mean, rel=2e-4)
    # (trace, traceless part) in polar coordinates; a circle of the hyperbolic plane of
    # curvature -1/2 has length 2 pi sqrt(2) sinh(rho / sqrt 2)
    constant = math.log(2.0 * math.sqrt(2.0) * math.pi**2)
    log_normaliser = constant + math.log(float(_struve_moment(sigma, 0)))
    assert law.log_normaliser() == pytest.approx(log_normaliser, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.05, 0.9, 0.99])
def test_the_laplace_law_of_two_by_two_up_to_where_it_ends(part):
    sigma = part * math.sqrt(2.0)
    law = AffineInvariantRadial("laplace", 2, sigma)
    at = law.quantile(np.array([0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999999]))

    def density(r):
        return r * mpmath.exp(-r / sigma) * mpmath.struvel(0, r / mpmath.sqrt(2))

    edges = [0.0, *at.tolist(), 3.0 * at[-1]]
    parts = [mpmath.quad(density, edges[i : i + 2]) for i in range(len(edges) - 1)]
    cdf = np.array([float(sum(parts[: i + 1]) / sum(parts)) for i in range(at.size)])
    np.testing.assert_allclose(law.cdf(at), cdf, atol=1e-11)
    log_pdf = [float(mpmath.log(density(r) / sum(parts))) for r in at.tolist()]
    np.testing.assert_allclose(law.log_pdf(at), log_pdf, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "part"), [(2, 0.99), (3, 0.95), (3, 0.3), (4, 0.9), (10, 0.65)])
def test_laplace_moments_are_those_of_the_mixture(k, part):
    law = AffineInvariantRadial("laplace", k, part / growth_rate(k))
    shape, weights = law._mixture
    assert law.mean() == pytest.approx(law.sigma * (weights @ shape), rel=1e-10)
    square = law.sigma**2 * (weights @ (shape * (shape + 1.0)))
    assert law.mean_square() == pytest.approx(square, rel=1e-9)


@pytest.mark.parametrize("k", [2, 9])
def test_coefficients_of_circles_too_far_apart_are_noticed(k, monkeypatch):
    law = functools.partial(AffineInvariantRadial, "laplace", k, 0.8 / growth_rate(k))
    exact = law()
    r = exact.quantile(np.linspace(0.05, 0.95, 50))
    monkeypatch.setattr(_volume_series, "_APART", 2.0)
    np.testing.assert_allclose(law().cdf(r), exact.cdf(r), rtol=1e-12)
    monkeypatch.setattr(_volume_series, "_APART", 60.0)
    assert np.abs(law().cdf(r) - exact.cdf(r)).max() > 1e-4


def test_a_law_next_to_its_end_has_moments_and_no_table():
    law = AffineInvariantRadial("laplace", 3, (1.0 - 1e-9) / growth_rate(3))
    # t is about Gamma((k + 1)/2) of rate (1/sigma^2 - |delta|^2)/2 and r about t |delta|
    assert law.mean() == pytest.approx(2.0 * law.sigma / 1e-9, rel=1e-4)
    assert math.isfinite(law.log_normaliser())
    with pytest.raises(NotAttainableError, match="not tabulated"):
        law.cdf(1.0)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("sigma", [1e-4, 0.7])
def test_one_by_one_is_the_line(kind, sigma):
    law, line = AffineInvariantRadial(kind, 1, sigma), RadialLaw(kind, 1, 0.0, sigma)
    assert law.log_normaliser() == pytest.approx(line.log_normaliser(), abs=1e-12)
    assert law.mean() == pytest.approx(line.mean())
    assert law.mean_square() == pytest.approx(line.mean_square())
    np.testing.assert_allclose(law.cdf([0.3 * sigma, sigma]), line.cdf([0.3 * sigma, sigma]))


@pytest.mark.parametrize(
    ("kind", "k"),
    [*(("gaussian", k) for k in (2, 3, 4, 5, 10, 30)), *(("laplace", k) for k in (2, 3, 4, 5, 10))],
)
def test_moments_are_derivatives_of_the_normaliser(kind, k):
    sigma = 0.4 if kind == "gaussian" else 0.5 / growth_rate(k)
    law = AffineInvariantRadial(kind, k, sigma)
    step = 1e-4

    def log_normaliser(factor):
        return AffineInvariantRadial(kind, k, sigma * factor).log_normaliser()

    slope = (log_normaliser(math.exp(step)) - log_normaliser(math.exp(-step))) / (2.0 * step)
    if kind == "gaussian":
        assert law.mean_square() == pytest.approx(sigma**2 * slope, rel=1e-6)
    else:
        assert law.mean() == pytest.approx(sigma * slope, rel=1e-6)


@pytest.mark.fast(1)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_density_cdf_and_moments_agree(law):
    top = float(law.quantile(1.0 - 1e-15))
    r = np.linspace(0.0, 1.05 * top, 4_001)
    density = np.exp(law.log_pdf(r))
    assert scipy.integrate.simpson(density, x=r) == pytest.approx(1.0, abs=1e-8)
    assert scipy.integrate.simpson(density * r, x=r) == pytest.approx(law.mean(), rel=1e-8)
    square = scipy.integrate.simpson(density * r * r, x=r)
    assert square == pytest.approx(law.mean_square(), rel=1e-8)
    half = float(law.quantile(0.5))
    part = np.linspace(0.0, half, 4_001)
    assert scipy.integrate.simpson(np.exp(law.log_pdf(part)), x=part) == pytest.approx(
        0.5, abs=1e-8
    )
    assert law.log_pdf(-1.0) == -math.inf


@pytest.mark.fast(1)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_quantiles_invert_both_tails(law):
    q = np.array([1e-6, 0.1, 0.5, 0.95, 0.999])
    r = law.quantile(q)
    np.testing.assert_allclose(law.cdf(r), q, rtol=1e-9)
    np.testing.assert_allclose(law.sf(r), 1.0 - q, rtol=1e-9)
    np.testing.assert_array_equal(law.quantile([0.0, 1.0]), [0.0, math.inf])
    with pytest.raises(InvalidParameterError, match="probabilities"):
        law.quantile(1.5)


@pytest.mark.parametrize("k", [2, 5, 30])
def test_small_noise_is_flat_noise(k):
    dim = k * (k + 1) // 2
    for kind in ("gaussian", "laplace"):
        law = AffineInvariantRadial(kind, k, 1e-6)
        flat = RadialLaw(kind, dim, 0.0, 1e-6)
        assert law.mean() == pytest.approx(flat.mean(), rel=1e-6)
        assert law.log_normaliser() == pytest.approx(flat.log_normaliser(), rel=1e-7)


@pytest.mark.parametrize("k", [2, 3, 10, 30])
def test_laplace_is_refused_where_it_has_no_normaliser(k):
    limit = math.sqrt(12.0 / (k * (k * k - 1)))
    for sigma in (1.0000001 * limit, 5.0 * limit):
        with pytest.raises(NotAttainableError, match=f"{limit:.6g}"):
            AffineInvariantRadial("laplace", k, sigma)
    assert math.isfinite(AffineInvariantRadial("laplace", k, 0.999 * limit).log_normaliser())
    assert math.isfinite(AffineInvariantRadial("gaussian", k, 5.0 * limit).log_normaliser())


def test_parameters_are_checked():
    for bad in (
        ("cauchy", 2, 1.0),
        ("laplace", 0, 1.0),
        ("gaussian", 2, -1.0),
        ("laplace", 2, 1e-101),
    ):
        with pytest.raises(InvalidParameterError):
            AffineInvariantRadial(*bad)


def test_absurd_gaussian_noise_is_refused():
    assert AffineInvariantRadial("gaussian", 1, 1e6).mean() > 0.0
    assert AffineInvariantRadial("gaussian", 5, 1e3).mean() > 1e6
    with pytest.raises(NotAttainableError, match="float64"):
        AffineInvariantRadial("gaussian", 5, 1.1e3)


@pytest.mark.parametrize("k", [3, 30])
def test_wide_gaussian_noise_moves_with_the_drift(k):
    sigma = 20.0
    law = AffineInvariantRadial("gaussian", k, sigma)
    # the log-eigenvalues are sigma^2 delta + sigma z
    square = k * sigma**2 + sigma**4 * growth_rate(k) ** 2
    assert law.mean_square() == pytest.approx(square, rel=1e-6)


def test_the_laplace_law_is_tabulated_up_to_a_size():
    large = AffineInvariantRadial("laplace", LARGEST_TABULATED + 1, 1e-3)
    for question in (large.quantile, large.cdf, large.sf, large.log_pdf):
        with pytest.raises(UnsupportedError, match=r"SPD\(65\) are tabulated up to k = 64"):
            question(0.5)
    # about sigma times the dimension 65 * 66 / 2, as on a flat space of it
    assert large.mean() == pytest.approx(1e-3 * 2145, rel=0.1)
    assert large.mean_square() > large.mean() ** 2
    assert AffineInvariantRadial("gaussian", LARGEST_TABULATED + 1, 1e-3).quantile(0.5) > 0.0
