"""Draws of any mechanism or law in float64."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._part import is_own
from riemdp.mechanisms import Mechanism, TangentMechanism
from riemdp.mechanisms._named import RiemannianMechanism
from riemdp.noise import (
    AffineInvariantLaw,
    AlignedLaw,
    IndependentLaw,
    IsotropicLaw,
    Law,
    PushedLaw,
    resolve_generator,
)
from riemdp.noise.exact import default_grid
from riemdp.noise.exact._rounded import rounded_values
from riemdp.research._affine_invariant_draw import affine_invariant_draws
from riemdp.research._isotropic import along_geodesics, isotropic_vectors
from riemdp.research._polar import leading_axes
from riemdp.spaces import Ball

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.noise._generator import Size, Source
    from riemdp.spaces import FloatArray


def sample(
    mechanism: Any,
    footpoint: ArrayLike,
    size: int | tuple[int, ...] | None = None,
    generator: np.random.Generator | None = None,
) -> FloatArray:
    r"""Draw about footpoints in float64: to compare, to audit and to draw pictures.

    Nothing is proved of the bits; a release draws by :meth:`Mechanism.exact_draw`.

    Parameters
    ----------
    mechanism : Mechanism or Law
        One with a ``sample(footpoint, size, generator)`` of its own is asked. Where another package
        says how to draw exactly, exact draws are taken.
    footpoint : array_like, shape (\*batch, \*point_shape)
    size : int or tuple of int, optional
        Leading axes of the result.
    generator : numpy.random.Generator, optional
        Source of randomness; a new secure generator by default.

    Returns
    -------
    ndarray, shape (\*size, \*batch, \*point_shape)

    Raises
    ------
    NotOnManifoldError
        If a footpoint is not on the manifold.
    NotAttainableError
        If a draw lies so far out that float64 has no coordinates for it.
    UnsupportedError
        If nothing is known of how to draw.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp import research
    >>> law = riemdp.RiemannianGaussian(riemdp.Sphere(2), 0.1)
    >>> research.sample(law, [0.0, 0.0, 1.0], 5, np.random.default_rng(0)).shape
    (5, 3)
    """
    if hasattr(mechanism, "sample"):
        drawn: FloatArray = mechanism.sample(footpoint, size, generator)
        return drawn
    owner = (kind for kind in type(mechanism).__mro__ if "exact_draw" in vars(kind))
    draws = _draws if is_own(next(owner, Mechanism)) else exact_sample
    return draws(mechanism, footpoint, size, generator)


def exact_sample(
    mechanism: Any, footpoint: ArrayLike, size: Size = None, generator: Source = None
) -> FloatArray:
    """Draw as :func:`sample` does, by the exact draws of a mechanism or a law.

    ``UnsupportedError`` where it has none.
    """
    manifold = mechanism.manifold
    points = manifold.validate(footpoint)
    shape = manifold.point_shape
    feet = points.reshape(-1, *shape)
    axes, grid = leading_axes(size), default_grid(mechanism.sigma)
    found = np.empty((math.prod(axes), *feet.shape))
    for column, foot in enumerate(feet):
        center = getattr(mechanism, "base", None)
        center = foot if center is None else center
        about = manifold.tangent_coordinates(center, manifold.log(center, foot))
        reach = min(0.25 * manifold.injectivity_radius, mechanism.sigma)
        ball = Ball(manifold, center, max(reach, 2.0 * float(np.linalg.norm(about))))
        draw = mechanism.exact_draw(ball.reach if isinstance(mechanism, Law) else ball)
        drawn = draw.draws(about.tolist(), grid, len(found), generator=generator)
        found[:, column] = ball.point(rounded_values(drawn, grid))
    return found.reshape(*axes, *points.shape)


@functools.singledispatch
def _draws(law: object, footpoint: ArrayLike, size: Size, generator: Source) -> FloatArray:
    return exact_sample(law, footpoint, size, generator)


@_draws.register
def _(law: RiemannianMechanism, footpoint: Any, size: Any, generator: Any) -> Any:
    return sample(law._law, footpoint, size, generator)


@_draws.register
def _(law: TangentMechanism, footpoint: Any, size: Any, generator: Any) -> Any:
    """Add noise in the tangent space at the base.

    A footpoint at the antipode of the base on a sphere is a ``CutLocusError``.
    """
    manifold = law.manifold
    if manifold.chart is not None:
        return sample(law._law, footpoint, size, generator)
    with np.errstate(over="ignore", invalid="ignore"):
        exact = law._coordinates(footpoint)
        shape = (*leading_axes(size), *exact.shape[:-1])
        noisy = exact + isotropic_vectors(law._distance_law, shape, generator)
        points = manifold.exp(law._base, manifold.tangent_vector(law._base, noisy))
    if not np.all(np.isfinite(points)):
        raise NotAttainableError(
            f"a draw with sigma = {law.sigma:g} lies too far out for float64 coordinates on "
            f"{manifold}; use a smaller sigma (more data, a smaller ball, a larger budget)"
        )
    return points


_draws.register(IsotropicLaw, along_geodesics)
_draws.register(AffineInvariantLaw, affine_invariant_draws)


@_draws.register
def _(law: AlignedLaw, footpoint: Any, size: Any, generator: Any) -> Any:
    aligned = law.manifold.aligned(law.manifold.validate(footpoint))
    return law.manifold.stood_for(sample(law.above, aligned, size, generator))


@_draws.register
def _(law: PushedLaw, footpoint: Any, size: Any, generator: Any) -> Any:
    lifted = law.manifold.lift(law.manifold.validate(footpoint))
    return law.manifold.push(sample(law.above, lifted, size, generator))


@_draws.register
def _(law: IndependentLaw, footpoint: Any, size: Any, generator: Any) -> Any:
    generator = resolve_generator(generator)
    feet = law.manifold.split(law.manifold.validate(footpoint))
    parts = zip(law.parts, feet, strict=True)
    return law.manifold.join([sample(part, foot, size, generator) for part, foot in parts])
