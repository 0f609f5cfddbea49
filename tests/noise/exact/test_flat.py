from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from riemdp import InvalidParameterError
from riemdp.noise import RadialLaw
from riemdp.noise.exact import FlatDraw
from riemdp.noise.exact._flat import _split, quick_gaussian

mpmath = pytest.importorskip("mpmath")

KINDS = ["gaussian", "laplace"]


def other_formulas(reader, law, footpoint):
    """The draw of the same bits at 420 bits: sums of logarithms, half angles."""
    dim = law.dim
    if law.kind == "gaussian":
        noise = reader.normals(dim)
    else:
        length = sum(-mpmath.log(reader()) for _ in range(dim))
        noise = [length * x for x in reader.direction(dim)]
    return [v + law.sigma * x for v, x in zip(footpoint, noise, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "count"), [(1, 20), (2, 20), (5, 10)])
def test_the_starting_precision_changes_nothing(kind, dim, count, same):
    law, footpoint = FlatDraw(kind, dim, 0.3), [Fraction(i, 7) for i in range(dim)]
    assert same(law, footpoint, 42, range(count)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "setting",
    [
        (1, 1.0, 0.0, 40, 200),
        (3, 1e-6, 1e-300, 60, 200),
        (10, 100.0, 0.1, 84, 100),
        (465, 0.5, 0.3, 41, 5),
        (2, 1e-300, 1e300, 40, 20),
    ],
)
def test_the_starting_precision_changes_nothing_at_extremes(kind, setting, same):
    dim, sigma, value, grid, count = setting
    assert same(FlatDraw(kind, dim, sigma), [value] * dim, grid, range(count)) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_other_formulas_give_the_same_integers(kind, mismatches):
    law, footpoint = FlatDraw(kind, 3, 0.3), [0.1, Fraction(-1, 3), 0]
    assert mismatches(other_formulas, law, footpoint, 84, range(20)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "count"), [(1, 600), (2, 600), (10, 500), (465, 5)])
def test_other_formulas_give_the_same_integers_in_many_draws(kind, dim, count, mismatches):
    law, footpoint = FlatDraw(kind, dim, 0.7), [Fraction(i - 3, 11) for i in range(dim)]
    assert mismatches(other_formulas, law, footpoint, 44, range(count)) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_the_middle_of_a_ball_gives_other_integers(kind, mismatches, guess):
    guess("nearest")
    law, footpoint = FlatDraw(kind, 3, 0.3), [0.1, Fraction(-1, 3), 0]
    assert mismatches(other_formulas, law, footpoint, 44, range(20), precision=48) >= 5


def fit(law, footpoint, sigma, count, generator):
    """Smaller p-value of lengths and of the first coordinate of directions."""
    found = 2.0**-45 * law.draws(footpoint, 45, count, generator=generator)
    offset = found - np.array(footpoint)
    length = np.linalg.norm(offset, axis=1)
    lengths = scipy.stats.kstest(length, RadialLaw(law.kind, law.dim, 0.0, sigma).cdf).pvalue
    half = 0.5 * (law.dim - 1)
    cosine = 0.5 * (1.0 + offset[:, 0] / length)
    return min(lengths, scipy.stats.kstest(cosine, scipy.stats.beta(half, half).cdf).pvalue)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [2, 3, 10])
def test_draws_follow_the_law_and_another_scale_is_noticed(kind, dim, holds):
    law, footpoint = FlatDraw(kind, dim, 0.4), [0.25] * dim
    assert holds(lambda generator: fit(law, footpoint, 0.4, 5_000, generator))
    assert fit(law, footpoint, 0.42, 5_000, np.random.default_rng(20211)) < 1e-3


@pytest.mark.fast("laplace")
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_draws_follow_the_law(kind, holds):
    law, footpoint = FlatDraw(kind, 2, 0.4), [0.25, -3.0]
    assert holds(lambda generator: fit(law, footpoint, 0.4, 200, generator))
    assert fit(law, footpoint, 0.6, 200, np.random.default_rng(20211)) < 1e-4


def test_extremes():
    assert FlatDraw("laplace", 1, 1e-300).draw([5.0], 3).integers == (40,)
    assert FlatDraw("gaussian", 2, 1e-3).draw([1.0, 2.0], -3).integers == (0, 0)
    fine = FlatDraw("gaussian", 2, 1.0).draw([1e-300, 1e300], 2000)
    assert fine.integers[1].bit_length() > 2900
    assert len(FlatDraw("laplace", 465, 0.5).draw([0.0] * 465, 41).integers) == 465


def test_the_footpoint_is_the_rational_number_it_is():
    """A third is no float: at step 1/3 2^-100 a float would be seen."""
    law = FlatDraw("gaussian", 1, 2.0**-1000)
    found = law.draw([Fraction(1, 3)], 200).integers[0]
    assert abs(3 * found - 2**200) <= 1
    rounded = law.draw([1 / 3], 200).integers[0]
    assert abs(3 * rounded - 2**200) > 2**100


