"""What every law of exact draws shares: bits, precision and grid around its own map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp._working_precision import working_precision
from riemdp.noise._generator import Source, resolve_generator
from riemdp.noise.exact._bits import WORD, Bits, Replay
from riemdp.noise.exact._ladder import PRECISION, Ladder
from riemdp.noise.exact._rounded import Rounded, ball_of, check_grid, check_precision, exact_numbers
from riemdp.privacy import certified_available

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from riemdp.noise.exact._bits import Bytes

    Ball = Any
    #: Integers, of 64 bits where all fit.
    Integers = NDArray[Any]
    #: Coordinates at python-flint's working precision, None where that leaves them open.
    Ends = Callable[[], Sequence[Ball] | None]


#: Draws that are made together at most, and at least (a few are faster one by one), and bytes that
#: are read for them.
_MOST_TOGETHER, _LEAST_TOGETHER, _MOST_BYTES = 8192, 24, 1 << 22


class ExactDraw(ABC):
    """A law of noise whose ideal draws are returned as their roundings to a public grid.

    For ideal random bits the integers have the law of the nearest grid point of the real-valued
    draw, exactly: a guarantee of the ideal mechanism is one of these integers, by post-processing.

    Attributes
    ----------
    proof : str or None
        Where that is proved of this very class; it is not inherited.

    References
    ----------
    docs/proofs/exact-draws.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.noise import family
    >>> draw = family("laplace", riemdp.Sphere(2)).law(0.5).exact_draw()
    >>> type(draw).__name__, draw.coordinates
    ('SpaceFormDraw', 2)
    """

    proof: ClassVar[str | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.proof = vars(cls).get("proof")
        if {"integers", "ends"} & vars(cls).keys() and "_together" not in vars(cls):
            # it draws otherwise
            cls._width = 0  # type: ignore[assignment, method-assign]

    @property
    @abstractmethod
    def coordinates(self) -> int:
        """How many coordinates a draw has."""

    def check_drawable(self) -> None:  # noqa: B027 -- nothing to check by default
        """Raise ``NotAttainableError`` if draws take too long, from public numbers alone."""

    @abstractmethod
    def integers(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], grid: int
    ) -> list[int]:
        """Return the rounding of the draw that these bits stand for."""

    def ends(self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction]) -> Ends:
        """Return the draw that these bits stand for, before it is rounded or shortened to a ball.

        Parameters
        ----------
        bits : Bits
        ladder : Ladder
            Settles what has to be known of the bits beforehand.
        footpoint : sequence of Fraction, length ``coordinates``

        Returns
        -------
        callable
            Encloses normal coordinates about the centre, in units of distance, at the working
            precision at which it is called, or returns None where that leaves them open.

        Raises
        ------
        UnsupportedManifoldError
            By default: a class whose draws quotients may use gives them.
        """
        del bits, ladder, footpoint
        raise UnsupportedManifoldError(
            f"{type(self).__name__} does not give its draws before they are rounded; give it "
            "ends(bits, ladder, footpoint)"
        )

    @property
    def gives_ends(self) -> bool:
        """Whether :meth:`ends` is known, so that quotients can use the draws."""
        return type(self).ends is not ExactDraw.ends

    def draw(
        self,
        footpoint: Sequence[Any],
        grid: int,
        *,
        generator: Source = None,
        precision: int = PRECISION,
    ) -> Rounded:
        """Draw about a footpoint, and round.

        Parameters
        ----------
        footpoint : sequence of int, Fraction or float, length ``coordinates``
            Normal coordinates of the footpoint about the centre, in units of distance, taken as
            the rational numbers they are.
        grid : int
            The coordinates of the draw are rounded to multiples of ``2^-grid``, a public choice.
        generator : numpy.random.Generator, optional
            Source of bits; a new secure generator by default. A draw is private with
            that alone.
        precision : int, default 128
            Bits of the balls that each decision starts with. It does not change the law.

        Returns
        -------
        Rounded
            The integers, and the grid.

        Raises
        ------
        InvalidParameterError
            If python-flint is missing, a parameter lies outside its domain, or the footpoint has
            another length or numbers that are not finite.
        NotAttainableError
            If a draw would take more than about a minute, from public numbers alone.
        """
        generator = resolve_generator(generator)
        grid, precision = self._checked(grid), check_precision(precision)
        return self.rounded(self._bits_of(generator), footpoint, grid, precision)

    def draws(
        self, footpoint: Sequence[Any], grid: int, count: int, *, generator: Source = None
    ) -> Integers:
        """Draw many times about one footpoint: what so many calls of :meth:`draw` give.

        The integers are those of these calls with the same generator, which is left as they leave
        it. Many draws are enclosed together in float64; those that this leaves open are drawn one
        by one from the bits that were read for them.

        Parameters
        ----------
        footpoint, grid
            See :meth:`draw`.
        count : int
            How often.
        generator : numpy.random.Generator, optional
            Source of bits; one new secure generator for all draws by default.

        Returns
        -------
        ndarray of int, shape (count, coordinates)
            In multiples of ``2^-grid``; of 64 bits each or, where one is larger, Python's integers.

        Raises
        ------
        InvalidParameterError, NotAttainableError
            See :meth:`draw`.
        """
        source = resolve_generator(generator)
        grid, exact = self._checked(grid), exact_numbers(footpoint, self.coordinates)
        found, done = [_table([], self.coordinates)], 0
        while done < count:
            rows = min(count - done, _MOST_TOGETHER, _MOST_BYTES // (WORD * self._width or 1) or 1)
            if self._width and rows >= _LEAST_TOGETHER:
                part = self._some(source, exact, grid, rows)
            else:
                part = _table(
                    [
                        self.rounded(self._bits_of(source), exact, grid).integers
                        for _ in range(rows)
                    ],
                    self.coordinates,
                )
            found.append(part)
            done += len(part)
        return np.concatenate(found)

    def _some(
        self, source: np.random.Generator, footpoint: Sequence[Fraction], grid: int, rows: int
    ) -> Integers:
        """Return the draws that begin in so many blocks of the generator."""
        size = WORD * self._width
        read = source.bytes(rows * size)
        words = np.frombuffer(read, dtype=">u8").reshape(rows, -1)[:, ::2].astype(np.uint64)
        with working_precision(PRECISION), np.errstate(all="ignore"):
            found, certain = self._together(words, footpoint, grid)
        begins, start = np.ones(rows, dtype=np.bool_), 0
        for row in np.flatnonzero(~certain).tolist():
            if row >= start:
                replay = Replay(read[row * size :], source)
                alone = self.rounded(self._bits_of(replay), footpoint, grid).integers
                found = _with_row(found, row, alone)
                start = row + replay.read // size
                begins[row + 1 : start] = False  # blocks that this draw has used up
        return found[begins]

    def _bits_of(self, source: Bytes) -> Bits:
        """Return bits of which those for all that a draw is likely to need are read at once."""
        width = self._width
        return Bits(source, WORD * width) if width else Bits(source)

    def _checked(self, grid: object) -> int:
        """Return the grid, or say why nothing can be drawn."""
        if not certified_available():
            raise InvalidParameterError(
                "an exact draw needs python-flint, which is not installed: pip install python-flint"
            )
        grid = check_grid(grid)
        self.check_drawable()
        return grid

    @property
    def _width(self) -> int:
        """Uniform variables that a draw is likely to need; 0 if many draws are made one by one."""
        return 0

    def _together(
        self, words: NDArray[np.uint64], footpoint: Sequence[Fraction], grid: int
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the integers of many draws, and of which draws they are certain; by default none.

        Parameters
        ----------
        words : ndarray of int, shape (draws, variables)
            The first 64 bits of the uniform variables of each draw, in the order in which
            :meth:`integers` reads them.
        footpoint : sequence of Fraction, length ``coordinates``
        grid : int
        """
        del footpoint, grid
        shape = len(words), self.coordinates
        return np.zeros(shape, dtype=np.int64), np.zeros(len(words), dtype=np.bool_)

    def rounded(
        self, bits: Bits, footpoint: Sequence[Any], grid: int, precision: int = PRECISION
    ) -> Rounded:
        """Return the draw that given bits stand for; see :meth:`draw`."""
        exact = exact_numbers(footpoint, self.coordinates)
        with working_precision(precision):
            return Rounded(tuple(self.integers(bits, Ladder(precision), exact, grid)), grid)


