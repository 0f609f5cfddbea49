"""Certified means on spheres and hyperbolic spaces, against vectors of the ambient space."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, ConvergenceError, Hyperbolic, Sphere
from riemdp._working_precision import working_precision
from riemdp.spaces import clip_norm
from riemdp.statistics.curved import _certified_space_form
from riemdp.statistics.curved._descent_space_form import logarithms
from riemdp.statistics.curved._solvers import SpaceFormMean
from riemdp.statistics.curved._space_form_sums import SpaceFormSums

flint = pytest.importorskip("flint")
mpmath = pytest.importorskip("mpmath")


class Ambient:
    """Spheres and hyperboloids of unit curvature in mpmath: inner products and arc cosines.

    Nothing is taken in the frame or the coordinates about the origin but the points themselves.
    """

    def __init__(self, curvature, records):
        self.sign = mpmath.mpf(1 if curvature > 0 else -1)
        self.k = mpmath.sqrt(abs(mpmath.mpf(curvature)))
        self.data = [self.place(x) for x in records]

    def place(self, coordinates):
        x = [self.k * mpmath.mpf(float(c)) for c in coordinates]
        length = mpmath.sqrt(sum(c * c for c in x))
        even, odd = (mpmath.cos, mpmath.sin) if self.sign > 0 else (mpmath.cosh, mpmath.sinh)
        factor = odd(length) / length if length else mpmath.mpf(1)
        return [even(length), *(factor * c for c in x)]

    def inner(self, x, y):
        return self.sign * x[0] * y[0] + sum(a * b for a, b in zip(x[1:], y[1:], strict=True))

    def angle(self, x, y):
        cosine = self.sign * self.inner(x, y)
        return mpmath.acos(min(cosine, 1)) if self.sign > 0 else mpmath.acosh(max(cosine, 1))

    def log(self, base, x):
        angle = self.angle(base, x)
        cosine = mpmath.cos(angle) if self.sign > 0 else mpmath.cosh(angle)
        across = [b - cosine * a for a, b in zip(base, x, strict=True)]
        length = mpmath.sqrt(abs(self.inner(across, across)))
        return [angle / length * c if length else mpmath.mpf(0) for c in across]

    def exp(self, base, tangent):
        length = mpmath.sqrt(abs(self.inner(tangent, tangent)))
        if not length:
            return base
        even, odd = (mpmath.cos, mpmath.sin) if self.sign > 0 else (mpmath.cosh, mpmath.sinh)
        pairs = zip(base, tangent, strict=True)
        return [even(length) * a + odd(length) / length * b for a, b in pairs]

    def gradient(self, base):
        logs = [self.log(base, x) for x in self.data]
        return [sum(parts) / len(logs) for parts in zip(*logs, strict=True)]

    def mean(self, start):
        """Newton's method in an orthonormal basis of the tangent space; quadratic, so a few do."""
        mean = self.place(start)
        for _ in range(30):
            basis = self.basis(mean)
            dim = len(basis)
            logs = [[self.inner(e, v) for e in basis] for v in self.logs(mean)]
            hessian, gradient = mpmath.zeros(dim, dim), mpmath.zeros(dim, 1)
            for v in logs:
                square = sum(c * c for c in v)
                length = mpmath.sqrt(square)
                cot = mpmath.cot if self.sign > 0 else mpmath.coth
                a = length * cot(length) if length else mpmath.mpf(1)
                for i, j in itertools.product(range(dim), repeat=2):
                    bent = (1 - a) * v[i] * v[j] / square if length else 0
                    hessian[i, j] += (bent + (a if i == j else 0)) / len(logs)
                for i in range(dim):
                    gradient[i] += v[i] / len(logs)
            step = mpmath.lu_solve(hessian, gradient)
            size = mpmath.norm(step)
            tangent = [sum(step[i] * basis[i][j] for i in range(dim)) for j in range(len(mean))]
            mean = self.exp(mean, tangent)
            if size < mpmath.mpf(10) ** -25:
                return mean
        raise AssertionError("the reference did not converge")

    def logs(self, base):
        return [self.log(base, x) for x in self.data]

    def basis(self, base):
        """Gram and Schmidt, twice: units of the ambient space made orthogonal to the base."""
        found = []
        for index in range(1, len(base)):
            e = [mpmath.mpf(i == index) for i in range(len(base))]
            for _ in range(2):
                for b, sign in [(base, self.sign), *((f, 1) for f in found)]:
                    share = sign * self.inner(e, b)
                    e = [x - share * y for x, y in zip(e, b, strict=True)]
            length = mpmath.sqrt(self.inner(e, e))
            found.append([x / length for x in e])
        return found

    def distance(self, coordinates, point):
        gap = [x - y for x, y in zip(self.place(coordinates), point, strict=True)]
        half = mpmath.sqrt(abs(self.inner(gap, gap))) / 2
        return 2 * (mpmath.asin(half) if self.sign > 0 else mpmath.asinh(half)) / self.k

    def coordinates(self, point):
        """About the origin."""
        origin = [mpmath.mpf(i == 0) for i in range(len(point))]
        return [c / self.k for c in self.log(origin, point)[1:]]

    def most(self, coordinates, radius):
        """What (b) and (c) allow, the latter in a ball of twice the quotient of the averages."""
        place, size = self.place(coordinates), self.size(coordinates)
        angles = [self.angle(place, x) for x in self.data]
        average = sum(x * mpmath.cot(x) for x in angles) / len(angles)
        widest, step = 2 * self.k * radius, 2 * self.k * size / average
        far = widest + step
        change = step * (far - mpmath.sin(far) * mpmath.cos(far)) / mpmath.sin(far) ** 2
        bounds = [average - change, widest * mpmath.cot(widest)]
        return size / max(bounds)

    def size(self, coordinates):
        """Norm of the gradient in units of distance."""
        gradient = self.gradient(self.place(coordinates))
        return mpmath.sqrt(abs(self.inner(gradient, gradient))) / self.k


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(70):
        yield


