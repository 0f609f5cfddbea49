"""How long the noise of a release is in its value, and how many records there were, with noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._errors import UnsupportedError
from riemdp.noise.exact import Rounded
from riemdp.release._offer import noise_factor
from riemdp.release._per_mean import factor_quantile, noise_per_mean
from riemdp.release._shrink import mean_square_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball
    from riemdp.mechanisms import Mechanism
    from riemdp.statistics import Statistic


class NoiseOfValue:
    """What is known of the noise of a release: from public numbers, and from what was released."""

    mechanism: Mechanism
    statistic: Statistic
    ball: Ball
    n: int | None
    grid: int
    rounded: tuple[int, ...]
    shrunk: bool

    @property
    def _answers(self) -> Ball:
        """Public ball of one noisy answer."""
        return self.statistic.answers(self.ball)

    @property
    def _on_grid(self) -> Rounded:
        """Noisy answers as they were drawn, one after the other."""
        return Rounded(self.rounded, self.grid)

    @property
    def expected_distance(self) -> float:
        """Mean distance between the exact answer and its noisy draw, from public numbers.

        It is the noise alone: records outside the ball were clipped to it, and the bias of that is
        not in it, since it depends on the data.

        Of noise in a tangent space its mean length there: on nonnegatively curved spaces the
        distance is at most that, on negatively curved ones it is longer, and
        ``mechanism.expected_distance_in(ball)`` bounds it. Of noise on a quotient, or about aligned
        records, it is the mean distance on the cover, where draws are made; on the quotient the
        distance is at most that, and at most the space's diameter.

        Where the released point is the draw projected onto the ball, this is an upper bound on
        Hadamard spaces: projection only moves points closer together there. Of several answers
        it is the noise of one of them at the most that it may be worth in the value; see
        :meth:`Statistic.noise_in_value`.
        """
        return self._longer(self.mechanism.expected_distance())

    def error_quantile(self, q: float, *, factor: int | None = None) -> float:
        """Distance that the draw exceeds with probability ``1 - q``.

        Parameters
        ----------
        q : float
            In [0, 1].
        factor : int, optional
            Index of one mean among those of a power or a product: of the distance in it alone, by
            the law of its own. Where draws were projected, before that.

        Returns
        -------
        float

        Raises
        ------
        InvalidParameterError
            If ``q`` or ``factor`` lies outside its domain.
        UnsupportedError
            Where the law of that distance is not known.
        """
        if factor is None:
            return self._longer(self.mechanism.error_quantile(q))
        return self._longer(factor_quantile(self.mechanism, self._answers, factor, q))

    @property
    def noise_per_mean(self) -> float:
        """Root mean square, over draws and means, of the noise of one mean of a power or product.

        A distance, of noise in a tangent space a length there, before any projection. With
        Gaussian noise of scale sigma on means of dimension d, ``sigma sqrt(d)``; of K means in a
        ball of ``rms_radius`` r that is ``2 r sqrt(K d) / (n mu)``.

        Raises
        ------
        UnsupportedError
            Where the law of the distance in a factor is not known.

        References
        ----------
        docs/proofs/products.md, claim 7
        """
        return self._longer(noise_per_mean(self.mechanism, self._answers))

    @property
    def mean_square_bound(self) -> float:
        """Bound of the mean squared error, in normal coordinates about the ball's centre.

        That of the noise in the value, as :attr:`expected_distance` counts it; less for a value
        that was shrunk. Projection, and geodesic distances where the curvature is not negative,
        only make it smaller.

        Raises
        ------
        UnsupportedError
            If the mechanism does not add its noise to coordinates.
        """
        bound = mean_square_bound(self.mechanism, self._answers, is_shrunk=self.shrunk)
        return self._longer(1.0) ** 2 * bound

    @property
    def count(self) -> float | None:
        """Number of records: :attr:`n` where that is public, else as it was released, with noise.

        None where it was not released.
        """
        if self.n is not None:
            return float(self.n)
        return self._released(self.statistic.released_count)

    @property
    def _divided_by(self) -> float | None:
        """What sums are divided by: the number of records, or their weight as it was released."""
        weighs = self.statistic.weighs
        return self._released(self.statistic.released_total) if weighs else self.count

    def _longer(self, length: float) -> float:
        total = self._divided_by
        if self.statistic.totals and total is None:
            raise UnsupportedError(
                "how long the noise is in the value depends on what was released beside it, which "
                "is not known of this release: its integers are not those of its answers"
            )
        return noise_factor(self.statistic, self.ball, total) * length

    def _released(
        self, read: Callable[[Ball, list[NDArray[np.float64]]], float | None]
    ) -> float | None:
        """Read a number of the noisy answers; None of integers that are none.

        There have to be as many as answers have, within float64.
        """
        drawn, shape = self._on_grid, (self.statistic.steps, self._answers.manifold.dim)
        if len(drawn.integers) != math.prod(shape):
            return None
        try:
            noisy = drawn.values().reshape(shape)
        except OverflowError:
            return None
        return read(self.ball, [*noisy])

    def _deviation(self) -> float:
        """Return the standard deviation of the noise of a coordinate of an answer, or NaN."""
        if self.shrunk:
            return math.nan
        try:
            square = mean_square_bound(self.mechanism, self._answers, is_shrunk=False)
            return math.sqrt(square / self._answers.manifold.dim)
        except (UnsupportedError, OverflowError):
            return math.nan