def round_ends(ladder: Ladder, ends: Ends, grid: int) -> list[int]:
    """Round coordinates to multiples of ``2^-grid``; see :meth:`ExactDraw.ends`."""
    unit = Fraction(2) ** grid

    def question() -> list[int] | None:
        found = ends()
        if found is None:
            return None
        factor = ball_of(unit)  # a power of two rounds nothing
        return nearest_all(ladder, [factor * x for x in found])

    return ladder.settle(question)


def _table(rows: Sequence[Sequence[int]], columns: int) -> Integers:
    """Return integers as an array, of 64 bits where all fit."""
    try:
        return np.array(rows, dtype=np.int64).reshape(-1, columns)
    except OverflowError:
        return np.array(rows, dtype=object).reshape(-1, columns)


def _with_row(table: Integers, row: int, integers: Sequence[int]) -> Integers:
    """Put a row into a table of integers, which may have to become one of Python's."""
    own = _table([integers], len(integers))
    if own.dtype != table.dtype:
        table = table.astype(object)
    table[row] = own[0]
    return table


def nearest_all(ladder: Ladder, numbers: Sequence[Any]) -> list[int] | None:
    """Return the nearest integers of all, None where one is open."""
    found = []
    for number in numbers:
        whole = ladder.nearest(number)
        if whole is None:
            return None
        found.append(whole)
    return found
