"""Executors and joblib hand back what a function returns."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from riemdp.workers._clients import workers_of


def test_threads():
    with ThreadPoolExecutor(2) as pool:
        assert list(workers_of(pool).map(abs, [-1, 2, -3])) == [1, 2, 3]


def test_processes():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(workers_of(pool).map(abs, [-1, 2, -3])) == [1, 2, 3]


@pytest.mark.parametrize("returns", ["list", "generator", "generator_unordered"])
def test_joblib(returns):
    joblib = pytest.importorskip("joblib")
    parallel = joblib.Parallel(2, backend="threading", return_as=returns)
    assert sorted(workers_of(parallel).map(abs, [-1, 2, -3])) == [1, 2, 3]