def within(rng, n, dim, radius):
    """Vectors in a ball, some at its boundary."""
    x = rng.normal(size=(n, dim))
    lengths = np.minimum(1.2 * rng.random(n) ** (1.0 / dim), 1.0) * radius * (1.0 - 1e-12)
    return x * (lengths / np.linalg.norm(x, axis=1))[:, None]


#: curvature, dimension, radius
SPACES = {
    "S2": (1.0, 2, 0.7),
    "S3 wide": (2.5, 3, 0.85),
    "S10": (0.3, 10, 1.3),
    "S2 nearly a hemisphere": (1.0, 2, 0.996 * math.pi / 2),
    "H2": (-1.0, 2, 1.0),
    "H3 far": (-1.0, 3, 8.0),
    "H10": (-2.5, 10, 0.6),
    "S2 tiny": (1.0, 2, 1e-9),
    "H2 tiny": (-0.7, 2, 1e-9),
}


def sums_about(point, records, curvature):
    """In a ball about all of them."""
    with np.errstate(invalid="ignore"):
        radius = np.linalg.norm([point, *records], axis=1).max()
    return SpaceFormSums(len(point), curvature, float(radius) if 0.0 < radius < math.inf else 1.0)


def certificate(curvature, point, records, tol):
    """Inf where a record is not finite."""
    sums = sums_about(point, records, curvature)
    try:
        with np.errstate(invalid="ignore"):  # of points outside
            return _certified_space_form.distance(sums, point, sums.sums(point, records), tol)
    except ConvergenceError:
        return math.inf


def rounding(curvature, point, records):
    """What sums add to the gradient."""
    return sums_about(point, records, curvature).errors[0]


def nearly(curvature, records, radius):
    """The mean to about what float64 coordinates can be: one that is found, and a step."""
    dim = records.shape[1]
    manifold = Sphere(dim, curvature) if curvature > 0.0 else Hyperbolic(dim, curvature)
    ball, mean = Ball(manifold, manifold.origin, radius), SpaceFormMean()
    found = mean.weighted(ball, records, None, 2.0 * mean.floor(ball))
    point = np.array([float(x) for x in found])
    for _ in range(3):
        step = logarithms(curvature, point, records).mean(axis=0)
        point = clip_norm(logarithms(curvature, -point, step[None])[0], radius)
    return point, certificate(curvature, point, records, 1e-9 * radius)


