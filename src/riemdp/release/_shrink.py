"""Shrinkage of a noisy answer towards the centre of its ball: post-processing, at no cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._errors import UnsupportedError
from riemdp._potential import potential

if TYPE_CHECKING:
    from riemdp.mechanisms import Mechanism
    from riemdp.noise import RadialLaw
    from riemdp.spaces import Ball, FloatArray


def shrinkage(mechanism: Mechanism, answers: Ball) -> float:
    """Return h of the factor ``(1 - h / |y|^2)_+``: 1 over the mean of ``1 / |noise|^2``.

    See docs/proofs/shrinkage.md; the noisy coordinates y are about the centre of the public ball of
    the footpoints. ``UnsupportedError`` if the noise is not added to coordinates in a uniform
    direction, or the dimension is too small for shrinkage to be known to help: under 3 for Gaussian
    noise, under 4 for other.
    """
    noise = _noise(mechanism, answers)
    least = 3 if _is_gaussian(noise) else 4
    if noise.dim < least:
        raise UnsupportedError(
            f"shrinkage is known to help from dimension {least} on, and {answers.manifold} has "
            f"{noise.dim}; use the release as it is"
        )
    try:
        return noise.harmonic_square()
    except OverflowError:
        raise UnsupportedError(
            f"the noise of scale {mechanism.sigma:.3g} is too long for its square in float64; use "
            "another unit of the data"
        ) from None


def mean_square_bound(mechanism: Mechanism, answers: Ball, *, is_shrunk: bool) -> float:
    """Bound of the mean squared error of a noisy answer, in normal coordinates.

    See docs/proofs/shrinkage.md: the mean square of the noise; less if it was shrunk.
    """
    noise = _noise(mechanism, answers)
    whole = noise.mean_square()
    if not is_shrunk:
        return whole
    h = shrinkage(mechanism, answers)
    scale = (h if _is_gaussian(noise) else whole) + answers.reach**2
    return whole - h * (h / scale)


def shrunk(coordinates: FloatArray, h: float) -> FloatArray:
    """Return coordinates, shape (dim,), times ``(1 - h / |y|^2)_+``."""
    length = math.hypot(*coordinates)
    ratio = math.sqrt(h) / length if length > 0.0 else math.inf
    return coordinates * max(0.0, 1.0 - ratio * ratio)


def gaussian_deviation(mechanism: Mechanism, answers: Ball) -> float:
    """Return the standard deviation of Gaussian noise in one coordinate of an answer.

    ``UnsupportedError`` if the noise is not Gaussian, or is not added to coordinates.
    """
    noise = mechanism.added_noise(answers)
    if noise is None or not _is_gaussian(noise):
        raise UnsupportedError(
            f"this needs Gaussian noise that is added to coordinates, which {mechanism.name} has "
            'not on these answers; release with mechanism="tangent-gaussian"'
        )
    return math.sqrt(noise.mean_square() / answers.manifold.dim)


def _noise(mechanism: Mechanism, answers: Ball) -> RadialLaw:
    noise = mechanism.added_noise(answers)
    if noise is None:
        raise UnsupportedError(
            f"{mechanism.name} on {answers.manifold} does not add its noise to coordinates, so "
            "that nothing is known of shrinkage; use a tangent or a wrapped mechanism"
        )
    return noise


def _is_gaussian(noise: RadialLaw) -> bool:
    return potential(noise.kind).degree == 2
