from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from riemdp._radial_profile import Profile
from riemdp.noise import RadialLaw
from riemdp.research._envelope import Envelope
from riemdp.research._isotropic import acceptance as acceptance_of
from riemdp.research._isotropic import radii

DIMENSIONS = [1, 2, 3, 4, 5, 6, 9, 20, 100, 1000]
SIGMAS = np.logspace(-4, 3, 15)


def _profile(kind: str, dim: int, sign: int, sigma: float) -> Profile:
    return Profile(kind, dim - 1, sign, sigma, math.pi if sign > 0 else math.inf)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_acceptance_is_at_least_87_percent(kind: str, curvature: float):
    for dim in DIMENSIONS:
        for sigma in SIGMAS:
            if kind == "laplace" and curvature < 0 and (dim - 1) * sigma >= 1.0:
                continue
            acceptance = acceptance_of(RadialLaw(kind, dim, curvature, float(sigma)))
            assert 0.87 <= acceptance <= 1.0 + 1e-12, (dim, sigma)


@pytest.mark.fast(2)
@pytest.mark.parametrize("share", [0.1, 0.9, 0.999, 1 - 1e-9])
def test_acceptance_up_to_the_last_hyperbolic_laplace(share: float):
    for dim in DIMENSIONS[1:]:
        law = RadialLaw("laplace", dim, -1.0, share / (dim - 1))
        assert 0.87 <= acceptance_of(law) <= 1.0 + 1e-12


@pytest.mark.parametrize(
    ("kind", "dim", "sign", "sigma"),
    [
        ("laplace", 2, 1, 0.3),
        ("laplace", 2, 1, 1e3),
        ("gaussian", 9, 1, 1.0),
        ("laplace", 5, -1, 0.24),
        ("gaussian", 100, -1, 2.0),
        ("gaussian", 2, 1, 1e-4),
    ],
)
def test_measured_acceptance_is_the_computed_one(kind, dim, sign, sigma, holds):
    envelope = Envelope.of(_profile(kind, dim, sign, sigma))
    expected = acceptance_of(RadialLaw(kind, dim, float(sign), sigma))

    def pvalue(generator: np.random.Generator) -> float:
        accepted = sum(envelope._attempt(10_000, generator).size for _ in range(5))
        return scipy.stats.binomtest(accepted, 50_000, min(expected, 1.0)).pvalue

    assert holds(pvalue)


@given(
    kind=st.sampled_from(["laplace", "gaussian"]),
    dim=st.integers(2, 1000),
    sign=st.sampled_from([-1, 0, 1]),
    log_sigma=st.floats(-4.0, 3.0),
    cut=st.floats(0.01, 100.0),
    bounded=st.booleans(),
)
def test_envelope_is_above_everywhere(*, kind, dim, sign, log_sigma, cut, bounded):
    sigma = 10.0**log_sigma
    if kind == "laplace" and sign < 0 and (dim - 1) * sigma >= 0.999:
        sigma = 0.999 / (dim - 1)
    profile = _profile(kind, dim, sign, sigma)
    if bounded:
        upper = min(profile.upper, cut * sigma)
        profile = Profile(kind, dim - 1, sign, sigma, upper)
    envelope = Envelope.of(profile)
    below = profile.mode - profile.fall(np.linspace(0.01, 600.0, 400), side=-1)
    above = profile.mode + profile.fall(np.linspace(0.01, 600.0, 400), side=1)
    offset = np.concatenate([below, above]) - profile.mode
    bound = np.zeros_like(offset)
    left = offset < envelope.left
    bound[left] = envelope.left_rate * (offset - envelope.left)[left]
    right = offset > envelope.right
    if math.isfinite(envelope.right_rate):
        bound[right] = -envelope.right_rate * (offset - envelope.right)[right]
    height = profile.relative(profile.mode + offset)
    # beyond a fall of 36 a proposal of 53 random bits does not come
    near = height > -36.0
    assert np.all((height - bound)[near] <= 1e-9)
    assert envelope.left <= 0.0 <= envelope.right


def test_sizes():
    envelope = Envelope.of(_profile("laplace", 3, 1, 0.5))
    generator = np.random.default_rng(0)
    assert envelope.sample(0, generator).shape == (0,)
    assert envelope.sample(40_000, generator).shape == (40_000,)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_half_a_microsecond_per_radius(kind: str, curvature: float, effort):
    law = RadialLaw(kind, 9, curvature, 0.1)
    radii(law, 10_000)  # the secure generator, as in a release
    assert effort(lambda: radii(law, 100_000), rounds=5) <= 10.0  # about 2
