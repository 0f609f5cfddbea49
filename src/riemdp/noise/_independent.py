"""Noise of products: independent parts of one scale."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp._errors import ConvergenceError, NotAttainableError, UnsupportedManifoldError
from riemdp._part import both_proved
from riemdp.noise._distance_laws import IndependentRadial
from riemdp.noise._family import Family, bisected
from riemdp.noise._law import FactorLaw, Law
from riemdp.noise._rules import family, rule
from riemdp.noise.exact._independent import IndependentDraw
from riemdp.privacy import GaussianCurve, PureCurve, gaussian_floor, up
from riemdp.spaces import CurvedPower, Product

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp._potential import Kind
    from riemdp.noise.exact._draw import ExactDraw
    from riemdp.privacy import PrivacyCurve
    from riemdp.spaces import Combined, FloatArray

#: Cells that the squared distance is shared out in.
_CELLS = 24
#: Relative accuracy of a scale, which is rounded up.
_ACCURACY = 1e-4
#: Factor between the scales that are tried until one suffices: on some spaces few do.
_STEP = 2.0**0.25


@dataclass(frozen=True)
class IndependentLaw(Law):
    """Independent laws of one kind and scale on the factors of a product.

    The density of the Gaussian is that of the Gaussian law on the product, since squared distances
    add up. Of the Laplace law the factors' distances add up, not that of the product.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Product or CurvedPower
    sigma : float
    """

    kind: Kind
    manifold: Combined
    sigma: float

    exact_radial: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", self.parts[0].sigma)

    @functools.cached_property
    def parts(self) -> list[Law]:
        """Laws of the parts."""
        return [family(self.kind, space).law(self.sigma) for space in self.manifold.spaces]

    @functools.cached_property
    def radial(self) -> IndependentRadial:
        """Law of the distance."""
        radials = tuple(part.radial for part in self.parts)
        return IndependentRadial(radials, self.manifold.counts)

    def exact_draw(self, reach: float | None = None) -> ExactDraw:
        """See :meth:`Law.exact_draw`."""
        pairs = zip(self.parts, self.manifold.counts, strict=True)
        draws = [(part.exact_draw(reach), count) for part, count in pairs]
        return IndependentDraw(tuple(draw for draw, count in draws for _ in range(count)))

    def check_drawable(self) -> None:
        """See :meth:`Law.check_drawable`."""
        for part in self.parts:
            part.check_drawable()

    def factor_law(self, factor: int) -> FactorLaw:
        """Ask the law of the part; see :meth:`Law.factor_law`."""
        for part, count in zip(self.parts, self.manifold.counts, strict=True):
            inside = len(part.manifold.factors)
            if factor < inside * count:
                return part.factor_law(factor % inside)
            factor -= inside * count
        raise IndexError(factor)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Sum over the factors; see :meth:`Law.log_density`."""
        points, feet = self.manifold.split(point), self.manifold.split(footpoint)
        parts = zip(self.parts, points, feet, strict=True)
        return self.manifold.total([part.log_density(*each) for part, *each in parts])


class _Independent(Family):
    """Independent noise of the factors."""

    manifold: Combined

    @functools.cached_property
    def parts(self) -> list[Family]:
        """Noise of the parts."""
        return [family(self.kind, space) for space in self.manifold.spaces]

    def law(self, sigma: float) -> Law:
        """See :meth:`Family.law`."""
        return IndependentLaw(self.kind, self.manifold, sigma)

    @property
    def is_single(self) -> bool:
        """Whether there is one factor alone, whose noise this is."""
        return sum(self.manifold.counts) == 1

    @property
    def growth(self) -> float:
        """Largest of the factors: each needs a normaliser."""
        return max(part.growth for part in self.parts)

    @property
    def invariance(self) -> str | None:
        """None: isometries of a product may exchange factors."""
        return None

    def proofs(self) -> dict[str, str | None]:
        """Where this is proved of products, and what is not of the factors."""
        return both_proved(super().proofs(), *(part.proofs() for part in self.parts))


