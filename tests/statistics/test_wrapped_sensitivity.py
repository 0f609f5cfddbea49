"""How far the Fréchet mean moves in coordinates about the centre: docs/proofs/wrapped-noise.md."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    Sphere,
    frechet_mean,
    frechet_mean_sensitivity,
)
from riemdp.spaces import Product, clip_norm

HALF = 0.5 * math.pi


def a(x):
    """``x cot x``."""
    return x / np.tan(np.maximum(x, 1e-9))


def b(x):
    """``x / sin x``."""
    return 1.0 / np.sinc(x / math.pi)


# --- the three numbers, in ball arithmetic over whole intervals -----------------------------------


def interval(low, high):
    return arb(0.5 * (low + high), 0.5 * (high - low))


def holds(function, bound, *ranges):
    """Whether a function is seen to stay under a bound on a box, by bisection."""
    boxes, steps = [ranges], 0
    while boxes and steps < 3000:
        box = boxes.pop()
        steps += 1
        if function(*(interval(*part) for part in box)) < arb(bound):
            continue
        widest = max(range(len(box)), key=lambda i: box[i][1] - box[i][0])
        low, high = box[widest]
        middle = 0.5 * (low + high)
        boxes += [
            (*box[:widest], part, *box[widest + 1 :]) for part in ((low, middle), (middle, high))
        ]
    return not boxes


def first_number(t):
    """``b^2 (1 + a)``."""
    quotient = t.sinc()
    return (1 + t.cos() / quotient) / (quotient * quotient)


def sums(y, q, terms=10):
    """``pi^2 (1 - q) S`` and ``pi^4 (1 - q) sum alpha tau``, ``t^2 = pi^2 y``, ``p^2 = pi^2 q``.

    Tails from ``J = terms + 1`` on: ``1/j^2 <= 1/(j^2 - q) <= J^2/(J^2 - 1)/j^2``, where the sum of
    ``1/(j^2 - 1/4)`` is ``2/(2 terms + 1)``, and that of ``1/j^4`` lies between integrals.
    """
    places = range(1, terms + 1)
    alphas = [arb(1)] + [(1 - q) / (j * j - q) for j in places[1:]]
    taus = [1 / (j * j - y) for j in places]
    after = terms + 1
    stretch = arb(after * after) / (after * after - 1)
    whole = arb(2) / (2 * terms + 1)
    tail = (1 - q) * (whole * (1 - arb(1) / (4 * after * after))).union(stretch * whole)
    both = (1 - q) * (arb(1) / (3 * after**3)).union(stretch**2 / (3 * terms**3))
    products = [alpha * tau for alpha, tau in zip(alphas, taus, strict=True)]
    return sum(alphas, tail), sum(products, both)


def third_number(y, q):
    """``(eta_p - eta_t) / (eta_p^2 (p^2 - t^2))``."""
    total, products = sums(y, q)
    return products * (1 - q) / (2 * total * total)


def share_of_square(q):
    """``alpha_1 S / (2 sum alpha^2)``, from its first term on."""
    total, _ = sums(arb(0), q)
    return total / 2


class TestThreeNumbers:
    def test_first(self):
        assert holds(first_number, "2.65", (0.0, 1.5707963267948968))
        assert not holds(first_number, "2.508", (0.0, 1.5707963267948968))
        assert first_number(arb("1.45")) > arb("2.508")  # negative control

    def test_second(self):
        """``b`` increases, to pi/2."""
        assert (arb.pi() / 2) ** 2 < 4 - arb("1.5325")

    def test_third_over_all_pairs(self):
        box = (0.0, 0.25), (0.0, 1.0)  # of t^2 / pi^2, and of where p^2 / pi^2 lies from there to 1
        assert holds(lambda y, u: third_number(y, y + (1 - y) * u), "0.2538", *box)
        assert not holds(lambda y, u: third_number(y, y + (1 - y) * u), "0.233", *box)
        assert third_number(arb("0.25"), arb("0.25")) > arb("0.233")

    def test_third_as_in_the_note(self):
        bound = arb(3) / (4 * arb.pi() ** 2) + arb(8) / 45
        assert bound < arb("0.2538")
        assert holds(share_of_square, "1", (0.0, 1.0))  # so that the bound decreases in p
        for t in np.linspace(0.01, HALF, 40):
            y = (t / math.pi) ** 2
            eta = (1.0 - float(a(t))) / t**2
            first, second = 1.0 / (1.0 - y) / math.pi**2, 1.0 / (4.0 - y) / math.pi**2
            at_t = second / eta + 2.0 * (first - second) * first / eta**2
            assert float(third_number(arb(y), arb(y))) <= at_t <= float(bound) + 1e-12

    def test_closed_form(self):
        t, p = 1.1, 2.3
        eta_t, eta_p = (1.0 - float(a(t))) / t**2, (1.0 - float(a(p))) / p**2
        found = third_number(arb((t / math.pi) ** 2), arb((p / math.pi) ** 2))
        assert float(found) == pytest.approx((eta_p - eta_t) / eta_p**2 / (p * p - t * t), abs=1e-4)

    def test_second_case(self):
        nu = 1 - arb("0.2538") / arb("0.3375")
        assert nu > arb("0.2479")
        assert arb("0.2538") / arb("0.2479") < arb("1.0239")
        # (2.65 - c z) (1 + 2 k z) is greatest where its derivative vanishes.
        c, k = arb("1.5325"), arb("1.0239")
        z = (2 * k * arb("2.65") - c) / (4 * c * k)
        assert (arb("2.65") - c * z) * (1 + 2 * k * z) < arb("3.86")


# --- the identities, and the inequality itself, at 40 digits --------------------------------------


def triangle(r, t, angle):
    """Relative error of each identity of the proof, and ``b(t) y / (tan r A_t)``."""
    cos, sin, cot = mpmath.cos, mpmath.sin, mpmath.cot
    p = mpmath.acos(cos(t) * cos(r) + sin(t) * sin(r) * cos(angle))
    cosine = (cos(r) - cos(p) * cos(t)) / (sin(p) * sin(t))
    n, q = p - sin(p) * cos(p), sin(p) - p * cos(p)
    y = p / sin(p) * sin(r) * sin(angle)
    hessian = cos(r) * p**2 * sin(p) / (q * cos(r) + n * cos(t))
    stretch, a_t, a_p = t / sin(t), t * cot(t), p * cot(p)
    eta_t, eta_p = (1 - a_t) / t**2, (1 - a_p) / p**2
    xi = cosine * p
    h2, w, v, z = p**2 - xi**2, eta_p * xi - eta_t * t, xi - t, t * xi * eta_p
    e, j = (eta_p - eta_t) / eta_p, xi * a_t - t * a_p
    ratio, x = stretch * y / (mpmath.tan(r) * hessian), a_t + t * cosine * (1 - a_p) / p
    left, right = j**2, stretch**2 * h2 * t * w * (2 + t * w)
    pairs = [
        (ratio, x * sin(angle)),
        (x - 1, t * w),
        (2 + t * w, 1 + a_t + z),
        (w, eta_p * (v + t * e)),
        (j, v + t * (eta_p * h2 + xi * w)),
        (j, w * (1 / eta_p + t * xi) + t * (eta_p * h2 - e)),
        (left - right, stretch**2 * h2 * (cot(angle) ** 2 - (x**2 - 1))),
    ]
    scale = 1 + stretch**2 * h2 * cot(angle) ** 2
    return max(abs(one - two) / scale for one, two in pairs), ratio


def test_triangles():
    rng = np.random.default_rng(3)
    worst, largest = 0.0, 0.0
    with mpmath.workdps(40):
        for _ in range(200):
            r = HALF * (1.0 - 10.0 ** rng.uniform(-6.0, 0.0))
            t = r * (1.0 - 10.0 ** rng.uniform(-6.0, 0.0))
            angle = HALF * (1.0 + rng.random())
            if min(r, t) < 1e-3:
                continue
            error, ratio = triangle(*map(mpmath.mpf, (r, t, angle)))
            worst, largest = max(worst, float(error)), max(largest, float(ratio))
            assert 1 - ratio >= (t * r) ** 2 / 30
    assert worst < 1e-22
    assert largest < 1.0


# --- the sensitivity itself -----------------------------------------------------------------------


def rates(r, seed, tries=1500, places=24):
    """Speeds of the mean on S^2, in coordinates and as a distance, as the weight of a record moves.

    Measures on three points of the ball whose mean is at distance t from the centre: of the
    weights that balance their logarithms those that are positive.
    """
    rng = np.random.default_rng(seed)
    t = r * rng.random(tries) * rng.choice([1.0, 0.01], tries)
    length = r * rng.choice([1.0, 0.8], (tries, 3))
    angle = rng.uniform(-math.pi, math.pi, (tries, 3))
    angle[::2, 1:] = math.pi - angle[::2, :1] * [1.0, -1.0] + rng.normal(size=(tries // 2, 2)) * 0.1
    atoms, distances = seen(t[:, None], length, angle)
    matrix = np.concatenate([atoms, np.ones((tries, 3, 1))], axis=-1)
    usable = np.abs(np.linalg.det(matrix)) > 1e-9
    right = np.broadcast_to([0.0, 0.0, 1.0], (usable.sum(), 3))[..., None]
    weights = np.linalg.solve(np.swapaxes(matrix[usable], -1, -2), right)[..., 0]
    kept = (weights > 0.0).all(axis=-1)
    weights, t = weights[kept], t[usable][kept]
    atoms, distances = atoms[usable][kept], distances[usable][kept]
    units = atoms / distances[..., None]
    outer = units[..., :, None] * units[..., None, :]
    eigen = a(distances)[..., None, None]
    hessian = (weights[..., None, None] * (outer + eigen * (np.eye(2) - outer))).sum(axis=1)
    ring = np.linspace(-math.pi, math.pi, places, endpoint=False)
    boundary, _ = seen(t[:, None], np.full((1, places), r), ring[None])
    speed = np.linalg.solve(hessian[:, None], boundary[..., None])[..., 0]
    found = []
    for across in (b(t), np.ones_like(t)):
        moved = speed * np.stack([np.ones_like(t), across], axis=-1)[:, None]
        gaps = np.linalg.norm(moved[:, :, None] - moved[:, None], axis=-1)
        found.append(float(gaps.max()))
    return found


def seen(t, length, angle):
    """Logarithms at the point at distance t of points given about the centre, with their lengths.

    The first axis points away from the centre.
    """
    x, y, z = np.sin(length) * np.cos(angle), np.sin(length) * np.sin(angle), np.cos(length)
    along, height = x * np.cos(t) - z * np.sin(t), z * np.cos(t) + x * np.sin(t)
    across = np.hypot(along, y)
    distance = np.arctan2(across, height)
    scale = distance / np.maximum(across, 1e-300)
    return np.stack([scale * along, scale * y], axis=-1), np.maximum(distance, 1e-12)


@pytest.mark.parametrize("r", [0.3, 0.9, 1.3, 1.52])
def test_no_measure_on_the_sphere_moves_it_faster(r):
    bound = 2.0 * math.tan(r)
    fastest, on_sphere = rates(r, 0)
    assert fastest <= bound * (1.0 + 1e-9)
    assert on_sphere <= fastest
    # negative controls: the flat constant and a slightly smaller one are exceeded
    assert fastest > 2.0 * r
    assert fastest > 0.99 * bound


def moved(ball, vectors, weights, first, second):
    """Move of the mean, as a distance and in coordinates, when one record is replaced."""
    logs, means = [], []
    for record in (first, second):
        points = ball.project(ball.point(np.vstack([vectors, record])))
        means.append(mean(ball, points, weights))
        logs.append(ball.manifold.coordinates(ball.center, means[-1]))
    return float(ball.manifold.dist(*means)), float(np.linalg.norm(logs[0] - logs[1]))


def mean(ball, points, weights):
    """Fréchet mean, on products factor by factor."""
    manifold = ball.manifold
    if isinstance(manifold, Product):
        parts = zip(
            manifold.spaces, manifold.split(ball.center), manifold.split(points), strict=True
        )
        found = [mean(Ball(space, o, ball.radius), part, weights) for space, o, part in parts]
        return manifold.join(found)
    inside = Ball(manifold, ball.center, ball.radius * (1.0 + 1e-12))
    return frechet_mean(manifold, points, weights=weights, ball=inside, tol=1e-10).value


def two_clusters(ball, n, plane=(0, 1)):
    """Half of the records at each end of a diameter; one more crosses it."""
    first, second = np.eye(ball.manifold.dim)[list(plane)] * ball.radius
    weights = np.array([0.5 * (n - 1), 0.5 * (n - 1), 1.0]) / n
    return moved(ball, [first, -first], weights, second, -second)


def anywhere(ball, n, seed):
    """Clusters of random sizes, most of them at the boundary."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(6, ball.manifold.dim))
    lengths = rng.choice([1.0, 0.6], size=(6, 1))
    found *= ball.radius * lengths / np.linalg.norm(found, axis=1, keepdims=True)
    sizes = rng.multinomial(n - 1, rng.dirichlet(np.full(4, 0.5)))
    return moved(ball, found[:4], np.append(sizes, 1.0) / n, found[4], found[5])


