"""What every law of exact draws shares: bits, precision and grid around its own map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp._working_precision import working_precision
from riemdp.noise._generator import Source, resolve_generator
from riemdp.noise.exact._bits import Bits
from riemdp.noise.exact._ladder import PRECISION, Ladder
from riemdp.noise.exact._rounded import Rounded, ball_of, check_grid, check_precision, exact_numbers
from riemdp.privacy import certified_available

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Ball = Any
    #: Coordinates at python-flint's working precision, None where that leaves them open.
    Ends = Callable[[], Sequence[Ball] | None]


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
        if not certified_available():
            raise InvalidParameterError(
                "an exact draw needs python-flint, which is not installed: pip install python-flint"
            )
        grid, precision = check_grid(grid), check_precision(precision)
        self.check_drawable()
        return self.rounded(Bits(generator), footpoint, grid, precision)

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


def nearest_all(ladder: Ladder, numbers: Sequence[Any]) -> list[int] | None:
    """Return the nearest integers of all, None where one is open."""
    found = []
    for number in numbers:
        whole = ladder.nearest(number)
        if whole is None:
            return None
        found.append(whole)
    return found
