"""The isotropic curves against computations that share none of their formulas."""

import functools
import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp import Euclidean, Hyperbolic, Sphere, research
from riemdp.noise import IsotropicLaw
from riemdp.privacy import gaussian_delta
from riemdp.privacy._isotropic_curve import IsotropicCurve

# kind, dim, curvature, sigma, sensitivity, epsilon
PLANE_INTEGRALS = [
    ("gaussian", 2, 1.0, 1.0, 1.0, 0.3),
    ("laplace", 2, 1.0, 0.4, 1.0, 0.9),
    ("gaussian", 3, 1.0, 0.4, 2.5, 6.0),
    ("laplace", 9, 2.5, 0.2, 0.7, 0.4),
    ("gaussian", 2, -1.0, 0.5, 1.0, 4.0),
    ("laplace", 3, -1.7, 0.3, 1.0, 1.1),
    ("gaussian", 3, -0.4, 2.0, 1.0, 0.01),
    ("gaussian", 9, -1.0, 0.6, 1.0, 2.0),
    ("laplace", 2, 0.0, 0.5, 1.0, 0.6),
    ("laplace", 5, 0.0, 0.3, 0.9, 0.2),
    ("gaussian", 5, 0.0, 0.7, 0.9, 1.5),
]


@functools.cache
def double_exponential(count=160):
    """Nodes of the tanh-sinh rule as distances from both ends of (0, 1), and weights."""
    t = np.linspace(-3.6, 3.6, count)
    step = t[1] - t[0]
    u = math.pi * np.sinh(t)
    with np.errstate(over="ignore"):
        low, high = scipy.special.expit(u), scipy.special.expit(-u)
    return low, high, step * low * high * math.pi * np.cosh(t)


def radius(curvature, r):
    if curvature == 0.0:
        return r
    k = math.sqrt(abs(curvature))
    return np.sin(k * r) / k if curvature > 0.0 else np.sinh(k * r) / k


def third_side(curvature, r, distance, theta, rest):
    """Law of haversines; ``rest`` is ``pi - theta``."""
    half = np.where(theta < 1.0, np.sin(0.5 * theta), np.cos(0.5 * rest)) ** 2
    other = np.where(rest < 1.0, np.sin(0.5 * rest), np.cos(0.5 * theta)) ** 2
    if curvature == 0.0:
        return np.sqrt((r - distance) ** 2 + 4.0 * r * distance * half)
    k = math.sqrt(abs(curvature))
    r, distance = k * r, k * distance
    if curvature < 0.0:
        square = np.sinh(0.5 * (r - distance)) ** 2 + np.sinh(r) * np.sinh(distance) * half
        return 2.0 / k * np.arcsinh(np.sqrt(square))
    area = np.sin(r) * np.sin(distance)
    near = np.sin(0.5 * (r - distance)) ** 2 + area * half
    far = np.cos(0.5 * (r + distance)) ** 2 + area * other
    return 2.0 / k * np.arctan2(np.sqrt(near), np.sqrt(far))


