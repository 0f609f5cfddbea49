"""Independent uniform variables, known by as many of their bits as have been asked for."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    #: What bits are read from.
    Bytes: TypeAlias = "np.random.Generator | Replay"
    Uniforms = Callable[[], list["Uniform"]]
    #: An enclosure of python-flint.
    Ball = Any

#: Bytes of a uniform variable that are read at first.
WORD = 16


@functools.cache
def enclosures() -> tuple[Any, Any]:
    """Enclosures and their precision, looked up once: draws ask for them a million times."""
    from flint import arb, ctx

    return arb, ctx


class Uniform:
    """A uniform variable on (0, 1), ``sum_j b_j 2^-j`` with fair independent bits ``b_j``.

    Bits are read when they are asked for and never again: a longer prefix continues a shorter
    one. So whatever was decided from some bits stays true.

    Parameters
    ----------
    read : callable
        Returns so many fresh random bytes.
    begun : bytes, optional
        Bits that have been read already.
    """

    __slots__ = ("_length", "_read", "_value")

    def __init__(self, read: Callable[[int], bytes], begun: bytes = b"") -> None:
        self._read = read
        self._value = int.from_bytes(begun, "big")
        self._length = 8 * len(begun)

    def prefix(self, bits: int) -> int:
        """Return the first ``bits`` bits, as an integer below ``2^bits``.

        Parameters
        ----------
        bits : int

        Returns
        -------
        int
        """
        missing = bits - self._length
        if missing > 0:
            count = -(-missing // 8)
            self._value = self._value << 8 * count | int.from_bytes(self._read(count), "big")
            self._length += 8 * count
        return self._value >> (self._length - bits)

    def ball(self) -> Ball:
        """Return the enclosure of all values that the bits of the working precision leave."""
        arb, ctx = enclosures()
        bits = ctx.prec
        return arb((2 * self.prefix(bits) + 1, -bits - 1), (1, -bits - 1))


class Replay:
    """A generator's bytes, of which the first have been read before.

    Parameters
    ----------
    begun : bytes
    generator : numpy.random.Generator
        Where the others come from.
    """

    def __init__(self, begun: bytes, generator: np.random.Generator) -> None:
        self._begun, self._generator = begun, generator
        self.read = 0

    def bytes(self, count: int) -> bytes:
        """Return the next bytes."""
        first = self._begun[self.read : self.read + count]
        self.read += count
        return first + self._generator.bytes(count - len(first)) if len(first) < count else first


class Bits:
    """Where uniform variables come from: a generator's bits, each used once.

    Parameters
    ----------
    generator : numpy.random.Generator
        Source of randomness. Ideal bits give the ideal law; see docs/proofs/exact-draws for what
        a pseudorandom generator changes.
    block : int, default 256
        Bytes that are fetched from the generator at once, or a multiple of it; a multiple of 4.
    """

    def __init__(self, generator: Bytes, block: int = 256) -> None:
        self._generator, self._least = generator, block
        self._block = b""
        self._used = 0

    def uniform(self) -> Uniform:
        """Return a new uniform variable, of which no bit has been read."""
        return Uniform(self._read)

    def uniforms(self, count: int) -> list[Uniform]:
        """Return so many new uniform variables."""
        return [self.uniform() for _ in range(count)]

    def begun(self, count: int, bits: int) -> tuple[NDArray[np.uint64], Uniforms]:
        """Read the same number of bits of new uniform variables, one after the other.

        The generator gives what it would if each had asked for them, in this order.

        Parameters
        ----------
        count : int
            Of the variables.
        bits : int
            Of each, at least 64.

        Returns
        -------
        first : ndarray of int, shape (count,)
            The first 64 of each.
        uniforms : callable
            Returns the variables, as :meth:`uniforms` does.
        """
        size = -(-bits // 8)
        read = self._read_together(count, size)
        table = np.frombuffer(read, dtype=np.uint8).reshape(count, size)
        first = np.ascontiguousarray(table[:, :8]).view(">u8")[:, 0].astype(np.uint64)

        def uniforms() -> list[Uniform]:
            starts = range(0, len(read), size)
            return [Uniform(self._read, read[start : start + size]) for start in starts]

        return first, uniforms

    def _read_together(self, count: int, size: int) -> bytes:
        """Return what so many calls of :meth:`_read` would, one after the other."""
        parts, left = [self._block[self._used :]], count * size
        left -= len(parts[0])
        while left > 0:
            parts.append(self._fetched(size))
            left -= len(parts[-1])
        read = b"".join(parts)
        self._block, self._used = read[count * size :], 0
        return read[: count * size]

    def _read(self, count: int) -> bytes:
        end = self._used + count
        if end > len(self._block):
            fresh = self._fetched(count)
            self._block, self._used, end = self._block[self._used :] + fresh, 0, count
        taken = self._block[self._used : end]
        self._used = end
        return taken

    def _fetched(self, count: int) -> bytes:
        """Return at least so many bytes, in whole blocks: another draw may begin in the next."""
        return self._generator.bytes(-(-count // self._least) * self._least)
