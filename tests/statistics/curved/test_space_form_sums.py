"""Sums over records on spheres and hyperbolic spaces: what rounding does, against 60 digits."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

from riemdp import ConvergenceError, _compiled
from riemdp.spaces import clip_norm
from riemdp.statistics.curved import _space_form_sums
from riemdp.statistics.curved._space_form_sums import SpaceFormSums

#: curvature, radius, dimension
BALLS = {
    "H2": (-1.0, 1.0, 2),
    "H3 far": (-1.0, 8.0, 3),
    "H9": (-2.5, 1.5, 9),
    "H2 tiny": (-0.7, 1e-9, 2),
    "H100": (-1.0, 3.0, 100),
    "S2": (1.0, 1.0, 2),
    "S3 wide": (0.25, 3.0, 3),
    "S9": (1.0, 0.4, 9),
    "S2 nearly a hemisphere": (1.0, 0.997 * math.pi / 2, 2),
    "S5 small": (4.0, 1e-3, 5),
    "S100": (1.0, 1.2, 100),
}


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def hostile(sums, seed):
    """A point and records: at the boundary, opposite, next to the point, on it, next to nothing."""
    rng, dim, radius = np.random.default_rng(seed), sums.dim, sums.radius
    inside = radius * (1.0 - 2.0**-40)
    records = rng.normal(size=(40, dim))
    records *= radius / np.linalg.norm(records, axis=1, keepdims=True)
    records[8:16] *= rng.random((8, 1))
    point = records[0] * rng.choice([0.0, 0.3, 1.0])
    near = point if point.any() else 1e-3 * records[0]
    records[16:20] = near * (1.0 + 1e-12 * rng.normal(size=(4, dim)))
    records[20:24] = near + 1e-4 * radius * rng.normal(size=(4, dim))
    records[24] = near
    records[25:28] = -records[0]
    records[28:30] = 1e-200 * records[1]
    records[30] = 0.0
    records[31] = 5e-324
    records[32:36] = records[0] + 0.7 * rng.normal(size=(4, dim)) * radius / math.sqrt(dim)
    return clip_norm(point, inside), clip_norm(records, inside)


def functions(spherical):
    return (mp.cos, mp.sin, mp.acos) if spherical else (mp.cosh, mp.sinh, mp.acosh)


def numbers(vector):
    return [mp.mpf(float(x)) for x in vector]


def sinc(sine, angle):
    return sine(angle) / angle if angle else mp.mpf(1)


class Exact:
    """The same sums by inner products in the ambient space."""

    def __init__(self, sums, point):
        self.k = mp.sqrt(abs(mp.mpf(sums.curvature)))
        self.sign = 1 if sums.spherical else -1
        self.even, self.odd, self.arc = functions(sums.spherical)
        self.point = numbers(point)
        self.place = self.embedded(self.point)

    def embedded(self, vector):
        angle = self.k * mp.sqrt(sum(x * x for x in vector))
        return [self.even(angle), *(sinc(self.odd, angle) * self.k * x for x in vector)]

    def terms(self, record):
        x = self.embedded(numbers(record))
        cosine = x[0] * self.place[0]
        cosine += self.sign * sum(a * b for a, b in zip(x[1:], self.place[1:], strict=True))
        angle = self.arc(min(cosine, 1) if self.sign > 0 else max(cosine, 1))
        weight = 1 / sinc(self.odd, angle)
        return [*(weight * a / self.k for a in x[1:]), weight * x[0]]

    def averages(self, terms):
        """Gradient and average of ``a``, of averages of terms."""
        *across, level = terms
        angle = self.k * mp.sqrt(sum(x * x for x in self.point))
        own, half = sinc(self.odd, angle), sinc(self.odd, angle / 2)
        curvature = self.sign * self.k**2
        inner = sum(x * v for x, v in zip(across, self.point, strict=True))
        along = own * level + curvature * half**2 / 2 * inner
        gradient = [x - along * v for x, v in zip(across, self.point, strict=True)]
        return gradient, self.even(angle) * level + curvature * own * inner


def used(sums, seed, weights=None):
    """Largest share of the bounds that rounding takes, over each record alone and all together."""
    point, records = hostile(sums, seed)
    exact, shares = Exact(sums, point), []
    each = [exact.terms(record) for record in records]
    times = np.ones(len(records), dtype=np.int64) if weights is None else weights
    groups = [*([i] for i in range(len(records))), list(range(len(records)))]
    for rows in groups:
        count = int(times[rows].sum())
        right = [sum(int(times[i]) * each[i][j] for i in rows) / count for j in range(sums.dim + 1)]
        total = sums.sums(point, records[rows], None if weights is None else weights[rows])
        assert total.count == count
        bits = [sums.grids[0]] * sums.dim + [sums.grids[1]]
        found = [mp.ldexp(mp.mpf(x), -b) / count for x, b in zip(total.total, bits, strict=True)]
        (ours, level), (theirs, other) = exact.averages(found), exact.averages(right)
        off = mp.sqrt(sum((a - b) ** 2 for a, b in zip(ours, theirs, strict=True)))
        shares.append(float(off / sums.errors[0]))
        if sums.spherical:
            shares.append(float(abs(level - other) / sums.errors[1]))
    return max(shares)


def sums_of(name):
    curvature, radius, dim = BALLS[name]
    return SpaceFormSums(dim, curvature, radius)


@pytest.mark.fast("H2", "H3 far", "S2", "S2 nearly a hemisphere", "S5 small")
@pytest.mark.parametrize("name", BALLS)
def test_rounding_is_within_what_is_proved(name):
    sums = sums_of(name)
    shares = [used(sums, seed) for seed in range(3)]
    print("used share of the bound", name, max(shares))
    # the control: a hundredth of the bound is not enough
    assert 0.01 < max(shares) <= 1.0


@pytest.mark.parametrize("name", ["H2", "S2"])
def test_so_it_is_with_weights(name):
    weights = (2.0 ** (40 * np.random.default_rng(0).random(40))).astype(np.int64)
    assert used(sums_of(name), 0, weights) <= 1.0


@pytest.mark.parametrize("name", ["H2", "S2", "S9"])
@pytest.mark.parametrize("series", ["_sine", "_arc"])
@pytest.mark.parametrize("place", [-2, -4])
def test_a_wrong_coefficient_is_noticed(name, series, place):
    sums = sums_of(name)
    assert used(sums, 0) <= 1.0
    wrong = list(getattr(sums, series))
    wrong[place] *= 1.0 + 1e-6
    vars(sums)[series] = wrong
    assert used(sums, 0) > 1.0


@pytest.mark.parametrize("name", ["H2", "S2"])
def test_a_halving_or_two_terms_too_few_are_noticed(name):
    sums = sums_of(name)
    vars(sums)["_halvings"] = sums._halvings - 1
    arc = replace(sums)._arc
    vars(sums)["_arc"] = arc  # too short for wider angles
    assert used(sums, 0) > 1.0
    sums = sums_of(name)
    vars(sums)["_sine"] = replace(sums)._sine[2:]
    assert used(sums, 0) > 1.0


def polynomial(terms, x):
    return sum(c * x**j for j, c in enumerate(reversed(terms)))


@pytest.mark.parametrize("reach", [1e-9, 0.1, 0.126, 0.3, 1.0, 1.5, 8.0, 20.0])
def test_series_leave_next_to_nothing(reach):
    sums = SpaceFormSums(2, -1.0, reach)
    half, narrow = mp.mpf(sums.reach) / 2, mp.mpf(sums.reach) / 2**sums._halvings
    assert narrow <= 0.126
    for terms, x, exact in (
        (sums._sine, half**2, sinc(mp.sinh, half)),
        (sums._sine, -(half**2), sinc(mp.sin, half)),
        (sums._arc, -(mp.sinh(narrow) ** 2), 1 / sinc(mp.sinh, 2 * narrow)),
        (sums._arc, mp.sin(narrow) ** 2, 1 / sinc(mp.sin, 2 * narrow)),
    ):
        value = polynomial(numbers(terms), x)
        size = polynomial(numbers(terms), abs(x))
        assert abs(value - exact) <= size * mp.mpf(2) ** -53  # that of coefficients, and the rest
        # the control: with a term less there is more
        assert len(terms) == 2 or abs(terms[0]) * abs(x) ** (len(terms) - 1) > 2.0**-62


@pytest.mark.parametrize("name", ["H2", "S9", "S2 nearly a hemisphere", "H3 far"])
def test_weights_are_right_to_the_roundings_that_are_counted(name):
    sums = sums_of(name)
    top = float(mp.cosh(sums.reach) ** 2)
    low, high = (math.cos(sums.reach) ** 2, 1.0) if sums.spherical else (1.0, top)
    between = np.concatenate([np.geomspace(low, high, 60)[1:-1], 1.0 + 1e-16 * np.arange(-8, 8)])
    between = between[(between >= low) & (between <= high)]
    worst = 0.0
    for x, found in zip(between, sums._weights(between), strict=True):
        half = (mp.acos if x < 1 else mp.acosh)(mp.sqrt(mp.mpf(float(x))))
        exact = 1 / sinc(mp.sin if x < 1 else mp.sinh, 2 * half)
        worst = max(worst, abs(float((mp.mpf(float(found)) / exact - 1) * 2**53)))
    assert 0.1 < worst / (4 * sums._halvings + 2) <= 1.0


def records_in(sums, n):
    rng = np.random.default_rng(n)
    records = rng.normal(size=(n, sums.dim))
    records *= sums.radius * rng.random((n, 1)) / np.linalg.norm(records, axis=1, keepdims=True)
    return np.full(sums.dim, 0.3 * sums.radius / math.sqrt(sums.dim)), records


@pytest.mark.parametrize("name", ["H2", "S9"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_any_order_and_any_parts(name, weighted):
    sums = sums_of(name)
    point, records = records_in(sums, 9000)
    whole = np.arange(1, 9001) if weighted else None
    total = sums.sums(point, records, whole)
    turned = np.random.default_rng(0).permutation(9000)
    for cut in ([1, 2, 7, 2049], [8192], [4000, 4001]):
        parts = [
            sums.sums(point, records[rows], None if whole is None else whole[rows])
            for rows in np.split(turned, cut)
        ]
        assert functools.reduce(lambda a, b: a + b, parts) == total
    # the control
    records[0] *= 1.0 - 1e-12
    assert sums.sums(point, records, whole) != total


@pytest.mark.parametrize("name", ["H2", "S9"])
def test_weights_are_records_that_repeat(name):
    sums = sums_of(name)
    point, records = records_in(sums, 30)
    whole = np.arange(1, 31)
    repeated = sums.sums(point, np.repeat(records, whole, axis=0))
    assert sums.sums(point, records, whole) == repeated


@pytest.mark.parametrize("name", ["H2", "H9", "S2", "S9"])
def test_what_a_record_adds_is_its_own(name):
    sums = sums_of(name)
    point, records = records_in(sums, 133)
    place = sums._place(point)
    whole = sums._integers(place, records)
    for rows in (slice(1), slice(5, 6), slice(3, 20), slice(0, 133, 7), slice(None, None, -1)):
        for some in (records[rows], np.asfortranarray(records[rows]), records[rows].copy()):
            np.testing.assert_array_equal(sums._integers(place, some), whole[:, rows])


@pytest.mark.parametrize("name", BALLS)
def test_kernels_have_the_bits_of_numpy(name, lanes, monkeypatch):
    sums = sums_of(name)
    point, records = hostile(sums, 1)
    for number in (1, 7, 8, 40):
        found = sums.sums(point, records[:number])
        plain, inside = sums._plain(sums._place(point), records[:number])
        assert inside
        assert found.total == tuple(plain.sum(axis=1).tolist())
    run = _compiled.kernel("space_form_sums", _space_form_sums._same_bits)
    assert (run is None) == (lanes == 0)
    if run is not None and sums.dim <= 64:
        out = np.empty((sums.dim + 1, 3), dtype=np.int64)
        short = [np.empty(size) for size in (3 * sums.dim, sums.dim, 9, 2)]
        assert not run(*short, np.empty(1), out, np.empty(1, dtype=bool))  # a series of one term
        # the control: other bits are noticed
        monkeypatch.setattr(_space_form_sums, "_WHOLE", np.float64(1.0))
        assert not _space_form_sums._same_bits(run)


@pytest.mark.parametrize("name", ["H2", "S2"])
def test_records_outside_of_the_ball_are_not_summed(name, lanes):
    sums = sums_of(name)
    point, records = records_in(sums, 5)
    sums.sums(point, records)
    for wrong in ([math.nan, 0.0], [math.inf, 0.0], [sums.radius * (1.0 + 2.0**-29), 0.0]):
        with pytest.raises(ConvergenceError, match="outside the ball or not finite") as caught:
            sums.sums(point, np.array([*records.tolist(), wrong]))
        assert not any(c.isdigit() for c in str(caught.value))
    at = np.array([[sums.radius, 0.0]])
    assert sums.sums(point, at).count == 1


def test_integers_are_as_large_as_int64_adds():
    """Equal records at the boundary, of either sign, seen from where their weight is largest."""
    for name in BALLS:
        sums = sums_of(name)
        axis = np.eye(sums.dim)[0] * sums.radius
        for point in (axis, -axis, 0.0 * axis):
            for record in (axis, -axis):
                few = sums.sums(point, record[None]).total
                assert max(map(abs, few)) <= 2**51
                many = sums.sums(point, np.repeat(record[None], 2048, axis=0)).total
                assert many == tuple(2048 * x for x in few)
        largest = [
            max(abs(sums.sums(point, axis[None]).total[j]) for point in (axis, -axis))
            for j in (0, sums.dim)
        ]
        assert min(largest) >= 2**49 or sums.reach > 1.0


@pytest.mark.parametrize("name", BALLS)
def test_the_gradient_in_float64_is_that_of_the_sums(name):
    sums = sums_of(name)
    point, records = hostile(sums, 5)
    total = sums.sums(point, records)
    gradient, average = sums.gradient(point, total)
    bits = [sums.grids[0]] * sums.dim + [sums.grids[1]]
    terms = [mp.ldexp(mp.mpf(x), -b) / len(records) for x, b in zip(total.total, bits, strict=True)]
    exact, level = Exact(sums, point).averages(terms)
    off = mp.sqrt(sum((mp.mpf(float(a)) - b) ** 2 for a, b in zip(gradient, exact, strict=True)))
    assert off <= sums.errors[0]
    assert abs(average - level) <= sums.errors[1] + 1e-15


def test_balls_where_nothing_is_proved():
    for beyond in (
        SpaceFormSums(2, 1.0, math.pi / 2),
        SpaceFormSums(2, 1.0, 2.0),
        SpaceFormSums(2, -1.0, 65.0),
        SpaceFormSums(2, -1.0, 40.0),
        SpaceFormSums(2, -1.0, 1e-130),
        SpaceFormSums(2**21, -1.0, 1.0),
    ):
        assert beyond.errors == (math.inf, math.inf)
        assert beyond.floor == math.inf
    for name in BALLS:
        assert max(sums_of(name).errors) < 1e-5


@pytest.mark.parametrize("name", BALLS)
def test_the_floor_is_what_certificates_need(name):
    """A gradient that is computed as no more than its rounding certifies half of it at least."""
    sums = sums_of(name)
    gradient, average = sums.errors
    floor = sums.floor
    if floor == math.inf:  # nearly a hemisphere in many dimensions
        assert sums.spherical
        return
    if not sums.spherical:
        assert floor == pytest.approx(32.0 * gradient)
        return
    wide = 2.0 * sums.reach + sums.k * floor
    least = sums.reach / math.tan(sums.reach)
    bend = sums.k * floor * (wide - math.sin(wide) * math.cos(wide)) / math.sin(wide) ** 2
    # once for a mean that is not at the point, once in claim (c)
    assert 3.0 * gradient <= floor * (least - 2.0 * bend - 2.0 * average)
    assert floor <= 256.0 * gradient / least


@pytest.mark.parametrize(("dim", "radius"), [(2, 1.568), (20, 1.565), (100, 1.56)])
def test_nearly_all_of_a_hemisphere_is_taken(dim, radius):
    assert SpaceFormSums(dim, 1.0, radius).floor < 1e-3
    assert SpaceFormSums(dim, 1.0, 1.5705).floor == math.inf
