"""Clusters of Dask."""

from __future__ import annotations

import secrets
from functools import partial
from operator import call
from typing import TYPE_CHECKING, Any

from riemdp._errors import InvalidParameterError
from riemdp.workers._clients import Workers, client_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@client_of("distributed.client.Client")
def of_dask(client: Any) -> Workers:
    """Map with a cluster: what a worker has not handed over when it dies is computed again.

    A task has a name that nobody else uses, so that no result of before is taken for it. Each is
    let go of as soon as it has arrived, and those that are not wanted any more are cancelled. An
    asynchronous client is refused.
    """
    if client.asynchronous:
        raise InvalidParameterError(
            "client must not be asynchronous, since a release waits for it: leave that out"
        )

    def mapped(function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        from distributed import as_completed

        run = secrets.token_hex(8)
        # wrapped, since Dask looks into tuples and lists for the names of tasks
        tasks = [partial(function, each) for each in arguments]
        keys = [f"riemdp-{run}-{i}" for i in range(len(tasks))]
        waiting = set(client.map(call, tasks, key=keys))
        arriving = as_completed(set(waiting), loop=client.loop)
        try:
            for future in arriving:
                found = future.result()
                waiting.discard(future)
                future.release()
                yield found
        finally:
            if waiting and client.status == "running":  # or it would wait for a lost scheduler
                client.cancel(list(waiting))

    def everywhere(function: Callable[[], Any]) -> list[Any]:
        return list(client.run(function).values())

    return Workers(mapped, everywhere)
