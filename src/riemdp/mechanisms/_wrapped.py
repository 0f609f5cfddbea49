"""Noise in the tangent space at the ball's centre, for the Fréchet mean seen from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from riemdp._part import register
from riemdp.mechanisms._tangent import GaussianInTangentSpace, LaplaceInTangentSpace


@final
@register
@dataclass(frozen=True, eq=False)
class WrappedGaussian(GaussianInTangentSpace):
    """The Fréchet mean, with Gaussian noise in the tangent space at a public base point.

    The draw is ``exp_base(log_base(mean) + noise)``. On Hadamard spaces it is exactly
    ``sensitivity / sigma``-GDP at every ``sigma``, with the sensitivity ``2r/n`` of the mean
    itself, since ``log_base`` does not lengthen distances there; under positive curvature the
    sensitivity of the mean is that of its logarithm too.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Standard deviation of each coordinate of the noise, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data; see :class:`TangentMechanism`.

    Raises
    ------
    InvalidParameterError, NotOnManifoldError
        See :class:`TangentMechanism`.

    References
    ----------
    docs/proofs/wrapped-noise.md; for Hadamard spaces also "Exponential-wrapped mechanisms:
    differential privacy on Hadamard manifolds made practical", ICLR 2026.

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.WrappedGaussian(sphere, 0.01, base=sphere.origin)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    name: ClassVar[str] = "wrapped-gaussian"
    proof: ClassVar[str | None] = "docs/proofs/wrapped-noise.md"
    intrinsic: ClassVar[bool | None] = True


@final
@register
@dataclass(frozen=True, eq=False)
class WrappedLaplace(LaplaceInTangentSpace):
    """The Fréchet mean, with Laplace noise in the tangent space at a public base point.

    Density proportional to ``exp(-|v| / sigma)``: pure ``sensitivity / sigma``-DP, with the
    sensitivity of :class:`WrappedGaussian`.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Scale of the noise's length, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data; see :class:`TangentMechanism`.

    Raises
    ------
    InvalidParameterError, NotOnManifoldError
        See :class:`TangentMechanism`.

    References
    ----------
    docs/proofs/wrapped-noise.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.WrappedLaplace(sphere, 0.01, base=sphere.origin)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    name: ClassVar[str] = "wrapped-laplace"
    proof: ClassVar[str | None] = "docs/proofs/wrapped-noise.md"
    intrinsic: ClassVar[bool | None] = True