def along(*places, dim=3):
    """Records on one axis."""
    return np.outer(places, np.eye(dim)[0])


def moves(rng, dim, count):
    sizes = 10.0 ** rng.uniform(-17.0, -2.0, (count, 1))
    return sizes * rng.normal(size=(count, dim)) / math.sqrt(dim)


@pytest.mark.parametrize("name", SPACES)
def test_bound_is_the_gradient_over_what_the_hessian_is_at_least(name):
    curvature, dim, radius = SPACES[name]
    records = within(np.random.default_rng(7), 7, dim, radius)
    records[0] = 0.0
    exact = Ambient(curvature, records)
    point, bound = nearly(curvature, records, radius)
    mean = exact.mean(point)
    assert exact.distance(point, mean) <= bound
    for move in (1e-7, 1e-9):
        moved = point.copy()
        moved[-1] += move * radius
        found, size = certificate(curvature, moved, records, radius), exact.size(moved)
        added = 2.0 * rounding(curvature, moved, records)
        assert exact.distance(moved, mean) <= found
        if curvature < 0.0:
            assert size <= found <= size + added
        else:
            most = exact.most(moved, radius)
            assert size <= found <= (1 + added / size) * most * (1 + 1e-5)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("dim", [2, 10])
def test_a_millionth_is_reported_as_a_millionth(sign, dim):
    records = within(np.random.default_rng(dim), 8, dim, 0.05)
    point, _ = nearly(sign, records, 0.05)
    moved = point.copy()
    moved[0] += 1e-6
    found = certificate(sign, moved, records, 1e-9)
    assert 1e-6 * (1 - 1e-3) <= found <= 1.01e-6
    assert found >= Ambient(sign, records).distance(moved, Ambient(sign, records).mean(point))


HARD = {
    "two ends": (-1.0, 8.0, along(8.0, -8.0, -8.0)),
    "two ends, tiny": (-1.0, 1e-9, along(1e-9, -1e-9, -1e-9)),
    "nearly antipodal": (1.0, 1.5676, along(1.5676, -1.5676)),
    "nearly antipodal, uneven": (1.0, 1.5676, along(1.5676, -1.5676, 1.5676, 1.5676)),
    "three corners": (
        1.0,
        1.5676,
        1.5675 * np.array([[1.0, 0, 0], [-0.5, 0.75**0.5, 0], [-0.5, -(0.75**0.5), 0]]),
    ),
    "all the same": (-1.0, 2.0, along(1.25, 1.25, 1.25)),
    "all the same on a sphere": (1.0, 1.0, along(0.75, 0.75, 0.75)),
    "all at the origin": (-1.0, 1.0, along(0.0, 0.0)),
    "at the origin of a sphere": (1.0, 1.0, along(0.0, 0.0)),
    "next to nothing": (-1.0, 1.0, along(1e-300, -1e-300, 3e-300)),
    "next to nothing on a sphere": (1.0, 1.0, along(1e-300, -1e-300, 3e-300)),
    "denormal": (1.0, 1.0, along(5e-324, 0.0, 0.5)),
    "far apart": (-1.0, 9.0, along(9.0, -9.0, 8.5)),
}


