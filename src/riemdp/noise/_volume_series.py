"""The mean volume density of SPD matrices under a Gaussian law, and its power series.

With G a Gaussian symmetric matrix (diagonal of variance 1, off-diagonal of variance 1/2) and J the
volume density of the affine-invariant metric, ``F(q) = E J(sqrt(q) G) = sum f_n q^n`` is entire and
all ``f_n >= 0``. Everything about distances follows from it. Derivation:
docs/proofs/affine-invariant-sampler.
"""

from __future__ import annotations

import cmath
import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._errors import NotAttainableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Largest exponent at the ends of the grid; past it rounding and overflow come near, and the
#: Pfaffian without a change of basis is well-conditioned.
_LARGEST_EXPONENT = 120.0
#: Largest number of weights.
_MOST_WEIGHTS = 1 << 20
#: Standard deviations between the circles that coefficients are taken from.
_APART = 4.0
#: Below this the logarithm's terms cancel and a power series takes over.
_SERIES_BELOW = 0.3


def log_sinhc(x: FloatArray) -> FloatArray:
    """``g(x) = log(sinh(x/2) / (x/2))`` for ``x >= 0``, without cancellation or overflow."""
    small = x < _SERIES_BELOW
    safe = np.where(small, 1.0, x)
    large = 0.5 * safe + np.log(-np.expm1(-safe) / safe)
    square = np.square(np.where(small, x, 0.0))
    series = 1.0 / 181440.0 - square * (1.0 / 9676800.0 - square / 479001600.0)
    series = square * (1.0 / 24.0 - square * (1.0 / 2880.0 - square * series))
    return np.where(small, series, large)


def growth_rate(k: int) -> float:
    """``|delta| = sqrt(k (k^2 - 1) / 12)``: log J grows like this multiple of the distance."""
    return math.sqrt(k * (k * k - 1) / 12.0)


def log_mean_volume(k: int, q: float) -> float:
    """``log F(q)`` for real ``q >= 0``, to about 1e-13 of ``1 + log F``."""
    if k == 1 or q == 0.0:
        return 0.0
    if k == 2:
        # J = sinh(x)/x at x = sqrt(q/2) chi_2 has a closed mean.
        root = 0.5 * math.sqrt(q)
        ratio = 0.5 * math.sqrt(math.pi) * math.erf(root) / root
        return math.log(ratio) + 0.25 * q if q > 1e-12 else q / 6.0
    return _log_mean_volume(k, complex(q)).real


def log_order_constant(k: int) -> float:
    """``log E prod_{i<j} |x_i - x_j| / k!`` for k standard normal numbers."""
    gammaln = scipy.special.gammaln
    index = np.arange(1, k + 1)
    return float(np.sum(gammaln(1.0 + 0.5 * index) - gammaln(1.5)) - gammaln(k + 1.0))


