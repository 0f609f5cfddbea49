"""Whether the low bits of floating-point outputs tell the data sets apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.auditing._learned_scores import pair
from riemdp.auditing._scores import flat

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.auditing._scores import Score
    from riemdp.spaces import FloatArray

#: Exponent that stands for the lowest bit of 0, which has none.
_ZERO = 1024


@dataclass(frozen=True)
class LowBitScore:
    """Log ratio of how often the lowest set bit of each entry has its place; learned.

    Sums of a float and noise lie on a grid that depends on the float: about 1 multiples of
    2^-52, about 0 much finer ones. To be given to :func:`riemdp.audit` as the score.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.auditing import LowBitScore
    >>> random = np.random.default_rng(0)
    >>> about_one, about_zero = 1.0 + random.laplace(size=500), 0.0 + random.laplace(size=500)
    >>> score = LowBitScore().fit(about_one, about_zero)
    >>> score(np.array([1.0 + 2.0**-52])) > score(np.array([2.0**-60]))
    array([ True])
    """

    def fit(self, first: Any, second: Any) -> Score:
        """Count the places, half a count added to each. See :meth:`LearnedScore.fit`."""
        places = tuple(lowest_bit(part) for part in pair(first, second))
        low = min(int(part.min()) for part in places)
        width = max(int(part.max()) for part in places) - low + 1
        tables = [
            np.stack([np.bincount(column - low, minlength=width) for column in part.T]) + 0.5
            for part in places
        ]
        ratio = np.log(tables[0] / len(places[0])) - np.log(tables[1] / len(places[1]))

        def score(outputs: Any) -> FloatArray:
            found = lowest_bit(flat(outputs)) - low
            seen = (found >= 0) & (found < width)
            columns = np.arange(found.shape[1])
            values = ratio[columns, np.clip(found, 0, width - 1)]
            return np.asarray(np.sum(np.where(seen, values, 0.0), axis=1))

        return score


def lowest_bit(values: ArrayLike) -> NDArray[np.int64]:
    """Exponent of the lowest set bit of a float: -1 for 0.5; 1024 for 0 and what is not finite."""
    array = np.asarray(values, dtype=np.float64)
    usable = np.isfinite(array) & (array != 0.0)
    mantissa, exponent = np.frexp(np.where(usable, array, 1.0))
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(usable, exponent.astype(np.int64) - 53 + trailing, _ZERO)


def output_grid(outputs: Any) -> FloatArray:
    """Largest power of two that all outputs are multiples of, entry by entry.

    Parameters
    ----------
    outputs : array_like, shape (N, ...)

    Returns
    -------
    ndarray, shape (entries,)
        ``inf`` for an entry that is always 0. Two data sets whose outputs have different grids
        are told apart by single outputs.

    Examples
    --------
    >>> from riemdp.auditing import output_grid
    >>> output_grid([[0.25, 1.0], [0.75, 3.0], [0.5, 2.0]])
    array([0.25, 1.  ])
    """
    finest = lowest_bit(flat(outputs)).min(axis=0)
    return np.where(finest == _ZERO, np.inf, np.ldexp(1.0, np.minimum(finest, 1023)))
