from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from riemdp.noise.exact import FlatDraw
from riemdp.noise.exact._quick import quick_gaussian

mpmath = pytest.importorskip("mpmath")
pytest.importorskip("flint")


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


def test_an_answer_is_that_of_other_formulas():
    first = np.random.default_rng(0).integers(2**64, size=60, dtype=np.uint64)
    first[:4] = [2**63, 2**62, 3 * 2**62, 2**61]
    footpoint, factor = numbers(60, 3), Fraction(3, 7) * 2**41
    assert quick_gaussian(first, footpoint, factor, 40) == by_other_formulas(
        first, footpoint, factor, 40
    )
    moved = footpoint[1:] + footpoint[:1]  # the control: coordinates that have changed places
    assert quick_gaussian(first, moved, factor, 40) != by_other_formulas(
        first, footpoint, factor, 40
    )


@pytest.mark.parametrize("bits", [62, 66])
def test_nothing_is_answered_that_further_bits_may_change(bits):
    """The ends of what 64 bits leave round differently: steps of about ``2^-62`` of the noise."""
    first = np.random.default_rng(0).integers(2**64, size=2, dtype=np.uint64)
    found = [quick_gaussian(first, [Fraction(0)] * 2, Fraction(2) ** grid, grid)
             for grid in (40, bits)]  # fmt: skip
    assert found[0] is not None
    assert found[1] is None


def test_a_boundary_within_reach_is_left_open():
    """A footpoint is put where the rounding is undecided: at a half, less the noise there."""
    first = np.array([2**63, 2**62], dtype=np.uint64)  # of the angle pi/2 the cosine vanishes
    undecided, decided = Fraction(2**20 + 1, 2), Fraction(2**20 + 1, 2) + Fraction(1, 2**10)
    factor = Fraction(2) ** 40
    assert quick_gaussian(first, [undecided, Fraction(0)], factor, 0) is None
    assert quick_gaussian(first, [decided, Fraction(0)], factor, 0)[0] == 2**19 + 1
