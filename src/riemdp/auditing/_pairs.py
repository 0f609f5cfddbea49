"""Neighbouring data sets and footpoints that are as far apart as their bounds allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import count, is_one_of, positive, real_array, shown
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import Ball, FloatArray, Manifold

    Pair = tuple[FloatArray, FloatArray]
    IntArray = NDArray[np.int64]

#: Relations under which one record differs, and under which one person does.
OF_RECORDS = ("replace-one", "add-remove")
_OF_USERS = ("replace-user", "add-remove-user")


def extreme_directions(manifold: Manifold, base: ArrayLike) -> FloatArray:
    """Return unit tangent directions at a point among which a bad one is expected.

    Parameters
    ----------
    manifold : Manifold
    base : array_like, shape (*point_shape,)

    Returns
    -------
    ndarray, shape (K, dim)
        Coordinates in the manifold's orthonormal basis at ``base``; see
        :meth:`riemdp.spaces.Manifold.extreme_directions`.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.auditing import extreme_directions
    >>> sphere = riemdp.Sphere(2)
    >>> extreme_directions(sphere, sphere.origin).shape
    (2, 2)
    """
    return manifold.extreme_directions(base)


def footpoint_pair(
    manifold: Manifold,
    distance: float,
    *,
    base: ArrayLike | None = None,
    direction: ArrayLike | None = None,
) -> Pair:
    """Two points at a distance, on either side of a base point.

    Parameters
    ----------
    manifold : Manifold
    distance : float
        Geodesic distance, positive and under the injectivity radius.
    base : array_like, shape (*point_shape,), optional
        Midpoint; the manifold's origin by default.
    direction : array_like, shape (dim,), optional
        Coordinates of the direction at ``base``; the first one by default.

    Returns
    -------
    tuple of ndarray, each of shape (*point_shape,)

    Raises
    ------
    InvalidParameterError
        If the distance or the direction is outside its domain.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.auditing import footpoint_pair
    >>> sphere = riemdp.Sphere(2)
    >>> a, b = footpoint_pair(sphere, 0.5)
    >>> round(float(sphere.dist(a, b)), 9)
    0.5
    """
    distance = positive(distance, "distance")
    if distance >= manifold.injectivity_radius:
        raise InvalidParameterError(
            f"distance must stay under the injectivity radius {manifold.injectivity_radius:.6g} "
            f"of {manifold}, got {distance:.6g}"
        )
    base = manifold.origin if base is None else manifold.validate(base)
    unit = _unit(manifold, direction)
    ends = np.stack([0.5 * distance * unit, -0.5 * distance * unit])
    first, second = manifold.exp(base, manifold.tangent_vector(base, ends))
    return first, second


def neighbouring_datasets(
    ball: Ball,
    n: int,
    *,
    row: int = 0,
    direction: ArrayLike | None = None,
    adjacency: str = "replace-one",
) -> Pair:
    """Neighbours in a ball whose means are as far apart as the sensitivity allows, or nearly.

    One record moves from one end of a diameter to the other. Where the curvature is not positive
    the others lie at the centre, and both means move by exactly 2r/n. On spheres of dimension two
    and more the others lie at both ends of a diameter across, and the Fréchet mean moves by
    2 tan(kr)/(kn) up to a relative error that vanishes with n.

    Under add-remove the record at the boundary is in one data set and not in the other: sums of
    normal coordinates, and of what grows with them, move the most there.

    Parameters
    ----------
    ball : Ball
    n : int
        Number of records of the larger data set, at least 1.
    row : int, default 0
        The record that is replaced, or removed; programs that treat the first or the last row in
        their own way are caught there.
    direction : array_like, shape (dim,), optional
        Direction of the diameter, in coordinates at the centre.
    adjacency : {"replace-one", "add-remove"}
        For neighbours that differ in a person see :func:`neighbouring_users`.

    Returns
    -------
    tuple of ndarray, each of shape (n, *point_shape)
        Under add-remove the second one has n - 1 records.

    Raises
    ------
    InvalidParameterError
        If ``n``, ``row``, ``direction`` or ``adjacency`` is outside its domain.

    References
    ----------
    docs/proofs/frechet-mean-sensitivity.md

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.auditing import neighbouring_datasets
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> a, b = neighbouring_datasets(ball, 50)
    >>> a.shape, int((a != b).any(axis=-1).sum())
    ((50, 3), 1)
    """
    check_adjacency(adjacency, OF_RECORDS)
    n = count(n, "n, the number of records,")
    if not 0 <= row < n:
        raise InvalidParameterError(f"row must lie between 0 and {n - 1}, got {row}")
    manifold = ball.manifold
    unit = _unit(manifold, direction)
    coordinates = np.zeros((n, manifold.dim))
    if manifold.curvature_bound > 0.0 and manifold.dim >= 2:
        across = np.eye(manifold.dim)[np.argmin(np.abs(unit))]
        across = across - (across @ unit) * unit
        across = across / np.linalg.norm(across)
        others = np.flatnonzero(np.arange(n) != row)
        half = len(others) // 2
        coordinates[others[:half]] = ball.radius * across
        coordinates[others[half : 2 * half]] = -ball.radius * across
    coordinates[row] = ball.radius * unit
    dataset = points_of(ball, coordinates)
    if adjacency == "add-remove":
        return dataset, np.delete(dataset, row, axis=0)
    neighbour = dataset.copy()
    neighbour[row] = points_of(ball, -ball.radius * unit)
    return dataset, neighbour


def neighbouring_users(
    ball: Ball,
    people: int,
    records: int = 1,
    *,
    person: int = 0,
    direction: ArrayLike | None = None,
    adjacency: str = "replace-user",
) -> tuple[tuple[FloatArray, IntArray], tuple[FloatArray, IntArray]]:
    """Neighbours that differ in one person, all of whose records lie at the boundary of a ball.

    Under replace-user these move from one end of a diameter to the other; under add-remove-user
    the person is in one data set and not in the other. Every person has as many records, all at
    one point: where :func:`neighbouring_datasets` puts one record of each.

    Parameters
    ----------
    ball : Ball
    people : int
        In the larger data set, at least 1.
    records : int, default 1
        Of each person, at least 1.
    person : int, default 0
        The one who differs.
    direction : array_like, shape (dim,), optional
        Direction of the diameter, in coordinates at the centre.
    adjacency : {"replace-user", "add-remove-user"}

    Returns
    -------
    tuple of two (points, users)
        Of shapes (people * records, *point_shape) and (people * records,), persons in order.

    Raises
    ------
    InvalidParameterError
        If an argument is outside its domain.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.auditing import neighbouring_users
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> (a, ids), (b, others) = neighbouring_users(ball, 10, records=3)
    >>> a.shape, len(set(ids))
    ((30, 3), 10)
    """
    check_adjacency(adjacency, _OF_USERS)
    records = count(records, "records, of each person,")
    one_each = neighbouring_datasets(
        ball,
        count(people, "people"),
        row=person,
        direction=direction,
        adjacency="replace-one" if adjacency == "replace-user" else "add-remove",
    )
    names = np.arange(people)
    left = names if adjacency == "replace-user" else np.delete(names, person)
    first, second = (
        (np.repeat(points, records, axis=0), np.repeat(who, records))
        for points, who in zip(one_each, (names, left), strict=True)
    )
    return first, second


def check_adjacency(adjacency: object, known: tuple[str, str]) -> None:
    if not is_one_of(adjacency, known):
        other = "neighbouring_users" if known is OF_RECORDS else "neighbouring_datasets"
        raise InvalidParameterError(
            f'adjacency must be "{known[0]}" or "{known[1]}", got {shown(adjacency)}; '
            f"riemdp.auditing.{other} builds others"
        )


def points_of(ball: Ball, coordinates: FloatArray) -> FloatArray:
    """Points of the ball with these normal coordinates about its centre."""
    manifold = ball.manifold
    tangent = manifold.tangent_vector(ball.center, coordinates)
    return ball.project(manifold.exp(ball.center, tangent))


def _unit(manifold: Manifold, direction: ArrayLike | None) -> FloatArray:
    if direction is None:
        return np.asarray(np.eye(manifold.dim)[0])
    vector = real_array(direction, "direction")
    length = float(np.linalg.norm(vector))
    if vector.shape != (manifold.dim,) or not 0.0 < length < np.inf:
        raise InvalidParameterError(
            f"direction must be a nonzero vector of {manifold.dim} coordinates, got shape "
            f"{vector.shape}"
        )
    return vector / length
