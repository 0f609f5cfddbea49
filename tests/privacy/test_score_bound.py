import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.special

from riemdp import _errors as errors
from riemdp.privacy._isotropic_curve import IsotropicCurve, _plane_score, _scaled_score, score_bound
from riemdp.privacy._isotropic_quadrature import PROBABILITY_ERROR, LossIntegrals


def test_euclidean_gaussian_is_exact():
    assert score_bound("gaussian", 7, 0.0, 2.0, 1.0) == 0.5
    assert score_bound("gaussian", 1, 0.0, 2.0, 1.0) == 0.5
    assert score_bound("laplace", 1, 0.0, 2.0, 1.0) == pytest.approx(0.5 * math.sqrt(math.pi / 2.0))


@pytest.mark.parametrize("s", [0.1, 1.0, 4.0])
def test_mean_distance_in_closed_form(s):
    # E r of the density sinh(r)^2 exp(-r^2/2s^2), sinh^2 = (cosh(2r) - 1)/2
    kappa = math.gamma(1.5) / (math.sqrt(2.0) * math.gamma(2.0))
    mass = math.sqrt(math.pi / 8.0) * s * math.expm1(2.0 * s * s)
    first = math.sqrt(0.5 * math.pi) * s**3 * math.exp(2.0 * s * s) * math.erf(math.sqrt(2.0) * s)
    exact = kappa * first / mass / (s * s)
    bound = score_bound("gaussian", 3, -1.0, s, 1.0)
    assert exact <= bound <= exact * (1.0 + 1e-10)


@pytest.mark.slow
def test_mu_is_never_above():
    random = np.random.default_rng(8)
    ratios, broken = [], 0
    for _ in range(40):
        dim, kind = int(random.integers(1, 12)), str(random.choice(["gaussian", "laplace"]))
        curvature = float(random.choice([-1.0, 1.0])) * float(np.exp(random.uniform(-1.0, 1.0)))
        limit = math.pi / math.sqrt(curvature) if curvature > 0.0 else math.inf
        sensitivity = float(random.uniform(0.02, 1.0))
        sigma = sensitivity * float(np.exp(random.uniform(-1.5, 1.0)))
        if kind == "laplace" and curvature < 0.0 and dim > 1:
            sigma = min(sigma, 0.8 / ((dim - 1) * math.sqrt(-curvature)))
        space = (kind, dim, curvature, sigma, sensitivity, limit if dim == 1 else math.inf)
        lower = IsotropicCurve(*space).mu_bracket()[0]
        ratios.append(score_bound(*space) / lower)
        broken += 0.8 * score_bound(*space) < lower
    assert min(ratios) >= 1.0
    assert np.median(ratios) < 1.03
    assert broken > 20  # negative control: 0.8 times the bound is none


@pytest.mark.parametrize(
    ("space", "scale"),
    [
        (("gaussian", 2, 1.0, 0.7), 1.0),
        (("gaussian", 9, -1.0, 0.7), 1.0),
        (("gaussian", 2, -1.0, 3.0), 1.0),
        (("laplace", 4, 1.0, 0.5), 1.0),
    ],
)
def test_it_is_the_slope_at_no_distance(space, scale):
    sensitivity = 1e-3 * scale
    lower = IsotropicCurve(*space, sensitivity).mu_bracket()[0]
    bound = score_bound(*space, sensitivity)
    assert lower * (1.0 - 1e-9) <= bound <= lower * (1.0 + 2e-4)


def ratio_above(law, threshold):
    """Expectation above a threshold over the normal one, for ``v_1`` of the hyperbolic plane."""
    sigma, points = law
    r = (np.arange(points) + 0.5) / points * (sigma * sigma + 9.0 * sigma)
    mass = np.exp(-0.5 * (r / sigma - sigma) ** 2) * -np.expm1(-2.0 * r)
    cosine = np.minimum(threshold / r, 1.0)
    probability = (mass @ np.arccos(cosine)) / math.pi / mass.sum()
    above = (mass * r) @ np.sqrt(1.0 - cosine**2) / math.pi / mass.sum() / sigma
    z = float(scipy.special.ndtri(probability))
    return above / math.exp(-0.5 * z * z) * math.sqrt(2.0 * math.pi)


