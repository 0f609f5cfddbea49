"""Records that are read a part at a time."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, kind_of, shown
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp.statistics._data import first_twice, labels_of

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from riemdp.statistics._data import Records

#: Points, records, or a function without arguments that returns either.
Part = Any
#: Calls a function with every task, and hands out what it returned, in any order.
Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class _Once:
    """An iterator that cannot be read twice: the second time it would seem to be empty."""

    def __init__(self, parts: Iterator[Part]) -> None:
        self._parts: Iterator[Part] | None = parts

    def check(self) -> None:
        """Refuse what was read, as far as that is seen without reading."""
        if getattr(self._parts, "gi_frame", self._parts) is None:  # a generator that has ended
            raise UnsupportedError(
                "these chunks can be read once, and were; give a function that returns a new "
                "iterator: Chunks(function, n=...)"
            )

    def __call__(self) -> Iterator[Part]:
        if self._parts is None:
            self.check()
        parts, self._parts = self._parts, None
        return parts  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Chunks:
    r"""Records that are read a part at a time, and need not fit in memory together.

    It goes where an array of points goes, for statistics that are sums over the records. One pass
    is made for each answer of the statistic: one for means, moments and the like, one a step for
    medians. Results are those of all records in one array, whatever the order and the parts.
    Fréchet means of some curved spaces, with public weights or without, take a public number of
    passes, and are within the same tolerance of the exact mean.

    Parameters
    ----------
    parts : sequence, callable or iterator
        Of parts; a function without arguments that returns an iterator over them, for several
        passes; or such an iterator, for one pass. A part is an array of points, shape
        ``(m, *point_shape)``, :class:`Records`, or a function without arguments that returns
        either when it is called, which may be in another process if it can be pickled.
    n : int, optional
        Public number of records. Records that do not come count as the centre of the ball, more
        of them are an error. By default that of ``sizes`` or ``manifest``. Without effect where
        records are added or removed, so that their number is private.
    sizes : int or sequence of int, optional
        Public number of records in every part but the last, or in each. Every part has to hold as
        many, and no record may be missing. Without it a record may be missing anywhere, so that
        ``read`` is called for each by itself.
    manifest : sequence of int or str, optional
        Public ids of all records that are to come; then each part has to say which it holds, as
        ``Records(points, ids=...)``, and another id is an error.
    shape : tuple of int, optional
        Public shape of a point as it is read, where nothing else says how large a space is: for
        :func:`riemdp.private_directional_summary` and :func:`riemdp.private_procrustes_mean`.
    read : callable, optional
        Makes points, shape ``(m, *point_shape)``, of the points that a part holds, each of its own
        row alone.
    by_person : bool, default False
        Whether every part says whose its records are, ``Records(points, users=...)``, and nobody
        has records in two parts: then the guarantee is about people, and each part makes one record
        of each person's. Somebody in two parts is an error. How many records there are is private
        then, so that ``n``, ``sizes`` and ``manifest`` are left out; a public number of people is
        ``people=...`` of the release.
    mapper : callable, optional
        ``mapper(function, tasks)`` calls the function with every task and returns an iterable of
        what it returned, in any order; :func:`map` by default. Results can be pickled, the
        function too where ``read`` can, and tasks where the parts can. No error gets out of the
        function.

    Raises
    ------
    InvalidParameterError
        If an argument is outside its domain, or they contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Chunks, Euclidean, GDP, private_mean
    >>> ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    >>> halves = (np.full((50, 2), x) for x in (-0.5, 0.5))
    >>> private_mean(Chunks(halves, n=100), ball, GDP(1.0)).n
    100
    """

    parts: Sequence[Part] | Callable[[], Iterable[Part]] | Iterator[Part] = field(repr=False)
    n: int | None = None
    sizes: int | Sequence[int] | None = field(default=None, repr=False)
    manifest: ArrayLike | None = field(default=None, repr=False)
    shape: tuple[int, ...] | None = None
    read: Callable[[Any], Any] | None = None
    by_person: bool = False
    mapper: Mapper = builtins.map

    def __post_init__(self) -> None:
        if not isinstance(self.by_person, bool):
            raise InvalidParameterError(
                f"by_person must be true or false, got {shown(self.by_person)}"
            )
        stated = [x for x in ("n", "sizes", "manifest") if getattr(self, x) is not None]
        if self.by_person and stated:
            raise InvalidParameterError(
                f"people may have any number of records, so leave out {' and '.join(stated)}; a "
                "public number of people is an argument of the release, people=..."
            )
        is_sequence = isinstance(self.parts, Sequence) and not isinstance(self.parts, (str, bytes))
        if isinstance(self.parts, Iterator):
            object.__setattr__(self, "parts", _Once(self.parts))
        elif not (is_sequence or callable(self.parts)):
            raise InvalidParameterError(
                "parts must be a sequence of chunks, an iterator over them, or a function that "
                f"returns one, got {kind_of(self.parts)}"
            )
        for name, given in (("mapper", self.mapper), ("read", self.read or map)):
            if not callable(given):
                raise InvalidParameterError(f"{name} must be callable, got {kind_of(given)}")
        if self.shape is not None:
            try:
                axes = tuple(self.shape)
            except TypeError:
                raise InvalidParameterError(
                    f"shape must be that of a point, such as (3, 3), got {kind_of(self.shape)}"
                ) from None
            shape = tuple(count(size, "a size in shape") for size in axes)
            object.__setattr__(self, "shape", shape)
        if self.n is not None:
            object.__setattr__(self, "n", count(self.n, "n"))
        if self.manifest is not None:
            ids = _ids_of(self.manifest)
            if (row := first_twice(ids)) is not None:
                raise InvalidParameterError(f"manifest: entry {row} is an earlier one once more")
            object.__setattr__(self, "manifest", ids)
            self._agree(len(ids), "the manifest has")
        if self.sizes is not None:
            object.__setattr__(self, "sizes", self._checked_sizes(is_sequence=is_sequence))

    def _checked_sizes(self, *, is_sequence: bool) -> int | tuple[int, ...]:
        sizes: Any = self.sizes
        if isinstance(sizes, np.ndarray):
            sizes = sizes.tolist()
        if not isinstance(sizes, Sequence):
            if self.n is None:
                raise InvalidParameterError("one size for all parts needs n too: n=...")
            return count(sizes, "sizes")
        whole = tuple(0 if size == 0 else count(size, "a size") for size in sizes)
        if is_sequence and len(whole) != len(self.parts):  # type: ignore[arg-type]
            raise InvalidParameterError(
                f"sizes must be one for each part, got {len(whole)} for {len(self.parts)}"  # type: ignore[arg-type]
            )
        self._agree(sum(whole), "the sizes add up to")
        return whole

    def _agree(self, number: int, what: str) -> None:
        if self.n is None:
            object.__setattr__(self, "n", count(number, "n"))
        elif self.n != number:
            raise InvalidParameterError(f"n = {shown(self.n)} was given, and {what} {number}")

    @property
    def rereadable(self) -> bool:
        """Whether more than one pass can be made."""
        return not isinstance(self.parts, _Once)

    @property
    def number(self) -> int | None:
        """How many parts there are, where that is public."""
        if isinstance(self.sizes, tuple):
            return len(self.sizes)
        if self.sizes is not None and self.n is not None:
            return -(-self.n // self.sizes)  # type: ignore[operator]
        return None

    def rows(self, number: int) -> tuple[int, int] | None:
        """Return where a part starts and ends among all records, if that is public.

        Parameters
        ----------
        number : int
            From 0.

        Returns
        -------
        tuple of (int, int), or None
            Of one part too many an empty range.
        """
        if self.sizes is None or self.n is None:
            return None
        if isinstance(self.sizes, tuple):
            last = len(self.sizes)
            return self._starts[min(number, last)], self._starts[min(number + 1, last)]
        size: Any = self.sizes
        return min(number * size, self.n), min((number + 1) * size, self.n)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        sizes: Any = self.sizes
        return (0, *itertools.accumulate(sizes))

    def tasks(self) -> Iterator[tuple[int, Part]]:
        """Open the stream, and yield its parts with their numbers.

        Raises
        ------
        UnsupportedError
            If it can be read once, and was.
        """
        parts: Any = self.parts
        return enumerate(parts() if callable(parts) else parts)

    def mapped(self, mapper: Mapper) -> Self:
        """Return the same with another mapper.

        Parameters
        ----------
        mapper : callable

        Returns
        -------
        Chunks
        """
        return replace(self, mapper=mapper)


def _ids_of(manifest: Any) -> NDArray[np.object_]:
    """Return ids of any collection, a set or an iterator too, as integers and texts."""
    is_text = isinstance(manifest, (str, bytes))
    if isinstance(manifest, Iterable) and not (is_text or hasattr(manifest, "dtype")):
        manifest = list(manifest)
    return labels_of(manifest, np.size(manifest), "manifest")


def opened_part(part: Part) -> ArrayLike | Records:
    """Return points or records, which a function is called for."""
    return part() if callable(part) else part  # type: ignore[no-any-return]
