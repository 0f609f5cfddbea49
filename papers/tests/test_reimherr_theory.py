from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
from scipy import optimize

from riemdp.noise import RadialLaw
from riemdp.research import RestrictedLaplace
from riemdp.spaces import Ball, Sphere
from riemdp_papers import _reimherr_theory as theory
from riemdp_papers._reimherr import exact_diameter, grid_diameter
from riemdp_papers._reimherr_data import SPHERE, fixed_mean, sphere_data


def test_the_loss_on_an_interval_is_that_of_quadratures():
    """Theorem 1: above the loss of a constant normaliser, and never above twice that."""
    grid = np.linspace(-1.0, 1.0, 20_001)

    def log_density(foot):
        height = np.exp(-np.abs(grid - foot) / 0.1)
        return np.log(height / scipy.integrate.simpson(height, x=grid))

    true = np.max(log_density(1.0) - log_density(0.9))
    assert theory.interval_loss(0.1, 0.1) == pytest.approx(true, abs=1e-5)
    assert true == pytest.approx(1.49, abs=5e-3)
    ratios = [theory.interval_loss(d, 0.1) * 0.1 / d for d in (0.1, 1e-2, 1e-3, 1e-5)]
    assert ratios == sorted(ratios)
    assert 1.9998 < ratios[-1] < 2.0  # so the factor 2 is the least one


@pytest.mark.parametrize("n", range(3, 12))
def test_example_1_has_the_means_of_a_search(n):
    """Even ``n``: the doubled point. Odd ``n``: two means, neither of them a point."""
    means, farthest = theory.example_1(n)
    points = np.append(2 * np.pi * np.arange(n - 1) / (n - 1), 0.0)
    grid = np.linspace(-np.pi, np.pi, 20_001)
    arc = np.abs((grid[:, None] - points + np.pi) % (2 * np.pi) - np.pi)
    energy = np.sum(arc**2, axis=1)
    low = grid[energy < np.min(energy) + 1e-6]
    assert all(np.min(np.abs(low - mean)) < 4e-4 for mean in means)
    assert all(np.min(np.abs(means - value)) < 2e-3 for value in low)
    if n % 2:
        assert means == pytest.approx([-np.pi / n, np.pi / n])
        assert farthest == pytest.approx(np.pi)
        assert np.min(np.abs(means[:, None] - points)) > 0.1 / n
    else:
        assert means == pytest.approx([0.0], abs=1e-12)
        assert farthest == pytest.approx(np.pi * (n - 2) / (n - 1))
        assert farthest < np.pi


@pytest.mark.parametrize("kappa", [1.0, 0.3, 0.0, -0.5, -2.0])
@pytest.mark.parametrize("s", [0.4, 1.3])
def test_the_factor_of_the_hessian_is_a_second_difference_of_distances(s, kappa):
    measured = theory.across(s, kappa, 1e-3)
    assert theory.hessian_factor(s, kappa) == pytest.approx(measured, rel=1e-6)
    assert (theory.hessian_factor(s, kappa) > 1.0) == (kappa < 0.0)
    if kappa == 0.0:  # the printed 1 / s
        assert abs(theory.hessian_factor(s, kappa, as_printed=True) - measured) > 0.2


def test_lemma_1_holds_and_the_derivative_it_names_is_another():
    for radius in (0.05, math.pi / 8, 0.7):
        printed, general, inverted = theory.lemma_1(radius)
        true = exact_diameter(radius)
        assert grid_diameter(radius, 200) <= true * (1 + 1e-9)
        assert inverted < true < general < printed


@pytest.mark.parametrize("curvature", [1.0, 0.0, -1.0])
@pytest.mark.parametrize("dim", [2, 5, 20])
@pytest.mark.parametrize("sigma", [0.004, 0.1, 2.0])
def test_the_mean_square_at_the_centre_is_the_radial_laws(curvature, dim, sigma):
    law = RadialLaw("laplace", dim, curvature, sigma, 0.5)
    found = theory.restricted_mean_square(curvature, dim, sigma, 0.5)
    assert found == pytest.approx(law.mean_square(), rel=1e-9)


