"""What noise costs, as rational numbers, and whether it is within what is allowed.

Nothing here calibrates, or trusts a calibration: a scale is the number that noise is drawn with.
Costs are exact, or upper ends of enclosures by Arb. docs/proofs/composition.md proves them (claim
6) and that they add up, whatever earlier answers made of later queries (claim 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from riemdp._working_precision import working_precision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Ball = Any  # of python-flint
    #: Several draws, with how often each is drawn.
    Draws: TypeAlias = Mapping["Draw", int]

#: Bits of enclosures; and the most, where two numbers are still not told apart.
_BITS, _MOST_BITS = 192, 3072


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise that is added to coordinates; ``square`` is ``Delta^2 / sigma^2``.

    Relies on the sensitivity alone. All costs are exact, and none can be less.
    """

    square: Fraction

    epsilon: ClassVar[Fraction | None] = None

    @property
    def mu_square(self) -> Fraction:
        """Square of the ``mu`` of GDP."""
        return self.square

    @property
    def rho(self) -> Fraction:
        """Of zCDP."""
        return self.square / 2

    @property
    def length_square(self) -> Fraction:
        """Square of the length of a path in the Fisher metric."""
        return self.square


@dataclass(frozen=True)
class Laplace:
    """Noise of density ``exp(-|v| / sigma)`` in so many dimensions; ``square`` as above.

    ``epsilon`` and the length are exact, as is ``mu`` in one dimension. The rest is what follows
    from ``epsilon``: distributions in more dimensions cost less under other definitions.
    """

    square: Fraction
    dim: int

    @property
    def epsilon(self) -> Fraction:
        """Of pure privacy."""
        return root_up(self.square)

    @property
    def mu_square(self) -> Fraction:
        """Square of the ``mu`` of GDP."""
        return _mu_up(self.epsilon, is_line=self.dim == 1) ** 2

    @property
    def rho(self) -> Fraction:
        """Of zCDP: ``epsilon tanh(epsilon / 2)``."""
        return _rho_up(self.epsilon)

    @property
    def length_square(self) -> Fraction:
        """Square of the length of a path in the Fisher metric."""
        return self.square / self.dim


@dataclass(frozen=True)
class Choice:
    """A choice whose log likelihood ratios lie in an interval of length ``rate``."""

    rate: Fraction

    length_square: ClassVar[Fraction | None] = None

    @property
    def epsilon(self) -> Fraction:
        """Of pure privacy."""
        return self.rate

    @property
    def mu_square(self) -> Fraction:
        """Square of the ``mu`` of GDP."""
        return _mu_up(self.rate / 2, is_line=False) ** 2

    @property
    def rho(self) -> Fraction:
        """Of zCDP."""
        return self.rate**2 / 8


#: One query's noise, or a choice.
Draw = Gaussian | Laplace | Choice


def noise(kind: str, dim: int, move_square: Fraction, sigma: float) -> Draw:
    """Return what is drawn at a scale, of a sum that one unit moves.

    Parameters
    ----------
    kind : {"gaussian", "laplace"}
    dim : int
        Number of coordinates.
    move_square : Fraction
        Square of the largest Euclidean length that one unit moves them.
    sigma : float
        The very number that noise is drawn with.

    Returns
    -------
    Gaussian or Laplace
    """
    square = move_square / Fraction(sigma) ** 2
    kinds: dict[str, Draw] = {"gaussian": Gaussian(square), "laplace": Laplace(square, dim)}
    return kinds[kind]


def is_sharp(draws: Draws, definition: str) -> bool:
    """Whether no other argument of this library may say more than :func:`within_budget`.

    Parameters
    ----------
    draws : mapping of noise to int
    definition : str

    Returns
    -------
    bool
    """
    return definition == "pure" or not any(isinstance(each, Laplace) for each in draws)


def within_budget(draws: Draws, definition: str, *sizes: float) -> bool:
    """Whether draws, each asked for after those before, are together within a definition.

    Parameters
    ----------
    draws : mapping of noise to int
        What is drawn, and how often.
    definition : str
        ``"pure"`` with epsilon, ``"gdp"`` with mu, ``"zcdp"`` with rho, ``"approx"`` with epsilon
        and delta, ``"renyi"`` with order and epsilon, ``"kl"`` with alpha, ``"mean"`` with mu and
        tau, ``"angle"`` or ``"length"`` with theta.
    *sizes : float

    Returns
    -------
    bool
        False, too, where nothing is known, such as pure privacy of Gaussian noise.
    """
    return _RULES[definition](draws, *sizes)


def _fits(draws: Draws, cost: str, most: Fraction) -> bool:
    """Whether costs of one name, each at least 0, add up to at most a number."""
    total = Fraction()
    for each, number in draws.items():
        found = getattr(each, cost)
        if found is None:
            return False
        total += number * found
    return total <= most


def _total(draws: Draws, cost: str) -> Fraction:
    return sum((number * getattr(each, cost) for each, number in draws.items()), Fraction())


