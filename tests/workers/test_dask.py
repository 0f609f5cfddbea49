"""Dask's client: names of tasks, what is let go of, and what is cancelled; without a cluster."""

from concurrent.futures import Future

import pytest

from riemdp import InvalidParameterError
from riemdp.workers._dask import of_dask

distributed = pytest.importorskip("distributed")


class Told(Future):
    """A future that is done, and notes what becomes of it."""

    released = False

    def release(self):
        self.released = True


class Inline:
    """Does what the adapter asks of a client, at once."""

    asynchronous, loop, status = False, None, "running"

    def __init__(self):
        self.futures, self.cancelled = {}, []

    def map(self, function, arguments, key):
        for name, each in zip(key, arguments, strict=True):
            self.futures[name] = Told()
            self.futures[name].set_result(function(each))
        return list(self.futures.values())

    def cancel(self, futures):
        self.cancelled += futures

    def run(self, function):
        return {"one": function(), "other": function()}


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setattr(distributed, "as_completed", lambda futures, loop: iter(futures))
    return Inline()


def test_results_are_let_go_of_when_they_are_here(client):
    mapped = of_dask(client).map(abs, [-1, 2, -3])
    assert next(mapped) in {1, 2, 3}
    assert sum(future.released for future in client.futures.values()) == 1
    assert len(list(mapped)) == 2
    assert all(future.released for future in client.futures.values())
    assert client.cancelled == []


def test_what_is_not_wanted_any_more_is_cancelled(client):
    mapped = of_dask(client).map(abs, [-1, 2, -3])
    next(mapped)
    mapped.close()
    assert len(client.cancelled) == 2
    assert not any(future.released for future in client.cancelled)


def test_a_scheduler_that_is_lost_is_not_waited_for(client):
    mapped = of_dask(client).map(abs, [-1, 2, -3])
    next(mapped)
    client.status = "connecting"
    mapped.close()
    assert client.cancelled == []


def test_tasks_have_names_that_nobody_has_used(client):
    for _ in range(2):
        list(of_dask(client).map(abs, [-1, -1]))
    assert len(client.futures) == 4  # or a result of before would be taken
    assert all(name.startswith("riemdp-") for name in client.futures)


def test_every_worker_is_asked(client):
    assert of_dask(client).everywhere(int) == [0, 0]


def test_an_asynchronous_client_is_refused(client):
    client.asynchronous = True
    with pytest.raises(InvalidParameterError, match="asynchronous"):
        of_dask(client)
