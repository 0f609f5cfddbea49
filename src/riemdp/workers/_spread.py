"""A map over parts of the records, spread over the workers of a client."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from riemdp._checks import count
from riemdp._errors import InvalidParameterError, WorkersFailedError
from riemdp._progress import ticks
from riemdp.workers._clients import workers_of
from riemdp.workers._work import Done, Work, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from riemdp.workers._clients import Map
    from riemdp.workers._work import Setting

T = TypeVar("T")

#: Enough for some tens of workers, and few enough that handing them out costs next to nothing.
TASKS = 40
#: What holds whenever workers fail.
_AFTER = "nothing was released, and what was charged stays charged"


class Spread:
    """Calls a function with each part, in at most so many tasks, on a client's workers.

    If the workers that are there would not compute the same, it is a :class:`WorkersFailedError`.
    """

    #: What belongs to points may be sent with the parts only where it is public.
    public_only: ClassVar[bool] = True

    def __init__(self, client: object, tasks: int = TASKS) -> None:
        workers = workers_of(client)
        self._map: Map = workers.map
        self._tasks = count(tasks, "tasks")
        check_alike(_whole(lambda: list(workers.everywhere(setting))))

    def __call__(self, function: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
        """Yield what the function finds in each part, as it arrives, and keep nothing of it.

        It is what tasks return that counts, and each returns once, however often it was tried. A
        task that has failed ends them all. When this ends, raises or is closed, the workers keep no
        part and no result; memory that they worked in is not wiped.

        Function and parts go to the workers: both have to be fit for pickle. What the function
        returns may have an attribute ``failure``, which is not None where it has failed. Workers
        that are lost for good, or would not compute the same, are a :class:`WorkersFailedError`.
        """
        given = batches(tuple(parts), self._tasks)
        first: list[Setting] = []
        with contextlib.closing(_arriving(self._map, Work(function), given)) as arriving:
            for done in ticks(arriving, len(given), "tasks"):
                first = first or [done.setting]
                check_alike([*first, done.setting])
                yield from done.found
                if any(getattr(each, "failure", None) is not None for each in done.found):
                    break


def batches(parts: tuple[Any, ...], most: int) -> list[tuple[Any, ...]]:
    """Put parts together in order into at most so many batches, nearly equal and none empty."""
    size = min(most, len(parts))
    ends = [len(parts) * i // size for i in range(size + 1)] if size else []
    return [parts[start:stop] for start, stop in itertools.pairwise(ends)]


def check_alike(settings: Sequence[Setting]) -> None:
    """Refuse workers that may compute other bits of the same record.

    What becomes of a record would depend on the worker that it went to, then. All have to have this
    process's version of the library, too.
    """
    for name, mine in setting().items():
        found = {each.get(name, "unknown") for each in settings}
        found |= {mine} if name == "riemdp" else set()
        if len(found) > 1:
            raise WorkersFailedError(
                f"workers differ in {name}: {' and '.join(sorted(found))}. What becomes of a "
                f"record must not depend on where it is computed: take alike ones; {_AFTER}"
            )


def _arriving(mapped: Map, work: Work, given: list[tuple[Any, ...]]) -> Generator[Done, None, None]:
    """Return what workers did; work raises nothing, so errors are those of the workers."""
    results = iter(_whole(lambda: mapped(work, given)))
    try:
        while (done := _whole(lambda: next(results, None))) is not None:
            if not isinstance(done, Done):
                raise InvalidParameterError("client has to give back what the function returns")
            yield done
    finally:  # not when the last error is forgotten, which may hold on to it
        getattr(results, "close", lambda: None)()


def _whole(ask: Callable[[], T]) -> T:
    """Return what the workers are asked for; whatever goes wrong with them is one error."""
    try:
        return ask()
    except Exception as error:
        failure = type(error).__name__
    raise WorkersFailedError(
        f"the workers did not finish ({failure}); {_AFTER}. Their own log says more"
    )