def volume_weights(k: int, q: float) -> tuple[int, FloatArray]:
    """First n that counts, and the weights ``p_n = f_n q^n / F(q)`` from it on, of sum one.

    None is negative. Cauchy's formula on the circle of radius q, so that errors are about 1e-15 of
    the total. The number of points follows from mean and variance of the law; aliasing then folds
    in less than that.
    """
    if k == 1 or q < 1e-17:
        return 0, np.ones(1)
    center = _log_mean_volume(k, complex(q)).real
    step = 1e-2
    up = _log_mean_volume(k, complex(q * math.exp(step))).real
    down = _log_mean_volume(k, complex(q * math.exp(-step))).real
    mean = max((up - down) / (2.0 * step), 0.0)
    deviation = math.sqrt(max((up - 2.0 * center + down) / step**2, 0.0))
    count = 1 << math.ceil(math.log2(22.0 * deviation + 40.0))
    if count > _MOST_WEIGHTS:
        raise NotAttainableError(
            f"distances under noise of variance {q:g} on SPD({k}) are not tabulated: that is more "
            "noise than float64 matrices can carry; use a smaller sigma"
        )
    first = max(0, round(mean) - count // 2)
    values = np.zeros(count // 2 + 1, dtype=np.complex128)
    values[0] = 1.0
    small = 0
    for i in range(1, values.size):
        angle = 2.0 * math.pi * i / count
        ratio = cmath.exp(_log_mean_volume(k, cmath.rect(q, angle)) - center)
        values[i] = ratio * cmath.exp(-1j * angle * first)
        # |F| falls like a Gaussian around the positive axis and never gets up again.
        small = small + 1 if abs(ratio) < 1e-18 else 0
        if small == 3:
            break
    weights = np.maximum(np.fft.irfft(np.conj(values), count), 0.0)
    return first, np.asarray(weights / weights.sum())


def log_coefficients(k: int, low: float, high: float) -> tuple[int, FloatArray]:
    """First n that counts for a q from ``low`` to ``high``, and ``log f_n`` from it on.

    The weights at one q know the coefficients where they are not small. From ``high`` downwards
    each next q moves their mean by at most ``_APART`` deviations, as the weights are an exponential
    family in ``log q`` and their deviation grows with q; the largest weight of an n is taken. An n
    that has none above 1e-14 has ``-inf``.
    """
    parts = []
    q = high
    while True:
        first, weights = volume_weights(k, q)
        parts.append((first, weights, q))
        n = first + np.arange(weights.size)
        mean = float(weights @ n)
        if q <= low or (first == 0 and weights[0] > 1e-3):
            break
        q = max(low, q * math.exp(-_APART / math.sqrt(float(weights @ np.square(n - mean)))))
    start = parts[-1][0]
    best = np.full(parts[0][0] + parts[0][1].size - start, 1e-14)
    found = np.full(best.size, -math.inf)
    for first, weights, q in parts:
        own = slice(first - start, first - start + weights.size)
        better = weights > best[own]
        n = first + np.flatnonzero(better)
        best[own][better] = weights[better]
        found[own][better] = np.log(weights[better]) + log_mean_volume(k, q) - n * math.log(q)
    return start, found


def _log_mean_volume(k: int, q: complex) -> complex:
    """``log F`` at a complex q; the imaginary part up to multiples of pi."""
    root = cmath.sqrt(q)
    if root.real * _reach(k, root.real) <= _LARGEST_EXPONENT:
        return _log_pfaffian(k, q) - _log_pfaffian(k, 0j)
    pairs = 0.25 * k * (k - 1) * cmath.log(q) - 0.5 * q * growth_rate(k) ** 2
    return _log_plain_pfaffian(k, root) - pairs - log_order_constant(k)


def _reach(k: int, root: float) -> float:
    return 0.5 * root * (k - 1) + math.sqrt(2.0 * k) + 7.5


@functools.lru_cache(maxsize=4096)
def _log_pfaffian(k: int, q: complex) -> complex:
    """Log of ``F(q)`` up to a constant of k, for complex q.

    De Bruijn's Pfaffian of ``∫∫ sgn(y - x) f_i(x) f_j(y)`` over the span of the k functions
    ``exp(a x sqrt(q) - x^2/2)``, ``a = -(k-1)/2 ... (k-1)/2``. An orthonormal basis of that span,
    even and odd functions apart, leaves a well-conditioned determinant of half the size; the
    norms of the basis before normalisation give the rest. The functions are entire with Gaussian
    decay: sums over a uniform grid integrate them to rounding.
    """
    root = cmath.sqrt(q)
    reach = _reach(k, root.real)
    half = math.ceil(reach * (_reach(k, abs(root.imag))) / 2.8)
    step = reach / half
    x = step * np.arange(-half, half)
    decay = np.exp(-0.5 * np.square(x))

    def sinh_over(scale: float) -> NDArray[np.complex128]:
        """``sinh(scale * root * x) / root``."""
        if abs(root) < 1e-8:
            return np.asarray(scale * x, dtype=np.complex128)
        return np.asarray(np.sinh(scale * root * x) / root, dtype=np.complex128)

    double = 2.0 * sinh_over(0.5)
    even = decay + 0j if k % 2 else np.cosh(0.5 * root * x) * decay
    odd = sinh_over(1.0) * decay if k % 2 else double * decay
    evens, even_log = _orthonormal(even, double * double, (k + 1) // 2)
    odds, odd_log = _orthonormal(odd, double * double, k // 2)
    frequency = 2.0j * math.pi * np.fft.fftfreq(x.size, step)
    frequency[[0, half]] = 1.0
    spectrum = np.fft.fft(odds, axis=-1) / frequency
    spectrum[:, [0, half]] = 0.0
    integral = np.fft.ifft(spectrum, axis=-1)
    columns = (integral - integral[:, :1]).T
    if k % 2:
        columns = np.concatenate([columns, np.ones((x.size, 1))], axis=1)
    sign, log_det = np.linalg.slogdet(evens @ columns)
    grid = (k + 1) // 2 * math.log(step)
    return complex(even_log + odd_log + float(log_det) + grid, cmath.phase(complex(sign)))


def _orthonormal(
    start: NDArray[np.complex128], factor: NDArray[np.complex128], count: int
) -> tuple[NDArray[np.complex128], float]:
    """Orthonormalise ``start * factor^j``, ``j < count``; log product of the norms left over."""
    basis = np.zeros((count, start.size), dtype=np.complex128)
    vector, log_norm, total = start, 0.0, 0.0
    for j in range(count):
        for _ in range(2):
            vector = vector - (basis[:j].conj() @ vector) @ basis[:j]
        norm = float(np.linalg.norm(vector))
        log_norm += math.log(norm)
        total += log_norm
        basis[j] = vector / norm
        vector = factor * basis[j]
    return basis, total


def _log_plain_pfaffian(k: int, root: complex) -> complex:
    """``log Pf[erf(root (j - i)/2)]`` where erf is near one and nothing cancels."""
    size = k + k % 2
    index = np.arange(size)
    matrix = scipy.special.erf(0.5 * root * (index - index[:, None]))
    if k % 2:
        matrix[:k, k], matrix[k, :k] = 1.0, -1.0
    sign, log_det = np.linalg.slogdet(matrix)
    return complex(0.5 * float(log_det), 0.5 * cmath.phase(complex(sign)))
