from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp._radial_profile import EnclosedProfile, Profile


def _log_density(profile: Profile, r: mpmath.mpf) -> mpmath.mpf:
    """The definition, in the working precision of mpmath."""
    sigma = mpmath.mpf(profile.sigma)
    penalty = r / sigma if profile.kind == "laplace" else (r / sigma) ** 2 / 2
    growth = {1: mpmath.sin, 0: mpmath.mpf, -1: mpmath.sinh}[profile.sign](r)
    return (profile.power * mpmath.log(growth) if profile.power else 0) - penalty


@st.composite
def profiles(draw) -> Profile:
    kind = draw(st.sampled_from(["laplace", "gaussian"]))
    power = draw(st.integers(0, 999))
    sign = draw(st.sampled_from([-1, 0, 1])) if power else 0
    sigma = 10.0 ** draw(st.floats(-4.0, 3.0))
    if kind == "laplace" and sign < 0:
        sigma = min(sigma, draw(st.floats(0.1, 0.99)) / power)
    upper = math.pi if sign > 0 else math.inf
    if draw(st.booleans()):
        upper = min(upper, sigma * 10.0 ** draw(st.floats(-2.0, 3.0)))
    return Profile(kind=kind, power=power, sign=sign, sigma=sigma, upper=upper)


@given(profiles(), st.floats(0.0, 1.0), st.sampled_from([-1, 1]))
def test_relative_height_keeps_its_digits(profile: Profile, share: float, side: int):
    step = share * float(profile.fall(30.0, side=side))
    r = min(max(profile.mode + side * step, 0.0), profile.upper)
    if r == 0.0 or (profile.sign > 0 and r > 3.14):
        return
    with mpmath.workdps(50):
        mode = mpmath.mpf(profile.mode)
        at_mode = _log_density(profile, mode) if mode else mpmath.mpf(0)
        exact = float(_log_density(profile, mpmath.mpf(r)) - at_mode)
    # A mode of 1e9 (power 999, sigma 1000, negative curvature) is one float among neighbours
    # 1e-7 apart; the tilt is that of the true mode, at most half such a step away.
    blur = 4e-16 * profile.mode * abs(exact) / max(abs(r - profile.mode), 1e-300) if exact else 0.0
    tilt = 1e-15 * profile.power * (1.0 + abs(r - profile.mode))
    assert float(profile.relative(r)) == pytest.approx(
        exact, rel=1e-12, abs=1e-14 + tilt + min(blur, 1e-6)
    )


@given(profiles())
def test_mode_is_the_maximum(profile: Profile):
    for depth in (1e-3, 1.0):
        for side in (-1, 1):
            r = profile.mode + side * float(profile.fall(depth, side=side))
            assert 0.0 <= r <= profile.upper
            assert profile.relative(r) <= 1e-12
    with mpmath.workdps(50):
        if profile.mode > 0.0:
            exact = float(_log_density(profile, mpmath.mpf(profile.mode)))
            assert profile.log_peak == pytest.approx(exact, rel=1e-12, abs=1e-12)


@given(profiles(), st.floats(0.5, 600.0), st.sampled_from([-1, 1]))
def test_fall(profile: Profile, depth: float, side: int):
    distance = float(profile.fall(depth, side=side))
    end = profile.mode if side < 0 else profile.upper - profile.mode
    assert 0.0 <= distance <= end
    assert profile.relative(profile.mode + side * 0.99 * distance) > -depth
    beyond = profile.mode + side * 1.01 * distance
    if 0.0 < beyond < profile.upper:
        assert profile.relative(beyond) < -depth


@given(profiles(), st.floats(0.05, 0.95), st.sampled_from([-1, 1]))
def test_slope_is_the_derivative(profile: Profile, share: float, side: int):
    distance = float(profile.fall(4.0, side=side))
    if distance == 0.0 or not math.isfinite(distance):
        return
    r = profile.mode + side * share * distance
    with mpmath.workdps(50):
        exact = float(mpmath.diff(lambda x: _log_density(profile, x), mpmath.mpf(r)))
    size = abs(profile.power * (1.0 + 1.0 / r) if profile.power else 1.0 / profile.sigma)
    assert profile.slope(r) == pytest.approx(exact, rel=1e-9, abs=1e-13 * size)


def test_both_sides_at_once_are_each_by_itself():
    depths = np.array([0.25, 1.0, 4.0, 300.0])
    for profile in (Profile("laplace", 3, 1, 0.2, math.pi), Profile("gaussian", 2, -1, 3.0, 1e3)):
        below, above = profile.falls(depths)
        assert below.tolist() == profile.fall(depths, side=-1).tolist()
        assert above.tolist() == profile.fall(depths, side=1).tolist()
        assert above.tolist() != below.tolist()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("power", "sign"), [(0, 1), (3, 1), (5, 0), (2, -1)])
def test_enclosures_hold_the_definition_and_its_derivatives(kind, power, sign, monkeypatch):
    """In float64 it is the same function up to a constant."""
    flint = pytest.importorskip("flint")
    monkeypatch.setattr(flint.ctx, "prec", 256)
    sigma, radii = 0.25, (0.125, 0.5, 1.75)
    enclosed = EnclosedProfile(kind, power, sign, flint.arb(sigma))
    profile = Profile(kind, power, sign if power else 0, sigma, math.pi if sign > 0 else math.inf)
    with mpmath.workdps(60):
        for r in map(mpmath.mpf, radii):
            ball = flint.arb(float(r))
            exact = [
                mpmath.diff(lambda x: _log_density(profile, x), r, order) for order in range(3)
            ]
            found = enclosed.log(ball), enclosed.slope(ball), enclosed.bend(ball)
            for value, enclosure in zip(exact, found, strict=True):
                middle = mpmath.mpf(enclosure.mid().str(60, radius=False))
                assert abs(middle - value) < mpmath.mpf(10) ** -15 * max(1, abs(value))
                assert enclosure.rad() < 1e-60
    at = np.array(radii)
    heights = profile.log(at, math.pi - at)
    balls = [float(enclosed.log(flint.arb(r))) for r in radii]
    np.testing.assert_allclose(np.diff(heights), np.diff(balls), rtol=1e-13)
    np.testing.assert_allclose(np.diff(profile.relative(at)), np.diff(balls), rtol=1e-12)
