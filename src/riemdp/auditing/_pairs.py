"""Neighbouring data sets and footpoints that are as far apart as their bounds allow."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import count, is_one_of, positive, real_array, shown
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._keywords import with_advice
from riemdp._progress import ticks, work
from riemdp.noise import resolve_generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds import Ball, Manifold

    FloatArray = NDArray[np.float64]
    Pair = tuple[FloatArray, FloatArray]
    IntArray = NDArray[np.int64]

#: Relations under which one record differs, and under which one person does.
_OF_RECORDS = ("replace-one", "add-remove")
_OF_USERS = ("replace-user", "add-remove-user")


@dataclass(frozen=True, eq=False)
class WorstPair(ArrayFields):
    """What a search has found.

    Parameters
    ----------
    dataset, neighbour : ndarray, shape (n, *point_shape)
        They differ in one row; under add-remove the neighbour has one less.
    value : float
        The objective there.
    evaluations : int
        How often the objective was evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import search_pair
    >>> ball = riemdp.Ball(riemdp.Euclidean(1), [0.0], 1.0)
    >>> worst = search_pair(
    ...     lambda a, b: float(abs(a.mean() - b.mean())),
    ...     ball,
    ...     5,
    ...     restarts=1,
    ...     generator=np.random.default_rng(0),
    ... )
    >>> worst.dataset.shape, round(worst.value, 3)
    ((5, 1), 0.4)
    """

    dataset: FloatArray
    neighbour: FloatArray
    value: float
    evaluations: int

    def __post_init__(self) -> None:
        self._seal()


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
        :meth:`riemdp.manifolds.Manifold.extreme_directions`.

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
    _check_adjacency(adjacency, _OF_RECORDS)
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
    dataset = _points(ball, coordinates)
    if adjacency == "add-remove":
        return dataset, np.delete(dataset, row, axis=0)
    neighbour = dataset.copy()
    neighbour[row] = _points(ball, -ball.radius * unit)
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
    _check_adjacency(adjacency, _OF_USERS)
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


@with_advice
@work("search_pair")
def search_pair(
    objective: Callable[[FloatArray, FloatArray], float],
    ball: Ball,
    n: int,
    *,
    adjacency: str = "replace-one",
    restarts: int = 8,
    steps: int = 60,
    generator: np.random.Generator | None = None,
) -> WorstPair:
    """Look for neighbouring data sets in a ball on which an objective is large.

    Starts are the pairs of :func:`neighbouring_datasets` in every extreme direction with the first,
    the middle and the last row replaced or removed, and random data. Each best one is improved by
    moves of one record or of a block of records: to the boundary, to the centre, to the other side,
    a little aside; a move that does not help is undone.

    Parameters
    ----------
    objective : callable
        ``objective(dataset, neighbour) -> float``.
    ball : Ball
    n : int
        Number of records of the larger data set, at least 1.
    adjacency : {"replace-one", "add-remove"}
        Whether the neighbour has another record, or one less.
    restarts : int, default 8
        Number of random starts.
    steps : int, default 60
        Number of moves from the best fixed start and from each random one.
    generator : numpy.random.Generator, optional

    Returns
    -------
    WorstPair

    Raises
    ------
    UnsupportedBallError
        If the ball is none of riemdp's.
    InvalidParameterError
        If ``n`` is no positive integer, ``adjacency`` neither of them, or the objective is NaN
        somewhere.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import search_pair
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> worst = search_pair(
    ...     lambda a, b: float(np.linalg.norm(a.mean(axis=0) - b.mean(axis=0))),
    ...     ball,
    ...     10,
    ...     restarts=2,
    ...     generator=np.random.default_rng(0),
    ... )
    >>> round(worst.value, 3)  # 2 / 10
    0.2
    """
    _check_adjacency(adjacency, _OF_RECORDS)
    if not hasattr(ball, "manifold"):
        raise UnsupportedBallError("the search needs a riemdp.Ball that holds the records")
    n = count(n, "n, the number of records,")
    generator = resolve_generator(generator)
    tried = functools.partial(_Candidate.of, objective, adjacency)
    fixed = max((tried(*pair) for pair in _starts(ball, n)), key=lambda c: c.value)
    evaluations = 3 * len(extreme_directions(ball.manifold, ball.center))
    best = fixed
    for attempt in ticks(range(restarts + 1), restarts + 1, "starts"):
        current = fixed
        if attempt > 0:
            row = (0, n // 2, n - 1)[attempt % 3]
            dataset = _random_points(ball, n, generator)
            current = tried(*_replaced(ball, dataset, row, generator))
            evaluations += 1
        for _ in range(steps):
            moved = tried(*_move(ball, current, generator))
            current = max(current, moved, key=lambda c: c.value)
        evaluations += steps
        best = max(best, current, key=lambda c: c.value)
    dataset, neighbour = _pair(best.dataset, best.neighbour, adjacency)
    return WorstPair(dataset, neighbour, best.value, evaluations)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Data sets that differ in one row, which under add-remove is the one that is removed."""

    dataset: FloatArray
    neighbour: FloatArray
    value: float

    @classmethod
    def of(
        cls,
        objective: Callable[[FloatArray, FloatArray], float],
        adjacency: str,
        first: FloatArray,
        second: FloatArray,
    ) -> _Candidate:
        # copies, as what the objective calls may change its data and the pair has to stay one
        one, other = _pair(first, second, adjacency)
        value = float(objective(one.copy(), other.copy()))
        if math.isnan(value):
            raise InvalidParameterError(
                "the objective of the search is NaN on data sets inside the ball"
            )
        return cls(first, second, value)