POSITIVE = [
    (Ball(Sphere(2), Sphere(2).origin, 0.5), (0, 1)),
    (Ball(Sphere(2), Sphere(2).origin, 1.4), (0, 1)),
    (Ball(Sphere(4, 4.0), Sphere(4, 4.0).origin, 0.6), (0, 1)),
    (Ball(Product(Sphere(2), Euclidean(1)), [0.0, 0.0, 1.0, 0.0], 1.2), (0, 1)),
    (Ball(Product(Sphere(2), Sphere(2, 4.0)), [0.0, 0.0, 1.0, 0.0, 0.0, 0.5], 0.7), (2, 3)),
]


@pytest.mark.parametrize(("ball", "plane"), POSITIVE, ids=lambda x: str(x)[:12])
def test_positive_curvature(ball, plane):
    n, k = 20001, math.sqrt(ball.manifold.curvature_bound)
    claimed = frechet_mean_sensitivity(ball, n)
    assert claimed == pytest.approx(2.0 * math.tan(k * ball.radius) / (k * n), rel=1e-12)
    _, coordinates = two_clusters(ball, n, plane)
    assert 0.999 * claimed < coordinates <= claimed * (1.0 + 1e-6)
    assert coordinates > 1.01 * 2.0 * ball.radius / n  # negative control: that of flat space
    for seed in range(4):
        for count in (n, 3):
            distance, coordinates = anywhere(ball, count, seed)
            assert coordinates <= frechet_mean_sensitivity(ball, count) * (1.0 + 1e-6)
            assert coordinates >= distance * (1.0 - 1e-6)


