"""Random variables as functions of uniform ones, enclosed at the working precision.

All are exact in real arithmetic and take a fixed number of uniform variables.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.noise.exact._bits import Uniform

    Ball = Any


def gamma(uniforms: Sequence[Uniform], twice_shape: int) -> Ball:
    """Enclose a gamma variable of integer or half-integer shape and scale 1.

    A sum of exponential variables, the log of one product (exponents of balls do not run out),
    and for the half of half the square of a normal variable; see :func:`gamma_uniforms`.
    """
    from flint import arb

    product = arb(1)
    for uniform in uniforms[: twice_shape // 2]:
        product *= uniform.ball()
    total = -product.log()
    if twice_shape % 2:
        total += normals(uniforms[twice_shape // 2 :], 1)[0] ** 2 / 2
    return total


def gamma_uniforms(twice_shape: int) -> int:
    """How many uniform variables :func:`gamma` takes."""
    return twice_shape // 2 + 2 * (twice_shape % 2)


def normals(uniforms: Sequence[Uniform], count: int) -> list[Ball]:
    """Enclose independent standard normal variables, ``sqrt(-2 log U) (cos, sin)(2 pi V)``.

    As many uniform variables are taken as :func:`normal_uniforms` says. Box and Muller, "A note on
    the generation of random normal deviates", Annals of Mathematical Statistics 29 (1958).
    """
    return normals_of([uniform.ball() for uniform in uniforms[: normal_uniforms(count)]], count)


def normals_of(balls: Sequence[Ball], count: int) -> list[Ball]:
    """Enclose what :func:`normals` does, of enclosures of the uniform variables."""
    found = []
    for first, second in zip(balls[::2], balls[1::2], strict=True):
        length = (-2 * first.log()).sqrt()
        sine, cosine = (2 * second).sin_cos_pi()
        found += [length * cosine, length * sine]
    return found[:count]


def normal_uniforms(count: int) -> int:
    """How many uniform variables :func:`normals` takes."""
    return 2 * ((count + 1) // 2)


def direction(uniforms: Sequence[Uniform], dim: int) -> list[Ball]:
    """Enclose a uniform unit vector: normal variables over their norm.

    On the line it is a sign. In the plane the norm cancels, and an angle is left. As many
    uniform variables are taken as :func:`direction_uniforms` says.
    """
    from flint import arb

    if dim == 1:
        return [arb(1 - 2 * uniforms[0].prefix(1))]
    if dim == 2:
        sine, cosine = (2 * uniforms[0].ball()).sin_cos_pi()
        return [cosine, sine]
    components = normals(uniforms, dim)
    scale = 1 / norm(components)
    return [scale * x for x in components]


def direction_uniforms(dim: int) -> int:
    """How many uniform variables :func:`direction` takes."""
    return 1 if dim <= 2 else normal_uniforms(dim)


def norm(components: Sequence[Ball]) -> Ball:
    """Enclose the Euclidean norm."""
    square = functools.reduce(operator.add, (x * x for x in components))
    # A square is not negative, though an enclosure of it may hold negative numbers.
    return square.nonnegative_part().sqrt()