@rule("laplace", Product, CurvedPower)
class IndependentLaplace(_Independent):
    """Independent Laplace noise of the factors: their distances add up in the density."""

    proof = "docs/proofs/products.md"

    def curve(self, sigma: float, sensitivity: float) -> PrivacyCurve:
        """Pure epsilon by the triangle inequality in every factor; of a single one its curve."""
        if self.is_single:
            return self.parts[0].curve(sigma, sensitivity)
        return PureCurve(self.triangle_epsilon(sigma, sensitivity))

    def total_shift(self, sensitivity: float) -> float:
        """Return the largest sum of distances whose root of a sum of squares is this."""
        if self.is_single:
            return self.parts[0].total_shift(sensitivity)
        pairs = zip(self.parts, self.manifold.counts, strict=True)
        shares = [count * part.total_shift(1.0) ** 2 for part, count in pairs]
        return up(math.sqrt(math.fsum(shares)) * sensitivity)

    def energy(self, sigma: float, point: FloatArray, footpoint: FloatArray) -> FloatArray:
        """Sum over the factors; see :meth:`Family.energy`."""
        points, feet = self.manifold.split(point), self.manifold.split(footpoint)
        parts = zip(self.parts, points, feet, strict=True)
        return self.manifold.total([part.energy(sigma, *each) for part, *each in parts])

    @property
    def constant_normaliser(self) -> str | None:
        """Whether every factor has one; the product of them is that of the density."""
        known = all(part.constant_normaliser for part in self.parts)
        return "docs/proofs/products.md" if known else None

    @property
    def score_dim(self) -> int:
        """Least of the factors: no direction has more information than the best of a factor."""
        return min(part.score_dim for part in self.parts)


@rule("gaussian", Product, CurvedPower)
class IndependentFamily(_Independent):
    """Gaussian noise of a product."""

    proof = "docs/proofs/products.md"

    def curve(self, sigma: float, sensitivity: float) -> PrivacyCurve:
        """GDP with the largest root of a sum of squares over all ways to share the distance.

        Raises ``UnsupportedManifoldError`` where no GDP of a factor is known at this distance.
        """
        if self.is_single:
            return self.parts[0].curve(sigma, sensitivity)
        return GaussianCurve(_largest_mu(self, sigma, sensitivity))

    def slope(self, sigma: float) -> float:
        """Largest of the factors."""
        return max(part.slope(sigma) for part in self.parts)

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
                return self.curve(sigma, sensitivity).mu() <= mu
            except (ConvergenceError, NotAttainableError):
                raise self._unattainable(mu) from None

        return bisected(suffices, first, accuracy=_ACCURACY, step=_STEP)

    def _unattainable(self, mu: float) -> NotAttainableError:
        return NotAttainableError(
            f"no scale was found at which the Gaussian law on {self.manifold} is proved to be "
            f"{mu:.6g}-GDP; choose a larger budget, a smaller ball, more data, or "
            '"tangent-gaussian"'
        )


@functools.lru_cache(maxsize=256)
def _largest_mu(noise: IndependentFamily, sigma: float, sensitivity: float) -> float:
    """Largest ``sqrt(sum_j mu_j(u_j)^2)`` with ``sum_j u_j^2 <= sensitivity^2``, from above.

    It is at most the sensitivity times the largest ``mu_j`` per unit of distance, which is close.
    """
    slope = noise.slope(sigma)
    if math.isinf(slope):
        return _shared_mu(noise, sigma, sensitivity)
    return up(slope * sensitivity, 1e-15)


def _shared_mu(noise: IndependentFamily, sigma: float, sensitivity: float) -> float:
    """Bound it where nothing is known of short distances.

    The squares ``u_j^2`` lie in cells of equal length; within a cell ``mu_j`` is at most that at
    its end, and the cells' beginnings add up to the squared sensitivity at most. Flat factors, of
    which ``mu`` is proportional to the distance, need no cells. Every factor may lose a cell: of
    many little is left.
    """
    flat = [part.is_flat for part in noise.parts]
    slope = up(1.0 / sigma) if any(flat) else 0.0
    ends = sensitivity * np.sqrt(np.arange(1, _CELLS + 1) / _CELLS) * (1.0 + 1e-15)
    best = np.full(_CELLS + 1, -np.inf)  # by the number of cells that are used up
    best[0] = 0.0
    for part, count, skipped in zip(noise.parts, noise.manifold.counts, flat, strict=True):
        if skipped:
            continue
        power = np.concatenate([_squares(part, sigma, tuple(ends.tolist())), [-np.inf]])
        for bit in reversed(f"{count:b}"):  # 1, 2, 4, ... copies of it
            best = _shared(best, power) if bit == "1" else best
            power = _shared(power, power)
    rest = (slope * sensitivity) ** 2 * (1.0 - np.arange(_CELLS + 1) / _CELLS)
    return up(math.sqrt(float(np.max(best + rest))), 1e-13)


def _shared(first: FloatArray, second: FloatArray) -> FloatArray:
    """Largest sums of two numbers, by the number of cells that both use up together."""
    sums = np.full_like(first, -np.inf)
    for cell, square in enumerate(second):
        if square < 0.0:
            continue
        before = first[: len(first) - cell]
        after = np.add(before, square, out=before.copy(), where=before >= 0.0)
        sums[cell:] = np.maximum(sums[cell:], after)
    return sums


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