@pytest.mark.parametrize(
    "ball",
    [
        Ball(Hyperbolic(2), [1.0, 0.0, 0.0], 4.0),
        Ball(SPDAffineInvariant(2), np.eye(2), 3.0),
        Ball(Sphere(1), [0.0, 1.0], 1.5),
        Ball(Product(Hyperbolic(2), Euclidean(1)), [1.0, 0.0, 0.0, 0.0], 2.0),
    ],
    ids=lambda x: type(x.manifold).__name__,
)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_no_positive_curvature(ball, n):
    claimed = frechet_mean_sensitivity(ball, n)
    assert claimed == pytest.approx(2.0 * ball.radius / n, rel=1e-12)
    end = ball.radius * np.eye(ball.manifold.dim)[0]
    weights = np.array([0.5 * (n - 1), 0.5 * (n - 1), 1.0]) / n
    distance, coordinates = moved(ball, [0.3 * end, -end], weights, end, -end)
    assert coordinates == pytest.approx(claimed, rel=1e-8)  # attained along a geodesic
    assert coordinates == pytest.approx(distance, rel=1e-8)
    for seed in range(4):
        distance, coordinates = anywhere(ball, n, seed)
        assert coordinates <= distance * (1.0 + 1e-8) <= claimed * (1.0 + 2e-8)