def _starts(ball: Ball, n: int) -> Iterator[Pair]:
    for direction in extreme_directions(ball.manifold, ball.center):
        for row in (0, n // 2, n - 1):
            yield neighbouring_datasets(ball, n, row=row, direction=direction)


def _move(ball: Ball, pair: _Candidate, generator: np.random.Generator) -> Pair:
    """Neighbours next to a pair: one record or block moved, in both data sets alike."""
    n = len(pair.dataset)
    row = _changed_row(pair.dataset, pair.neighbour)
    dataset, neighbour = pair.dataset.copy(), pair.neighbour.copy()
    kind = generator.integers(4)
    if kind == 0:
        dataset[row] = _random_points(ball, 1, generator, boundary=True)[0]
    elif kind == 1:
        neighbour[row] = _random_points(ball, 1, generator, boundary=True)[0]
    else:
        size = 1 if kind == 2 else int(generator.integers(1, max(2, n // 2 + 1)))
        start = int(generator.integers(n))
        block = (start + np.arange(size)) % n
        block = block[block != row]
        target = _random_points(ball, 1, generator, boundary=bool(generator.integers(2)))[0]
        if generator.integers(2):
            target = np.array(ball.center)
        dataset[block] = neighbour[block] = target
    return dataset, neighbour


def _changed_row(first: FloatArray, second: FloatArray) -> int:
    changed = (first != second).reshape(len(first), -1).any(axis=1)
    return int(np.argmax(changed))


def _pair(first: FloatArray, second: FloatArray, adjacency: str) -> Pair:
    """Neighbours, of data sets that differ in one row."""
    if adjacency == "replace-one":
        return first, second
    return first, np.delete(first, _changed_row(first, second), axis=0)


def _check_adjacency(adjacency: object, known: tuple[str, str]) -> None:
    if not is_one_of(adjacency, known):
        other = "neighbouring_users" if known is _OF_RECORDS else "neighbouring_datasets"
        raise InvalidParameterError(
            f'adjacency must be "{known[0]}" or "{known[1]}", got {shown(adjacency)}; '
            f"riemdp.auditing.{other} builds others"
        )


def _replaced(ball: Ball, dataset: FloatArray, row: int, generator: np.random.Generator) -> Pair:
    first, second = dataset.copy(), dataset.copy()
    first[row], second[row] = _random_points(ball, 2, generator, boundary=True)
    return first, second


def _random_points(
    ball: Ball, n: int, generator: np.random.Generator, *, boundary: bool = False
) -> FloatArray:
    vectors = generator.standard_normal((n, ball.manifold.dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    length = np.ones((n, 1)) if boundary else generator.random((n, 1)) ** 0.5
    return _points(ball, ball.radius * length * vectors)


def _points(ball: Ball, coordinates: FloatArray) -> FloatArray:
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
