"""Noise of one mean among many, and what it is worth; from public numbers alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riemdp.mechanisms import Mechanism
    from riemdp.noise import FactorLaw
    from riemdp.privacy import Budget
    from riemdp.spaces import Ball

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
