"""Counter-examples to the bounds of He et al. in closed form or by quadrature in one variable."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp_papers._he_loss import trapezoid

if TYPE_CHECKING:
    from riemdp_papers._experiment import FloatArray


def circle_poisson(source: FloatArray) -> tuple[FloatArray, float]:
    """Solve ``sigma'' = source`` on the circle as well as it can be solved.

    The source, shape (m,), is at equal steps around a circle of length ``2 pi``. Returns the
    solution of mean 0 for the source less its mean, and the root mean square of what is left over:
    the mean of the source, which no function has for its Laplacian.
    """
    modes = np.fft.fft(source)
    frequency = np.fft.fftfreq(len(source), 1.0 / len(source))
    square = np.square(frequency)
    modes = np.where(square > 0.0, -modes / np.where(square > 0.0, square, 1.0), 0.0)
    solution = np.real(np.fft.ifft(modes))
    back = np.real(np.fft.ifft(-square * np.fft.fft(solution)))
    return solution, float(np.sqrt(np.mean(np.square(back - source))))


def hemisphere_supremum(dim: int) -> float:
    """``lambda_1 sup |sigma| / sup |f|`` on the unit sphere for ``f = 1`` north, ``-1`` south.

    The solution of ``Delta sigma = -f`` depends on the angle ``t`` to the pole alone, with
    ``-sigma'(t) = integral_0^t sin^(dim-1) / sin(t)^(dim-1)``, and is largest at the pole. For the
    density ``(1 + f) / 2``, with its own supremum, it is half of this. That f jumps at the equator
    does not matter: smooth functions come as near as one likes. At most 1 by Theorem III.4 (1).
    """
    half = 0.5 * dim

    def slope(t: float) -> float:
        # over t: as t goes to 0 it goes to 1 / dim
        cap = (
            0.5 * scipy.special.beta(half, 0.5) * scipy.special.betainc(half, 0.5, math.sin(t) ** 2)
        )
        return float(cap / math.sin(t) ** (dim - 1))

    return dim * float(scipy.integrate.quad(slope, 1e-12, 0.5 * math.pi, epsabs=1e-13)[0])


def cap_supremum(dim: int) -> float:
    """Largest ``lambda_1 sup |sigma| / sup f`` of a density ``f`` on the unit sphere.

    Half the kernel's norm, attained by the uniform law on the cap where the kernel is positive: the
    kernel falls with the angle ``t`` to the pole, with slope ``(F(t) - 1) / sin(t)^(dim-1)`` up to
    a factor, ``F`` the share of the cap. At most 1 by Theorem III.4 (1) for a density.
    """
    half = 0.5 * dim
    nodes, weights = np.polynomial.legendre.leggauss(400)

    def shares(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        # of the cap and of the rest, both with relative accuracy
        near = 0.5 * scipy.special.betainc(half, 0.5, np.square(np.sin(t)))
        north = t < 0.5 * math.pi
        return np.where(north, near, 1.0 - near), np.where(north, 1.0 - near, near)

    def integral(low: float, high: float, inside: bool) -> float:
        t = low + 0.5 * (high - low) * (nodes + 1.0)
        cap, rest = shares(t)
        values = (cap if inside else rest) * rest / np.sin(t) ** (dim - 1)
        return 0.5 * (high - low) * float(weights @ values)

    def kernel(t: float) -> float:
        return integral(t, math.pi, False) - integral(0.0, t, True)

    edge = float(scipy.optimize.brentq(kernel, 0.01, math.pi - 0.01, xtol=1e-13))
    return dim * float(scipy.special.beta(half, 0.5)) * integral(0.0, edge, True)


def step_error(dim: int, ratio: float, radius: float, core: float = 0.0) -> float:
    """``lambda^2 phi_min E rho^2`` in ``R^dim`` for a factor that steps up at a radius.

    ``phi`` is 1 within ``radius / lambda`` of the footpoint and ``ratio >= 1`` beyond, so that
    ``phi`` is small where the data are, as in the paper. The density is ``exp(-lambda rho*)`` with
    respect to the volume of ``phi g``; radii are geodesics of both metrics. At most ``dim (dim +
    1)`` by Theorem V.1, for ``lambda`` as in Table II, that is ``epsilon / (2 sqrt(phi_max)
    Delta)``.

    ``phi`` is ``ratio`` within ``core`` of the footpoint too. With ``epsilon / (2 sqrt ratio)``
    that is the sensitivity for ``lambda = epsilon / (2 Delta*)``, so that ``Delta* = sqrt(phi_max)
    Delta`` at the footpoint as well.
    """
    root = math.sqrt(ratio)
    slow = math.exp(-(root - 1.0) * core)

    def moment(power: int) -> float:
        def gamma(end: float) -> float:
            return math.gamma(power + 1.0) * float(scipy.special.gammainc(power + 1.0, end))

        middle = ratio ** (0.5 * dim) * gamma(root * core) / root ** (power + 1)
        inner = gamma(radius) - gamma(core)
        outer = sum(
            math.comb(power, j) * radius ** (power - j) * math.factorial(j) / root ** (j + 1)
            for j in range(power + 1)
        )
        beyond = ratio ** (0.5 * dim) * math.exp(-radius) * outer
        return float(middle + slow * (inner + beyond))

    return moment(dim + 1) / moment(dim - 1)


def worst_step(dim: int, ratio: float) -> tuple[float, float]:
    """Return the radius at which :func:`step_error` is largest, and its value there."""
    radii = np.linspace(0.01, 12.0 * dim, 1201)
    values = [step_error(dim, ratio, float(radius)) for radius in radii]
    best = int(np.argmax(values))
    return float(radii[best]), values[best]


def ramp_error(dim: int, ratio: float, radius: float, width: float) -> float:
    """:func:`step_error` with a smooth step (of ``log phi``) of this width, by quadrature."""
    grid = np.linspace(0.0, radius + 40.0, 400_001)
    log_root = 0.25 * math.log(ratio) * (1.0 + np.tanh((grid - radius) / width))
    root = np.exp(log_root)
    step = grid[1] - grid[0]
    along = np.concatenate([[0.0], np.cumsum(0.5 * (root[1:] + root[:-1])) * step])
    # the largest factor under the exponent keeps it within float64
    log_weight = dim * (log_root - log_root[-1]) - along
    weight = np.exp(log_weight) * grid ** (dim - 1)
    return trapezoid(weight * np.square(grid), grid) / trapezoid(weight, grid)


def hyperbolic_error(rate: float) -> float:
    """``E rho^2`` of the Laplace law ``exp(-rate rho)`` on the hyperbolic plane, ``phi = 1``.

    There is such a law for a rate above 1. At most ``6 / rate^2`` by Theorem V.1.
    """
    low, high = rate - 1.0, rate + 1.0
    return (2.0 / low**3 - 2.0 / high**3) / (1.0 / low - 1.0 / high)


def published_acceptance_error(rate: float, height: float) -> float:
    """Total variation between the law of Theorem IV.2 and that of Algorithm 1 on ``[-1, 1]``.

    With proposals that are symmetric for ``g`` the printed acceptance ratio leaves out
    ``phi^(d/2)``: the chain draws from ``exp(-rate rho*)`` with respect to the volume of ``g``.
    ``phi = exp(2 height x)``, footpoint 0.
    """
    grid = np.linspace(-1.0, 1.0, 20_001)
    along = np.abs(np.expm1(height * grid)) / height
    laws = [np.exp(-rate * along + meant * height * grid) for meant in (1.0, 0.0)]
    laws = [law / trapezoid(law, grid) for law in laws]
    return 0.5 * trapezoid(np.abs(laws[0] - laws[1]), grid)


def stretch(height: float) -> tuple[float, float]:
    """Least and largest ``rho* / rho`` on the circle for ``phi = exp(2 height cos)``.

    Over all pairs of 400 points; by Corollary III.6 between ``exp(-height)`` and ``exp(height)``.
    """
    count, fine = 400, 50
    grid = np.linspace(0.0, 2.0 * math.pi, count * fine + 1)
    speed = np.exp(height * np.cos(grid))
    steps = 0.5 * (speed[1:] + speed[:-1]) * (grid[1] - grid[0])
    along = np.concatenate([[0.0], np.cumsum(steps)])[::fine]
    plain = grid[::fine]
    both = []
    for position in (along, plain):
        gap = np.abs(position[:-1, None] - position[None, :-1])
        both.append(np.minimum(gap, position[-1] - gap))
    apart = both[1] > 0.0
    ratio = both[0][apart] / both[1][apart]
    return float(np.min(ratio)), float(np.max(ratio))
