"""Records that are not opened yet, and what may be known of them before."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, real_entries
from riemdp._discreet import discreetly
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedError
from riemdp.release._rows_of_zarr import RowsOfZarr, is_zarr
from riemdp.statistics import (
    Records,
    ReplaceOne,
    as_records,
    check_extras,
    check_rows,
    check_shape_of_rows,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.manifolds import Ball, FloatArray, Manifold
    from riemdp.release._offer import Offer
    from riemdp.statistics import Neighbours, Statistic, Summaries


class Source(ABC):
    """Where the records of a release come from.

    With ``late`` they are read after the charge, so that every failure from then on is one error.
    """

    late: bool

    @abstractmethod
    def size(self, n: int | None) -> int | None:
        """Return how many records there are, where that is public; as many as the caller says.

        ``InvalidParameterError`` if the number is private and given, or public and not known, or
        another one.
        """

    @abstractmethod
    def check(self, made: Offer) -> None:
        """Refuse, before the charge, what the statistic of an offer cannot be computed of."""

    @abstractmethod
    def seen(self, made: Offer) -> Records | Summaries:
        """Return what questions are answered from, valid; after the charge, if that comes first."""

    def opened(self, made: Offer) -> Records:
        """Return what the statistic sees, valid and all together.

        By default ``UnsupportedError``: they are never together.
        """
        raise UnsupportedError(f"records for the {made.statistic.name} come in chunks")


@dataclass(frozen=True, eq=False, repr=False)
class Unopened(Source):
    """Records that are checked when they are first read, and then kept.

    As they were given, or with functions that open them. Their points are on the manifold, and the
    public ball is that of the units.
    """

    records: Records
    manifold: Manifold
    ball: Ball
    neighbours: Neighbours
    late: bool = field(kw_only=True)

    def read(self) -> Records:
        """Return what the statistic sees, valid."""
        return self._data

    @functools.cached_property
    def _data(self) -> Records:
        one_by_one = not self.neighbours.keeps_places
        valid = opened(self.records).validated(self.manifold, one_by_one=one_by_one)
        check = check_rows if self.neighbours.size_is_public else check_shape_of_rows
        check(np.asarray(valid.points), self.manifold)
        return units_of(self.neighbours, self.ball, valid)

    def size(self, n: int | None) -> int | None:
        """Return the shape's, or that of checked records; see :meth:`Source.size`."""
        if self.late:
            return public_size(self.records, self.neighbours, n)
        return size_of(self.read(), self.neighbours, n)

    def check(self, made: Offer) -> None:
        """Look at what is public alone, or at records; see :meth:`Source.check`."""
        checked = made.statistic  # of another package it may fail in ways that tell of the data
        if self.late:
            check_given(self.records, self.neighbours, checked, self.manifold, made.n)
            check_places(self.records, made)
        else:
            discreetly(checked.name, lambda: checked.check_records(self.read()))

    def opened(self, made: Offer) -> Records:
        """Return them, once as many as were stated; see :meth:`Source.opened`."""
        data = self.read()
        if self.late:
            if made.n is not None and len(data) != made.n:
                raise InvalidParameterError(
                    f"n = {made.n} was given before they were opened, and there are {len(data)}"
                )
            checked = made.statistic
            discreetly(checked.name, lambda: checked.check_records(data))
        return data

    def seen(self, made: Offer) -> Records:
        """Return all of them; see :meth:`Source.seen`."""
        return self.opened(made)


def opened(records: Records) -> Records:
    """Return records whose parts are at hand: what is a function without arguments is called.

    An array of Zarr is read, too.
    """
    given = {each.name: getattr(records, each.name) for each in fields(records)}
    late: dict[str, Any] = {name: value() for name, value in given.items() if callable(value)}
    if isinstance(late.get("points"), Records):
        found = as_records(late.pop("points"))
        if twice := [name for name in found.extras if given[name] is not None]:
            raise InvalidParameterError(f"give {' and '.join(twice)} once")
        late = {name: getattr(found, name) for name in ("points", *found.extras)} | late
    if is_zarr(points := late.get("points", given["points"])):
        late["points"] = RowsOfZarr(points, 0, points.shape[0])()
    return replace(records, **late) if late else records


def public_size(records: Records, neighbours: Neighbours, n: object) -> int | None:
    """Return how many records there are, without a look at any; None where that is private.

    If the caller does not say, the shape of an array is read, or the length of a list.
    """
    if not neighbours.size_is_public:
        if n is not None:
            raise InvalidParameterError(
                f"the number of records is private under {neighbours.title}: leave out n"
            )
        return None
    if n is not None:
        return count(n, "n")
    people = "users" in neighbours.takes
    shape = getattr(records.points, "shape", None)
    if people or callable(records.points):
        found = None
    elif isinstance(shape, tuple):
        found = shape[0] if shape else None
    else:
        found = len(records.points) if isinstance(records.points, (list, tuple)) else None
    if found is None:
        what = "people, which nobody counts" if people else "records, which nobody opens"
        raise InvalidParameterError(
            f"the account is charged first, so give the public number of {what} before: n=...; or "
            'charge="checked", which checks the data before it charges'
        )
    return count(found, "n")