@pytest.mark.parametrize("sigma", [0.5, 1.79, 1.9, 6.0, 19.0, 30.0])
def test_no_threshold_on_the_hyperbolic_plane_exceeds_it(sigma):
    bound = score_bound("gaussian", 2, -1.0, sigma, sigma)
    thresholds = np.linspace(0.0, 0.9 * (sigma * sigma + 2.0 * sigma), 25)
    ratios = np.array([ratio_above((sigma, 20_000), x) for x in thresholds])
    assert np.all(ratios <= bound * (1.0 + 1e-5))
    assert np.argmax(ratios) == 0
    assert ratios[0] == pytest.approx(bound, rel=1e-3 if sigma < 20.0 else 5e-2)
    assert np.all(0.9 * bound < ratios[0])  # negative control


@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.0])
def test_the_bound_covers_the_error_of_its_integrals(sigma, monkeypatch):
    # every probability is allowed an error of 1e-11, and the mean distance is a ratio of two
    with mpmath.workdps(40):
        s = mpmath.mpf(sigma)
        mass = mpmath.sqrt(mpmath.pi / 8) * s * mpmath.expm1(2 * s**2)
        first = mpmath.sqrt(mpmath.pi / 2) * s**3 * mpmath.exp(2 * s**2)
        first *= mpmath.erf(mpmath.sqrt(2) * s)
        kappa = mpmath.gamma(1.5) / mpmath.sqrt(2)
        exact = kappa * first / mass / s
    law = LossIntegrals("gaussian", 3, -1, sigma, 1.0)
    with_errors = law.log_mean - 1.99 * PROBABILITY_ERROR
    monkeypatch.setattr(LossIntegrals, "log_mean", with_errors)
    monkeypatch.setattr("riemdp.privacy._isotropic_curve._scaled_score", _scaled_score.__wrapped__)
    assert score_bound("gaussian", 3, -1.0, sigma, sigma) >= exact
    # negative control: three such errors are not covered
    monkeypatch.setattr(LossIntegrals, "log_mean", with_errors - PROBABILITY_ERROR)
    assert score_bound("gaussian", 3, -1.0, sigma, sigma) < exact


def test_cells_join_the_closed_value():
    assert _plane_score(1.8) == pytest.approx(score_bound("gaussian", 2, -1.0, 1.8, 1.8), rel=1e-3)
    assert _plane_score(1.8) > score_bound("gaussian", 2, -1.0, 1.8, 1.8)


def test_curvature_only_sets_the_unit():
    for curvature in (1.0, -1.0):
        one = score_bound("gaussian", 3, curvature, 0.5, 1.0)
        assert score_bound("gaussian", 3, 4.0 * curvature, 0.25, 0.5) == pytest.approx(one)


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.inf, math.nan])
def test_bad_scale(sigma):
    with pytest.raises(errors.InvalidParameterError, match="sigma"):
        score_bound("gaussian", 2, 1.0, sigma, 1.0)


@pytest.mark.parametrize("sigma", [20.5, 60.0])
def test_far_out_the_bound_is_the_mean_of_the_shift(sigma):
    def density(angle):
        return np.sin(angle) * scipy.special.i0e(0.25 * (sigma * np.sin(angle)) ** 2)

    ends = [0.0, 1.0 / sigma, 0.1, 0.5, 0.5 * math.pi]
    mass, shift = (
        sum(
            scipy.integrate.quad(f, low, high, epsrel=1e-12)[0]
            for low, high in itertools.pairwise(ends)
        )
        for f in (density, lambda angle: abs(math.cos(angle)) * density(angle))
    )
    wanted = 1.0 + sigma * math.sqrt(0.5 * math.pi) * shift / mass
    assert _plane_score(sigma) == pytest.approx(wanted, rel=2e-3)
    assert _plane_score(sigma) > wanted
