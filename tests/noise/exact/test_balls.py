"""Enclosures in arrays against those of python-flint, on strings of bits that are hard."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

from riemdp.noise.exact._balls import (
    _LOG2,
    _PI,
    RAISED,
    Balls,
    directions,
    folded,
    gammas,
    where,
)
from riemdp.noise.exact._variates import direction, gamma

flint = pytest.importorskip("flint")
arb = flint.arb

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture(autouse=True)
def _bits():
    before, flint.ctx.prec = flint.ctx.prec, 400
    yield
    flint.ctx.prec = before


def hostile(count=400, seed=0):
    """First 64 bits: ends, powers of two and their neighbours, borders of octants, and any."""
    special = [0, 1, 2**64 - 1, 2**64 - 2]
    special += [2**i + j for i in range(2, 64) for j in (-1, 0, 1)]
    special += [k * 2**61 + j for k in range(1, 8) for j in (-2049, -1, 0, 1, 2049)]
    special += [2**64 - 2**i for i in range(1, 64)]
    random = np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)
    return np.concatenate([np.array(special, dtype=np.uint64), random])


def exact(balls):
    """Midpoints, as balls of python-flint without radius."""
    high, low, _ = np.broadcast_arrays(balls.high, balls.low, balls.radius)
    return [arb(float(a)) + arb(float(b)) for a, b in zip(high.ravel(), low.ravel(), strict=True)]


def missed(balls, truth, share=1.0):
    """How many finite balls, raised and made smaller by a share, do not hold a true number."""
    radius = np.broadcast_to(balls.radius, balls.high.shape).ravel()
    known = np.isfinite(radius)
    assert known.mean() > 0.6
    return sum(
        not abs(x - t) <= share * arb(RAISED) * arb(float(r))
        for x, t, r, k in zip(exact(balls), truth, radius, known, strict=True)
        if k
    )


#: Of a uniform variable: with the methods of both kinds of balls.
FUNCTIONS = {
    "log": lambda x: x.log(),
    "root": lambda x: x.sqrt(),
    "sine of pi": lambda x: (2 * x).sin_cos_pi()[0],
    "cosine of pi": lambda x: (2 * x).sin_cos_pi()[1],
    "sine": lambda x: (x * 3).sin_cos()[0],
    "cosine": lambda x: (x * 3).sin_cos()[1],
    "small sine": lambda x: (x * 0.001).sin_cos()[0],
    "hyperbolic sine": lambda x: (x * 7).sinh_cosh()[0],
    "hyperbolic cosine": lambda x: (x * 7).sinh_cosh()[1],
    "angle": lambda x: type(x).atan2(*(x * 3).sin_cos()),
    "area": lambda x: (x * 9).asinh(),
    "sum": lambda x: x + arb(1) / 3 - 5 * x,
    "difference": lambda x: arb(2).log() - x,
    "product": lambda x: x * x * arb.pi(),
    "quotient": lambda x: (x + 0.7) / (x + 0.1),
    "inverse": lambda x: 1 / (x + 0.3),
    "least": lambda x: (x / 3).min(1 - x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numbers(name):
    """Balls hold the truth, and balls of a 512th of the radius do not always."""
    function, given = FUNCTIONS[name], Balls.uniform(hostile())
    given = Balls(given.high, given.low, np.zeros(given.high.shape))
    found, truth = function(given), [function(x) for x in exact(given)]
    assert missed(found, truth) == 0
    assert missed(found, truth, 2.0**-9) > 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_balls(name):
    """The ends of a ball too; what forgets the radius of its argument misses them."""
    function, given = FUNCTIONS[name], Balls.uniform(hostile(100))
    for size in (2.0**-20, 2.0**-65):
        wide = Balls(given.high, given.low, np.full(given.high.shape, size))
        found = function(wide)
        for end in (-1, 1):
            points = [x + end * arb(size) for x in exact(given)]
            truth = [function(x) if x > 0 else x for x in points]
            inside = np.array([bool(x > 0) for x in points])
            found_inside = where(inside, found, Balls(0.0, 0.0, np.inf))
            assert missed(found_inside, truth) == 0
            point = function(Balls(given.high, given.low, np.zeros(given.high.shape)))
            assert missed(where(inside, point, Balls(0.0, 0.0, np.inf)), truth) > 0


def test_the_first_bits_leave_what_they_leave():
    words = hostile()
    found = Balls.uniform(words)
    for more in (0, 1):
        assert missed(found, [(arb(int(w)) + more) / arb(2) ** 64 for w in words]) == 0
    assert missed(found, [(arb(int(w)) + 1.001) / arb(2) ** 64 for w in words]) > 0


def test_constants():
    for ball, truth in ((_PI, arb.pi()), (_LOG2, arb(2).log())):
        assert abs(arb(ball.high) + arb(ball.low) - truth) < arb(ball.radius)
        assert ball.radius < 2.0**-104


@pytest.mark.parametrize("number", ["1/3", "pi", "small", "0", "7"])
def test_balls_of_python_flint(number):
    small = -(arb(2) ** -300) / 3
    number = {"1/3": arb(1) / 3, "pi": arb.pi() * 2**70, "small": small, "0": arb(0), "7": 7}[
        number
    ]
    found = Balls.of(number)
    distance = abs(arb(found.high) + arb(found.low) - number)
    assert distance <= arb(found.radius)
    assert found.radius <= 2.0**-104 * abs(found.high) + 2.0**-500


def test_what_float64_cannot_hold():
    assert Balls.of(arb(2) ** 5000).radius == np.inf
    assert Balls.of(-(arb(2) ** (10**12))).radius == np.inf
    assert Balls.of(arb(2) ** -(10**12)).high == 0.0 < Balls.of(arb(2) ** -(10**12)).radius
    assert Balls.of(arb.pos_inf()).radius == np.inf
    assert Balls.of(1 << 60).radius == np.inf


class Known:
    """A uniform variable of one draw, in the middle of what 64 bits leave."""

    def __init__(self, word):
        self.value = (2 * arb(int(word)) + 1) / arb(2) ** 65
        self.word = int(word)

    def ball(self):
        return self.value

    def prefix(self, bits):
        return self.word >> (64 - bits)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 7, 20])
def test_directions_and_gamma_variables(dim):
    """Those of one draw, by the formulas of one draw; coordinates that changed places are not."""
    random = np.random.default_rng(dim)
    words = random.integers(2**64, size=(dim + dim % 2, 50), dtype=np.uint64)
    found, lengths = directions(words if dim > 2 else words[:1], dim), gammas(words[:dim])
    for draw, column in enumerate(words.T):
        known = [Known(word) for word in column]
        truth = direction(known, dim)
        assert missed(found[:, draw], [arb(x) for x in truth]) == 0
        if dim > 2:
            assert missed(found[:, draw], truth[1:] + truth[:1]) > 0
        length = lengths[draw : draw + 1]
        assert missed(length, [gamma(known, 2 * dim)]) == 0


def test_products_of_many_leave_the_range_of_float64_in_parts():
    words = np.random.default_rng(0).integers(2**64, size=(3000, 3), dtype=np.uint64)
    found = gammas(words)
    truth = [gamma([Known(word) for word in column], 6000) for column in words.T]
    assert missed(found, truth) == 0
    assert np.all(found.radius < 1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 37])
def test_halves_are_added_to_halves(count):
    words = np.random.default_rng(0).integers(2**64, size=(count, 2), dtype=np.uint64)
    given = Balls.uniform(words)
    for operation in (operator.add, operator.mul):
        found = folded(operation, given)
        columns = zip(*(exact(given[i]) for i in range(count)), strict=True)
        assert missed(found, [functools.reduce(operation, column) for column in columns]) == 0


def test_answers_are_given_only_where_all_points_agree():
    high = np.array([2.5, 2.5, 2.5 - 2.0**-40, 3.0, np.nan, 2.0, 2.0**61, 2.0**60])
    radius = np.array([0.0, 1e-9, 2.0**-41, 0.4, 0.1, np.inf, 0.0, 0.25])
    whole, certain = Balls(high, np.zeros(8), radius).nearest()
    assert certain.tolist() == [False, False, True, True, False, False, False, True]
    assert whole[certain].tolist() == [2, 3, 2**60]
    less, more = Balls(high, np.zeros(8), radius).less(2.5)
    assert less.tolist() == [False, False, True, False, False, False, False, False]
    assert more.tolist() == [False] * 3 + [True] + [False] * 2 + [True] * 2


def test_the_low_part_of_a_midpoint_decides():
    whole, certain = Balls(
        np.array([2.5, 2.5]), np.array([-1e-10, 1e-10]), np.array([1e-11, 1e-11])
    ).nearest()
    assert certain.all()
    assert whole.tolist() == [2, 3]