def _approx(draws: Draws, epsilon: float, delta: float) -> bool:
    """From the pure epsilon of all, or from their mu by the curve of two normal distributions."""
    if _fits(draws, "epsilon", Fraction(epsilon)):
        return True
    return _within_curve(_total(draws, "mu_square"), Fraction(epsilon), Fraction(delta))


def _renyi(draws: Draws, order: float, epsilon: float) -> bool:
    if math.isinf(order):
        return _fits(draws, "epsilon", Fraction(epsilon))
    return _fits(draws, "rho", Fraction(epsilon) / Fraction(order))


def _mean(draws: Draws, mu: float, tau: float) -> bool:
    """From the rho of all; any ``s`` in (0, 1] would do: docs/proofs/privacy-conversions.md."""
    rho = _total(draws, "rho")
    s = min(Fraction(1), Fraction(8, 5) / (1 + rho))
    if rho > Fraction(mu):
        return False
    square = _up(lambda: 2 * _ball(s * (s + 1) * rho).expm1() / _ball(s * s))
    return square is not None and square <= Fraction(tau) ** 2


def _angle(draws: Draws, theta: float) -> bool:
    """From the mu of all: ``cos(theta / 2) = exp(-mu^2 / 8)``."""
    square = _total(draws, "mu_square")

    def longer() -> Ball:
        return _ball(square) / 8 + (_ball(Fraction(theta)) / 2).cos().log()

    return theta >= math.pi or _is_negative(longer)


def _within_curve(square: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether ``Phi(mu/2 - eps/mu) - exp(eps) Phi(-mu/2 - eps/mu)`` is at most a delta."""

    def excess() -> Ball:
        mu, loss = _ball(square).sqrt(), _ball(epsilon)
        middle, half = loss / mu, mu / 2
        first, second = (((middle + x) / _ball(Fraction(2)).sqrt()).erfc() for x in (-half, half))
        return (first - loss.exp() * second) / 2 - _ball(delta)

    return _is_negative(excess)


_RULES: dict[str, Callable[..., bool]] = {
    "pure": lambda draws, epsilon: _fits(draws, "epsilon", Fraction(epsilon)),
    "gdp": lambda draws, mu: _fits(draws, "mu_square", Fraction(mu) ** 2),
    "zcdp": lambda draws, rho: _fits(draws, "rho", Fraction(rho)),
    "kl": lambda draws, alpha: _fits(draws, "rho", Fraction(alpha)),
    "length": lambda draws, theta: _fits(draws, "length_square", Fraction(theta) ** 2),
    "approx": _approx,
    "renyi": _renyi,
    "mean": _mean,
    "angle": _angle,
}


def root_up(square: Fraction) -> Fraction:
    """Return a square root, exact where it is rational, else up to ``2^-128`` (relative) more.

    Parameters
    ----------
    square : Fraction
        Not negative.

    Returns
    -------
    Fraction
    """
    above, below = square.numerator, square.denominator
    root = Fraction(math.isqrt(above), math.isqrt(below))
    if root**2 == square:
        return root
    return Fraction(math.isqrt(above * below << 256) + 1, below << 128)


def _mu_up(epsilon: Fraction, *, is_line: bool) -> Fraction:
    """Return the mu of pure epsilon; of two Laplace distributions on a line it is less.

    ``-2 Phi^-1(q)`` where ``q = 1 / (1 + exp(epsilon))``, on a line ``exp(-epsilon / 2) / 2``.
    """

    def mu() -> Ball:
        size, root = _ball(epsilon), 2 * _ball(Fraction(2)).sqrt()
        if epsilon < 1:  # by 1 - 2q, which keeps the digits of a small epsilon
            return root * (-(-size / 2).expm1() if is_line else (size / 2).tanh()).erfinv()
        return root * ((-size / 2).exp() if is_line else 2 / (1 + size.exp())).erfcinv()

    return _known(_up(mu), epsilon)


def _rho_up(epsilon: Fraction) -> Fraction:
    return _known(_up(lambda: _ball(epsilon) * (_ball(epsilon) / 2).tanh()), epsilon)


def _known(found: Fraction | None, epsilon: Fraction) -> Fraction:
    """Return an upper end; where Arb has none ``2 epsilon``, which is over mu and over rho."""
    return 2 * epsilon if found is None else found


def _ball(number: Fraction) -> Ball:
    from flint import arb, fmpq

    return arb(fmpq(number.numerator, number.denominator))


def _up(value: Callable[[], Ball]) -> Fraction | None:
    """Return the upper end of an enclosure, None where it has none."""
    with working_precision(_BITS):
        found = value()
        if not found.is_finite():
            return None
        digits, exponent = found.upper().man_exp()
    return Fraction(int(digits)) * Fraction(2) ** int(exponent)


def _is_negative(value: Callable[[], Ball]) -> bool:
    """Whether a number is at most 0 for certain."""
    bits = _BITS
    while bits <= _MOST_BITS:
        with working_precision(bits):
            found = value()
            if found <= 0:
                return True
            if found > 0:
                return False
        bits *= 2
    return False
