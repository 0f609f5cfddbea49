"""Families of noise of affine-invariant matrices; see also test_spaces.py."""

from __future__ import annotations

import math

import pytest

from riemdp import SPDAffineInvariant
from riemdp.noise import AffineInvariantLaw, family
from riemdp.noise._affine_invariant_family import AffineInvariantGaussian, AffineInvariantLaplace

KINDS = {"laplace": AffineInvariantLaplace, "gaussian": AffineInvariantGaussian}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_which_families_and_laws_these_are(kind, k):
    found = family(kind, SPDAffineInvariant(k))
    assert type(found) is KINDS[kind]
    assert type(found.law(0.1)) is AffineInvariantLaw
    assert found.is_flat == (k == 1)
    assert found.growth == pytest.approx(math.sqrt(k * (k * k - 1) / 12.0), rel=1e-14, abs=1e-300)
    assert (found.form is None) == (k == 4 or (kind, k) == ("laplace", 2))


@pytest.mark.parametrize("k", [2, 3])
def test_scale_slope_and_length_agree_with_the_curve(k):
    found, sensitivity = family("gaussian", SPDAffineInvariant(k)), 0.1
    sigma = found.mu_scale(sensitivity, 0.5)
    # the closed form is an upper bound for k = 2, where the curve is known
    assert found.curve(sigma, sensitivity).mu() == pytest.approx(0.5, rel=1e-9 if k == 3 else 1e-4)
    assert found.slope(sigma) * sensitivity == pytest.approx(0.5, rel=1e-4)
    assert found.curve(2.0 * sigma, sensitivity).mu() < 0.4  # it does depend on the scale
    if k == 3:
        assert found.length(sigma, sensitivity) == found.curve(sigma, sensitivity).mu()
        assert found.slope(5.0) == math.inf  # nothing is proved there
