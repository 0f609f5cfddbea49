"""One point for each person, of all records of that person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp.statistics._data import Records
from riemdp.statistics._records import record_coordinates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball

    FloatArray = NDArray[np.float64]


def means_of_users(ball: Ball, records: Records) -> Records:
    r"""Average the records of each person in the tangent space at the centre, clipped to the ball.

    Each is a function of that person's records alone, bit by bit, in whatever order they come, and
    lies in the ball: how accurate it is does not matter to privacy. A single record stays what it
    is, but for clipping.

    Parameters
    ----------
    ball : Ball
        Public ball of the records.
    records : Records
        Validated, with users.

    Returns
    -------
    Records
        One for each person, without users. Covariates are averaged.

    Raises
    ------
    InvalidParameterError
        If there are no users, records of one have different labels, or records have weights.
    UnsupportedBallError
        If somebody has several records and the ball is a whole space, without a centre to average
        about.
    """
    if records.users is None:
        raise InvalidParameterError(
            "the guarantee is about people, so say whose record each is: users=..., one a record"
        )
    if records.weights is not None:
        raise InvalidParameterError(
            "every person counts once, so that records have no weights of their own; leave users "
            "out, or the weights"
        )
    rows = rows_of_users(np.asarray(records.users))
    if ball.is_whole and any(len(own) > 1 for own in rows):
        raise UnsupportedBallError(
            "a whole space has no centre about which the records of a person could be averaged; "
            "choose a ball, or give one record a person, made of all of that person's"
        )
    points = np.asarray(records.points)
    means = [_mean(ball, points, own) for own in rows]
    shape = (0, *ball.manifold.point_shape)
    found: dict[str, Any] = {"points": np.array(means) if means else np.empty(shape)}
    if records.labels is not None:
        labels = np.asarray(records.labels)
        found["labels"] = _shared(labels, rows)
    if records.covariates is not None:
        covariates = np.asarray(records.covariates)
        found["covariates"] = np.array([_average(covariates[own]) for own in rows])
    return Records(**found)


def rows_of_users(users: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the rows of each person.

    Parameters
    ----------
    users : ndarray of int and str, shape (n,)

    Returns
    -------
    list of ndarray
        One a person.
    """
    places: dict[Any, list[int]] = {}
    for row, user in enumerate(users.tolist()):
        places.setdefault((type(user), user), []).append(row)
    return [np.array(own, dtype=np.intp) for own in places.values()]


def _average(numbers: FloatArray) -> float:
    """Return the mean of finite numbers, however large: a number between the extremes."""
    half = math.fsum(0.5 * numbers / len(numbers))
    return float(min(max(2.0 * half, numbers.min()), numbers.max()))


def _mean(ball: Ball, points: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
    if len(rows) == 1:
        return np.asarray(ball.project(points[rows])[0])
    seen = [record_coordinates(ball, points[row][None])[0] for row in rows]
    clipped = [ball.shorten(each[None], 1.0)[0] for each in seen]
    mean = [math.fsum(column) / len(rows) for column in zip(*clipped, strict=True)]
    return np.asarray(ball.project(ball.point(np.array(mean))[None])[0])


def _shared(labels: NDArray[Any], rows: list[NDArray[np.intp]]) -> NDArray[np.object_]:
    found = np.empty(len(rows), dtype=object)
    for place, own in enumerate(rows):
        found[place] = labels[own[0]]
        for row in own[1:]:
            if labels[row] != labels[own[0]]:
                raise InvalidParameterError(
                    f"row {row}: it has another label than the other records of the same person, "
                    "who counts once; give every person one label"
                )
    return found
