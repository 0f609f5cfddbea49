from __future__ import annotations

import pytest

from riemdp._working_precision import working_precision
from riemdp.noise.exact._ladder import Ladder, at_working_precision

flint = pytest.importorskip("flint")


def test_precision_doubles_until_the_answer_is_there():
    asked = []

    def question():
        asked.append(flint.ctx.prec)
        # differ from the 300th bit on
        return Ladder.less(flint.arb(2).sqrt(), flint.arb(2).sqrt() + flint.arb((1, -300)))

    before = flint.ctx.prec
    with working_precision(24):
        assert Ladder(24).settle(question) is True
    assert asked == [24, 48, 96, 192, 384]
    assert flint.ctx.prec == before


@pytest.mark.parametrize("number", ["nan", "+inf", "[0 +/- 1]", "[2.5 +/- 1e-30]"])
def test_no_integer_where_the_ball_leaves_it_open(number):
    assert Ladder.nearest(flint.arb(number)) is None


def test_nearest_integers():
    arb = flint.arb
    found = [Ladder.nearest(arb(x)) for x in ("2.49", "2.51", "-2.49", "-2.51", "-0.1")]
    assert found == [2, 3, -2, -3, 0]


def test_comparisons():
    arb = flint.arb
    assert Ladder.less(arb(1), arb(2)) is True
    assert Ladder.less(arb(2), arb(1)) is False
    assert Ladder.less(arb("[1 +/- 1]"), arb("1.5")) is None
    assert Ladder.less(arb("nan"), arb(1)) is None


def test_precision_does_not_grow_for_what_another_thread_has_done():
    begun = []

    def question():
        begun.append(flint.ctx.prec)
        if len(begun) < 40:
            flint.ctx.prec = 10  # as another thread would
            return None
        return "answer" if len(begun) == 42 else None

    with working_precision(64):
        assert Ladder(64).settle(question) == "answer"
    assert begun == [64] * 40 + [128, 256]


def test_what_was_computed_at_a_precision_is_computed_once():
    known, asked = {}, []

    def compute():
        asked.append(flint.ctx.prec)
        return len(asked)

    for bits, expected in ((64, 1), (128, 2), (64, 1)):
        with working_precision(bits):
            assert at_working_precision(known, compute) == expected
    assert asked == [64, 128]

    def disturbed():
        flint.ctx.prec = 999  # another thread
        return 0

    with working_precision(256):
        assert at_working_precision(known, disturbed) == 0
    assert 256 not in known
    assert 999 not in known