def plane_integral(case):
    """``delta`` as the integral of the positive part over distance and angle."""
    kind, dim, curvature, sigma, distance, epsilon = case
    low, high, weights = double_exponential()

    def potential(r):
        return r / sigma if kind == "laplace" else 0.5 * (r / sigma) ** 2

    def loss(r, theta, rest):
        return potential(third_side(curvature, r, distance, theta, rest)) - potential(r) - epsilon

    def turning(r):
        """Angle from which on the loss is positive, by bisection: the loss grows with it."""
        left, right = np.zeros_like(r), np.full_like(r, math.pi)
        for _ in range(60):
            middle = 0.5 * (left + right)
            above = loss(r, middle, math.pi - middle) > 0.0
            left, right = np.where(above, left, middle), np.where(above, middle, right)
        return np.where(loss(r, 0.0 * r, math.pi + 0.0 * r) > 0.0, 0.0, right)

    growth = (dim - 1) * math.sqrt(max(-curvature, 0.0))
    if curvature > 0.0:
        end = math.pi / math.sqrt(curvature)
    elif kind == "laplace":
        end = 60.0 / (1.0 / sigma - growth)
    else:
        end = growth * sigma**2 + 12.0 * sigma + 2.0 * distance + 2.0 * sigma**2 * epsilon
    # where the turning angle enters and leaves, and the cut point of the second footpoint
    scan = np.linspace(1e-9 * end, end * (1.0 - 1e-9), 4001)
    breaks = [0.0, end]
    for theta in (0.0, math.pi):

        def along(r, theta=theta):
            return float(loss(r, theta, math.pi - theta))

        values = loss(scan, theta + 0.0 * scan, math.pi - theta + 0.0 * scan)
        for i in np.nonzero(np.sign(values[1:]) != np.sign(values[:-1]))[0]:
            if abs(values[i]) > 1e-12 and abs(values[i + 1]) > 1e-12:
                breaks.append(scipy.optimize.brentq(along, scan[i], scan[i + 1], xtol=1e-15))
    if curvature > 0.0:
        breaks.append(end - distance)
    # pieces no longer than the radial law is wide
    breaks = np.unique(np.concatenate([breaks, np.arange(0.0, end, 2.0 * sigma)]))
    found = mass = 0.0
    for start, stop in itertools.pairwise(breaks):
        width = stop - start
        r = start + width * low if start < 0.5 * end else stop - width * high
        r = np.clip(r, 1e-300, end)
        density = width * weights * radius(curvature, r) ** (dim - 1) * np.exp(-potential(r))
        mass += float(np.sum(density))
        first = turning(r)
        span = (math.pi - first)[:, None]
        rest = span * high
        theta = np.where(low < 0.5, first[:, None] + span * low, math.pi - rest)
        gain = -np.expm1(-np.maximum(loss(r[:, None], theta, rest), 0.0))
        sine = np.where(rest < 1.0, np.sin(rest), np.sin(theta))
        inner = span[:, 0] * ((gain * sine ** (dim - 2)) @ weights)
        found += float(density @ inner)
    directions = math.sqrt(math.pi) * math.gamma(0.5 * (dim - 1)) / math.gamma(0.5 * dim)
    return found / (mass * directions)


@pytest.mark.fast(2)
@pytest.mark.parametrize("case", PLANE_INTEGRALS, ids=str)
def test_delta_is_the_integral_over_distance_and_angle(case):
    *space, epsilon = case
    reported = float(IsotropicCurve(*space).delta_at(epsilon))
    assert reported == pytest.approx(plane_integral(case), rel=1e-9)
    # the control: a scale that is off in the eighth digit is seen
    space[3] *= 1.0 + 1e-7
    assert reported != pytest.approx(plane_integral((*space, epsilon)), rel=1e-9)


DRAWS = [
    ("gaussian", Sphere(2), 1.0, 1.0, 0.4),
    ("gaussian", Sphere(9, curvature=0.5), 0.5, 1.0, 1.0),
    ("laplace", Sphere(3), 0.5, 2.0, 1.5),
    ("gaussian", Hyperbolic(2), 1.0, 1.0, 0.5),
    ("gaussian", Hyperbolic(3, curvature=-2.0), 0.5, 1.0, 3.0),
    ("laplace", Hyperbolic(2), 0.4, 1.0, 0.8),
    ("laplace", Euclidean(3), 0.5, 1.0, 0.3),
    ("gaussian", Sphere(1), 1.0, 1.0, 0.4),
]


def deviation(case, draws, seed):
    """Standard errors between the mean of ``(1 - exp(epsilon - L))_+`` and ``delta``."""
    kind, manifold, sigma, distance, epsilon = case
    generator = np.random.default_rng(seed)
    k = math.sqrt(abs(manifold.constant_curvature)) or 1.0
    if isinstance(manifold, Hyperbolic):
        one = np.eye(manifold.dim + 1)[0] / k
    elif isinstance(manifold, Sphere):
        one = np.eye(manifold.dim + 1)[0] * manifold.injectivity_radius / math.pi
    else:
        one = np.zeros(manifold.dim)
    other = manifold.exp(one, manifold.tangent_vector(one, distance * np.eye(manifold.dim)[0]))
    law = IsotropicLaw(kind=kind, manifold=manifold, sigma=sigma)
    points = research.sample(law, one, draws, generator)
    loss = law.log_density(points, one) - law.log_density(points, other)
    gain = np.maximum(-np.expm1(epsilon - loss), 0.0)
    error = float(np.std(gain)) / math.sqrt(draws)
    upper = manifold.injectivity_radius if manifold.dim == 1 else math.inf
    curve = IsotropicCurve(kind, manifold.dim, manifold.constant_curvature, sigma, distance, upper)
    return (float(np.mean(gain)) - float(curve.delta_at(epsilon))) / error


@pytest.mark.fast(2)
@pytest.mark.parametrize("case", DRAWS, ids=str)
def test_delta_is_the_mean_over_draws(case):
    assert abs(deviation(case, 200_000, 5)) < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("case", DRAWS, ids=str)