class TestTolerance:
    """A computed mean near the exact one is as near in coordinates, times the largest stretch."""

    @pytest.mark.parametrize("r", [0.3, 1.0, 1.5])
    def test_stretch(self, r):
        rng = np.random.default_rng(1)
        ball = Ball(Sphere(3), Sphere(3).origin, r)
        first = rng.normal(size=(2000, 3))
        first *= (
            r * rng.choice([1.0, 0.7], (2000, 1)) / np.linalg.norm(first, axis=1, keepdims=True)
        )
        second = first + rng.normal(size=first.shape) * 10.0 ** rng.uniform(-4.0, 0.0, (2000, 1))
        longer = np.maximum(np.linalg.norm(second, axis=1, keepdims=True) / r, 1.0)
        second /= longer
        gaps = ball.manifold.dist(ball.point(first), ball.point(second))
        ratios = np.linalg.norm(first - second, axis=1) / gaps
        assert ratios.max() <= float(b(r)) * (1.0 + 1e-9)
        assert ratios.max() > max(1.0, 0.99 * float(b(r)))  # negative control: 1 is exceeded
        assert float(b(r)) <= HALF

    def test_none_on_negative_curvature(self):
        rng = np.random.default_rng(1)
        for manifold in (Hyperbolic(3), SPDAffineInvariant(2)):
            ball = Ball(manifold, manifold.origin, 3.0)
            first, second = rng.normal(size=(2, 500, 3))
            gaps = manifold.dist(ball.point(first), ball.point(second))
            assert (np.linalg.norm(first - second, axis=1) <= gaps * (1.0 + 1e-9)).all()

    def test_the_ball_is_convex(self):
        """So the geodesic from one to the other stays where the stretch is bounded."""
        ball = Ball(Sphere(2), Sphere(2).origin, 1.5)
        ring = np.linspace(0.0, 2.0 * math.pi, 60)
        ends = ball.point(1.5 * np.stack([np.cos(ring), np.sin(ring)], axis=-1))
        for x in ends[:6]:
            middle = ball.manifold.exp(x, 0.5 * ball.manifold.log(x, ends))
            assert (ball.manifold.dist(ball.center, middle) <= 1.5 + 1e-12).all()

    @pytest.mark.parametrize("dim", [2, 40, 300])
    def test_length_of_what_was_shortened(self, dim):
        """At most (dim + 8) units of rounding over the radius, as exact numbers."""
        rng = np.random.default_rng(dim)
        found = clip_norm(rng.normal(size=(40, dim)), 0.7)
        squares = [sum(Fraction(x) ** 2 for x in row) for row in found.tolist()]
        limit = Fraction(0.7) ** 2
        assert max(squares) <= limit * (1 + Fraction(dim + 8, 2**52)) ** 2
        assert max(squares) > limit  # negative control: they are not in the ball itself


