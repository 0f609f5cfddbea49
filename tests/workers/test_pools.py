"""Executors and joblib hand back what a function returns."""

import threading
import time
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from riemdp.workers._clients import workers_of


def test_threads():
    with ThreadPoolExecutor(2) as pool:
        assert sorted(workers_of(pool).map(abs, [-1, 2, -3])) == [1, 2, 3]


def test_processes():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert sorted(workers_of(pool).map(abs, [-1, 2, -3])) == [1, 2, 3]


class Big:
    """A result that can be looked for."""


def test_an_executor_keeps_no_result_that_was_handed_out():
    found = []
    with ThreadPoolExecutor(1) as pool:
        for result in workers_of(pool).map(lambda _: Big(), range(20)):
            found.append(weakref.ref(result))
            del result
            time.sleep(0.001)
        assert [each() for each in found] == [None] * 20
        # negative control: the futures that a list of them would keep
        kept = [pool.submit(Big) for _ in range(3)]
        seen = [weakref.ref(each.result()) for each in kept]
        assert None not in [each() for each in seen]


def test_what_nobody_waits_for_is_cancelled():
    begun, first = [], threading.Event()

    def work(each):
        begun.append(each)
        first.wait(1.0)
        return each

    with ThreadPoolExecutor(1) as pool:
        mapped = workers_of(pool).map(work, range(50))
        first.set()
        next(mapped)
        first.clear()
        mapped.close()
        first.set()
    assert len(begun) < 50


@pytest.mark.parametrize("returns", ["list", "generator", "generator_unordered"])
def test_joblib(returns):
    joblib = pytest.importorskip("joblib")
    parallel = joblib.Parallel(2, backend="threading", return_as=returns)
    assert sorted(workers_of(parallel).map(abs, [-1, 2, -3])) == [1, 2, 3]
