"""How large the noise in a released value is, also of one mean among several."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp.noise.exact import Rounded
from riemdp.release._offer import noise_law
from riemdp.release._shrink import mean_square_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riemdp.mechanisms import Mechanism
    from riemdp.noise import FactorLaw
    from riemdp.privacy import Budget
    from riemdp.release._offer import Offer
    from riemdp.spaces import Ball
    from riemdp.statistics import Statistic, Value


# Noise of one mean among many, and what it is worth; from public numbers alone.

_PURE = (
    "pure noise on {} means: at one radius for each, the noise of one grows like their number (of "
    "all together like its power 1.5), and Gaussian noise only like the root of their number (of "
    "all together like the number); ask for GDP or ApproxDP where that will do"
)


def factor_quantile(mechanism: Mechanism, answers: Ball, factor: object, q: float) -> float:
    """Return the distance that the draw exceeds in one factor with probability ``1 - q``.

    The factor is an index among those of the space of answers.
    """
    number = len(answers.manifold.factors)
    if type(factor) is not int or not 0 <= factor < number:
        raise InvalidParameterError(
            f"factor must be an integer from 0 to {number - 1}, got {shown(factor)}"
        )
    return float(mechanism.factor_law(answers, factor).quantile(q))


def noise_per_mean(mechanism: Mechanism, answers: Ball) -> float:
    """Root mean square, over draws and factors, of the distance in one factor.

    See docs/proofs/products.md, claim 7. ``UnsupportedError`` where the law of that distance is not
    known.
    """
    squares = math.fsum(count * law.mean_square() for law, count in _laws(mechanism, answers))
    return math.sqrt(squares / len(answers.manifold.factors))


def _laws(mechanism: Mechanism, answers: Ball) -> Iterator[tuple[FactorLaw, int]]:
    """Laws of the factors, each space once, and how many factors have each."""
    factors = answers.manifold.factors
    counts = Counter(map(id, factors))
    first = {id(space): index for index, space in reversed(list(enumerate(factors)))}
    for space, count in counts.items():
        yield mechanism.factor_law(answers, first[space]), count


def pure_noise(budget: Budget, answers: Ball) -> str:
    """Say of a budget with a pure epsilon what it costs many means; empty where it has none."""
    number = len(answers.manifold.factors)
    pure = number > 1 and math.isfinite(budget.epsilon_at(0.0))
    return _PURE.format(number) if pure else ""


@dataclass(frozen=True)
class PerMean:
    """What one mean among many is worth, as far as public guesses say.

    ``means`` and ``dim`` are the numbers of means, and of coordinates of all together; ``noise`` is
    the root mean square of the noise of one, which with ``grows`` grows like the root of their
    number. Guesses are the root mean square distances, in one factor, of a record from its mean
    (``spread``), and of a mean from the centre of the ball (``signal``).
    """

    means: int
    dim: int
    n: int
    noise: float
    grows: bool
    spread: float | None = None
    signal: float | None = None

    @property
    def ratio(self) -> float | None:
        """Variance of the noise over that of sampling, ``spread^2 / n``."""
        if self.spread is None:
            return None
        return self.noise * self.noise * self.n / (self.spread * self.spread)

    @property
    def largest(self) -> float | None:
        """Most coordinates K d at which privacy costs no more variance than sampling does.

        Of Gaussian noise ``n mu^2 / (4 c^2)``, where c is the radius of one mean over the spread.
        """
        return None if self.ratio is None or not self.grows else self.dim / self.ratio

    @property
    def template_is_better(self) -> bool:
        """Whether the centre is nearer to the means than what would be released."""
        return self.signal is not None and self.noise >= self.signal

    def sentences(self) -> list[str]:
        """Say it in words."""
        found = []
        if self.ratio is not None:
            text = (
                f"noise per mean: {self.noise:.4g}, whose variance is {self.ratio:.3g} times that "
                f"of sampling at spread {self.spread:g}"
            )
            if self.largest is not None:
                text += (
                    f"; privacy costs no more than sampling up to K d = {self.largest:.4g} "
                    f"(n mu^2 / (4 c^2), for Gaussian noise), and here K d = {self.dim}"
                )
            found.append(text)
        if self.signal is not None and self.template_is_better:
            enough = math.ceil(self.n * self.noise / self.signal)
            found.append(
                f"the public centre is the better estimate: noise per mean is {self.noise:.4g}, "
                f"and the means are supposed to be {self.signal:g} from it; about n = {enough} "
                "makes them equal, fewer or larger regions help, and so may release.denoise"
            )
        elif self.signal is not None:
            found.append(
                f"noise per mean is {self.noise:.4g}, {self.noise / self.signal:.3g} times the "
                f"distance {self.signal:g} that the means are supposed to be from the public centre"
            )
        return found


# How long the noise of a release is in its value, and how many records there were, with noise.


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
