"""Releases of records that a cluster, or a pool of processes, goes through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riemdp import release
from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError
from riemdp._files import map_npy, path_of
from riemdp.statistics import Records
from riemdp.workers._sent import MOST_CHARACTERS, MOST_VALUES, is_description
from riemdp.workers._spread import TASKS, Spread

if TYPE_CHECKING:
    from riemdp.privacy import Budget
    from riemdp.release import PrivateBall, Release
    from riemdp.spaces import Ball
    from riemdp.statistics import Chunks, Statistic


def spread(points: Any, client: object, *, n: int | None = None, tasks: int = TASKS) -> Chunks:
    """Say that the workers of a client are to go through records, and not this process.

    What is returned goes where points go: ``riemdp.private_median(spread(...), ball, budget)``.
    Workers are sent functions, paths and rows; each opens its records by itself, checks and clips
    them, and hands back sums of integers, which are added here. Charges and noise are here, too.
    A worker that is lost does not matter where the client's cluster does its work again: it is
    what a task returns that counts, and it returns once.

    Parameters
    ----------
    points : path, list of Path, memmap, Zarr array, or Chunks
        Where the records are, for every worker alike: a file that :func:`numpy.save` wrote, files
        of any format that can be read; or chunks whose parts are functions of a module that open
        some, or :func:`functools.partial` of one with at most 16 numbers, texts and paths. See
        :class:`riemdp.Chunks`.
    client : distributed.Client, concurrent.futures.Executor, joblib.Parallel or callable
        Whose workers; or a function like :func:`map` that takes a function and a list, and returns
        in any order what the function returns. Workers need the same version of this library.
    n : int, optional
        Public number of records, where ``points`` does not state it.
    tasks : int, default 40
        Parts are put together into at most so many tasks.

    Returns
    -------
    Chunks

    Raises
    ------
    InvalidParameterError
        If a part is another object, which may hold records, or the client is of no known class.
    WorkersFailedError
        If the workers that are there would not compute the same bits of a record.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean, GDP, private_mean
    >>> from riemdp.workers import spread
    >>> ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
    ...     np.save(Path(folder, "points.npy"), np.full((100, 2), 0.5))
    ...     private_mean(spread(Path(folder, "points.npy"), pool), ball, GDP(1.0)).n
    100
    """
    if isinstance(points, (str, Path)):
        points = map_npy(path_of(points, "points"))
    chunks = release.chunks_of(points, n)
    parts = () if isinstance(points, Records) else chunks.parts
    if not (isinstance(parts, Sequence) and parts and all(callable(part) for part in parts)):
        raise InvalidParameterError(
            "workers are sent where records are, and not records: chunks have to be a sequence "
            "whose parts are functions, of labels and the like too; or give a path, a list of "
            "Path, a memmap or a Zarr array"
        )
    for part in (*parts, *(() if chunks.read is None else (chunks.read,))):
        if not is_description(part):
            raise InvalidParameterError(
                f"a {kind_of(part)} may hold records, which would be sent with it, and workers are "
                "sent where records are: give paths, rows of a memmap or of a Zarr array in files, "
                "or functions that stand in a module, alone or as functools.partial(function, ...) "
                f"of at most {MOST_VALUES} numbers and texts, in all {MOST_CHARACTERS} characters, "
                "that open what they need, labels and the like too"
            )
    return chunks.mapped(Spread(client, tasks))


def private_statistic(
    statistic: Statistic,
    points: Any,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    client: object,
    n: int | None = None,
    tasks: int = TASKS,
    **options: Any,
) -> Release:
    """Release what :func:`riemdp.private_statistic` does, bit for bit, by workers of a client.

    Parameters
    ----------
    statistic : Statistic
    points, client, n, tasks
        See :func:`spread`.
    ball : Ball or PrivateBall
    budget : Budget, optional
    **options
        Every other keyword of :func:`riemdp.private_statistic`.

    Returns
    -------
    Release

    Raises
    ------
    WorkersFailedError
        If workers are lost for good, or would not compute the same; after the charge, too.
    RiemdpError
        What :func:`riemdp.private_statistic` raises.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import riemdp
    >>> from riemdp.workers import private_statistic
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> mean = riemdp.statistics.TangentMean()
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
    ...     path = Path(folder, "points.npy")
    ...     np.save(path, np.full((100, 2), 0.5))
    ...     release = private_statistic(mean, path, ball, riemdp.GDP(1.0), client=pool)
    >>> release.n
    100
    """
    given: Any = spread(points, client, n=n, tasks=tasks)
    return release.private_statistic(statistic, given, ball, budget, **options)


def private_mean(
    points: Any,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    client: object,
    n: int | None = None,
    tasks: int = TASKS,
    **options: Any,
) -> Release:
    """Release what :func:`riemdp.private_mean` does, bit for bit, by workers of a client.

    Parameters
    ----------
    points, client, n, tasks
        See :func:`spread`.
    ball : Ball or PrivateBall
    budget : Budget, optional
    **options
        Every other keyword of :func:`riemdp.private_mean`.

    Returns
    -------
    Release

    Raises
    ------
    WorkersFailedError
        If workers are lost for good, or would not compute the same; after the charge, too.
    RiemdpError
        What :func:`riemdp.private_mean` raises.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import riemdp
    >>> from riemdp.workers import private_mean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
    ...     path = Path(folder, "points.npy")
    ...     np.save(path, np.full((100, 2), 0.5))
    ...     release = private_mean(path, ball, riemdp.GDP(1.0), client=pool)
    >>> release.n
    100
    """
    given: Any = spread(points, client, n=n, tasks=tasks)
    return release.private_mean(given, ball, budget, **options)
