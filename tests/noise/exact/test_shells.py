from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from riemdp import NotAttainableError
from riemdp._working_precision import working_precision
from riemdp.noise.exact import Bits
from riemdp.noise.exact._ladder import Ladder
from riemdp.noise.exact._shells import ExactShells, Knots, exact_shells

flint = pytest.importorskip("flint")

LAWS = [
    ("gaussian", 2, 0.3),
    ("gaussian", 3, 2.0),
    ("laplace", 3, 0.65),
    ("laplace", 10, 0.09),
    ("gaussian", 20, 0.1),
    ("gaussian", 4, 1e-90),
]


@pytest.mark.fast(3)
@pytest.mark.parametrize("numbers", LAWS)
def test_the_bound_lies_above_both_members(numbers):
    """Of the two bounds of log J only the lower one has to be below."""
    law = exact_shells(*numbers)
    with working_precision(200):
        shells = law._shells()
        ends = [flint.arb(0), *shells.ends, 2 * shells.ends[-1]]
        for shell, (low, high) in enumerate(itertools.pairwise(ends)):
            for share in (0.01, 0.5, 0.99):
                r = low + share * (high - low)
                bound = shells.logs[shell]
                if shell == len(shells.ends):
                    bound -= shells.rate * (r - low)
                least = law._member(r, even=True).min(law._member(r, even=False))
                assert law.log_flat(r) + least <= bound


@pytest.mark.parametrize("numbers", LAWS[:3])
def test_proposals_lie_in_their_shells(numbers):
    law, bits = exact_shells(*numbers), Bits(np.random.default_rng(0))
    found = []
    with working_precision(128):
        for _ in range(100):
            place = bits.uniform()
            r, _ = Ladder(128).settle(lambda place=place: law.propose(Ladder(128), place))
            share = place.prefix(53) / 2.0**53
            found.append((share, float(r)))
    found.sort()
    assert np.all(np.diff([r for _, r in found]) > 0.0)


def test_a_place_next_to_the_end_of_a_shell_is_decided():
    """Where a float cannot tell on which side it is: 2^-80 off."""
    law = exact_shells("laplace", 3, 0.4)
    for shell in (0, 1, 100, 255, 256):
        for side in (-1, 1):
            with working_precision(400):
                shells = law._shells()
                share = shells.areas[shell] / shells.mass
                digits = int((share * flint.arb(2) ** 300).floor().mid().unique_fmpz())
                height = shells.heights[shell + (side > 0)]
                expected = float(side * shells.mass / height)
                near = _Fixed(digits + side * 2**220, 300)
            with working_precision(128):
                r, _ = Ladder(128).settle(lambda near=near: law.propose(Ladder(128), near))
                gap = float((r - flint.arb(float(law.knots.ends[shell]))) * flint.arb(2) ** 80)
            assert gap == pytest.approx(expected, rel=1e-3)


class _Fixed:
    """A uniform variable that has come out as a given number."""

    def __init__(self, digits: int, bits: int) -> None:
        self._digits, self._bits = digits, bits

    def ball(self):
        bits = flint.ctx.prec
        shift = self._bits - bits
        prefix = self._digits >> shift if shift > 0 else self._digits << -shift
        return flint.arb((2 * prefix + 1, -bits - 1), (1, -bits - 1))


def test_numbers_that_bound_nothing_are_refused(monkeypatch):
    """A first shell past the maximum of c, or a last one that rises."""
    good = exact_shells("laplace", 3, 0.4).knots
    early = Knots(good.ends[-2:], good.even[-1:], good.last_even, good.level)
    late = Knots(good.ends[:2], good.even[:1], good.last_even, good.level)
    for bad in (early, late):
        law = ExactShells("laplace", 3, 0.4)
        monkeypatch.setattr(ExactShells, "_search", lambda self, bad=bad: bad)
        with pytest.raises(NotAttainableError, match="certified"):
            _ = law.knots


def test_knots_are_public_rational_numbers():
    knots = exact_shells("gaussian", 3, 0.4).knots
    assert all(isinstance(end, Fraction) for end in knots.ends)
    assert list(knots.ends) == sorted(set(knots.ends))
