from __future__ import annotations

import os
import threading

import pytest

from riemdp._working_precision import working_precision

flint = pytest.importorskip("flint")


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