def size_and_rows(
    records: Records, read: Callable[[int | None], FloatArray], n: int | None, *, late: bool
) -> tuple[int, Callable[[], FloatArray]]:
    """Return how many records there are, a public number, and what returns their valid points.

    These are read at once, unless ``late``: then only when they are asked for. ``read`` takes the
    number that there has to be.
    """
    if late:
        size = public_size(records, ReplaceOne(), n)
        assert size is not None  # which is public here
        return size, functools.partial(read, size)
    rows = read(n)
    return len(rows), lambda: rows


def check_given(
    records: Records,
    neighbours: Neighbours,
    statistic: Statistic,
    manifold: Manifold | None,
    n: int | None,
) -> None:
    """Refuse by names, shapes and types what a statistic cannot be computed of.

    No entry of an array is looked at, and nothing is opened. ``manifold`` is None where points are
    still to be made of what is there, ``n`` where the number of records is not public.
    """
    extras = set(records.extras)
    if missing := set(neighbours.takes) - extras:
        raise InvalidParameterError(
            f"{neighbours.name} takes {' and '.join(sorted(missing))} too, one for each record"
        )
    seen = (extras - set(neighbours.takes)) | set(neighbours.adds)
    named: dict[str, Any] = dict.fromkeys(sorted(seen), ())
    check_extras(Records((), **named), statistic.takes, statistic.name)
    check_shapes(records, manifold, None if "users" in neighbours.takes else n)


def check_shapes(records: Records, manifold: Manifold | None, n: int | None) -> None:
    """Refuse arrays of another shape, length or type; see :func:`check_given`."""
    given = {name: getattr(records, name) for name in (*records.extras, "ids")}
    points, shape = records.points, shape_of(records.points)
    if shape is not None and manifold is not None and not isinstance(points, (list, tuple)):
        _check_points(points, shape, manifold)
    if shape:
        check_number(n, shape[0])
    rows = shape[0] if shape else n
    shapes = {name: found for name in given if (found := shape_of(given[name])) is not None}
    for name, found in shapes.items():
        rows = found[0] if rows is None and found else rows
        if found != (rows,):
            raise InvalidParameterError(
                f"{name} must be one for each point, a sequence of that length"
            )
    if rows:
        arrays = {name: each for name, each in given.items() if isinstance(each, np.ndarray)}
        alike = {name: np.zeros_like(each[:1]) for name, each in arrays.items()}
        Records((), **alike).checked_beside(1)


def shape_of(values: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, of a list its length; None of what is not opened yet."""
    if isinstance(values, (list, tuple, range)):
        return (len(values),)
    shape = None if callable(values) else getattr(values, "shape", None)
    return shape if isinstance(shape, tuple) else None


def _check_points(points: Any, shape: tuple[int, ...], manifold: Manifold) -> None:
    """Refuse points of another shape or type, in words that do not say how many there are."""
    if isinstance(points, np.ndarray):
        one = np.zeros_like(points[:1] if shape else points)
        real_entries(one, "points", error=NotOnManifoldError)
    wanted = manifold.point_shape
    if shape[1:] == wanted:
        return
    alike = np.zeros(shape if shape == wanted else (1, *shape[1:]))
    if alike.shape[alike.ndim - len(wanted) :] == wanted:
        check_shape_of_rows(alike, manifold)
    manifold.validate(alike)


def check_places(records: Records, made: Offer) -> None:
    """Check what is public and belongs to places, where it is at hand, without the points."""
    statistic, public = made.statistic, made.statistic.by_place
    given: dict[str, Any] = {name: getattr(records, name) for name in public}
    at_hand = all(values is not None and not callable(values) for values in given.values())
    if not public or not at_hand or made.n is None or made.neighbours.takes:
        return
    center, n = made.ball.center, made.n
    some = Records(np.broadcast_to(center, (n, *center.shape)), **given)
    discreetly(statistic.name, lambda: statistic.check_records(some.checked_beside(n)))


def units_of(neighbours: Neighbours, ball: Ball, records: Records) -> Records:
    """Return what the statistic sees of records, after a check of what belongs to them."""
    if "users" in records.extras and "users" not in neighbours.takes:
        raise InvalidParameterError(
            f"whose record each is does not count under {neighbours.name}; leave users out, or ask "
            "for a guarantee about people"
        )
    found = neighbours.units(ball, records)
    return without(found, neighbours.takes)


def size_of(data: Records, neighbours: Neighbours, n: object) -> int | None:
    """Return how many valid records there are, where that is public; as many as the caller says."""
    if not neighbours.size_is_public:
        return public_size(data, neighbours, n)
    check_number(n, len(data))
    return len(data)


def check_number(n: Any, found: int) -> None:
    """Refuse a number of records that the caller says and that is not the one that was found."""
    if n is not None and (said := count(n, "n")) != found:
        raise InvalidParameterError(f"n = {said} was given, and there are {found}")