def test_the_mean_square_off_the_centre_is_that_of_draws():
    sphere, pole = Sphere(2), np.array([0.0, 0.0, 1.0])
    foot = sphere.exp(pole, sphere.tangent_vector(pole, [0.3, 0.0]))
    law = RestrictedLaplace(sphere, 0.15, ball=Ball(sphere, pole, math.pi / 8))
    draws = law.sample(foot, 40_000, np.random.default_rng(1))
    squares = sphere.dist(foot, draws) ** 2
    error = 5 * np.std(squares) / 200
    found = theory.restricted_mean_square(1.0, 2, 0.15, math.pi / 8, 0.3)
    assert found == pytest.approx(np.mean(squares), abs=error)
    centred = theory.restricted_mean_square(1.0, 2, 0.15, math.pi / 8)
    assert abs(centred - np.mean(squares)) > error


def test_the_rates_of_theorem_3():
    """``d (d + 1) sigma^2``, so ``n^-2`` and ``d^2``; ``d (d - 1)`` would be no error on a line."""

    def scaled(dim, n):
        radius = 0.3
        sigma = 2.0 * 2.0 * math.tan(radius) / n
        return theory.restricted_mean_square(1.0, dim, sigma, radius) / sigma**2

    for dim in (2, 3, 5, 64):
        assert scaled(dim, 10**5) == pytest.approx(dim * (dim + 1), rel=1e-3)
        assert abs(scaled(dim, 10**5) / (dim * (dim - 1)) - 1.0) > 0.02
    line = theory.restricted_mean_square(0.0, 1, 1e-4, 0.3) / 1e-8
    assert line == pytest.approx(2.0, rel=1e-9)
    # the bound of the proof has c2 / c1, which grows exponentially in d; the law has not
    for dim in (2, 16, 64):
        assert all(scaled(dim, n) < dim * (dim + 1) for n in (100, 1000, 10**4))


def test_theorem_3_is_about_the_mean_and_its_proof_about_the_centre():
    sigma, radius, offset = 0.04, 1.0, 0.9
    draws = theory.centred_mean_square(sigma, radius, offset)
    x = np.linspace(-1.0, 1.0, 200_001)
    height = np.exp(-np.abs(x - offset) / sigma)
    brute = scipy.integrate.simpson(height * x**2, x=x) / scipy.integrate.simpson(height, x=x)
    assert draws == pytest.approx(brute, rel=1e-6)
    right = theory.restricted_mean_square(0.0, 1, sigma, radius, offset)
    assert right < 2 * sigma**2 < 0.01 * draws


@pytest.mark.parametrize("kappa", [0.25, 1.0, 4.0])
def test_the_maps_of_the_sphere_need_the_root_of_the_curvature(kappa):
    unit = math.sqrt(kappa)
    base, v = np.array([0.0, 0.0, 1.0 / unit]), np.array([0.3, 0.0, 0.0])
    right, printed = (theory.sphere_exp(base, v, kappa, as_printed=p) for p in (False, True))
    for point in (right, printed):
        assert np.linalg.norm(point) == pytest.approx(1.0 / unit)
    distance = theory.sphere_distance(base, right, kappa, as_printed=False)
    assert distance == pytest.approx(0.3)
    if kappa == 1.0:
        assert printed == pytest.approx(right)
        assert theory.sphere_distance(base, right, kappa, as_printed=True) == pytest.approx(0.3)
    else:
        moved = theory.sphere_distance(base, printed, kappa, as_printed=False)
        assert moved == pytest.approx(0.3 / unit)
        assert abs(theory.sphere_distance(base, right, kappa, as_printed=True) - 0.3) > 0.1


