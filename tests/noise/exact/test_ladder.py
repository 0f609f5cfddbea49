from __future__ import annotations

import os
import threading

import pytest

from riemdp.noise.exact._ladder import Ladder, working_precision

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


def test_the_working_precision_is_kept_from_other_threads():
    seen = []

    def other():
        with working_precision(64):
            seen.append(flint.ctx.prec)

    with working_precision(256):
        thread = threading.Thread(target=other)
        thread.start()
        assert flint.ctx.prec == 256
        assert seen == []
    thread.join()
    assert seen == [64]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_a_fork_is_not_locked_out():
    inside, done = threading.Event(), threading.Event()

    def hold():
        with working_precision(64):
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    child = os.fork()
    if child == 0:
        with working_precision(24):
            os._exit(7)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
