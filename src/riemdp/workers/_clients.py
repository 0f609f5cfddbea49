"""Who does the work: the client of a cluster, a pool, or any function that maps another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError

#: Calls a function with each of some arguments, anywhere, and gives back what it returned.
Map: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Workers:
    """What a client's workers do.

    ``map`` takes a function and a sequence of arguments. ``everywhere`` takes a function without
    arguments, and gives back what it returns on each worker that is there now; by default nothing
    is known of any before they work.
    """

    map: Map
    everywhere: Callable[[Callable[[], Any]], Iterable[Any]] = lambda _: ()


#: What clients of a class can do, by its full name: none of them is imported here.
_KNOWN: dict[str, Callable[[Any], Workers]] = {}


def client_of(name: str) -> Callable[[Callable[[Any], Workers]], Callable[[Any], Workers]]:
    """Enter what clients of a class, by its module and name, and of its subclasses, can do."""

    def enter(make: Callable[[Any], Workers]) -> Callable[[Any], Workers]:
        _KNOWN[name] = make
        return make

    return enter


def _known(kind: type) -> Callable[[Any], Workers] | None:
    """Return what was entered of a class, or of one that it is made of."""
    names = (f"{each.__module__}.{each.__qualname__}" for each in kind.__mro__)
    return next((_KNOWN[name] for name in names if name in _KNOWN), None)


def workers_of(client: object) -> Workers:
    """Return what can be done with the workers of a client, or of a function that maps."""
    if (make := _known(type(client))) is not None:
        return make(client)
    is_class_of_one = isinstance(client, type) and _known(client) is not None  # such as Client
    if callable(client) and not is_class_of_one:
        return Workers(client)
    raise InvalidParameterError(
        "client must be a distributed.Client, a concurrent.futures.Executor, a joblib.Parallel or "
        f"a function like map, got {shown(client)}"
    )
