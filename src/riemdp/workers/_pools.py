"""Pools of processes or threads on one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp.workers._clients import Workers, client_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@client_of("concurrent.futures._base.Executor")
def of_executor(executor: Any) -> Workers:
    """Map with an executor, of the standard library or another one."""
    return Workers(executor.map)


@client_of("joblib.parallel.Parallel")
def of_joblib(parallel: Any) -> Workers:
    """Map with joblib, of any backend; its ``return_as`` does not matter."""

    def mapped(function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterable[Any]:
        from joblib import delayed

        found: Iterable[Any] = parallel(delayed(function)(each) for each in arguments)
        return found

    return Workers(mapped)
