from __future__ import annotations

import math

import pytest

from riemdp._radial_profile import Trigonometry

flint = pytest.importorskip("flint")


@pytest.mark.parametrize("x", [1e-200, 0.3, 2.5])
def test_against_floats(x):
    round_, hyperbolic = Trigonometry(1), Trigonometry(-1)
    ball = flint.arb(x)
    assert [float(y) for y in round_.sine_cosine(ball)] == pytest.approx([math.sin(x), math.cos(x)])
    found = [float(y) for y in hyperbolic.sine_cosine(ball)]
    assert found == pytest.approx([math.sinh(x), math.cosh(x)])
    assert float(round_.sine(ball).log()) == pytest.approx(math.log(math.sin(x)))
    assert float(hyperbolic.sine(ball).log()) == pytest.approx(math.log(math.sinh(x)))
    assert float(round_.cotangent(ball)) == pytest.approx(1 / math.tan(x))
    assert float(hyperbolic.cotangent(ball)) == pytest.approx(1 / math.tanh(x))
    assert float(round_.sinc(ball)) == pytest.approx(math.sin(x) / x)
    assert float(hyperbolic.sinc(ball)) == pytest.approx(math.sinh(x) / x)
    for trigonometry in (round_, hyperbolic):
        assert float(trigonometry.distance(*trigonometry.sine_cosine(ball))) == pytest.approx(x)


def test_at_zero():
    for sign in (1, -1):
        assert Trigonometry(sign).sinc(flint.arb(0)) == 1


def test_ends():
    assert float(Trigonometry(1).end()) == pytest.approx(math.pi)
    assert float(Trigonometry(-1).end()) == math.inf
