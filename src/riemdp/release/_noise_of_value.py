"""How long the noise of a release is in its value, and how many records there were, with noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._errors import UnsupportedError
from riemdp.noise.exact import Rounded
from riemdp.release._offer import noise_law
from riemdp.release._per_mean import factor_quantile, noise_per_mean
from riemdp.release._shrink import mean_square_bound

if TYPE_CHECKING:
    from riemdp.mechanisms import Mechanism
    from riemdp.noise import FactorLaw
    from riemdp.release._offer import Offer
    from riemdp.spaces import Ball
    from riemdp.statistics import Statistic, Value


class NoiseOfValue:
    """What is known of the noise of a release: from public numbers, and from what was released."""

    mechanism: Mechanism
    statistic: Statistic
    ball: Ball
    n: int | None
    rounded: tuple[int, ...]
    shrunk: bool

    if TYPE_CHECKING:

        @property
        def grid(self) -> int: ...
        @property
        def offer(self) -> Offer: ...
        @property
        def _outcome(self) -> Value | None: ...

    @property
    def _answers(self) -> Ball:
        """Public ball of the last noisy answer."""
        return self.offer.answers

    @property
    def _on_grid(self) -> Rounded:
        """The noisy answer as it was drawn, where there is one."""
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
        Hadamard spaces: projection only moves points closer together there. Where records are
        clipped to a length that was released, it follows from that length.
        """
        law = self._law
        far = self.mechanism.expected_distance() if law is None else law.mean()
        return self._longer(far)

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
            law = self._law
            far = self.mechanism.error_quantile(q) if law is None else float(law.quantile(q))
            return self._longer(far)
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
        law = self._law
        if law is not None:
            return self._longer(math.sqrt(law.mean_square()))
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
        law = self._law
        if law is not None:
            return self._longer(1.0) ** 2 * law.mean_square()
        bound = mean_square_bound(self.mechanism, self._answers, is_shrunk=self.shrunk)
        return self._longer(1.0) ** 2 * bound

    @property
    def count(self) -> float | None:
        """Number of records: :attr:`n` where that is public, else as it was released, with noise.

        None where it was not released.
        """
        if self.n is not None:
            return float(self.n)
        return None if self._outcome is None else self._outcome.count

    @property
    def _divided_by(self) -> float | None:
        """What sums are divided by: the number of records, or their weight as it was released."""
        if self.offer.last.query.sums:
            return None if self._outcome is None else self._outcome.total
        return self.count

    @property
    def _law(self) -> FactorLaw | None:
        known = self._known_outcome  # first: its error says more than that of the answers
        return noise_law(self.mechanism, self._answers, known)

    def _longer(self, length: float) -> float:
        return self._known_outcome.gain * length

    @property
    def _known_outcome(self) -> Value:
        if self._outcome is None:
            raise UnsupportedError(
                "how long the noise is in the value depends on what was released, which is not "
                "known of this release: its integers are not those of its answers"
            )
        return self._outcome
