"""A search for neighbouring data sets on which an objective is large."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import count
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._keywords import with_advice
from riemdp._progress import ticks, work
from riemdp.auditing._pairs import (
    OF_RECORDS,
    check_adjacency,
    extreme_directions,
    neighbouring_datasets,
    points_of,
)
from riemdp.noise import resolve_generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray

    Pair = tuple[FloatArray, FloatArray]
    IntArray = NDArray[np.int64]


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
    check_adjacency(adjacency, OF_RECORDS)
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
    return points_of(ball, ball.radius * length * vectors)
