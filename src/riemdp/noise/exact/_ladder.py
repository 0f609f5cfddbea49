"""Answers about real numbers, given only where an enclosure decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Ball = Any

Answer = TypeVar("Answer")

#: Working precision to begin with, in bits.
PRECISION = 128


class Ladder:
    """Working precisions, from ``precision`` bits on doubled until an answer is certain.

    The first one sets the time that an answer takes, not the answer.
    """

    def __init__(self, precision: int) -> None:
        self._precision = precision

    @property
    def precision(self) -> int:
        """Bits that each question begins with."""
        return self._precision

    def settle(self, question: Callable[[], Answer | None], more: int = 0) -> Answer:
        """Ask at growing precision until the answer is not None.

        The question computes with balls at python-flint's working precision, and returns None where
        they leave the answer open. It begins with ``more`` bits beyond the others if it is known to
        need them.
        """
        from flint import ctx

        bits = self._precision + more
        while True:
            ctx.prec = bits
            answer = question()
            if answer is not None:
                return answer
            # Else another thread has changed it, and more bits are not what was missing: they
            # would grow without end.
            if ctx.prec == bits:
                bits *= 2

    @staticmethod
    def less(first: Ball, second: Ball) -> bool | None:
        """Whether one number is less than another, None where their enclosures overlap."""
        if first < second:
            return True
        if first > second:
            return False
        return None

    @staticmethod
    def nearest(number: Ball) -> int | None:
        """Return the nearest integer, None where the enclosure holds a half or is unbounded."""
        whole = (number + 0.5).floor().unique_fmpz()
        return None if whole is None else int(whole)


def at_working_precision(known: dict[int, Answer], compute: Callable[[], Answer]) -> Answer:
    """Return what was computed at python-flint's working precision, or compute it now.

    ``known`` has what there is, by the bits that it was computed with, and grows.
    """
    from flint import ctx

    bits = ctx.prec
    found = known.get(bits)
    if found is None:
        found = compute()
        if ctx.prec == bits:  # no other thread has changed it meanwhile
            known[bits] = found
    return found
