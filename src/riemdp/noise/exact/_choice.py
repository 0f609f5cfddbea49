"""Exact draws among finitely many candidates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from riemdp._errors import InvalidParameterError
from riemdp._working_precision import working_precision
from riemdp.noise._generator import resolve_generator
from riemdp.noise.exact._bits import Bits, Uniform
from riemdp.noise.exact._ladder import PRECISION, Ladder
from riemdp.noise.exact._rounded import ball_of, check_precision
from riemdp.privacy import certified_available

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Ball = Any


def exact_choice(
    losses: Sequence[Fraction],
    octaves: Sequence[Fraction],
    *,
    generator: np.random.Generator | None = None,
    precision: int = PRECISION,
) -> int:
    """Draw i with probability proportional to ``exp(-losses[i]) 2^octaves[i]``, exactly.

    The uniform variable ``U`` is known by as many bits as decide between which of the partial sums
    of the weights ``U`` times their total lies; weights and sums are enclosed. So for ideal bits
    the law is this one, with no allowance for arithmetic.

    Parameters
    ----------
    losses, octaves : sequence of int or Fraction, of one length, at least 1
        Taken as the rational numbers they are.
    generator : numpy.random.Generator, optional
        Source of bits; this process's secure generator by default.
    precision : int, default 128
        Bits to begin with. It does not change the law.

    Returns
    -------
    int

    Raises
    ------
    InvalidParameterError
        If python-flint is missing, or there is nothing to choose from.

    References
    ----------
    docs/proofs/private-ball.md, "Exact choices"; docs/proofs/exact-draws.md.
    """
    generator = resolve_generator(generator)
    if not certified_available():
        raise InvalidParameterError(
            "an exact choice needs python-flint, which is not installed: pip install python-flint"
        )
    weights = [(Fraction(x), Fraction(y)) for x, y in zip(losses, octaves, strict=True)]
    if not weights:
        raise InvalidParameterError("there must be a candidate to choose")
    # Of the largest weights one is 1: no sum is far from the range of the balls.
    heaviest = max(range(len(weights)), key=lambda i: float(weights[i][1]) * _LOG2 - weights[i][0])
    loss, octave = weights[heaviest]
    logs = [(loss - x, y - octave) for x, y in weights]
    precision = check_precision(precision)
    uniform = Bits(generator).uniform()
    with working_precision(precision):
        return Ladder(precision).settle(lambda: _chosen(uniform, logs))


_LOG2 = 0.6931471805599453


def _chosen(uniform: Uniform, logs: Sequence[tuple[Fraction, Fraction]]) -> int | None:
    """Return the candidate that a uniform variable stands for, None where that is open."""
    from flint import arb

    log2 = arb(2).log()
    weights: list[Ball] = [(ball_of(x) + ball_of(y) * log2).exp() for x, y in logs]
    total = arb(0)
    for weight in weights:
        total += weight
    mark, below = uniform.ball() * total, arb(0)
    for i, weight in enumerate(weights[:-1]):
        below += weight
        less = Ladder.less(mark, below)
        if less is None:
            return None
        if less:
            return i
    return len(weights) - 1