@pytest.mark.parametrize("arguments", [("heat", 2, 1.0), ("laplace", 0, 1.0), ("laplace", 2, -1.0)])
def test_laws_that_are_none(arguments):
    with pytest.raises(InvalidParameterError):
        FlatDraw(*arguments)


def test_many_coordinates_are_drawn_some_at_a_time(monkeypatch):
    law, footpoint = FlatDraw("gaussian", 13, 0.3), [Fraction(i, 7) for i in range(13)]

    def drawn(together):
        monkeypatch.setattr("riemdp.noise.exact._flat._TOGETHER", together)
        return law.draw(footpoint, 42, generator=np.random.default_rng(0)).integers

    assert drawn(2) == drawn(6) == drawn(4096)
    assert drawn(3) != drawn(4096)  # the control: of a pair of normal variables none is left over


def numbers(count, size, seed=0):
    """Rational numbers up to a size, with denominators such as means have."""
    random = np.random.default_rng(seed)
    whole = random.integers(-(2**40), 2**40, size=count).tolist()
    return [size * Fraction(number, 300 * 2**32) for number in whole]


@pytest.mark.parametrize(
    "setting",  # dim, sigma, size of the footpoint, grid
    [
        (301, 5.0, 1, 39),
        (6, 0.3, 1, 42),
        (6, 1e-20, 1, 107),  # of the footpoint 2^100 steps
        (6, 1.0, 10**30, -90),  # of the noise none
        (6, 1.0, 1, 70),  # which 64 bits do not decide
        (5, 2.0, 1, -30),
    ],
)
@pytest.mark.parametrize("precision", [64, 128, 131])
def test_draws_and_what_they_read_are_those_of_more_bits(setting, precision, monkeypatch):
    dim, sigma, size, grid = setting
    law, footpoint = FlatDraw("gaussian", dim, sigma), numbers(dim, size)
    quick, slow = (np.random.default_rng(1) for _ in range(2))
    found = law.draw(footpoint, grid, generator=quick, precision=precision)
    monkeypatch.setattr("riemdp.noise.exact._flat.QUICK", 10**9)
    assert found == law.draw(footpoint, grid, generator=slow, precision=precision)
    assert quick.bytes(8) == slow.bytes(8)


def by_other_formulas(first, footpoint, factor, grid):
    """Roundings at 400 bits, for the uniform variables in the middle of what 64 bits leave."""
    with mpmath.workprec(400):
        u = [(mpmath.mpf(int(each)) + 0.5) / mpmath.mpf(2) ** 64 for each in first]
        noise = []
        for a, b in zip(u[::2], u[1::2], strict=True):
            length = mpmath.sqrt(-2 * mpmath.log(a))
            noise += [length * mpmath.cospi(2 * b), length * mpmath.sinpi(2 * b)]
        return [
            int(mpmath.floor(mpmath.mpf(v.numerator) / v.denominator * mpmath.mpf(2) ** grid
                             + mpmath.mpf(factor.numerator) / factor.denominator * z + 0.5))
            for v, z in zip(footpoint, noise, strict=False)
        ]  # fmt: skip


def quick(first, footpoint, factor, grid):
    """Roundings of one draw by 64 bits, None where one is open."""
    steps, below = _split(footpoint, grid)
    noise = quick_gaussian(first, below, factor)
    return None if None in noise else [a + b for a, b in zip(steps, noise, strict=True)]


def test_an_answer_is_that_of_other_formulas():
    first = np.random.default_rng(0).integers(2**64, size=60, dtype=np.uint64)
    first[:4] = [2**63, 2**62, 3 * 2**62, 2**61]
    footpoint, factor = numbers(60, 3), Fraction(3, 7) * 2**41
    assert quick(first, footpoint, factor, 40) == by_other_formulas(first, footpoint, factor, 40)
    moved = footpoint[1:] + footpoint[:1]  # the control: coordinates that have changed places
    assert quick(first, moved, factor, 40) != by_other_formulas(first, footpoint, factor, 40)


@pytest.mark.parametrize("bits", [62, 66])
def test_nothing_is_answered_that_further_bits_may_change(bits):
    """The ends of what 64 bits leave round differently: steps of about ``2^-62`` of the noise."""
    first = np.random.default_rng(0).integers(2**64, size=2, dtype=np.uint64)
    found = [quick(first, [Fraction(0)] * 2, Fraction(2) ** grid, grid)
             for grid in (40, bits)]  # fmt: skip
    assert found[0] is not None
    assert found[1] is None


def test_a_boundary_within_reach_is_left_open():
    """A footpoint is put where the rounding is undecided: at a half, less the noise there."""
    first = np.array([2**63, 2**62], dtype=np.uint64)  # of the angle pi/2 the cosine vanishes
    undecided, decided = Fraction(2**20 + 1, 2), Fraction(2**20 + 1, 2) + Fraction(1, 2**10)
    factor = Fraction(2) ** 40
    assert quick(first, [undecided, Fraction(0)], factor, 0) is None
    assert quick(first, [decided, Fraction(0)], factor, 0)[0] == 2**19 + 1
