"""Exact draws among finitely many candidates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from riemdp._errors import InvalidParameterError
from riemdp._working_precision import working_precision
from riemdp.noise._generator import Source, resolve_generator
from riemdp.noise.exact._bits import Bits, Uniform
from riemdp.noise.exact._ladder import PRECISION, Ladder
from riemdp.noise.exact._rounded import ball_of, check_precision
from riemdp.privacy import certified_available

if TYPE_CHECKING:
    from collections.abc import Sequence

    Ball = Any


def exact_choice(
    losses: Sequence[int],
    octaves: Sequence[int],
    units: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1)),
    *,
    generator: Source = None,
    precision: int = PRECISION,
) -> int:
    """Draw i with probability proportional to ``exp(-u losses[i]) 2^(v octaves[i])``, exactly.

    The uniform variable ``U`` is known by as many bits as decide between which of the partial sums
    of the weights ``U`` times their total lies; weights and sums are enclosed. So for ideal bits
    the law is this one, with no allowance for arithmetic.

    Parameters
    ----------
    losses, octaves : sequence of int, of one length, at least 1
    units : tuple of two Fraction
        The rational numbers u and v.
    generator : numpy.random.Generator, optional
        Source of bits; a new secure generator by default.
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
    candidates = list(zip(losses, octaves, strict=True))
    if not candidates:
        raise InvalidParameterError("there must be a candidate to choose")
    # Of the largest weights one is 1: no sum is far from the range of the balls.
    loss_unit, octave_unit = (Fraction(unit) for unit in units)
    sizes = [_LOG2 * octave_unit * y - loss_unit * x for x, y in candidates]
    loss, octave = candidates[max(range(len(sizes)), key=sizes.__getitem__)]
    from_heaviest = [(loss - x, y - octave) for x, y in candidates]
    precision = check_precision(precision)
    uniform = Bits(generator).uniform()
    with working_precision(precision):
        return Ladder(precision).settle(
            lambda: _chosen(uniform, from_heaviest, loss_unit, octave_unit)
        )


#: About the logarithm of 2, for an order that is of no consequence.
_LOG2 = Fraction(25, 36)


def _chosen(
    uniform: Uniform, candidates: Sequence[tuple[int, int]], loss: Fraction, octave: Fraction
) -> int | None:
    """Return the candidate that a uniform variable stands for, None where that is open."""
    from flint import arb

    first, second = ball_of(loss), ball_of(octave) * arb(2).log()
    weights: list[Ball] = [(first * x + second * y).exp() for x, y in candidates]
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
