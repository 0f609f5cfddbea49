"""Scales on R^d: multiples of those at sensitivity 1, rounded up."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.mechanisms import MECHANISMS, TangentGaussian, TangentLaplace
from riemdp.mechanisms._calibration import least_noise, scaled
from riemdp.mechanisms._named import _scales, _unit_scale
from riemdp.noise import family
from riemdp.privacy import GDP, KLDP, RDP, ZCDP, ApproxDP, PureDP, RaoDP
from riemdp.spaces import Euclidean, SPDAffineInvariant, SPDLogEuclidean

BUDGETS = [
    *(PureDP(0.7), GDP(1e-3), GDP(1.3), GDP(20.0), ApproxDP(0.4, 1e-9), ApproxDP(7.0, 0.01)),
    *(ZCDP(0.3), RDP(4.0, 0.5), KLDP(0.2)),
    *(RaoDP(0.5, distance="angle"), RaoDP(0.5, distance="parametric")),
]


def falls_short(multiple, factor=1.0):
    """How often a multiple is under ``factor`` times the exact product, of many magnitudes."""
    rng = np.random.default_rng(0)
    count = 0
    for exponent in rng.uniform(-300.0, 300.0, 2000):
        sensitivity = float(10.0**exponent)
        unit = float(
            10.0 ** rng.uniform(max(-75.0 - exponent, -300.0), min(75.0 - exponent, 300.0))
        )
        exact = Fraction(sensitivity) * Fraction(unit) * Fraction(factor)
        try:
            count += Fraction(multiple(unit, sensitivity)) < exact
        except errors.InvalidParameterError:  # next to the ends, 1e-75 and 1e75
            continue
    return count


def test_no_multiple_is_under_the_exact_product():
    multiple = functools.partial(scaled, budget=GDP(1.0))
    assert falls_short(multiple, 1.0 + 2.0**-40) == 0
    assert falls_short(lambda unit, sensitivity: unit * sensitivity) > 200  # rounded to nearest


def test_a_scale_beyond_float64_is_not_attainable():
    with pytest.raises(errors.NotAttainableError, match="exceeds float64"):
        scaled(1e300, 1e75, GDP(1.0))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    "budget", [GDP(5e-324), GDP(1e200), GDP(1.7e308), ApproxDP(5e-324, 5e-324), PureDP(3e-309)]
)
def test_absurd_budgets_are_refused_or_met(kind, budget):
    mechanism = MECHANISMS[f"riemannian-{kind}"]
    for sensitivity in (1e-75, 1e-10, 1.0):
        try:
            found = mechanism.calibrate(Euclidean(2), sensitivity, budget)
        except errors.RiemdpError:
            continue
        assert found.satisfies(sensitivity, budget)


@pytest.mark.fast(15)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize(
    ("mechanism", "dim"), [*((TangentLaplace, d) for d in (1, 2, 10)), (TangentGaussian, 3)]
)
def test_a_scale_is_the_one_that_is_found_at_the_sensitivity(mechanism, dim, budget):
    """As far as roots are found, and with curves that are the same to the last bit."""
    space = Euclidean(dim)
    curves = []
    rng = np.random.default_rng(dim)
    for sensitivity in [*rng.uniform(1e-3, 2.0, 3), *10.0 ** rng.uniform(-70.0, 70.0, 3)]:
        try:
            found = mechanism.calibrate(space, sensitivity, budget)
        except errors.UnsupportedError:
            assert (mechanism, type(budget)) == (TangentGaussian, PureDP)
            return
        scales = _scales(family(mechanism.kind, space), sensitivity, budget)
        build = functools.partial(mechanism, space)
        direct = least_noise(build, scales, sensitivity, budget).sigma
        assert direct * (1.0 - 2e-10) < found.sigma < direct * (1.0 + 2e-10)
        assert found.satisfies(sensitivity, budget)
        assert not build(found.sigma * (1.0 - 1e-8)).satisfies(sensitivity, budget)
        curves.append(found.privacy(sensitivity))
    if mechanism is TangentLaplace and dim > 1:
        assert all(curve is curves[0] for curve in curves)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_spaces_of_one_dimension_share_a_scale(kind):
    _unit_scale.cache_clear()
    budget = ApproxDP(1.0, 1e-6)
    riemannian, tangent, wrapped = (
        MECHANISMS[f"{word}-{kind}"] for word in ("riemannian", "tangent", "wrapped")
    )
    found = {
        riemannian.calibrate(SPDLogEuclidean(2), 0.3, budget).sigma,
        tangent.calibrate(SPDLogEuclidean(2), 0.3, budget).sigma,
        wrapped.calibrate(SPDAffineInvariant(2), 0.3, budget, base=np.eye(2)).sigma,
        riemannian.calibrate(Euclidean(3), 0.3, budget).sigma,
    }
    assert len(found) == 1
    assert _unit_scale.cache_info().misses == 1
    other = riemannian.calibrate(Euclidean(2), 0.3, budget).sigma
    assert (other == found.pop()) == (kind == "gaussian")