def hinge(curvature, first, second):
    """Distance of two points of a plane with these coordinates about another one."""
    k = math.sqrt(-curvature)
    one, two = (k * np.linalg.norm(x, axis=-1) for x in (first, second))
    cosine = (first * second).sum(axis=-1) * k * k / (one * two)
    square = np.sinh(0.5 * (one - two)) ** 2 + np.sinh(one) * np.sinh(two) * 0.5 * (1.0 - cosine)
    return 2.0 / k * np.arcsinh(np.sqrt(square))


@pytest.mark.parametrize(
    ("manifold", "curvature"),
    [
        (Hyperbolic(3, -2.0), -2.0),
        (SPDAffineInvariant(2), -0.5),
        (SPDAffineInvariant(4), -0.5),
        (Product(Hyperbolic(2), SPDAffineInvariant(2)), -1.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_noise_is_no_longer_than_in_the_plane_of_the_least_curvature(manifold, curvature):
    """``K^2 = 1/2`` for affine-invariant matrices is the smallest that is right."""
    rng = np.random.default_rng(0)
    ball = Ball(manifold, manifold.origin, 3.0)
    first, second = rng.normal(size=(2, 400, manifold.dim))
    if manifold.point_shape == (2, 2):
        first[:50, :2], first[:50, 2] = [1.0, -1.0], 0.0  # without trace, as curved as it can be
        second[:50, 1] = -second[:50, 0]
    found = manifold.dist(ball.point(first), ball.point(second))
    assert (found <= hinge(curvature, first, second) * (1.0 + 1e-9)).all()
    flat = np.linalg.norm(first - second, axis=-1)
    assert (found >= flat * (1.0 - 1e-9)).all()
    # negative control: a little less curvature is too little where all planes have the least
    if manifold.dim == 3:
        assert (found > hinge(0.98 * curvature, first, second)).any()
