"""Means on spheres and hyperbolic spaces: certificates are true, hard data are solved."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import Ball, ConvergenceError, Hyperbolic, Sphere, frechet_mean
from riemdp.statistics.curved import _space_form_mean

seeds = st.integers(0, 2**32 - 1)
# The reference below runs in extended precision; where there is none its own rounding counts.
ROUNDING = 2e3 * float(np.finfo(np.longdouble).eps)


class Reference:
    """The mean of float rows by gradient descent in extended precision, at unit curvature."""

    def __init__(self, manifold, data, weights=None):
        self.spherical = isinstance(manifold, Sphere)
        k = np.sqrt(np.longdouble(abs(manifold.curvature)))
        self.k = k
        self.data = self.on_manifold(np.asarray(data, dtype=np.longdouble) * k)
        weights = np.ones(len(data)) if weights is None else weights
        self.weights = np.asarray(weights, dtype=np.longdouble)
        self.weights /= self.weights.sum()

    def product(self, x, y):
        terms = x * y
        return terms.sum(axis=-1) - (0 if self.spherical else 2 * terms[..., 0])

    def on_manifold(self, x):
        if self.spherical:
            return x / np.sqrt(self.product(x, x))[..., None]
        x = x.copy()
        x[..., 0] = np.sqrt(1 + (x[..., 1:] ** 2).sum(axis=-1))
        return x

    def logs(self, base, x):
        gap = x - base
        half = np.sqrt(np.maximum(self.product(gap, gap), 0)) / 2
        if self.spherical:
            total = x + base
            angle = 2 * np.arctan2(half, np.sqrt(self.product(total, total)) / 2)
            across = gap - self.product(gap, base)[..., None] * base
        else:
            angle = 2 * np.arcsinh(half)
            across = gap + self.product(gap, base)[..., None] * base
        length = np.sqrt(np.maximum(self.product(across, across), 0))
        safe = np.where(length > 0, length, 1)
        return across * np.where(length > 0, angle / safe, 1)[..., None]

    def exp(self, base, tangent):
        size = np.sqrt(np.maximum(self.product(tangent, tangent), 0))
        if size == 0:
            return base
        even, odd = (np.cos, np.sin) if self.spherical else (np.cosh, np.sinh)
        return self.on_manifold(even(size) * base + odd(size) / size * tangent)

    def error(self, value, step=1.0, passes=4000):
        """Distance from ``value`` to the mean."""
        start = mean = self.on_manifold(np.asarray(value, dtype=np.longdouble) * self.k)
        best = np.inf
        for _ in range(passes):
            gradient = self.weights @ self.logs(mean, self.data)
            size = np.sqrt(max(self.product(gradient, gradient), 0))
            if size < 1e-17 or (size < 1e-15 and size >= best):
                break
            best = min(best, size)
            mean = self.exp(mean, step * gradient)
        assert size < 1e-14
        return float(np.sqrt(self.product(*2 * [self.logs(start, mean)]))) / float(self.k)


def cap(sphere, rng, n, radius, inner=0.0):
    """Points at distances between ``inner`` and ``radius`` from the first axis."""
    direction = rng.normal(size=(n, sphere.dim))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    angle = rng.uniform(inner, radius, size=(n, 1)) * math.sqrt(sphere.curvature)
    points = np.concatenate([np.cos(angle), np.sin(angle) * direction], axis=-1)
    return points / math.sqrt(sphere.curvature)


def first_axis_ball(sphere, radius):
    return Ball(sphere, np.eye(sphere.dim + 1)[0] / math.sqrt(sphere.curvature), radius)


@given(
    seed=seeds,
    dim=st.sampled_from([2, 3, 9, 20]),
    curvature=st.sampled_from([1.0, 4.0, 0.09]),
    share=st.sampled_from([1e-7, 0.3, 0.7, 0.79, 1.2]),
    tol=st.sampled_from([1e-10, 1e-5]),
)
def test_spherical_certificate_is_true(seed, dim, curvature, share, tol):
    rng = np.random.default_rng(seed)
    sphere, k = Sphere(dim, curvature), math.sqrt(curvature)
    data = cap(sphere, rng, 12, share / k, 0.5 * share / k)
    ball = first_axis_ball(sphere, share * (1 + 1e-9) / k)
    data = ball.project(sphere.validate(data))
    weights = rng.uniform(size=12) ** 3
    for shares in (None, weights):
        mean = frechet_mean(sphere, data, shares, ball=ball, tol=tol)
        error = Reference(sphere, data, shares).error(mean.value)
        assert error <= mean.error_bound + ROUNDING / k
        assert mean.error_bound <= tol


@given(
    seed=seeds,
    dim=st.sampled_from([2, 3, 9, 20]),
    curvature=st.sampled_from([-1.0, -4.0, -0.09]),
    spread_and_tol=st.sampled_from([(1e-7, 1e-10), (0.5, 1e-10), (0.5, 1e-5), (2.0, 1e-10)]),
)
def test_hyperbolic_certificate_is_true(seed, dim, curvature, spread_and_tol, random_points):
    spread, tol = spread_and_tol
    rng = np.random.default_rng(seed)
    space = Hyperbolic(dim, curvature)
    data = space.validate(random_points(space, rng, 12, spread))
    weights = rng.uniform(size=12) ** 3
    for shares in (None, weights):
        mean = frechet_mean(space, data, shares, tol=tol)
        error = Reference(space, data, shares).error(mean.value, step=0.5)
        assert error <= mean.error_bound + ROUNDING / math.sqrt(-curvature)
        assert mean.error_bound <= tol


@pytest.mark.parametrize("distance", [4.0, 6.0])
def test_hyperbolic_certificate_is_true_away_from_the_origin(distance, random_points):
    rng = np.random.default_rng(0)
    space = Hyperbolic(3)
    away = space.exp(space.origin, [0.0, distance, 0.0, 0.0])
    near = rng.normal(size=(20, 3))
    data = space.exp(away, space.tangent_vector(away, near))
    mean = frechet_mean(space, data, tol=1e-5)
    reference = Reference(space, data)
    # The reference rounds in the same way, 2000 times less.
    slack = 1e3 * float(np.finfo(np.longdouble).eps) * math.exp(2 * distance)
    assert reference.error(mean.value, step=0.5) <= mean.error_bound + slack


@pytest.mark.parametrize("n", [3, 1000, 200_000])
@pytest.mark.parametrize("radius", [0.3, 1.2])
def test_certificate_is_true_for_sorted_clusters(n, radius):
    # Long runs of equal rows: rounding in sums adds up instead of averaging out.
    sphere = Sphere(2)
    few = max(1, n // 5)
    a, b = np.array([[1.0, 0.6, 0.8], [1.0, -0.6, -0.8]]) * [
        math.cos(radius),
        *2 * [math.sin(radius)],
    ]
    a, b = sphere.validate([a, b])
    data = np.concatenate([np.repeat(a[None], n - few, axis=0), np.repeat(b[None], few, axis=0)])
    mean = frechet_mean(sphere, data, ball=first_axis_ball(sphere, radius))
    error = Reference(sphere, [a, b], [n - few, few]).error(mean.value, step=0.5)
    assert error <= mean.error_bound + ROUNDING
    space = Hyperbolic(2)
    a, b = (
        np.array([math.cosh(2.0), s * 0.6 * math.sinh(2.0), 0.8 * math.sinh(2.0)]) for s in (1, -1)
    )
    data = np.concatenate([np.repeat(a[None], n - few, axis=0), np.repeat(b[None], few, axis=0)])
    mean = frechet_mean(space, data)
    error = Reference(space, [a, b], [n - few, few]).error(mean.value, step=0.5)
    assert error <= mean.error_bound + ROUNDING


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    "manifold", [Sphere(2), Sphere(20), Hyperbolic(2), Hyperbolic(20)], ids=str
)
def test_how_much_of_the_allowance_is_used(manifold, random_rotation, closest_mean):
    # Long runs of equal rows again, anywhere in the ball.
    spherical = isinstance(manifold, Sphere)
    rng = np.random.default_rng(manifold.dim)
    shares = []
    for radius in (1e-3, 0.3, 0.75, 1.2) if spherical else (1e-3, 0.3, 1.0, 3.0):
        side = rng.normal(size=(3, manifold.dim))
        side *= radius / np.linalg.norm(side, axis=-1, keepdims=True)
        center = np.eye(manifold.dim + 1)[0]
        even, odd = (np.cos, np.sin) if spherical else (np.cosh, np.sinh)
        few = np.concatenate([np.full((3, 1), even(radius)), odd(radius) / radius * side], axis=-1)
        if spherical:
            motion = random_rotation(rng, manifold.dim + 1)
            few, center = few @ motion.T, motion @ center
        center, few = manifold.validate(center), manifold.validate(few)
        ball = Ball(manifold, center, radius * (1.0 + 1e-9) + 1e-15)
        few = ball.project(few)
        for counts in ([1, 1, 1], [20, 9, 4], [20_000, 900, 1]):
            data = np.repeat(few, counts, axis=0)
            mean = closest_mean(manifold, data, ball)
            error = Reference(manifold, few, counts).error(mean.value, step=0.5)
            shares.append((error - ROUNDING * even(radius) ** 2) / mean.error_bound)
    print(f"used share of the allowance, {manifold}", max(shares))
    assert 1e-4 < max(shares) <= 0.5


def hard_data(sphere, rng, n, radius, kind):
    """Clusters on the boundary, farther from each other than a right angle."""
    direction = rng.normal(size=(n, sphere.dim))
    if kind == "two clusters":
        direction[:] = np.eye(sphere.dim)[0]
        direction[: n // 2] *= -1.0
    elif kind == "most on one side":
        direction[:] = np.eye(sphere.dim)[0]
        direction[0] *= -1.0
    elif kind == "one beside two clusters":
        direction[:] = np.eye(sphere.dim)[0]
        direction[: n // 2] *= -1.0
        direction[-1] = np.eye(sphere.dim)[1]
    elif kind == "three clusters":
        direction = rng.normal(size=(3, sphere.dim))[rng.integers(0, 3, n)]
    elif kind == "bundle against one":
        direction = direction[:1] + 1e-3 * direction
        direction[0] *= -1.0
    else:
        assert kind == "all around"
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    points = np.concatenate(
        [np.full((n, 1), math.cos(radius)), math.sin(radius) * direction], axis=-1
    )
    return points / math.sqrt(sphere.curvature)


KINDS = [
    "two clusters",
    "most on one side",
    "one beside two clusters",
    "three clusters",
    "bundle against one",
    "all around",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("angle", [1.2, 1.56])
@pytest.mark.parametrize("sphere", [Sphere(2), Sphere(2, 0.1), Sphere(6, 4.0)], ids=str)
def test_large_caps_with_points_farther_apart_than_a_right_angle(sphere, angle, kind):
    rng = np.random.default_rng(0)
    k = math.sqrt(sphere.curvature)
    ball = first_axis_ball(sphere, angle / k)
    for n in (2, 3, 5, 10, 101, 1000):
        data = ball.project(sphere.validate(hard_data(sphere, rng, n, angle, kind)))
        mean = frechet_mean(sphere, data, ball=ball)
        assert mean.error_bound <= 1e-10
        assert ball.contains(mean.value)
        assert mean.passes <= 60
        if n <= 10:
            error = Reference(sphere, data).error(mean.value)
            assert error <= mean.error_bound + 100 * ROUNDING / k


def test_two_clusters_have_the_weighted_point_between_them():
    sphere, radius = Sphere(2), 1.56
    ball = first_axis_ball(sphere, radius)
    a, b = ball.project(hard_data(sphere, np.random.default_rng(0), 2, radius, "two clusters"))
    for many in (1, 3, 30):
        data = np.concatenate([a[None], np.repeat(b[None], many, axis=0)])
        expected = sphere.exp(a, many / (1 + many) * sphere.log(a, b))
        assert sphere.dist(frechet_mean(sphere, data, ball=ball).value, expected) <= 1e-10


def test_a_ball_next_to_the_hemisphere_is_an_error_where_rounding_wins():
    sphere, radius = Sphere(2), math.pi / 2 - 1e-12
    ball = first_axis_ball(sphere, radius)
    data = ball.project(hard_data(sphere, np.random.default_rng(0), 9, radius, "two clusters"))
    with pytest.raises(ConvergenceError, match="smaller ball"):
        frechet_mean(sphere, data, ball=ball)


@pytest.mark.parametrize("dim", [1, 2, 12])
def test_hyperbolic_points_far_out(dim):
    # Opposite ends of the largest ball: the mean is the origin.
    space = Hyperbolic(dim)
    ends = np.zeros((2, dim + 1))
    ends[:, 0], ends[:, 1] = math.cosh(8.0), [math.sinh(8.0), -math.sinh(8.0)]
    mean = frechet_mean(space, ends, tol=1e-6)
    assert space.dist(mean.value, space.origin) <= mean.error_bound
    lopsided = frechet_mean(space, ends, [3.0, 1.0], tol=1e-6)
    expected = np.zeros(dim + 1)
    expected[:2] = math.cosh(4.0), math.sinh(4.0)
    assert space.dist(lopsided.value, expected) <= 1e-6


@pytest.mark.fast(
    "10000-Sphere(dim=30, curvature=1.0)",
    "10000-Hyperbolic(dim=30, curvature=-1.0)",
    "100000-Hyperbolic(dim=2, curvature=-1.0)",
)
@pytest.mark.parametrize(
    "manifold", [Sphere(2), Sphere(30), Hyperbolic(2), Hyperbolic(30)], ids=str
)
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_four_passes_are_enough(manifold, n, random_points):
    data = random_points(manifold, np.random.default_rng(0), n, 0.7)
    ball = Ball(manifold, np.eye(manifold.dim + 1)[0], 0.75)
    assert frechet_mean(manifold, data, ball=ball, tol=1e-8).passes <= 4


@pytest.mark.parametrize("manifold", [Sphere(3, 4.0), Hyperbolic(3, -4.0)], ids=str)
def test_motions_move_the_mean_along(manifold, random_points, random_rotation):
    rng = np.random.default_rng(1)
    data = random_points(manifold, rng, 15)
    motion = np.eye(4)
    motion[1:, 1:] = random_rotation(rng, 3)
    ball = Ball(manifold, [0.5, 0.0, 0.0, 0.0], 0.55)
    mean = frechet_mean(manifold, data, ball=ball).value
    moved = frechet_mean(manifold, data @ motion.T, ball=ball).value
    assert manifold.dist(moved, motion @ mean) <= 2e-10


@pytest.mark.parametrize("curvature", [1e-8, 1e8])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_curvature_is_a_unit_of_length(curvature, sign, random_points):
    unit = Sphere(2) if sign > 0 else Hyperbolic(2)
    scaled = type(unit)(2, sign * curvature)
    k = math.sqrt(curvature)
    data = random_points(unit, np.random.default_rng(2), 9)
    center = np.eye(3)[0]
    plain = frechet_mean(unit, data, ball=Ball(unit, center, 1.01)).value
    ball = Ball(scaled, center / k, 1.01 / k)
    mean = frechet_mean(scaled, data / k, ball=ball, tol=1e-10 / k)
    np.testing.assert_allclose(k * mean.value, plain, atol=3e-10)
    assert mean.error_bound <= 1e-10 / k


EPS = float(np.finfo(np.float64).eps)


@pytest.mark.parametrize("lowest", [0.9999, 0.51, 0.49, 0.0, -0.9])
def test_weights_on_spheres_are_as_accurate_as_the_cosine(lowest):
    cosine = np.append(np.linspace(lowest, 1.0, 5001), [1.0 + EPS, np.nextafter(1.0, 0.0)])
    exact = np.arccos(np.minimum(cosine, 1.0).astype(np.longdouble))
    top, sine, theta = _space_form_mean._angles(cosine)
    assert top == pytest.approx(float(exact.max()), rel=1e-9)
    weight = np.where(exact > 0, exact / np.where(exact > 0, np.sin(exact), 1), 1)
    error = np.abs(theta / sine - weight) * np.sin(exact)
    assert error.max() <= 4.0 * EPS * (1.0 + top)
    # The arc sine alone loses digits at a right angle, and is wrong beyond.
    lost = np.abs(np.arcsin(sine) / sine - weight) * np.sin(exact)
    assert (lost.max() > 100.0 * EPS) == (lowest <= 0.0)


@pytest.mark.parametrize("longest", [1e-3, 1.0, 20.0])
def test_weights_on_hyperboloids_are_as_accurate_as_the_cosine(longest):
    cosine = np.cosh(np.linspace(0.0, longest, 5001))
    exact = np.arccosh(cosine.astype(np.longdouble))
    top, sine, theta = _space_form_mean._lengths(cosine.copy())
    assert top == pytest.approx(longest, rel=1e-9)
    weight = np.where(exact > 0, exact / np.where(exact > 0, np.sinh(exact), 1), 1)
    error = np.abs(theta / sine - weight) * np.sinh(exact)
    assert error.max() <= 4.0 * EPS * (1.0 + longest)
    # What rounding puts under one is the point itself, of weight one.
    _, sine, theta = _space_form_mean._lengths(np.array([1.0 - 1e-9, 1.0]))
    np.testing.assert_allclose(theta / sine, 1.0, atol=1e-7)


@pytest.mark.parametrize(
    "manifold", [Sphere(2, 4.0), Sphere(3), Hyperbolic(2, -4.0), Hyperbolic(4)], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_newton_solves_its_equation(manifold, weighted, random_points):
    rng = np.random.default_rng(5)
    data = random_points(manifold, rng, 300, 0.5)
    weights = rng.dirichlet(np.ones(300)) if weighted else None
    ball = Ball(manifold, np.eye(manifold.dim + 1)[0] / math.sqrt(abs(manifold.curvature)), 0.6)
    problem = _space_form_mean._Problem(manifold, data, weights, ball)
    at = problem.evaluate(problem.start())
    angle = problem.k * manifold.dist(at.point / problem.k, data)
    cotangent = (np.tan if problem.spherical else np.tanh)(angle)
    assert at.mean_a == pytest.approx(np.average(angle / cotangent, weights=weights), rel=1e-12)
    direction = problem._newton_direction(at)
    image = problem._hessian_product(at, direction)
    assert np.linalg.norm(image - at.gradient) <= 0.02 * at.size**2 + 1e-10 * at.size
    # The Hessian is not the identity: the gradient is no solution.
    assert np.linalg.norm(problem._hessian_product(at, at.gradient) - at.gradient) > 1e-3 * at.size


@pytest.mark.parametrize("distance", [30.0, 50.0, 100.0, 300.0])
def test_hyperbolic_points_beyond_float64_are_an_error_with_advice(distance):
    space = Hyperbolic(1)
    for seed in range(12):
        side = 1.0 + 1e-3 * np.random.default_rng(seed).normal(size=40)
        side *= math.sinh(distance)
        data = np.stack([np.sqrt(1.0 + side**2), side], axis=-1)
        with pytest.raises(ConvergenceError, match="larger tol"):
            frechet_mean(space, data, tol=1e-6)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("gap", "tol", "least"), [(1e-6, 1e-13, 0), (1e-4, 2e-11, 20)])
def test_certificates_hold_for_records_next_to_the_antipode(gap, tol, least):
    sphere, radius = Sphere(2), 0.5 * math.pi - 0.5 * gap
    rng = np.random.default_rng(4)
    certified = 0
    for _ in range(300):
        side, base = rng.normal(size=(2, 2))
        side *= (1.0 - 1e-9) * radius / np.linalg.norm(side)
        center = sphere.exp(sphere.origin, sphere.tangent_vector(sphere.origin, base))
        pair = sphere.exp(center, sphere.tangent_vector(center, np.stack([side, -side])))
        share = rng.uniform(0.02, 0.3) * gap / math.pi
        weights = np.array([share, 1.0 - share])
        try:
            ball = Ball(sphere, center, radius)
            mean = frechet_mean(sphere, pair, weights, ball=ball, tol=tol)
        except ConvergenceError:
            continue
        certified += 1
        # The mean of two points divides the geodesic between them.
        near, far = pair.astype(np.longdouble)[::-1]
        near, far = near / np.sqrt(near @ near), far / np.sqrt(far @ far)
        length = 2 * np.arctan2(np.linalg.norm(far - near), np.linalg.norm(far + near))
        across = far + near
        across -= (across @ near) * near
        across /= np.sqrt(across @ across)
        part = weights[0] / weights.sum() * length
        exact = np.cos(part) * near + np.sin(part) * across
        assert np.linalg.norm(mean.value - exact) <= mean.error_bound
    assert certified >= least


@pytest.mark.fast(1)
@pytest.mark.parametrize("tol", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_local_certificate_reckons_with_the_hessian_a_tolerance_away(tol, weighted):
    # (c) of the note: |g| / h, with h the mean of a(k (rho + tau)) or less, a(x) = x cot(x), tau
    # the tolerance, or twice |g| over the mean of a(k rho).
    rng = np.random.default_rng(7)
    sphere = Sphere(3, 4.0)
    ball = first_axis_ball(sphere, 0.6)  # over pi/(4k): (b) says nothing
    proved = 0
    for _ in range(40):
        data = sphere.validate(cap(sphere, rng, 30, 0.6 - 1e-9, 0.3))
        weights = rng.dirichlet(np.ones(30)) if weighted else None
        problem = _space_form_mean._Problem(sphere, data, weights, ball)
        at = problem.evaluate(problem.start())
        distance = 2.0 * sphere.dist(at.point / 2.0, data)

        def mean(x, weights=weights):
            return np.average(x / np.tan(x), weights=weights)

        near = mean(distance)
        tau = min(2.0 * tol, 2.0 * at.size / near)
        bound = problem.certificate(at, tol)
        if bound < math.inf:
            proved += 1
            assert bound >= at.size / mean(distance + tau) / 2.0
            assert bound > 1.01 * at.size / near / 2.0  # what the slope is there for
            error = Reference(sphere, data, weights).error(at.point / 2.0, step=0.5)
            assert error <= bound
    assert proved >= 10


@pytest.mark.parametrize("n", [2, 50, 130, 40_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("manifold", [Sphere(2), Sphere(7, 4.0), Hyperbolic(3)], ids=str)
@pytest.mark.parametrize("among", [True, False])
def test_allowance_is_that_of_the_note(manifold, weighted, n, among, random_points):
    rng = np.random.default_rng(8)
    k = math.sqrt(abs(manifold.curvature))
    data = random_points(manifold, rng, n, 1.2 if among else 1.55)
    weights = rng.dirichlet(np.ones(n)) if weighted else None
    problem = _space_form_mean._Problem(manifold, data, weights, None)
    # On spheres distances from a record at the edge exceed a right angle.
    at = problem.evaluate(problem.start() if among else k * data[np.argmin(data[:, 0])])
    x = np.maximum(k * manifold.dist(at.point / k, data), 1e-9)
    sine = np.sin(x) if problem.spherical else np.sinh(x)
    # Each logarithm; every addition that a term of the sum goes through, twice what is needed.
    root = math.sqrt(manifold.dim + 1.0)
    expected = 8.0 * EPS * root * (1.0 + x.max())
    additions = 128 + max(len(part.block) for part in problem.parts) // 128 + len(problem.parts)
    right = problem.spherical and x.max() <= 0.5 * math.pi
    mean = (x / sine).max() if right else np.average(x / sine, weights=weights)
    expected += EPS * additions * mean
    if problem.spherical:
        pole = np.where(x > 0.5 * math.pi, 1.0 / sine**2, 0.0)
        expected += 16.0 * math.pi * EPS * root * np.average(pole, weights=weights)
        assert n == 2 or right == among
    else:
        expected *= max(1.0, at.point[0] * k * data[:, 0].max())
    assert at.allowance == pytest.approx(expected, rel=1e-3, abs=0.0)


def test_the_sum_of_records_at_the_point_itself_has_an_allowance():
    pole = np.eye(3)[0]
    problem = _space_form_mean._Problem(Sphere(2), np.repeat(pole[None], 500, axis=0), None, None)
    at = problem.evaluate(pole)
    assert at.farthest == 0.0
    expected = EPS * (8.0 * math.sqrt(3.0) + 128 + 500 // 128 + 1)
    assert at.allowance == pytest.approx(expected, rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("radius", "certified"), [(0.3, True), (0.77, True), (0.8, False)])
def test_a_small_ball_certifies_far_from_the_mean(radius, certified):
    # (b) of the note, |g| / a(2 r), at a point where the local certificate says nothing
    sphere, rng = Sphere(2), np.random.default_rng(3)
    data = sphere.validate(cap(sphere, rng, 9, radius))
    problem = _space_form_mean._Problem(sphere, data, None, first_axis_ball(sphere, radius))
    at = problem.evaluate(data[0])
    bound = problem.certificate(at, 1e-9)
    assert (bound < math.inf) == certified
    if certified:
        h = 2.0 * radius / math.tan(2.0 * radius)
        assert bound == pytest.approx((at.size + at.allowance) / h, rel=1e-12)


@pytest.mark.parametrize(
    ("manifold", "radius"),
    [(Sphere(2), 1.2), (Sphere(5), 1.4), (Hyperbolic(2), 3.0), (Hyperbolic(4), 6.0)],
)
def test_newtons_method_needs_few_passes(manifold, radius):
    random = np.random.default_rng(3)
    ball = Ball(manifold, manifold.origin, radius)
    passes = []
    for power in (0.2, 1.0 / manifold.dim) * 4:
        directions = random.normal(size=(30, manifold.dim))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        points = ball.point(radius * random.random((30, 1)) ** power * directions)
        passes.append(frechet_mean(manifold, points, ball=ball, tol=1e-7).passes)
    assert np.median(passes) <= 3.5


@pytest.mark.parametrize(("away", "certified"), [(0.0, True), (1.0, True), (1.6, False)])
def test_the_local_certificate_ends_at_the_hemisphere(away, certified):
    """Beyond a right angle from the centre nothing says that the critical point is the mean."""
    sphere = Sphere(2)
    ball = first_axis_ball(sphere, 1.2)
    data = np.repeat(ball.center[None], 3, axis=0)
    problem = _space_form_mean._Problem(sphere, data, None, ball)
    at = dataclasses.replace(
        problem.evaluate(ball.center),
        point=sphere.exp(ball.center, sphere.tangent_vector(ball.center, [away, 0.0])),
        size=1e-13,
        allowance=1e-14,
        farthest=0.5,
        mean_a=0.9,
    )
    assert (problem.certificate(at, 1e-9) < math.inf) == certified
