"""Gaussian noise of products: independent parts."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp._errors import ConvergenceError, NotAttainableError, UnsupportedManifoldError
from riemdp._part import both_proved
from riemdp.manifolds import Ball, Product
from riemdp.noise._family import Family, bisected, family, rule
from riemdp.noise._generator import resolve_generator
from riemdp.noise._law import Law
from riemdp.noise.exact._independent import IndependentDraw
from riemdp.privacy import GaussianCurve, gaussian_floor, up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from riemdp._potential import Kind
    from riemdp.manifolds import FloatArray
    from riemdp.noise._law import DistanceLaw
    from riemdp.noise.exact._draw import ExactDraw
    from riemdp.privacy import PrivacyCurve

#: Cells that the squared distance is shared out in.
_CELLS = 24
#: Relative accuracy of a scale, which is rounded up.
_ACCURACY = 1e-4
#: Factor between the scales that are tried until one suffices: on some spaces few do.
_STEP = 2.0**0.25
#: Equally likely values that stand for the law of a distance.
_VALUES = 512


@dataclass(frozen=True)
class IndependentLaw(Law):
    """Independent Gaussian laws of one scale on the factors of a product.

    Its density is that of the Gaussian law on the product, since squared distances add up.

    Parameters
    ----------
    kind : {"gaussian"}
    manifold : Product
    sigma : float
    """

    kind: Kind
    manifold: Product
    sigma: float

    exact_radial: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", self.parts[0].sigma)

    @functools.cached_property
    def parts(self) -> list[Law]:
        """Laws of the factors."""
        return [family(self.kind, space).law(self.sigma) for space in self.manifold.spaces]

    @functools.cached_property
    def radial(self) -> IndependentRadial:
        """Law of the distance."""
        return IndependentRadial(tuple(part.radial for part in self.parts))

    def exact_draw(self, reach: float | None = None) -> ExactDraw:
        """See :meth:`Law.exact_draw`."""
        return IndependentDraw(tuple(part.exact_draw(reach) for part in self.parts))

    def check_drawable(self) -> None:
        """See :meth:`Law.check_drawable`."""
        for part in self.parts:
            part.check_drawable()

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Factor by factor; see :meth:`Law.sample`."""
        generator = resolve_generator(generator)
        feet = self.manifold.split(self.manifold.validate(footpoint))
        draws = [
            part.sample(foot, size=size, generator=generator)
            for part, foot in zip(self.parts, feet, strict=True)
        ]
        return self.manifold.join(draws)

    def sample_from_coordinates(
        self,
        coordinates: FloatArray,
        ball: Ball,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Draw factor by factor, as the factors do; see :meth:`Law.sample_from_coordinates`.

        Footpoints stay coordinates: as points they would be rounded by what no sensitivity counts.
        Each part is projected onto the factor's ball before all of them are onto the product's.
        """
        generator = resolve_generator(generator)
        draws = [
            part.sample_from_coordinates(own, inside, size=size, generator=generator)
            for part, own, inside in self._parts_about(coordinates, ball)
        ]
        return ball.project(self.manifold.join(draws))

    def sample_about(
        self,
        coordinates: FloatArray,
        ball: Ball,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Draw factor by factor, as the factors do; see :meth:`Law.sample_about`."""
        generator = resolve_generator(generator)
        draws = [
            part.sample_about(own, inside, size=size, generator=generator)
            for part, own, inside in self._parts_about(coordinates, ball)
        ]
        return self.manifold.join(draws)

    def _parts_about(
        self, coordinates: FloatArray, ball: Ball
    ) -> Iterator[tuple[Law, FloatArray, Ball]]:
        """Parts with their coordinates, and the factors' balls of the same radius."""
        manifold = self.manifold
        balls = (
            Ball(space, center, ball.radius)
            for space, center in zip(manifold.spaces, manifold.split(ball.center), strict=True)
        )
        return zip(self.parts, manifold.split_coordinates(coordinates), balls, strict=True)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Sum over the factors; see :meth:`Law.log_density`."""
        points, feet = self.manifold.split(point), self.manifold.split(footpoint)
        parts = zip(self.parts, points, feet, strict=True)
        return np.asarray(sum(part.log_density(*each) for part, *each in parts))


@dataclass(frozen=True)
class IndependentRadial:
    """Law of the root of a sum of squares of independent distances, to about three digits.

    Parameters
    ----------
    parts : tuple of DistanceLaw
    """

    parts: tuple[DistanceLaw, ...]

    def mean(self) -> float:
        """Mean distance."""
        return float(np.mean(self._values))

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Distance that a draw exceeds with probability ``1 - q``.

        Parameters
        ----------
        q : array_like, shape (...)
            Probabilities in [0, 1].

        Returns
        -------
        ndarray, shape (...)
        """
        levels = (np.arange(_VALUES) + 0.5) / _VALUES
        return np.asarray(np.interp(np.asarray(q, dtype=np.float64), levels, self._values))

    @functools.cached_property
    def _values(self) -> FloatArray:
        levels = (np.arange(_VALUES) + 0.5) / _VALUES
        total = np.zeros(1)
        for part in self.parts:
            square = np.square(np.asarray(part.quantile(levels)))
            sums = np.sort((total[:, None] + square).reshape(-1))
            total = sums.reshape(_VALUES, -1).mean(axis=1)
        return np.sqrt(total)


@rule("gaussian", Product)
class IndependentFamily(Family):
    """Gaussian noise of a product."""

    proof = "docs/proofs/products.md"

    manifold: Product

    @functools.cached_property
    def parts(self) -> list[Family]:
        """Noise of the factors."""
        return [family(self.kind, space) for space in self.manifold.spaces]

    def law(self, sigma: float) -> Law:
        """See :meth:`Family.law`."""
        return IndependentLaw(self.kind, self.manifold, sigma)

    def curve(self, sigma: float, sensitivity: float) -> PrivacyCurve:
        """GDP with the largest root of a sum of squares over all ways to share the distance.

        Raises
        ------
        UnsupportedManifoldError
            Where nothing is known of the GDP of a factor at this distance.
        """
        return GaussianCurve(_largest_mu(self, sigma, sensitivity))

    def length(self, sigma: float, sensitivity: float) -> float:
        """Length along the factor of the largest Fisher information."""
        return max(part.length(sigma, sensitivity) for part in self.parts)

    def mu_scale(self, sensitivity: float, mu: float) -> float:
        """See :meth:`Family.mu_scale`; rounded up in the fourth digit off flat spaces."""
        first = sensitivity / mu
        for part in self.parts:  # alone, each of them may move by all of the sensitivity
            form = part.form
            if form is None:  # the law may have its least mu at some scale, and none far beyond
                first = max(first, part.mu_scale(sensitivity, mu))
            elif part.growth and gaussian_floor(form.dim, form.curvature, sensitivity) >= mu:
                raise self._unattainable(mu)

        def suffices(sigma: float) -> bool:
            try:
                return _largest_mu(self, sigma, sensitivity) <= mu
            except (ConvergenceError, NotAttainableError):
                raise self._unattainable(mu) from None

        return bisected(suffices, first, accuracy=_ACCURACY, step=_STEP)

    def _unattainable(self, mu: float) -> NotAttainableError:
        return NotAttainableError(
            f"no scale was found at which the Gaussian law on {self.manifold} is proved to be "
            f"{mu:.6g}-GDP; choose a larger budget, a smaller ball, more data, or "
            '"tangent-gaussian"'
        )

    @property
    def invariance(self) -> str | None:
        """None: isometries of a product may exchange factors."""
        return None

    def proofs(self) -> dict[str, str | None]:
        """Where this is proved of products, and what is not of the factors.

        Returns
        -------
        dict of str to (str or None)
        """
        return both_proved(super().proofs(), *(part.proofs() for part in self.parts))


@functools.lru_cache(maxsize=256)
def _largest_mu(noise: IndependentFamily, sigma: float, sensitivity: float) -> float:
    """Largest ``sqrt(sum_j mu_j(u_j)^2)`` with ``sum_j u_j^2 <= sensitivity^2``, from above.

    The squares ``u_j^2`` lie in cells of equal length; within a cell ``mu_j`` is at most that at
    its end, and the cells' beginnings add up to the squared sensitivity at most. Flat factors, of
    which ``mu`` is proportional to the distance, need no cells.
    """
    curved = [part for part in noise.parts if not part.is_flat]
    slope = up(1.0 / sigma) if len(curved) < len(noise.parts) else 0.0
    ends = sensitivity * np.sqrt(np.arange(1, _CELLS + 1) / _CELLS) * (1.0 + 1e-15)
    best = np.full(_CELLS + 1, -np.inf)  # by the number of cells that are used up
    best[0] = 0.0
    for part in curved:
        squares = _squares(part, sigma, tuple(ends.tolist()))
        sums = np.full_like(best, -np.inf)
        for cell, square in enumerate(squares):
            before = best[: len(best) - cell]
            after = np.add(before, square, out=before.copy(), where=before >= 0.0)
            sums[cell:] = np.maximum(sums[cell:], after)
        best = sums
    rest = (slope * sensitivity) ** 2 * (1.0 - np.arange(_CELLS + 1) / _CELLS)
    return up(math.sqrt(float(np.max(best + rest))), 1e-13)


@functools.lru_cache(maxsize=256)
def _squares(noise: Family, sigma: float, distances: tuple[float, ...]) -> FloatArray:
    """Squares of ``mu`` at some distances."""
    if noise.form is not None and distances[-1] >= noise.form.upper:
        raise UnsupportedManifoldError(
            f"the {noise.kind} law on {noise.manifold} has no privacy curve at a distance of "
            f"{distances[-1]:.6g}; choose a smaller ball, more data or a tangent mechanism "
            '("tangent-gaussian")'
        )
    return np.square([noise.curve(sigma, distance).mu() for distance in distances])
