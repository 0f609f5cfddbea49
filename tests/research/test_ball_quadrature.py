from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp.noise import RadialLaw
from riemdp.noise._radial import log_sphere_area
from riemdp.research._ball_quadrature import BallRadialTable
from riemdp.research._polar import Geometry


def _table(sign: int, dim: int, sigma: float, radius: float, *offsets: float) -> BallRadialTable:
    return BallRadialTable(Geometry(sign, 1.0), dim, sigma, radius, np.array(offsets))


def _direct(sign: int, dim: int, sigma: float, radius: float, t: float) -> float:
    """Integral of exp(-dist/sigma) over the ball, in polar coordinates about its centre."""

    def dist(rho: float, angle: float) -> float:
        if sign == 0:
            return math.sqrt(max(rho * rho + t * t - 2 * rho * t * math.cos(angle), 0.0))
        away = math.sin(0.5 * angle) ** 2
        if sign < 0:
            half = math.sinh(0.5 * (rho - t)) ** 2 + math.sinh(rho) * math.sinh(t) * away
            return 2 * math.asinh(math.sqrt(half))
        half = math.sin(0.5 * (rho - t)) ** 2 + math.sin(rho) * math.sin(t) * away
        return 2 * math.asin(math.sqrt(min(half, 1.0)))

    s = {1: math.sin, 0: float, -1: math.sinh}[sign]
    # 12 x 12 panels of 24 x 24 nodes, split at the footpoint's radius, where the density has
    # its cusp; angles in squares to gather nodes there
    node, weight = np.polynomial.legendre.leggauss(24)
    node, weight = 0.5 * (1 + node), 0.5 * weight
    grid = np.arange(12) / 12
    unit = (grid[:, None] + node / 12).ravel()
    mass = np.tile(weight / 12, 12)
    total = 0.0
    for start, end in ((t, 0.0), (t, radius)):
        rho = start + (end - start) * unit**2
        outer = mass * 2 * unit * abs(end - start)
        angle, inner = math.pi * unit**3, mass * 3 * unit**2 * math.pi
        for r, w in zip(rho, outer, strict=True):
            values = np.array([math.exp(-dist(r, a) / sigma) for a in angle])
            total += w * s(r) ** (dim - 1) * float(inner @ (np.sin(angle) ** (dim - 2) * values))
    return math.exp(log_sphere_area(dim - 1)) * total


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    ("sign", "dim", "sigma", "radius", "t"),
    [
        (0, 2, 0.5, 1.0, 0.4),
        (0, 3, 2.0, 1.0, 1.0),
        (0, 9, 0.3, 1.0, 0.7),
        (1, 2, 0.5, 1.0, 0.4),
        (1, 2, 0.7, 2.5, 1.5),
        (1, 3, 3.0, 3.0, 3.0),
        (1, 5, 0.5, 1.5, 1.5),
        (-1, 2, 0.5, 3.0, 2.0),
        (-1, 3, 5.0, 2.0, 2.0),
        (-1, 4, 0.4, 1.0, 0.1),
    ],
)
def test_mass_by_two_dimensional_quadrature(sign, dim, sigma, radius, t):
    table = _table(sign, dim, sigma, radius, t)
    ours = math.exp(table.log_mass[0] + log_sphere_area(dim))
    assert ours == pytest.approx(_direct(sign, dim, sigma, radius, t), rel=2e-6)


@pytest.mark.parametrize(("sign", "radius"), [(0, 1.0), (-1, 2.0), (1, 1.0), (1, 3.0)])
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_intervals_and_arcs_are_elementary(sign, radius, t):
    t, sigma = t * radius, 0.4

    def arm(length: float) -> float:
        """Integral over an arm of the interval that starts at the footpoint."""
        if sign > 0 and length > math.pi:
            return arm(math.pi) + (arm(math.pi) - arm(2 * math.pi - length))
        return sigma * -math.expm1(-length / sigma)

    table = _table(sign, 1, sigma, radius, t)
    ours = math.exp(table.log_mass[0] + log_sphere_area(1))
    assert ours == pytest.approx(arm(radius + t) + arm(radius - t), rel=1e-12)


