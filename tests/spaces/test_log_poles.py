"""Poles of the logarithm: the proved errors, and which matrices they are used for."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

import build_log_poles as tool
from riemdp.spaces._log_fractions import classes, fractions


@pytest.mark.parametrize("which", range(4))
def test_the_error_is_proved_again_on_the_whole_interval(which):
    fraction = fractions()[which]
    bound = tool.certify(fraction.shifts, fraction.weights, fraction.spread)
    assert bound <= fraction.error <= 2.0**-53


def test_a_weight_that_is_off_is_not_certified():
    fraction = fractions()[1]
    weights = list(fraction.weights)
    weights[3] *= 1.0 + 1e-13
    assert tool.certify(fraction.shifts, weights, fraction.spread) > 10.0 * fraction.error


@pytest.mark.parametrize("which", range(4))
def test_the_error_on_a_grid_is_within_what_is_proved(which):
    fraction = fractions()[which]
    worst = 0.0
    with mpmath.workdps(40):
        for u in np.linspace(0.0, 1.0, 150):
            x = mpmath.mpf(fraction.top) * mpmath.mpf(fraction.spread) ** mpmath.mpf(u - 1.0)
            poles = zip(fraction.shifts, fraction.weights, strict=True)
            value = (x - 1) * mpmath.fsum(mpmath.mpf(w) / (x + mpmath.mpf(s)) for s, w in poles)
            worst = max(worst, abs(float(value / mpmath.log(x) - 1)))
    assert 0.02 * fraction.error <= worst <= fraction.error


def test_the_parts_of_the_proof_cover_the_interval():
    tool.ctx.prec = 200
    parts = sorted(
        ((middle - reach, middle + reach) for middle, reach in tool.intervals(1e4)),
        key=lambda part: float(part[0]),
    )
    assert parts[0][0] <= 3 / tool.arb(10) ** 4
    assert parts[-1][1] >= 3
    assert all(high >= low for (_, high), (low, _) in itertools.pairwise(parts))


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_poles_and_weights_are_built_again(which):
    fraction = fractions()[which]
    spread, count = tool.CLASSES[which]
    shifts = tool.poles(spread, count)
    assert tuple(shifts) == fraction.shifts
    assert tuple(tool.weights(shifts, spread)) == fraction.weights
    assert min(*fraction.shifts, *fraction.weights) > 0.0


@pytest.mark.parametrize("k", [3, 4, 9, 22])
def test_spectra_of_a_class_lie_on_the_interval_of_its_fraction(k):
    rng = np.random.default_rng(k)
    limits, levels = classes(k).limits, classes(k).levels
    seen = set()
    narrowest = math.inf
    for digits in np.linspace(0.0, 13.0, 400):
        # one eigenvalue apart is the extreme case, from either side
        for spectrum in (
            10.0 ** (-digits * rng.uniform(size=k)),
            np.r_[10.0**-digits, np.ones(k - 1)],
            np.r_[10.0**digits, np.ones(k - 1)],
        ):
            product = spectrum.sum() * (1.0 / spectrum).sum()
            which = int(np.searchsorted(limits, product))
            if which == len(limits):
                continue
            seen.add(which)
            fraction = fractions()[which]
            exponent = math.frexp(spectrum.sum() * levels[which])[1]
            scaled = spectrum * 2.0**-exponent
            assert fraction.top / fraction.spread <= scaled.min()
            assert scaled.max() <= fraction.top
            narrowest = min(narrowest, fraction.top / scaled.max())
    assert seen == set(range(len(limits)))
    assert narrowest < 1.3  # levels are not wasteful


def condition_bound(product, k):
    """Bound that the kernels of larger matrices report, of the product of two traces."""
    return (np.sqrt(product) - (k - 2.0)) ** 2 - 2.0


@pytest.mark.parametrize("k", [3, 9])
def test_the_condition_is_bounded_by_the_traces(k):
    rng = np.random.default_rng(k)
    spectra = np.exp(rng.uniform(-8.0, 8.0, (500, 1)) * rng.uniform(size=(500, k)))
    condition = spectra.max(axis=1) / spectra.min(axis=1)
    bound = condition_bound(spectra.sum(axis=1) * (1.0 / spectra).sum(axis=1), k)
    assert (bound * (1.0 + 1e-12) >= condition + 1.0 / condition).all()
    # equality where all others lie in the geometric middle
    middle = np.r_[0.1, 10.0, np.ones(k - 2)]
    found = condition_bound(np.array([middle.sum() * (1.0 / middle).sum()]), k)
    np.testing.assert_allclose(found, 100.01, rtol=1e-12)