@pytest.mark.parametrize("radius", [0.1, math.pi / 8, 0.78])
def test_the_square_of_the_distance_is_not_convex_in_both_points(radius):
    """Along the geodesics of the gap, which stay in the ball."""
    sphere, centre = Sphere(2), np.array([1.0, 0.0, 0.0])
    half = 0.5 * radius
    top = math.acos(math.cos(radius) / math.cos(half))

    def at(longitude, latitude):
        return np.array(
            [
                math.cos(latitude) * math.cos(longitude),
                math.cos(latitude) * math.sin(longitude),
                math.sin(latitude),
            ]
        )

    squares = []
    for latitude in (-top, 0.0, top):
        pair = at(half, latitude), at(-half, latitude)
        assert all(sphere.dist(centre, p) <= radius + 1e-12 for p in pair)
        squares.append(float(sphere.dist(*pair)) ** 2)
    assert theory.convexity_gap(radius) == pytest.approx(squares[1] - squares[0])
    assert squares[1] > 0.5 * (squares[0] + squares[2])


@pytest.mark.parametrize("k", [1, 2])
def test_proposition_1_is_about_the_centre_and_no_smallest_ball(k):
    about, smallest = theory.enclosing_radius(1.5, k)
    assert about == pytest.approx(math.expm1(1.5), rel=1e-6)
    assert smallest < 0.8 * about
    if k == 1:
        assert smallest == pytest.approx(math.sinh(1.5), rel=1e-3)
    best = optimize.minimize_scalar(
        lambda c: max(abs(math.exp(1.5) - c), abs(math.exp(-1.5) - c)), bounds=(0, 5)
    )
    assert smallest >= best.fun * (1 - 1e-6)


def test_the_descent_stops_short_of_the_mean():
    sphere, points = SPHERE.manifold, sphere_data(50, np.random.default_rng(4))
    mean = fixed_mean(SPHERE, points)
    off = float(sphere.dist(theory.descend(points, sphere), mean))
    assert 1e-7 < off < 2e-5


def test_on_hyperbolic_space_the_constant_of_theorem_3_is_not_uniform():
    sigma = 1.0 / 19.0  # 1 / (d - 1), where the unrestricted law ceases to exist
    square = [theory.restricted_mean_square(-1.0, 20, sigma, r) for r in (1.0, 2.0, 4.0, 8.0)]
    ratios = [value / (20 * 21 * sigma**2) for value in square]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 20.0
    small = theory.restricted_mean_square(-1.0, 20, 1e-5, 1.0)
    assert small == pytest.approx(420 * 1e-10, rel=1e-3)


def test_the_distance_beyond_constant_curvature_is_at_most_that_of_the_model():
    """On affine-invariant 2 x 2 matrices, a line times a plane of curvature -1/2: k = 1/2.

    Along a direction at the angle ``angle`` to the line, cut at the end of the ball.
    """
    sigma, radius = 0.9, 2.0
    rho = np.linspace(1e-6, 2.0 * radius, 20_001)
    model = np.sinh(0.5 * rho) ** 2 * np.exp(-rho / sigma)

    def square(density, end):
        weight = np.where(rho <= end, density, 0.0)
        return np.sum(weight * rho**2) / np.sum(weight)

    bound, flat = square(model, 2.0 * radius), square(rho**2 * np.exp(-rho / sigma), 2.0 * radius)
    for angle in (0.01, 0.5, 1.0, 0.5 * np.pi):
        x = rho * np.sin(angle) / np.sqrt(2.0)
        volume = rho**2 * np.sinh(x) / x
        assert np.all(np.diff(volume / np.sinh(0.5 * rho) ** 2) < 1e-12)
        for end in (0.5, 2.0, 2.0 * radius):
            assert square(volume * np.exp(-rho / sigma), end) < bound
    # the flat model would be too small
    assert square(volume * np.exp(-rho / sigma), 2.0 * radius) > 1.05 * flat