@pytest.mark.parametrize("name", HARD)
def test_bound_holds_on_hard_data(name):
    curvature, radius, records = HARD[name]
    digits = 700 if "nothing" in name else 70
    with mpmath.workdps(digits):
        exact, rng = Ambient(curvature, records), np.random.default_rng(3)
        mean = exact.mean(records.mean(axis=0))
        middle = np.array([float(c) for c in exact.coordinates(mean)])
        tol = max(1e-9 * radius, sums_about(records[0], records, curvature).floor)
        finite, noise = 0, mpmath.mpf(10) ** (5 - digits // 2)
        for place in (records[0], middle, *(middle + moves(rng, 3, 6) * radius)):
            inside = clip_norm(place, radius)
            found = certificate(curvature, inside, records, tol)
            finite += found < math.inf
            assert exact.distance(inside, mean) <= found + noise
    assert finite >= (8 if curvature < 0.0 else 2)
    assert certificate(curvature, middle, records, tol) <= tol


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_bound_holds_anywhere(seed):
    rng = np.random.default_rng(seed)
    dim, sign = int(rng.choice([2, 3, 5])), rng.choice([-1.0, 1.0])
    curvature = float(sign * 10.0 ** rng.uniform(-2, 2))
    share = rng.uniform(0.1, 0.998) * math.pi / 2 if sign > 0 else rng.uniform(0.1, 8.0)
    radius = float(share / math.sqrt(abs(curvature)))
    records = within(rng, int(rng.integers(1, 7)), dim, radius)
    if rng.random() < 0.5:
        records = records[rng.integers(0, len(records), 8)]  # coincident ones
    exact = Ambient(curvature, records)
    point, bound = nearly(curvature, records, radius)
    mean = exact.mean(point)
    assert exact.distance(point, mean) <= bound
    for place in point + moves(rng, dim, 5) * radius:
        assert exact.distance(place, mean) <= certificate(curvature, place, records, 1e-6 * radius)


@pytest.mark.parametrize("name", ["S10", "H3 far"])
@pytest.mark.parametrize("bits", [100, 300])
def test_precision_decides_nothing(name, bits, monkeypatch):
    curvature, dim, radius = SPACES[name]
    records = within(np.random.default_rng(1), 6, dim, radius)
    point = records.mean(axis=0)
    expected = certificate(curvature, point, records, 1e-12)
    monkeypatch.setattr(_certified_space_form, "_PRECISION", bits)
    found = certificate(curvature, point, records, 1e-12)
    assert found == pytest.approx(expected, rel=1e-14)
    assert Ambient(curvature, records).size(point) <= found


@pytest.mark.parametrize("name", ["S2", "H2"])
def test_another_record_is_noticed(name):
    curvature, dim, radius = SPACES[name]
    records = within(np.random.default_rng(2), 20, dim, radius)
    point, bound = nearly(curvature, records, radius)
    assert bound < 1e-12
    records[3] *= 1.0 - 1e-9
    assert 1e-11 < certificate(curvature, point, records, 1e-12) < 1e-9


@pytest.mark.parametrize("name", ["S2", "H2"])
def test_a_frame_that_is_not_parallel_is_noticed(name, monkeypatch):
    curvature, dim, radius = SPACES[name]
    records = within(np.random.default_rng(2), 20, dim, radius)
    point = 0.5 * records[0]
    size = float(Ambient(curvature, records).size(point))
    assert gradient_of(curvature, point, records) == pytest.approx(size, rel=1e-12)
    divisor = _certified_space_form._divisor
    monkeypatch.setattr(_certified_space_form, "_divisor", lambda x: divisor(x) * (1 + 1e-3))
    assert abs(gradient_of(curvature, point, records) - size) > 1e-5 * size


def gradient_of(curvature, point, records):
    """The norm that is bounded, and what rounding adds to it."""
    sums = sums_about(point, records, curvature)
    with working_precision(160):
        found = _certified_space_form._averages(sums, point, sums.sums(point, records))
        return float(found.size) - sums.errors[0]


def test_no_bound_beyond_a_hemisphere_or_of_what_is_not_finite():
    records, point = np.array([[0.1, 0.2], [1.2, 0.0]]), np.array([0.65, 0.1])
    for curvature in (-1.0, 1.0):
        assert certificate(curvature, point, records, 1.0) < 0.1
        for wrong in (math.nan, math.inf):
            assert certificate(curvature, point, records + wrong, 1.0) == math.inf
            assert certificate(curvature, point + wrong, records, 1.0) == math.inf
    right = math.pi / 2 * (1.0 + 1e-15)
    for outside in (right, 4.0):
        assert certificate(1.0, np.array([outside, 0.0]), records, 1.0) == math.inf
        records[1, 0] = outside
        assert certificate(1.0, point, records, 1.0) == math.inf


def enclosure(size, mean_a, reach, k=2.0):
    """What :class:`Averages` holds on a sphere, of these exact numbers."""
    numbers = (flint.arb(x) for x in (k, reach, size, mean_a))
    k, reach, size, mean_a = numbers
    return _certified_space_form.Averages(True, k, reach, size, mean_a)


@pytest.mark.parametrize("reach", [0.25, 0.75, 1.25, 1.5625])
@pytest.mark.parametrize("radius", [1e-9, 1e-3])
def test_claim_c(reach, radius):
    far, mean_a = 2 * mpmath.mpf(reach) + 2 * mpmath.mpf(radius), 0.5
    slope = mpmath.diff(lambda x: x * mpmath.cot(x), far)
    least = mean_a + 2 * mpmath.mpf(radius) * slope
    if least <= 0:
        assert enclosure(0.0, mean_a, reach)._within(radius) == math.inf
        return
    allowed = float(least * radius)
    size = allowed * (1 - 1e-9)
    assert enclosure(size, mean_a, reach)._within(radius) == pytest.approx(
        float(size / least), rel=1e-14, abs=0.0
    )
    assert enclosure(allowed * (1 + 1e-9), mean_a, reach)._within(radius) == math.inf


def test_claim_c_ends_where_balls_reach_a_right_angle():
    limit = (math.pi / 2 - 0.25) / 2
    assert enclosure(1e-6, 10.0, 0.25)._within(limit * (1 - 1e-15)) < 1e-6
    assert enclosure(1e-6, 10.0, 0.25)._within(limit * (1 + 1e-15)) == math.inf
    for radius in (0.0, -1.0, math.nan, math.inf):
        assert enclosure(1e-6, 10.0, 0.25)._within(radius) == math.inf


def test_claim_b():
    found = enclosure(1e-6, -10.0, 0.75)._in_ball()
    assert found == pytest.approx(1e-6 / (1.5 / math.tan(1.5)), rel=1e-12, abs=0.0)
    assert enclosure(1e-6, 10.0, math.pi / 4 * (1 + 1e-15))._in_ball() == math.inf


def test_where_no_bound_is_proved():
    # Distances beyond a right angle, from a point at which the functional is not convex.
    records = along(1.56, 1.56, -1.56, dim=2)
    assert certificate(1.0, np.array([-1.5, 0.0]), records, 10.0) == math.inf


def test_the_point_has_to_lie_in_the_ball():
    for curvature in (1.0, -1.0):
        sums, records = SpaceFormSums(2, curvature, 0.5), along(0.5, -0.5, dim=2)
        for place, finite in ((0.5, True), (0.5 * (1 + 2.0**-28), False)):
            point = np.array([place, 0.0])
            bound = _certified_space_form.distance(sums, point, sums.sums(point, records), 1.0)
            assert (bound < math.inf) == finite


@pytest.mark.parametrize("number", ["1/3", "-1/3", "5e-324", "1e-400", "1e400", "0"])
def test_bounds_are_rounded_up(number):
    exact = Fraction(number)
    with working_precision(128):
        ball = flint.arb(exact.numerator) / exact.denominator
        found = _certified_space_form._rounded_up(ball)
    assert found >= exact
    assert math.nextafter(found, -math.inf) < exact
    assert _certified_space_form._rounded_up(flint.arb.nan()) == math.inf


@pytest.mark.parametrize("bits", [2, 24, 128])
def test_float64_numbers_enter_as_what_they_are(bits):
    numbers = [0.1, -math.pi, 5e-324, 1.7976931348623157e308]
    with working_precision(bits):
        balls = [*map(flint.arb, numbers), *flint.arb_mat(2, 2, numbers).entries()]
    for ball, number in zip(balls, 2 * numbers, strict=True):
        mantissa, exponent = map(int, ball.man_exp())  # of exact balls alone
        assert ball.is_exact()
        assert mantissa * Fraction(2) ** exponent == Fraction(number)