@pytest.mark.parametrize(("sign", "radius"), [(0, 1.0), (-1, 3.0), (-1, 8.0), (1, 1.0), (1, 3.0)])
@pytest.mark.parametrize("dim", [1, 2, 9, 100, 1000])
@pytest.mark.parametrize("sigma", [1e-4, 0.1, 1e3])
def test_about_the_centre_the_law_is_a_cut_radial_law(sign, radius, dim, sigma):
    law = RadialLaw("laplace", dim, float(sign), sigma, radius)
    expected = law.log_normaliser() - log_sphere_area(dim)
    for offset in (0.0, 1e-300, 1e-17):
        table = _table(sign, dim, sigma, radius, offset)
        assert table.log_mass[0] == pytest.approx(expected, rel=1e-11, abs=1e-10)


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    ("sign", "dim", "sigma", "radius", "t"),
    [
        (-1, 200, 0.5, 8.0, 8.0),
        (-1, 200, 0.004, 8.0, 7.9),
        (0, 1000, 1.0, 1.0, 1.0),
        (0, 4000, 1.0, 1.0, 0.9),
        (1, 300, 0.01, 2.0, 2.0),
        (0, 50, 1e-3, 1.0, 0.99),
    ],
)
def test_high_dimensions_against_30_digits(sign, dim, sigma, radius, t):
    # where the share of the sphere inside the ball can be far under the smallest float
    with mpmath.workdps(30):
        s = {1: mpmath.sin, 0: mpmath.mpf, -1: mpmath.sinh}[sign]
        h = mpmath.mpf(dim - 1) / 2
        t, radius_, sigma_ = mpmath.mpf(t), mpmath.mpf(radius), mpmath.mpf(sigma)
        norm = mpmath.log(mpmath.beta(h, h))

        def log_integrand(r):
            value = (dim - 1) * mpmath.log(s(r)) - r / sigma_
            if radius_ - t < r and (sign <= 0 or r < 2 * mpmath.pi - radius_ - t):
                x = s((radius_ + r - t) / 2) * s((radius_ - r + t) / 2) / (s(r) * s(t))
                if x < 1:
                    flipped = x > 0.5
                    y = 1 - x if flipped else x
                    front = h * mpmath.log(y * (1 - y)) - mpmath.log(h) - norm
                    share = mpmath.exp(front) * mpmath.hyp2f1(1, 2 * h, h + 1, y)
                    value += mpmath.log(1 - share if flipped else share)
            return value

        end = min(radius_ + t, mpmath.pi) if sign > 0 else radius_ + t
        coarse = [end * (i + 0.5) / 100 for i in range(100)]
        peak = max(coarse, key=log_integrand)
        step = end / 100
        for _ in range(12):
            step /= 4
            near = [peak + step * i for i in range(-8, 9) if 0 < peak + step * i < end]
            peak = max(near, key=log_integrand)
        top = log_integrand(peak)

        def width(side):
            reach = end / 1e7
            while 0 < peak + side * reach < end and log_integrand(peak + side * reach) > top - 2:
                reach *= 1.3
            return reach

        marks = [peak + side * width(side) * f for side in (-1, 1) for f in (0.5, 1, 2, 4, 8, 16)]
        kinks = [radius_ - t, 2 * mpmath.pi - radius_ - t if sign > 0 else end]
        marks = sorted({m for m in [*marks, peak, *kinks, mpmath.mpf(0), end] if 0 <= m <= end})
        # further than 16 widths of a unimodal peak nothing is left
        low, high = peak - 16 * width(-1), peak + 16 * width(1)
        marks = [m for m in marks if low <= m <= high]
        mass = mpmath.quad(
            lambda r: mpmath.exp(log_integrand(r) - top) if 0 < r < end else mpmath.mpf(0), marks
        )
        expected = float(mpmath.log(mass) + top)
    table = _table(sign, dim, sigma, radius, float(t))
    assert table.log_mass[0] == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    sign=st.sampled_from([-1, 0, 1]),
    dim=st.one_of(st.integers(1, 12), st.integers(1, 1000)),
    log_sigma=st.floats(-4.0, 3.0),
    radius=st.floats(0.01, 3.1),
    share=st.floats(0.0, 1.0),
)
def test_draws_stay_in_range_and_masses_are_ordered(*, sign, dim, log_sigma, radius, share):
    table = _table(sign, dim, 10.0**log_sigma, radius, share * radius, 0.0)
    end = min(radius + share * radius, math.pi) if sign > 0 else radius + share * radius
    drawn, opening = table.sample(40, np.random.default_rng(0))
    assert drawn.shape == opening.shape == (40, 2)
    assert np.all((drawn >= 0.0) & (drawn[:, :1] <= end * (1 + 1e-12)))
    assert np.all((opening >= 0.0) & (opening <= 1.0))
    # the ball holds most mass seen from its centre
    assert table.log_mass[0] <= table.log_mass[1] + 1e-9 * max(1.0, abs(table.log_mass[1]))


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    ("sign", "dim", "sigma", "radius", "t"),
    [(0, 2, 0.4, 1.0, 0.8), (1, 3, 1.0, 2.8, 2.0), (-1, 2, 3.0, 4.0, 4.0), (1, 1, 0.7, 2.9, 2.0)],
)
def test_radii_follow_their_density(*, sign, dim, sigma, radius, t, holds):
    # the CDF by scipy's quadrature of the density written out here
    s = {1: np.sin, 0: np.asarray, -1: np.sinh}[sign]
    half = 0.5 * (dim - 1)

    def density(r: float) -> float:
        share = 1.0
        if radius - t < r and (sign <= 0 or r < 2 * math.pi - radius - t):
            x = s((radius + r - t) / 2) * s((radius - r + t) / 2) / (s(r) * s(t))
            inside = 0.5 if dim == 1 else scipy.special.betainc(half, half, min(max(x, 0.0), 1.0))
            share = float(inside)
        return float(s(r)) ** (dim - 1) * math.exp(-r / sigma) * share

    end = min(radius + t, math.pi) if sign > 0 else radius + t
    kinks = [k for k in (radius - t, 2 * math.pi - radius - t) if 0 < k < end]
    grid = np.unique([*np.linspace(0.0, end, 301), *kinks])
    pieces = [
        scipy.integrate.quad(density, a, b, epsrel=1e-8)[0] for a, b in itertools.pairwise(grid)
    ]
    cdf = np.concatenate([[0.0], np.cumsum(pieces)])
    table = _table(sign, dim, sigma, radius, t)
    assert table.log_mass[0] == pytest.approx(math.log(cdf[-1]), abs=1e-6)
    edges = grid[::10]

    def pvalue(generator: np.random.Generator) -> float:
        drawn = table.sample(50_000, generator)[0][:, 0]
        counts, _ = np.histogram(drawn, edges)
        expected = np.diff(np.interp(edges, grid, cdf)) / cdf[-1] * 50_000
        heavy = expected > 10
        counts = np.append(counts[heavy], counts[~heavy].sum() + 1e-9)
        expected = np.append(expected[heavy], expected[~heavy].sum() + 1e-9)
        return scipy.stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue

    assert holds(pvalue)
