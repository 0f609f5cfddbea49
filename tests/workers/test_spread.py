"""A map that is spread over workers: the same parts, whatever the client does with them."""

from concurrent.futures.process import BrokenProcessPool

import pytest

from riemdp import InvalidParameterError, WorkersFailedError
from riemdp.workers import _clients
from riemdp.workers._clients import Workers, client_of
from riemdp.workers._spread import Spread, batches, check_alike
from riemdp.workers._work import Done, setting


def backwards(function, arguments):
    return [function(each) for each in reversed(arguments)]


@pytest.mark.parametrize("tasks", [1, 3, 10, 40])
@pytest.mark.parametrize("client", [map, backwards])
def test_every_part_comes_once(client, tasks):
    found = list(Spread(client, tasks)(abs, iter(range(-10, 0))))
    assert sorted(found) == list(range(1, 11))


@pytest.mark.parametrize("number", [0, 1, 2, 7, 40, 41, 100])
def test_batches_are_of_nearly_equal_length_and_hold_every_part_once(number):
    found = batches(tuple(range(number)), 40)
    assert [part for batch in found for part in batch] == list(range(number))
    assert len(found) == min(number, 40)
    lengths = {len(batch) for batch in found}
    assert max(lengths, default=0) - min(lengths, default=0) <= 1


@pytest.mark.parametrize("tasks", [0, -1, 1.5, "many", True])
def test_the_number_of_tasks_is_one(tasks):
    with pytest.raises(InvalidParameterError, match="tasks"):
        Spread(map, tasks)


def breaking(function, arguments):
    yield function(arguments[0])
    raise BrokenProcessPool("a worker died over 0.123")


def refusing(function, arguments):
    raise OSError("no route to 0.123")


@pytest.mark.parametrize("client", [breaking, refusing])
def test_lost_workers_are_one_error_without_the_text_of_the_other(client):
    with pytest.raises(WorkersFailedError, match="charged stays charged") as failure:
        list(Spread(client)(abs, range(5)))
    assert "0.123" not in str(failure.value)
    assert failure.value.__context__ is None


def test_an_interrupt_gets_through():
    def interrupted(function, arguments):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Spread(interrupted)(abs, range(5)))


def test_something_else_in_place_of_results_is_refused():
    with pytest.raises(InvalidParameterError, match="what the function returns"):
        list(Spread(lambda function, arguments: [1, 2])(abs, range(5)))


class Failed:
    failure = "row 7"


def test_a_failure_ends_all_and_nothing_is_kept_for_the_error():
    state = []

    def client(function, arguments):
        try:
            yield from map(function, arguments)
        finally:
            state.append("ended")

    found = list(Spread(client)({2: Failed}.get, range(5)))
    assert found == [None, None, Failed]
    assert state == ["ended"]

    def broken(function, arguments):
        yield from client(function, arguments[:2])
        raise OSError

    for each in (broken, lambda function, arguments: client(str, arguments)):
        del state[:]
        with pytest.raises((WorkersFailedError, InvalidParameterError)) as kept:
            list(Spread(each)(abs, range(5)))
        assert kept.value.__traceback__ is not None  # as a notebook keeps it
        assert state == ["ended"]


OTHER = setting() | {"numpy": "1.0"}


@pytest.mark.parametrize("name", sorted(setting()))
def test_workers_have_to_be_alike(name):
    check_alike([setting(), setting()])
    with pytest.raises(WorkersFailedError, match=f"differ in {name}: .*other"):
        check_alike([setting(), setting() | {name: "other"}])


def test_workers_need_the_version_of_the_driver_and_may_have_another_processor():
    check_alike([setting() | {"processor": "other"}])
    for other in (setting() | {"riemdp": "0.0"}, {}):
        with pytest.raises(WorkersFailedError, match="differ in riemdp"):
            check_alike([other])


def test_a_worker_that_comes_later_is_looked_at_too():
    def mixed(function, arguments):
        yield function(arguments[0])
        yield Done(function(arguments[1]).found, OTHER)

    with pytest.raises(WorkersFailedError, match="differ in numpy"):
        list(Spread(mixed)(abs, range(2)))


def test_workers_that_are_there_are_looked_at_before_anything_else(monkeypatch):
    monkeypatch.setattr(_clients, "_KNOWN", dict(_clients._KNOWN))

    class Cluster:
        settings = (setting(),)

    def of_cluster(client):
        return Workers(lambda function, arguments: [], lambda function: client.settings)

    client_of(f"{__name__}.{Cluster.__qualname__}")(of_cluster)
    Spread(Cluster())
    client = Cluster()
    client.settings = (setting(), OTHER)
    with pytest.raises(WorkersFailedError, match="differ in numpy"):
        Spread(client)
