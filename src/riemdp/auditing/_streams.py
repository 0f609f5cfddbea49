"""Whether randomness repeats itself: after a fork, a copy or pickling, or unmarked by a seed."""

from __future__ import annotations

import copy
import os
import pickle
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._checks import count
from riemdp._errors import InvalidParameterError
from riemdp.noise import resolve_generator

if TYPE_CHECKING:
    from collections.abc import Callable

Outcome = Literal["fresh", "repeated", "refused", "unavailable"]


@dataclass(frozen=True)
class StreamAudit:
    """Whether outputs repeat.

    Parameters
    ----------
    after_fork, after_pickle, after_copy : {"fresh", "repeated", "refused", "unavailable"}
        Whether two processes, or a generator and its copy, draw the same; ``"refused"`` if the
        generator cannot be copied that way, ``"unavailable"`` where the system cannot fork.

    Examples
    --------
    >>> from riemdp.auditing import audit_streams
    >>> result = audit_streams(lambda generator: generator.normal(size=4))
    >>> result.verdict, result.after_fork
    ('consistent', 'fresh')
    """

    after_fork: Outcome
    after_pickle: Outcome
    after_copy: Outcome

    @property
    def verdict(self) -> Literal["consistent", "violated"]:
        """``"violated"`` if anything was repeated: equal noise cancels in a difference."""
        outcomes = (self.after_fork, self.after_pickle, self.after_copy)
        return "violated" if "repeated" in outcomes else "consistent"


def audit_streams(
    release: Callable[[np.random.Generator], Any],
    *,
    generator: np.random.Generator | None = None,
    forks: int = 2,
) -> StreamAudit:
    """Compare outputs of forked processes, and of copies of the generator.

    Parameters
    ----------
    release : callable
        ``release(generator) -> output``, an array or anything that can be pickled and compared.
    generator : numpy.random.Generator, optional
        The generator that real releases use; by default a new secure one for each draw.
    forks : int, default 2
        Number of child processes.

    Returns
    -------
    StreamAudit

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.auditing import audit_streams
    >>> result = audit_streams(lambda generator: generator.normal(size=4))
    >>> result.verdict
    'consistent'
    """
    forks = count(forks, "forks")
    generator = resolve_generator(generator)
    return StreamAudit(
        _after_fork(release, generator, forks),
        _after(lambda: pickle.loads(pickle.dumps(generator)), release, generator),
        _after(lambda: copy.deepcopy(generator), release, generator),
    )


def seeded_release_is_marked(release: Callable[[np.random.Generator], Any]) -> bool:
    """Whether a release from a seeded generator says that it is not private.

    Parameters
    ----------
    release : callable
        ``release(generator)`` returns something with the attribute ``private``, such as
        :class:`riemdp.Release`.

    Returns
    -------
    bool

    Raises
    ------
    InvalidParameterError
        If the result has no such attribute.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import seeded_release_is_marked
    >>> ball = riemdp.Ball(riemdp.Euclidean(1), [0.0], 1.0)
    >>> seeded_release_is_marked(
    ...     lambda generator: riemdp.private_mean(
    ...         np.zeros((100, 1)), ball, riemdp.GDP(1.0), generator=generator
    ...     )
    ... )
    True
    """
    result = release(np.random.default_rng(0))
    if not hasattr(result, "private"):
        raise InvalidParameterError(
            "the release has no attribute private, so nothing tells a seeded one from a real one"
        )
    return not result.private


def _after(
    duplicate: Callable[[], np.random.Generator],
    release: Callable[[np.random.Generator], Any],
    generator: np.random.Generator,
) -> Outcome:
    try:
        other = duplicate()
    except (TypeError, pickle.PicklingError):
        return "refused"
    return "repeated" if _same(release(generator), release(other)) else "fresh"


def _after_fork(
    release: Callable[[np.random.Generator], Any], generator: np.random.Generator, forks: int
) -> Outcome:
    if not hasattr(os, "fork"):
        return "unavailable"
    outputs = [_in_child(release, generator) for _ in range(forks)]
    outputs.append(release(generator))
    for row, first in enumerate(outputs):
        if any(_same(first, second) for second in outputs[:row]):
            return "repeated"
    return "fresh"


def _in_child(release: Callable[[np.random.Generator], Any], generator: np.random.Generator) -> Any:
    """Output of a forked process, sent through a pipe."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads is the point
        child = os.fork()
    if child == 0:  # pragma: no cover -- coverage does not see the child
        code = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(release(generator), pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise InvalidParameterError(
            "release failed in a forked process, or its output cannot be pickled"
        )
    return pickle.loads(sent)


def _same(first: Any, second: Any) -> bool:
    return bool(np.all(np.asarray(first == second)))
