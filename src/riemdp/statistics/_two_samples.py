"""Whether two released means are further apart than sampling and noise explain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._described import Described, digits
from riemdp._errors import InvalidParameterError
from riemdp._zero import zero_between
from riemdp.statistics._regions import (
    SHARE_MEAN,
    calibrated,
    caution,
    mean_noise_quantile,
    worst_tail,
)

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray
    from riemdp.statistics._moments import ReleasedMoments

#: Levels above which an inflation is used, each a tenth of the one before, and the levels that the
#: inflations are made for, as multiples of these: 0.05 comes first.
_EDGES, _REFERENCE = tuple(2.0 * 10.0**-k for k in range(2, 13)), 2.5


@final
@dataclass(frozen=True, eq=False)
class TwoSampleTest(ArrayFields, Described):
    """Test of whether two groups have one mean.

    Attributes
    ----------
    difference : ndarray, shape (d,)
        First released mean less the second, in normal coordinates about the common base.
    statistic : float
        Squared length of the difference over its noisy variance along itself.
    pvalue : float
        Valid asymptotically in the numbers of records: at most x with probability x at most, if the
        means are equal. At least 2e-12.
    note : str
        What it rests on.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 2.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> one, other = (
    ...     riemdp.private_moments(points + shift, ball, riemdp.GDP(1.0), second="matrix")
    ...     for shift in (0.0, 1.0)
    ... )
    >>> result = riemdp.two_sample_test(one, other)
    >>> result.pvalue < 1e-6, result.dim
    (True, 2)
    """

    difference: FloatArray
    statistic: float
    pvalue: float
    note: str

    def __post_init__(self) -> None:
        self._seal()

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Title and lines of the text; see :class:`riemdp._described.Described`."""
        return "Test of one mean in two groups", [
            ("p-value", f"{self.pvalue:.4g}"),
            ("difference", f"{digits(self.difference)}, normal coordinates about the base"),
            ("statistic", f"{self.statistic:.4g}"),
            ("note", self.note),
        ]

    @property
    def dim(self) -> int:
        """Number d of coordinates."""
        return len(self.difference)


def two_sample_test(first: ReleasedMoments, second: ReleasedMoments) -> TwoSampleTest:
    """Test whether the laws of two groups' clipped records have one mean.

    Which record belongs to which group and how many belong to each are public; no record is in
    both; the noise of the releases is independent. Both are about one base, in one frame, and
    clipped to one length: without that the means are not comparable.

    Parameters
    ----------
    first : ReleasedMoments
    second : ReleasedMoments

    Returns
    -------
    TwoSampleTest

    Raises
    ------
    InvalidParameterError
        If dimensions or lengths differ.
    InsufficientSamplesError
        If a group has one record only.

    References
    ----------
    docs/proofs/confidence-regions.md
    """
    if first.dim != second.dim or first.reach != second.reach:
        raise InvalidParameterError(
            "both releases must be about one base, clipped to one length: got "
            f"{first.dim} and {second.dim} coordinates of length {first.reach} and {second.reach}"
        )
    test = _Levels((first, second), first.mean - second.mean)
    return TwoSampleTest(test.difference, test.statistic(), test.pvalue(), _note(test.groups))


class _Levels:
    """Tests of the difference ``(d,)`` of the means of two groups at all levels."""

    def __init__(
        self, groups: tuple[ReleasedMoments, ReleasedMoments], difference: FloatArray
    ) -> None:
        self.groups, self.difference = groups, difference
        self._length = float(np.linalg.norm(difference))
        self._noise = math.hypot(*(group.variance_noise() for group in groups))
        self._floor = sum(group.sigma**2 for group in groups)

    def statistic(self) -> float:
        """Quotient at the level 0.05."""
        return self._quotient(0.05, self._inflation(0.05))

    def pvalue(self) -> float:
        """Least level above which all levels are rejected at."""
        highest = 1.0
        for edge in _EDGES:
            inflation = self._inflation(_REFERENCE * edge)
            if self._excess(edge, inflation) > 0.0:
                if self._excess(highest, inflation) >= 0.0:
                    return highest

                def excess(x: float, b: float = inflation) -> float:
                    return self._excess(math.exp(x), b)

                root = zero_between(excess, math.log(edge), math.log(highest), xtol=1e-6)
                return min(highest, math.exp(root + 2e-6))
            highest = edge
        return highest

    def _excess(self, alpha: float, inflation: float) -> float:
        """Worst tail less what it may be at a level: it falls with the level."""
        tail = worst_tail(
            len(self.difference),
            self._quotient(alpha, inflation),
            inflation=inflation,
            noise=self._noise,
            floor=self._floor,
        )
        return tail - (1.0 - SHARE_MEAN) * alpha

    def _inflation(self, reference: float) -> float:
        alpha = (1.0 - SHARE_MEAN) * reference
        dim = len(self.difference)
        return calibrated(dim, alpha, noise=self._noise, floor=self._floor)[1]

    def _quotient(self, alpha: float, inflation: float) -> float:
        if self._length == 0.0:
            return 0.0
        allowance = mean_noise_quantile(len(self.difference), 0.5 * SHARE_MEAN * alpha)
        unit = self.difference / self._length
        variance = sum(float(group.variance_along(unit, allowance)) for group in self.groups)
        return self._length * self._length / max(variance + inflation, self._floor)


def _note(groups: tuple[ReleasedMoments, ReleasedMoments]) -> str:
    return (
        "asymptotic in the numbers of records, by the central limit theorem"
        f"{caution(*groups)}; it is about the means of the laws of the clipped records, seen from "
        "the common base"
    )
