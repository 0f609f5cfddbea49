"""Strings of random bits that can be read twice, and the same draws by other formulas."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from riemdp.noise.exact import Bits, Uniform

if TYPE_CHECKING:
    from riemdp.noise.exact import ExactDraw

flint = pytest.importorskip("flint")
mpmath = pytest.importorskip("mpmath")


class Tape(Bits):
    """The uniform variable number ``i`` of a seed has the same bits however many are read."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._index = 0
        self.most = 0

    def uniform(self) -> Uniform:
        name, place = f"{self._seed}/{self._index}".encode(), 0
        self._index += 1

        def read(count: int) -> bytes:
            nonlocal place
            place += count
            self.most = max(self.most, 8 * place)
            return hashlib.shake_256(name).digest(place)[place - count :]

        return Uniform(read)

    def begun(self, count, bits):
        uniforms = self.uniforms(count)
        for uniform in uniforms:
            uniform.prefix(bits)
        first = np.array([uniform.prefix(64) for uniform in uniforms], dtype=np.uint64)
        return first, lambda: uniforms


@pytest.fixture
def tape():
    """Strings of a seed that can be read twice."""
    return Tape


class Reader:
    """The same strings as numbers of mpmath, one after the other."""

    def __init__(self, seed: int) -> None:
        self._tape = Tape(seed)

    def __call__(self):
        bits = mpmath.mp.prec + 80
        return mpmath.mpf(self._tape.uniform().prefix(bits)) / mpmath.mpf(2) ** bits

    def normals(self, count):
        """By half-angle formulas, and the logarithm of a quotient."""
        found = []
        for _ in range((count + 1) // 2):
            first, second = self(), self()
            length = mpmath.sqrt(4 * mpmath.atanh((1 - first) / (1 + first)))
            half = mpmath.tan(mpmath.pi * second)
            found += [length * (1 - half**2) / (1 + half**2), length * 2 * half / (1 + half**2)]
        return found[:count]

    def direction(self, dim):
        if dim == 1:
            return [mpmath.mpf(1) if self() < 0.5 else mpmath.mpf(-1)]
        if dim == 2:
            turn = mpmath.expjpi(2 * self())
            return [turn.real, turn.imag]
        components = self.normals(dim)
        length = mpmath.norm(components)
        return [x / length for x in components]


@pytest.fixture
def mismatches():
    """Count of draws that differ from the same bits under other formulas, at 420 bits."""

    def compare(formulas, law, footpoint, grid, seeds, *, precision=128) -> int:
        differing = 0
        with mpmath.workprec(420):
            numbers = [mpmath.mpf(v.numerator) / v.denominator for v in map(Fraction, footpoint)]
            for seed in seeds:
                found = formulas(Reader(seed), law, numbers)
                expected = tuple(int(mpmath.nint(mpmath.ldexp(x, grid))) for x in found)
                drawn = law.rounded(Tape(seed), footpoint, grid, precision).integers
                differing += drawn != expected
        return differing

    return compare


@pytest.fixture
def same():
    """Count of draws whose integers differ between starting precisions."""

    def compare(law: ExactDraw, footpoint, grid: int, seeds) -> int:
        differing = 0
        for seed in seeds:
            found = {
                law.rounded(Tape(seed), footpoint, grid, precision).integers
                for precision in (24, 48, 128, 512)
            }
            differing += len(found) > 1
        return differing

    return compare


@pytest.fixture
def guess(monkeypatch):
    """Answer from the middles of balls, as floating point does: the negative controls."""
    from riemdp.noise.exact._ladder import Ladder

    def nearest(number):
        middle = (number.mid() + 0.5).floor().unique_fmpz()
        return 0 if middle is None else int(middle)

    def less(first, second):
        return bool(first.mid() < second.mid())

    def patch(what: str) -> None:
        monkeypatch.setattr(Ladder, what, staticmethod({"nearest": nearest, "less": less}[what]))

    return patch
