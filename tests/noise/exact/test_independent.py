"""Independent parts: each drawn as it is alone, from bits of its own."""

from fractions import Fraction

import numpy as np
import pytest

from riemdp import GDP, Ball, Hyperbolic, Sphere, UnsupportedError, private_mean, verify
from riemdp.noise import family
from riemdp.noise.exact import Bits, FlatDraw, IndependentDraw, SpaceFormDraw
from riemdp.noise.exact._affine_invariant import AffineInvariantDraw
from riemdp.spaces import Product

PARTS = (
    SpaceFormDraw("gaussian", 2, 1.0, 0.2),
    FlatDraw("gaussian", 1, 0.2),
    AffineInvariantDraw("gaussian", 2, 0.2),
)


def test_parts_are_drawn_one_after_the_other():
    draw = IndependentDraw(PARTS)
    footpoint = [0.1, -0.2, Fraction(1, 3), 0.5, 0.0, 0.25]
    assert draw.coordinates == 6
    found = draw.rounded(Bits(np.random.default_rng(0)), footpoint, 40)
    bits = Bits(np.random.default_rng(0))
    alone = [PARTS[0].rounded(bits, footpoint[:2], 40), PARTS[1].rounded(bits, footpoint[2:3], 40)]
    alone.append(PARTS[2].rounded(bits, footpoint[3:], 40))
    assert found.integers == sum((part.integers for part in alone), ())
    # the control: from the same bits they would not be independent
    again = [PARTS[0].rounded(Bits(np.random.default_rng(0)), footpoint[:2], 40)]
    again.append(PARTS[1].rounded(Bits(np.random.default_rng(0)), footpoint[2:3], 40))
    assert found.integers[:3] != again[0].integers + again[1].integers


def test_products_are_drawn_exactly():
    space = Product(Sphere(2), Hyperbolic(2))
    assert family("gaussian", space).law(0.1).exact_draw() == IndependentDraw(
        (SpaceFormDraw("gaussian", 2, 1.0, 0.1), SpaceFormDraw("gaussian", 2, -1.0, 0.1))
    )


@pytest.mark.slow  # the scale of such a product takes its time
def test_products_are_released_exactly():
    space = Product(Sphere(2), Hyperbolic(2))
    ball = Ball(space, space.origin, 0.5)
    points = ball.point(np.random.default_rng(0).normal(size=(50, 4)) * 0.1)
    release = private_mean(points, ball, GDP(1.0), mechanism="riemannian-gaussian")
    assert len(release.rounded) == 4
    assert verify(release).passed


def test_a_product_is_proved_where_its_parts_are():
    class Changed(FlatDraw):
        """Of another package, which does not say where it is proved."""

    assert IndependentDraw(PARTS).proof == FlatDraw.proof
    assert IndependentDraw((PARTS[0], Changed("laplace", 1, 1.0))).proof is None
    nested = IndependentDraw((IndependentDraw((Changed("laplace", 1, 1.0),)), PARTS[0]))
    assert nested.proof is None


def test_one_part_that_takes_too_long_is_enough(monkeypatch):
    def refuse(self):
        raise UnsupportedError("too long")

    monkeypatch.setattr(AffineInvariantDraw, "check_drawable", refuse)
    IndependentDraw(PARTS[:2]).check_drawable()
    with pytest.raises(UnsupportedError):
        IndependentDraw(PARTS).check_drawable()
