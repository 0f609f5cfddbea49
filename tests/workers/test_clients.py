"""Clients are known by the names of their classes, and nothing is imported for that."""

import subprocess
import sys
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest

from riemdp import InvalidParameterError
from riemdp.workers import _clients
from riemdp.workers._clients import Workers, client_of, workers_of


class Own:
    def each(self, function, arguments):
        return [function(each) for each in arguments]


class Derived(Own):
    pass


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(_clients, "_KNOWN", dict(_clients._KNOWN))


def test_a_class_is_entered_by_its_name_and_counts_for_those_under_it(known):
    with pytest.raises(InvalidParameterError, match="got Own"):
        workers_of(Own())
    name = f"{Own.__module__}.{Own.__qualname__}"
    client_of(name)(lambda client: Workers(client.each))
    for client in (Own(), Derived()):
        assert workers_of(client).map(abs, [-1, 2]) == [1, 2]


def test_what_is_known():
    names = ["concurrent.futures._base.Executor", "distributed.client.Client"]
    assert sorted(_clients._KNOWN) == [*names, "joblib.parallel.Parallel"]
    assert f"{Executor.__module__}.{Executor.__qualname__}" in names
    with ThreadPoolExecutor(1) as pool:
        assert list(workers_of(pool).map(abs, [-1, 2])) == [1, 2]


def test_the_names_are_those_of_the_classes():
    distributed, joblib = pytest.importorskip("distributed"), pytest.importorskip("joblib")
    for kind in (distributed.Client, joblib.Parallel):
        assert f"{kind.__module__}.{kind.__qualname__}" in _clients._KNOWN


def test_a_function_is_its_own_map():
    assert workers_of(map).map is map
    assert list(workers_of(map).everywhere(int)) == []


@pytest.mark.parametrize(
    "client", [None, 3, "tcp://127.0.0.1:8786", [1.0, 2.0], ThreadPoolExecutor]
)
def test_anything_else_is_refused_without_a_word_about_it(client):
    with pytest.raises(InvalidParameterError, match=r"client must be a distributed\.Client"):
        workers_of(client)


def test_neither_dask_nor_joblib_is_imported():
    code = (
        "import sys, riemdp.workers as _; "
        "seen = lambda: sorted({'dask', 'distributed', 'joblib', 'sklearn'} & set(sys.modules)); "
        "before = seen(); import joblib; print(before, seen())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] ['joblib']\n"