def test_delta_is_the_mean_over_four_million_draws(case):
    # in parts, to spare memory; the deviations are independent
    parts = [deviation(case, 500_000, seed) for seed in range(8)]
    assert abs(sum(parts)) / math.sqrt(8.0) < 4.5


def test_the_mean_over_draws_sees_a_wrong_curve(monkeypatch):
    whole = IsotropicCurve.delta_at
    monkeypatch.setattr(IsotropicCurve, "delta_at", lambda c, e: 1.03 * whole(c, e))
    assert abs(deviation(DRAWS[0], 200_000, 5)) > 4.5


@st.composite
def curves(draw):
    """Random space, curvature, scale and distance."""
    kind = draw(st.sampled_from(["gaussian", "laplace"]))
    dim = draw(st.integers(2, 12))
    curvature = draw(st.sampled_from([-1.0, 1.0])) * math.exp(draw(st.floats(-1.5, 1.5)))
    k = math.sqrt(abs(curvature))
    distance = draw(st.floats(0.05, 2.8)) / k
    sigma = distance * math.exp(draw(st.floats(-1.5, 1.5)))
    if kind == "laplace" and curvature < 0.0:
        sigma = min(sigma, 0.8 / ((dim - 1) * k))
    return IsotropicCurve(kind, dim, curvature, sigma, distance)


def dense_grid(curve, mu):
    """Where the Gaussian curve of ``mu`` is not below 1e-30, up to the largest loss."""
    return np.linspace(0.0, min(0.9999 * curve.pure_epsilon(), 0.5 * mu * mu + 11.0 * mu), 1500)


def check_mu(curve):
    lower, mu = curve.mu_bracket()
    epsilon = dense_grid(curve, mu)
    delta = curve.delta_at(epsilon)
    # delta is rounded up by 1e-11 of the probabilities it is a difference of
    first = np.exp(curve._points(epsilon).log_first)
    assert np.all(gaussian_delta(mu, epsilon) >= delta * (1.0 - 1e-9) - 2.5e-11 * first)
    # the control
    assert np.any(gaussian_delta(0.99 * lower, epsilon) < delta * (1.0 - 1e-6))


@pytest.mark.slow
@settings(max_examples=5, derandomize=True, deadline=None)
@given(curves())
def test_reported_mu_never_under_reports(curve):
    check_mu(curve)


@pytest.mark.slow
@settings(max_examples=100, derandomize=True, deadline=None)
@given(curves())
def test_reported_mu_never_under_reports_on_many_curves(curve):
    check_mu(curve)


@pytest.mark.parametrize("dim", [2, 3, 9])
def test_there_is_no_loss_beyond_the_largest(dim):
    for curve in (
        IsotropicCurve("gaussian", dim, 1.3, 0.7, 1.1),
        IsotropicCurve("laplace", dim, -1.3, 0.05, 1.1),
        IsotropicCurve("laplace", dim, 0.0, 0.3, 1.1),
    ):
        top = curve.pure_epsilon()
        assert np.all(curve.delta_at([top, 1.01 * top, 100.0 * top, math.inf]) == 0.0)
        assert curve.delta_at(0.98 * top) > 0.0


def test_the_largest_loss_is_that_behind_the_footpoint():
    curve = IsotropicCurve("gaussian", 2, 1.0, 0.8, 1.2)
    manifold, sigma, distance = Sphere(2), 0.8, 1.2
    other = np.array([math.cos(distance), math.sin(distance), 0.0])
    angle = np.linspace(-math.pi, math.pi, 20001)
    circle = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=-1)
    one = np.array([1.0, 0.0, 0.0])
    loss = (manifold.dist(circle, other) ** 2 - manifold.dist(circle, one) ** 2) / 2 / sigma**2
    assert np.max(loss) == pytest.approx(curve.pure_epsilon(), rel=1e-3)
    assert np.max(loss) <= curve.pure_epsilon()


@pytest.mark.parametrize("dim", [2, 3, 10])
def test_flat_gaussian_has_the_same_mu_at_every_epsilon(dim):
    curve = IsotropicCurve("gaussian", dim, 0.0, 0.8, 1.0)
    points = curve._points(np.linspace(0.0, 6.0, 13))
    np.testing.assert_allclose(points.exact_mu(), 1.25, rtol=1e-12)
    other = IsotropicCurve("gaussian", dim, -1e-2, 0.8, 1.0)._points(np.linspace(0.0, 6.0, 13))
    assert np.ptp(other.exact_mu()) > 1e-6
