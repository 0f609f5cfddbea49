"""Releases of what needs no ball: unit vectors, anywhere on their sphere."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import plain_array
from riemdp._errors import (
    InvalidParameterError,
    NotOnManifoldError,
    RiemdpError,
    UnsupportedError,
)
from riemdp.kernel import in_tiles, rows_for
from riemdp.release._own_directions import own_directions
from riemdp.release._relation import check_listed, list_of_people, number_of_people
from riemdp.release._run import run
from riemdp.release._streams import chunks_of, is_stream
from riemdp.release._unopened import check_shapes, public_size
from riemdp.spaces import Ball, Sphere
from riemdp.statistics import Records, as_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.privacy import Budget
    from riemdp.release._options import Options
    from riemdp.release._own_directions import Own
    from riemdp.release._release import Release
    from riemdp.spaces import FloatArray
    from riemdp.statistics import Neighbours, Statistic


def released_on_sphere(
    statistic: Statistic,
    points: Any,
    budget: Budget,
    options: Options,
    *,
    read: Callable[[Any], FloatArray],
    own: Own,
    label: str,
    width: int | None = None,
) -> Release:
    """Release a statistic of unit vectors; see :func:`riemdp.private_statistic`.

    ``read`` returns a unit vector for each of several records, which are as users have them, and
    ``own`` that of one person, of those of all own records. ``width`` is the number of entries of
    a vector, where every record has as many.
    """
    users, n = options.users, options.n
    has_users = users is not None
    related = options.relation(budget, has_users=has_users)
    if related.adds:
        raise UnsupportedError(
            "a person counts with one direction, axis, rotation or shape: leave out contribution"
        )
    if is_stream(points, related):
        chunks: Any = chunks_of(points, n if related.size_is_public else None)
        made = functools.partial(_read_twice, chunks.read, read) if chunks.read else read
        records = Records(replace(chunks, read=made), users=users)
        width = width or _width_of(chunks.shape, made)
    else:

        @functools.cache
        def opened() -> tuple[FloatArray, Any]:
            return _rows(points, read, own, related, options)

        late: Any = (lambda: opened()[0], lambda: opened()[1])
        records = Records(late[0], users=None if users is None else late[1])
        if options.accountant is None:  # whoever calls holds the data
            width = opened()[0].shape[1]
        width = width or _width(points, read)
        check_shapes(Records(points, users=users), None, None if has_users else n)
        if not has_users:
            n = public_size(as_records(points), related, n)
    ball = Ball.whole(Sphere(width - 1))
    averaged = has_users and "users" in related.takes
    chosen = replace(
        options,
        adjacency=related,
        users=None,
        contribution=1,
        people=None if options.people is None else number_of_people(options.people),
        n=n,
        averaged=averaged,
    )
    return run(lambda *_: statistic, records, ball, budget, chosen, label=label)


def _read_twice(
    own: Callable[[Any], Any], read: Callable[[Any], FloatArray], points: Any
) -> FloatArray:
    """Make rows of what the function of the chunks makes of points."""
    return read(own(points))


def _width(points: Any, read: Callable[[Any], FloatArray]) -> int:
    """Return how many entries a row will have, from the shape of all alone."""
    shape = getattr(points, "shape", None)
    if not isinstance(shape, tuple) or len(shape) < 2:
        raise InvalidParameterError(
            "only the shape of the data is looked at before an account is charged: give a NumPy "
            "array"
        )
    any_ = np.random.default_rng(0).normal(size=(1, *shape[1:]))
    is_complex = len(shape) == 2 and np.iscomplexobj(points)
    return int(read(any_ + 1j if is_complex else any_).shape[1])


def _width_of(shape: tuple[int, ...] | None, read: Callable[[Any], FloatArray]) -> int:
    """Return how many entries a row of chunks will have, from their public shape."""
    if shape is None:
        raise InvalidParameterError(
            "chunks are not opened to see how large the space is: say the public shape of a "
            "point, Chunks(parts, n=..., shape=...)"
        )
    any_ = np.random.default_rng(0).normal(size=(1, *shape))
    try:
        return int(read(any_).shape[1])
    except RiemdpError:
        return int(read(any_ + 1j).shape[1])  # landmarks in the plane


def _rows(
    points: Any,
    read: Callable[[Any], FloatArray],
    own: Own,
    related: Neighbours,
    options: Options,
) -> tuple[FloatArray, Any]:
    """Return a row for each record, or for each person, and whose they are."""
    given = plain_array(points, "points", error=NotOnManifoldError)
    if not related.keeps_places and given is not None and given.ndim > 0:
        read(given[:1])  # what has another shape is refused without a word of how many there are
    rows = read(points)
    if given is not None and len(rows):  # the same, but each by itself
        rows, _ = in_tiles(read, [given], [given[0]], rows_for(given.shape[1:]))
    users, listed = options.users, list_of_people(options.people)
    if users is None or "users" not in related.takes:
        return rows, users
    ball = Ball.whole(Sphere(rows.shape[1] - 1))
    records = Records(rows, users=users).validated(ball.manifold, tells_number=False)
    found, ids = np.asarray(records.points), np.asarray(records.users)
    if listed is not None:
        check_listed(ids, listed)
    rows = own_directions(found, ids, own, ball.center)
    return rows, list(range(len(rows)))
