"""Pools of processes or threads on one machine."""

from __future__ import annotations

from concurrent.futures import as_completed
from typing import TYPE_CHECKING, Any

from riemdp.workers._clients import Workers, client_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


@client_of("concurrent.futures._base.Executor")
def of_executor(executor: Any) -> Workers:
    """Map with an executor, of the standard library or another one.

    It yields results as they arrive and keeps none. Closing it cancels the rest.
    """

    def mapped(function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        waiting = {executor.submit(function, each) for each in arguments}
        try:
            for future in as_completed(waiting):
                waiting.discard(future)
                yield future.result()
                del future  # or the next one would be waited for with it at hand
        finally:
            for future in waiting:
                future.cancel()

    return Workers(mapped)


@client_of("joblib.parallel.Parallel")
def of_joblib(parallel: Any) -> Workers:
    """Map with joblib, of any backend; its ``return_as`` does not matter."""

    def mapped(function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterable[Any]:
        from joblib import delayed

        found: Iterable[Any] = parallel(delayed(function)(each) for each in arguments)
        return found

    return Workers(mapped)
