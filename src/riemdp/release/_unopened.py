"""Records that are not opened yet, and what may be known of them before."""

from __future__ import annotations

import contextlib
import functools
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, real_array
from riemdp._combinations import LABELS_WEIGH, PEOPLE_WEIGH, STATED_IS_PRIVATE, USERS_OF_RECORDS
from riemdp._discreet import discreetly
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedError
from riemdp._zarr_arrays import is_zarr, whole
from riemdp.release._options import check_listed
from riemdp.statistics import (
    Prepared,
    Records,
    ReplaceOne,
    as_records,
    averages_rows,
    check_extras,
    check_rows,
    check_shape_of_rows,
    owners_of,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from riemdp.release._offer import Offer
    from riemdp.release._options import Person
    from riemdp.spaces import Ball, Manifold
    from riemdp.statistics import Neighbours, Statistic, Summaries


#: What neither is a record nor holds any; a list of nothing else is known as one of paths is.
_NO_RECORDS = (str, bytes, bytearray, os.PathLike, dict)


class Source(ABC):
    """Where the records of a release come from; they are read after the charge."""

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
        """Return what queries are answered from, valid, or made so when it is read."""

    @abstractmethod
    def opened(self, made: Offer) -> Records | None:
        """Read everything, and return what the statistic sees; None where it is never together."""


@dataclass(frozen=True, eq=False, repr=False)
class Unopened(Source):
    """Records that are checked when they are first read, and then kept.

    As they were given, or with functions that open them. Their points are on the manifold, and the
    public ball is that of the units. ``averaged`` records are one of each person already, and
    ``listed`` are the ids of all people there are, where that is public.
    """

    records: Records
    manifold: Manifold
    ball: Ball
    neighbours: Neighbours
    averaged: bool = field(default=False, kw_only=True)
    listed: frozenset[Person] | None = field(default=None, kw_only=True)

    @property
    def _of_people(self) -> bool:
        return "users" in self.neighbours.takes

    @functools.cached_property
    def _valid(self) -> Records:
        tells = self.neighbours.size_is_public and not self._of_people
        valid = opened(self.records).validated(self.manifold, tells_number=tells)
        may_be_none = self._of_people or not self.neighbours.size_is_public
        check = check_shape_of_rows if may_be_none else check_rows
        check(np.asarray(valid.points), self.manifold)
        if self.listed is not None:
            check_listed(np.asarray(valid.users), self.listed)
        return valid

    @functools.cached_property
    def _alone(self) -> Records:
        """The records without what the relation takes."""
        return without(self._valid, self.neighbours.takes)

    @functools.cached_property
    def _units(self) -> Records:
        """What the statistic sees of them."""
        if self._valid.users is not None and not self._of_people:
            raise InvalidParameterError(f"{self.neighbours.name}: {USERS_OF_RECORDS}")
        return without(self.neighbours.units(self.ball, self._valid), self.neighbours.takes)

    @functools.cached_property
    def _owners(self) -> NDArray[np.intp]:
        return owners_of(np.asarray(self._valid.users))

    def _has_owners(self, statistic: Statistic) -> bool:
        """Whether it sees all records of each person, so that rows are averaged and not points."""
        return not self.averaged and averages_rows(self.neighbours, statistic)

    def size(self, n: int | None) -> int | None:
        """Return the shape's; see :meth:`Source.size`.

        People are not counted: they are as many as was stated.
        """
        return public_size(self.records, self.neighbours, n)

    def check(self, made: Offer) -> None:
        """Look at what is public alone; see :meth:`Source.check`."""
        if self._of_people and made.n is not None:
            made.statistic.absent()
        check_given(self.records, self.neighbours, made.statistic, self.manifold, made.n)
        check_places(self.records, made)

    def opened(self, made: Offer) -> Records:
        """Return them, as many as were stated; see :meth:`Source.opened`."""
        checked = made.statistic
        data = self._alone if self.averaged or self._has_owners(checked) else self._units
        self._absent(made, data)
        if made.n is not None and not self._of_people and len(data) != made.n:
            raise InvalidParameterError(
                f"n = {made.n} was given before they were opened, and there are {len(data)}"
            )
        # a statistic of another package may fail in ways that tell of the data
        discreetly(checked.name, lambda: checked.check_records(data))
        return data

    def _absent(self, made: Offer, data: Records) -> int:
        """Return how many of a public number of people have no record."""
        if made.n is None or not self._of_people:
            return 0
        several = self._has_owners(made.statistic)
        found = len(np.unique(self._owners)) if several else len(data)
        if found > made.n:
            raise InvalidParameterError(
                f"there are more people among the records than people = {made.n}"
            )
        return made.n - found

    def seen(self, made: Offer) -> Records | Summaries:
        """Return all of them; see :meth:`Source.seen`."""
        data = self.opened(made)
        if absent := self._absent(made, data):
            data = with_absent(data, absent, self.ball, made.statistic.absent())
        if not self._has_owners(made.statistic):
            return data
        others = len(self._owners) + np.arange(absent)
        return Prepared(made.ball, data, np.append(self._owners, others))


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
        late["points"] = whole(points, "the array of points")
    return replace(records, **late) if late else records


def public_size(records: Records, neighbours: Neighbours, n: object) -> int | None:
    """Return how many records there are, without a look at any; None where that is private.

    If the caller does not say, the shape of an array is read, or the length of a list. What holds
    no records, such as the name of a file, is refused.
    """
    points: Any = records.points
    parts = points if isinstance(points, (list, tuple)) and points else [points]
    if all(one is None or isinstance(one, _NO_RECORDS) for one in parts):
        real_array(points, "points", error=NotOnManifoldError)
    if not neighbours.size_is_public:
        if n is not None:
            raise InvalidParameterError(
                f"{STATED_IS_PRIVATE.why} under {neighbours.title}: leave out n"
            )
        return None
    if n is not None:
        return count(n, "n")
    if "users" in neighbours.takes:
        raise InvalidParameterError(
            "people are not counted: state their number, where it is public, as people=..."
        )
    found = next(iter(shape_of(points) or ()), None)
    if found == 0:
        raise NotOnManifoldError("the data are empty: there has to be at least one row")
    if found is None:
        raise InvalidParameterError(
            "points are an array or a list, whose length is public, or a function that returns "
            "them after the charge: then give the public number of records, n=..."
        )
    return count(found, "n")


def number_of(records: Records, n: object) -> int:
    """Return how many records there are where one is replaced; see :func:`public_size`."""
    size = public_size(records, ReplaceOne(), n)
    assert size is not None  # which is public here
    return size


def check_given(
    records: Records,
    neighbours: Neighbours,
    statistic: Statistic,
    manifold: Manifold | None,
    n: int | None,
) -> None:
    """Refuse by names, shapes and lengths what a statistic cannot be computed of.

    No entry of an array is looked at, and nothing is opened. ``manifold`` is None where points are
    still to be made of what is there, ``n`` where the number of records is not public.
    """
    extras = set(records.extras)
    if "users" in extras - set(neighbours.takes):
        raise InvalidParameterError(f"{neighbours.name}: {USERS_OF_RECORDS}")
    if missing := set(neighbours.takes) - extras:
        raise InvalidParameterError(
            f"{neighbours.name} takes {' and '.join(sorted(missing))} too, one for each record"
        )
    seen = (extras - set(neighbours.takes)) | set(neighbours.adds)
    named: dict[str, Any] = dict.fromkeys(sorted(seen), ())
    check_extras(Records((), **named), statistic.takes, statistic.name)
    if {"users", "weights"} <= extras:
        raise InvalidParameterError(str(PEOPLE_WEIGH))
    check_several_labels(neighbours, statistic)
    check_shapes(records, manifold, None if "users" in neighbours.takes else n)


def check_several_labels(neighbours: Neighbours, statistic: Statistic) -> None:
    """Refuse a statistic of points for people who may have several labels or covariates."""
    several = {"labels", "covariates"} & set(statistic.takes)
    if "users" in neighbours.takes and statistic.of == "points" and several:
        if "weights" in statistic.takes:
            raise UnsupportedError(str(LABELS_WEIGH))
        raise UnsupportedError(
            f"a person may have several {' and '.join(sorted(several))}, and the {statistic.title} "
            'sees a point of each: say of = "rows" in its class, if it adds integer rows'
        )


def check_shapes(records: Records, manifold: Manifold | None, n: int | None) -> None:
    """Refuse arrays of another shape or length; see :func:`check_given`.

    Of what type they are may be up to one record: a missing label makes numbers of integers, and
    a row of another length makes objects of rows.
    """
    points, shape = records.points, shape_of(records.points)
    kind = getattr(points, "dtype", None)
    is_array = hasattr(points, "shape") and not getattr(kind, "hasobject", False)
    if shape is not None and manifold is not None and is_array:
        _check_points(shape, manifold)
    if shape:
        check_number(n, shape[0])
    rows = shape[0] if shape else n
    for name in (*records.extras, "ids"):
        found = shape_of(getattr(records, name))
        rows = found[0] if rows is None and found else rows
        if found not in (None, (rows,)):
            raise InvalidParameterError(
                f"{name} must be one for each point, a sequence of that length"
            )


def shape_of(values: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, of a list its length; None of what is not opened yet."""
    if callable(values):
        return None
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple):
        return shape
    return (len(values),) if hasattr(values, "__len__") else None


def _check_points(shape: tuple[int, ...], manifold: Manifold) -> None:
    """Refuse points of another shape, in words that do not say how many there are."""
    wanted = manifold.point_shape
    if shape[1:] == wanted:
        return
    some = shape if shape == wanted else (2 if wanted == (1,) else 1, *shape[1:])
    alike = np.full(some, max(1, some[-1]) ** -0.5)  # of norm 1, as what is read otherwise may be
    if alike.shape[alike.ndim - len(wanted) :] == wanted:
        check_shape_of_rows(alike, manifold)
    try:
        manifold.validate(alike)
    except NotOnManifoldError:
        with contextlib.suppress(NotOnManifoldError):  # planar landmarks are complex numbers
            manifold.validate(alike * 1j ** np.arange(some[-1]))
            return
        raise


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


def with_absent(data: Records, absent: int, ball: Ball, extras: Mapping[str, object]) -> Records:
    """Return records, and after them so many public ones, of people who have none.

    That is the centre, with ``extras`` of :meth:`riemdp.statistics.Statistic.absent`.
    """
    points = [np.asarray(data.points), np.broadcast_to(ball.center, (absent, *ball.center.shape))]
    beside: dict[str, Any] = {
        name: np.append(np.asarray(getattr(data, name)), np.full(absent, extras[name]))
        for name in data.extras
    }
    return replace(data, points=np.concatenate(points), **beside)


def check_number(n: Any, found: int) -> None:
    """Refuse a number of records that the caller says and that is not the one that was found."""
    if n is not None and (said := count(n, "n")) != found:
        raise InvalidParameterError(f"n = {said} was given, and there are {found}")
