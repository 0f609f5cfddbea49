"""Draws on quotients: classes of draws in the cover, rounded after they were made classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import stats

from riemdp import (
    Ball,
    Euclidean,
    ProjectiveSpace,
    PureDP,
    Rotations,
    Sphere,
    Torus,
    UnsupportedError,
    UnsupportedManifoldError,
    private_mean,
    research,
    verify,
)
from riemdp.noise import family
from riemdp.noise.exact import (
    AffineInvariantDraw,
    Bits,
    FlatDraw,
    FoldedDraw,
    IndependentDraw,
    SpaceFormDraw,
)
from riemdp.noise.exact._ladder import Ladder
from riemdp.spaces import DiscreteQuotient, check_points


@dataclass(frozen=True)
class Ring(DiscreteQuotient):
    """Angles: the line, turn by turn."""

    dim = 1
    point_shape = (1,)
    injectivity_radius = math.pi
    diameter = math.pi
    cover = Euclidean(1)

    def lift(self, points):
        return np.asarray(points, dtype=float)

    def push(self, points):
        return np.mod(points, 2.0 * math.pi)

    def nearest(self, base, points):
        gap = np.asarray(points) - base
        return base + gap - 2.0 * math.pi * np.round(gap / (2.0 * math.pi))

    def validate(self, points):
        return check_points(points, self.point_shape)


@dataclass(frozen=True)
class FoldedRing(Ring):
    def folded(self, ends):
        turns = (ends[0] / (2 * arb.pi()) + 0.5).floor().unique_fmpz()
        return None if turns is None else [ends[0] - 2 * arb.pi() * turns]


FLAT = FlatDraw("laplace", 1, 5.0)
CURVED = SpaceFormDraw("gaussian", 2, 1.0, 0.7)


def test_seeded_integers_are_what_they_were():
    found = FlatDraw("laplace", 2, 0.5).rounded(
        Bits(np.random.default_rng(5)), [Fraction(1, 3), Fraction(-2, 7)], 40
    )
    assert found.integers == (710546873840, -486630471505)
    found = FlatDraw("gaussian", 3, 0.7).rounded(Bits(np.random.default_rng(5)), [0.5, 0, 1], 40)
    assert found.integers == (561399479924, -701843726277, 1130099620164)


@pytest.mark.parametrize(
    "draw",
    [FLAT, CURVED, SpaceFormDraw("laplace", 1, 1.0, 0.7), IndependentDraw((FLAT, CURVED))],
)
def test_integers_are_rounded_ends(draw, tape):
    footpoint = [Fraction(1, 3 + i) for i in range(draw.coordinates)]  # no two alike
    for seed in range(5):
        ladder = Ladder(128)
        whole = draw.rounded(tape(seed), footpoint, 30)
        found = ladder.settle(draw.ends(tape(seed), ladder, footpoint))
        assert whole.integers == tuple(round(float(x) * 2.0**30) for x in found)
    assert draw.gives_ends


def test_an_open_part_leaves_all_open(tape):
    class Open(FlatDraw):
        def ends(self, bits, ladder, footpoint):
            return lambda: None

    open_part = IndependentDraw((FLAT, Open("laplace", 1, 1.0)))
    assert open_part.ends(tape(0), Ladder(128), [Fraction(0)] * 2)() is None


def test_ends_are_not_shortened():
    short, plain = SpaceFormDraw("gaussian", 2, 1.0, 0.7, radius=0.1), CURVED
    first, second = (
        [float(x) for x in Ladder(128).settle(draw.ends(bits, Ladder(128), [Fraction(0)] * 2))]
        for draw, bits in ((d, Bits(np.random.default_rng(0))) for d in (short, plain))
    )
    assert first == second
    cut = short.rounded(Bits(np.random.default_rng(0)), [0, 0], 40).values()
    assert np.linalg.norm(cut) == pytest.approx(0.1)
    assert np.linalg.norm(first) > 0.1


def test_draws_are_folded_before_they_are_rounded():
    draw = FoldedDraw(FoldedRing(), FLAT)
    assert (draw.coordinates, draw.gives_ends) == (1, True)
    turns = []
    for seed in range(40):
        plain, folded = (
            d.rounded(Bits(np.random.default_rng(seed)), [0.25], 40).values() for d in (FLAT, draw)
        )
        turns.append((plain - folded)[0] / (2.0 * math.pi))
        assert abs(folded[0]) <= math.pi
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-11)
    assert len(np.unique(np.round(turns))) > 2


def test_what_a_draw_begins_with_does_not_change_it(tape):
    draw = FoldedDraw(FoldedRing(), FLAT)
    for seed in range(40):
        found = [draw.rounded(tape(seed), [0.25], 20, bits) for bits in (2, 16, 128, 200)]
        assert len(set(found)) == 1


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("space", [Rotations(), ProjectiveSpace(1), ProjectiveSpace(3), Torus(2)])
def test_wide_draws_need_no_particular_precision(space, kind, tape, same):
    law = family(kind, space).law(space.injectivity_radius).exact_draw()
    foot = np.zeros(space.dim)
    foot[0] = 0.99 * space.injectivity_radius
    assert same(law, foot, 20, range(20)) == 0
    for seed in range(20):
        values = law.rounded(tape(seed), foot, 40, 2).values()
        plain = law.above.rounded(tape(seed), foot, 40).values()
        np.testing.assert_allclose(
            space.point(space.origin, values), space.point(space.origin, plain), atol=1e-10
        )


def test_enclosures_of_everything_decide_nothing():
    for space in (Rotations(), ProjectiveSpace(1), Torus(2)):
        assert space.folds
        for number in (arb.nan(), arb(0, 100)):
            assert space.folded([number] * space.cover.dim) is None


def test_more_bits_are_asked_for_where_they_do_not_decide():
    asked = []

    @dataclass(frozen=True)
    class Undecided(FoldedRing):
        def folded(self, ends):
            asked.append(None)
            return None if len(asked) < 4 else super().folded(ends)

    draw = FoldedDraw(Undecided(), FLAT)
    draw.rounded(Bits(np.random.default_rng(0)), [0.25], 20)
    assert len(asked) == 4


def test_draws_follow_the_law_in_float64():
    space, sigma = FoldedRing(), 2.0
    law = family("laplace", space).law(sigma)
    draw = law.exact_draw()
    assert draw == FoldedDraw(space, FlatDraw("laplace", 1, sigma))
    bits = Bits(np.random.default_rng(0))
    exact = [draw.rounded(bits, [0.5], 40).values()[0] for _ in range(2000)]
    ball = Ball(space, [1.0], 3.0)
    floats = research.sample(law, ball.point([0.5]), 2000, np.random.default_rng(1))
    floats = space.coordinates(ball.center, floats)[:, 0]
    assert stats.ks_2samp(exact, floats).pvalue > 1e-4
    plain = [draw.above.rounded(bits, [0.5], 40).values()[0] for _ in range(2000)]
    assert stats.ks_2samp(plain, floats).pvalue < 1e-4  # the control: not folded


def test_a_quotient_without_the_two_methods_has_no_exact_draws():
    space = Ring()
    assert not space.folds
    assert FoldedRing().folds
    with pytest.raises(UnsupportedManifoldError, match=r"raised\(coordinates\) and folded\(ends\)"):
        family("laplace", space).law(1.0).exact_draw()
    with pytest.raises(UnsupportedManifoldError, match=r"give it folded\(ends\)"):
        space.folded([arb(0)])
    assert list(space.raised([Fraction(1, 2)])) == [Fraction(1, 2)]
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(20, 1))
    options = {"mechanism": "riemannian-laplace", "allow_unproven": True}
    with pytest.raises(UnsupportedError, match="give it raised"):
        private_mean(points, Ball(space, [0.0], 1.0), PureDP(1.0), **options)
    release = private_mean(points, Ball(FoldedRing(), [0.0], 1.0), PureDP(1.0), **options)
    checks = {check.name: check.passed for check in verify(release).checks}
    assert not checks.pop("proof")  # nobody vouches for these classes
    assert all(checks.values())


def test_a_cover_that_gives_no_ends_has_none_below():
    hidden = AffineInvariantDraw("gaussian", 2, 0.2)
    assert not hidden.gives_ends
    assert not IndependentDraw((FLAT, hidden)).gives_ends
    with pytest.raises(UnsupportedManifoldError, match="before they are rounded"):
        hidden.ends(Bits(np.random.default_rng(0)), Ladder(128), [])
    with pytest.raises(UnsupportedManifoldError, match="before they are rounded"):
        FoldedDraw(FoldedRing(), hidden)


def test_draws_are_proved_where_the_quotient_and_the_cover_are():
    @dataclass(frozen=True)
    class Vouched(FoldedRing):
        proof = "https://example.org/ring"

    class Changed(FlatDraw):
        """Of another package, which does not say where it is proved."""

    assert FoldedDraw(Vouched(), FLAT).proof == "docs/proofs/exact-draws.md"
    assert FoldedDraw(FoldedRing(), FLAT).proof is None
    assert FoldedDraw(Vouched(), Changed("laplace", 1, 1.0)).proof is None


def test_one_that_takes_too_long_in_the_cover_takes_too_long(monkeypatch):
    def refuse(self):
        raise UnsupportedManifoldError("too long")

    monkeypatch.setattr(SpaceFormDraw, "check_drawable", refuse)
    draw = FoldedDraw(FoldedRing(), SpaceFormDraw("laplace", 1, 1.0, 0.7))
    with pytest.raises(UnsupportedManifoldError, match="too long"):
        draw.check_drawable()
    assert Sphere(1).dim == draw.above.coordinates
