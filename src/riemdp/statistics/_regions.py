"""Confidence regions of released moments, and the laws they rest on."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import count, is_one_of, real, real_array, shown
from riemdp._described import Described, digits
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._zero import zero_between
from riemdp.statistics._moments import ReleasedMoments, check_level

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import FloatArray

    Method = Literal["ellipsoid", "directional", "distribution-free"]


# Chi-squared tests with a noisy variance in the denominator: their exact worst case.

#: Nodes of the Gauss-Legendre rule, and where the normal law is cut.
_NODES, _CUT = 64, 9.0
#: Variances tried, of a geometric grid, and up to which multiple of the larger of floor and noise.
_GRID, _TOP = 128, 1e6
#: Share of the largest value of the grid that a peak has, for it to be looked at closely.
_NEAR = 0.95
#: Margins, as shares: of a computed tail, and of what a quantile leaves to the noise.
_MARGIN, _LEFT = 1e-5, 1e-3


def worst_tail(
    dim: int, statistic: float, *, inflation: float, noise: float, floor: float
) -> float:
    """Largest probability of a quotient over all variances, up to a share of 1e-5, and at most 1.

    With independent X, chi-squared of ``dim`` degrees of freedom, and a standard normal number G,
    it is the supremum over ``v >= floor`` of ``P(X v >= statistic * max(v + noise * G + inflation,
    floor))``. ``noise`` and ``floor`` are positive, ``statistic`` and ``inflation`` not negative.
    """
    spread, more = noise / floor, inflation / floor
    grid = np.geomspace(1.0, _TOP * max(1.0, spread), _GRID)
    tails = _tails(dim, statistic, more, spread, grid)
    largest = float(tails.max())
    # There may be a peak next to the floor that is hardly higher than the limit far from it.
    padded = np.concatenate([[-1.0], tails, [-1.0]])
    peak = (tails > padded[:-2]) & (tails >= padded[2:]) & (tails >= _NEAR * largest)
    for top in map(int, np.flatnonzero(peak)):
        near = np.geomspace(grid[max(top - 1, 0)], grid[min(top + 1, _GRID - 1)], 33)
        largest = max(largest, float(_tails(dim, statistic, more, spread, near).max()))
    return min(1.0, (1.0 + _MARGIN) * largest)


def _tails(
    dim: int, statistic: float, inflation: float, noise: float, variances: FloatArray
) -> FloatArray:
    """Probability for each variance, in units of the floor."""
    from scipy.special import chdtrc, ndtr

    nodes, weights = _rule()
    v = variances[:, None]
    # Below the kink the denominator is the floor.
    kink = np.maximum((1.0 - v - inflation) / noise, -_CUT)
    half = 0.5 * (_CUT - kink)
    g = kink + half * (1.0 + nodes)
    quotient = np.maximum(v + noise * g + inflation, 1.0) / v
    density = np.exp(-0.5 * g * g) / math.sqrt(2.0 * math.pi)
    above = (half * weights * density * chdtrc(dim, statistic * quotient)).sum(axis=-1)
    below = (ndtr(kink) * chdtrc(dim, statistic / v))[:, 0]
    return np.asarray(above + below)


@lru_cache(maxsize=1)
def _rule() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def calibrated(dim: int, alpha: float, *, noise: float, floor: float) -> tuple[float, float]:
    """Critical value and inflation at which :func:`worst_tail` is ``alpha``, in (0, 1).

    The quantile of the chi-squared law at ``alpha``, up to a share of 1e-3 of that, and the least
    inflation that keeps it valid.
    """
    ratio, inflation = _inflation(dim, alpha, noise / floor)
    return ratio, inflation * noise


@lru_cache(maxsize=256)
def _inflation(dim: int, alpha: float, noise: float) -> tuple[float, float]:
    """Return the critical value, and the inflation in units of the noise."""
    from scipy.special import chdtri

    critical = float(chdtri(dim, (1.0 - _LEFT) * alpha))

    def excess(units: float) -> float:
        tail = worst_tail(dim, critical, inflation=units * noise, noise=noise, floor=1.0)
        return tail - alpha

    if excess(0.0) <= 0.0:
        return critical, 0.0
    enough = 1.0
    while excess(enough) > 0.0:
        enough *= 2.0
    root = zero_between(excess, 0.0, enough, xtol=1e-7)
    while excess(root) > 0.0:  # the root is known to both sides
        root += 1e-6
    return critical, root


# Quantiles of the largest eigenvalue of a symmetric Gaussian matrix.

#: Where scaled values are divided, before squares of them overflow.
_LARGE = 1e100
_LOG_LARGE = math.log(_LARGE)
#: What quantiles are rounded up by, as a share.
_UP = 1e-9


def largest_eigenvalue_quantile(dim: int, beta: float) -> float:
    """Bound that the largest eigenvalue of symmetric Gaussian noise exceeds seldom.

    The noise is a symmetric matrix with ``Var<N, H> = |H|_F^2``: independent normal entries, of
    standard deviation 1 on the diagonal and ``1 / sqrt(2)`` off it. Its largest eigenvalue exceeds
    the bound with probability ``beta``, in (0, 0.05], at most. It is the level at which the mean
    number of eigenvalues above, slightly over-stated, is ``beta``: the quantile itself but for the
    chance of two eigenvalues above it. See Mehta, "Random matrices", 3rd ed., Elsevier 2004,
    section 7.2, and docs/proofs/confidence-regions.md.
    """
    size, probability = count(dim, "dim"), real(beta, "beta")
    if not 0.0 < probability <= 0.05:
        raise InvalidParameterError(f"beta must lie in (0, 0.05], got {shown(beta)}")
    return _quantile(size, probability)


@lru_cache(maxsize=256)
def _quantile(dim: int, beta: float) -> float:

    edge, target = math.sqrt(2.0 * dim), math.log(beta)

    def excess(level: float) -> float:
        return log_mean_number_above(dim, level) - target

    width = 1.0
    while excess(edge + width) > 0.0:
        width *= 2.0
    # At the edge itself the number is more than 0.07.
    return zero_between(excess, edge, edge + width, xtol=1e-12) * (1.0 + _UP)


def log_mean_number_above(dim: int, level: float) -> float:
    """Logarithm of a bound for the mean number of eigenvalues above a level t.

    It is ``c_d F_{d-1}(t) + sum_{j < d-1} A_j(t)`` with ``F_j`` and ``A_j`` the integrals beyond t
    of the Hermite function ``phi_j`` and of its square: every term is positive, since t is at least
    ``sqrt(2 d)``, beyond the zeros of these functions.
    """
    from scipy.special import erfcx

    t, root_pi = level, math.sqrt(math.pi)
    # Of phi_j and F_j the factor exp(-t^2 / 2) is left out, of A_j its square; log_scale is what
    # the first two were divided by since.
    before, value, log_scale = 0.0, root_pi**-0.5, 0.0
    tail_before, tail = 0.0, root_pi**-0.5 * math.sqrt(0.5 * math.pi) * float(erfcx(t / 2.0**0.5))
    square, squares = 0.5 * float(erfcx(t)), 0.0
    for j in range(dim - 1):
        squares += square
        up = math.sqrt(0.5 * (j + 1))
        following = (t * value - math.sqrt(0.5 * j) * before) / up
        next_tail = (value + math.sqrt(0.5 * j) * tail_before) / up
        square += following * value / (2.0 * up)
        before, value, tail_before, tail = value, following, tail, next_tail
        if value > _LARGE:
            before, value = before / _LARGE, value / _LARGE
            tail_before, tail = tail_before / _LARGE, tail / _LARGE
            square, squares = square / _LARGE / _LARGE, squares / _LARGE / _LARGE
            log_scale += _LOG_LARGE
    first = _log_front(dim) + math.log(tail) + log_scale - 0.5 * t * t
    if squares == 0.0:
        return first
    second = math.log(squares) + 2.0 * log_scale - t * t
    return max(first, second) + math.log1p(math.exp(-abs(first - second)))


def _log_front(dim: int) -> float:
    """Logarithm of ``c_d``: ``sqrt(d/2) I_d / 2`` for even d and ``1 / I_{d-1}`` for odd d.

    ``I_j``, the integral of ``phi_j`` over the line, is ``I_0 = sqrt(2) pi^(1/4)`` and
    ``I_j = sqrt((j-1)/j) I_{j-2}``.
    """
    log_integral = 0.25 * math.log(math.pi) + 0.5 * math.log(2.0)
    log_integral += 0.5 * math.fsum(math.log1p(-1.0 / j) for j in range(2, dim + 1, 2))
    if dim % 2:
        return -log_integral
    return 0.5 * math.log(0.5 * dim) + math.log(0.5) + log_integral


# Confidence regions for the mean of the law that records come from.

_EPS = float(np.finfo(np.float64).eps)
METHODS = ("ellipsoid", "directional", "distribution-free")
#: Shares of the probability of a miss that are left to the noise of the second moment and of the
#: mean: public constants, within 3 % of the least width over sizes, dimensions and budgets.
SHARE_SECOND, SHARE_MEAN = 0.05, 0.02
_PARAMETER = "it is about the mean of the law of the clipped records, seen from the base"
_ASYMPTOTIC = "asymptotic in the number of records, by the central limit theorem"


@dataclass(frozen=True, eq=False)
class ConfidenceRegion(ArrayFields, Described):
    """Region of a tangent space for the mean of the law that the records come from.

    The mean is that of the *clipped* records' normal coordinates about the base.

    Attributes
    ----------
    center : ndarray, shape (d,)
        Released mean, in normal coordinates about the base.
    level : float
        Probability that the region covers the mean.
    note : str
        What the level rests on.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_moments(points, ball, riemdp.GDP(1.0), second="matrix")
    >>> region = release.confidence_region(0.95)
    >>> region.level, region.dim, bool(region.contains(region.center))
    (0.95, 2, True)
    """

    center: FloatArray
    level: float
    note: str

    def __post_init__(self) -> None:
        self._seal()

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Title and lines of the text; see :class:`riemdp._described.Described`."""
        return f"Confidence region for a mean, level {self.level:.4g}", [
            ("centre", f"{digits(self.center)}, normal coordinates about the base"),
            ("radius", f"{self.radius:.4g} at most, in units of geodesic distance"),
            ("note", self.note),
        ]

    @property
    def dim(self) -> int:
        """Number d of coordinates."""
        return len(self.center)

    @property
    @abstractmethod
    def radius(self) -> float:
        """No point of the region is farther than this from its centre."""

    @abstractmethod
    def half_width(self, directions: ArrayLike) -> FloatArray:
        """How far the region reaches from its centre.

        Parameters
        ----------
        directions : array_like, shape (..., d)
            Of any length but 0.

        Returns
        -------
        ndarray, shape (...)
        """

    def contains(self, coordinates: ArrayLike) -> NDArray[np.bool_]:
        """Whether vectors of the tangent space at the base lie in the region.

        Parameters
        ----------
        coordinates : array_like, shape (..., d)
            Normal coordinates about the base.

        Returns
        -------
        ndarray of bool, shape (...)
        """
        points = real_array(coordinates, "coordinates")
        if points.ndim == 0 or points.shape[-1] != self.dim:
            raise InvalidParameterError(
                f"coordinates must have shape (..., {self.dim}), got {points.shape}"
            )
        apart = points - self.center
        length = np.linalg.norm(apart, axis=-1)
        at_center = length == 0.0
        apart = np.where(at_center[..., None], 1.0, apart)
        return np.asarray(at_center | (length <= self.half_width(apart)))


@final
@dataclass(frozen=True, eq=False)
class ConfidenceEllipsoid(ConfidenceRegion):
    """Vectors x with ``(x - center)' W^-1 (x - center) <= critical``.

    Attributes
    ----------
    shape : ndarray, shape (d, d)
        W, an upper bound of the covariance of the released mean.
    critical : float
        Critical value.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_moments(points, ball, riemdp.GDP(1.0), second="matrix")
    >>> region = release.confidence_region(0.95)
    >>> type(region).__name__, region.semi_axes.shape
    ('ConfidenceEllipsoid', (2,))
    """

    shape: FloatArray
    critical: float

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, FloatArray]:
        values, vectors = np.linalg.eigh(self.shape)
        # Smaller ones are rounding of the largest.
        return np.maximum(values, self.dim * _EPS * values[-1]), np.asarray(vectors)

    @property
    def semi_axes(self) -> FloatArray:
        """Lengths of the semi-axes, longest first, shape (d,)."""
        return np.asarray(np.sqrt(self.critical * self._spectrum[0][::-1]))

    @property
    def axes(self) -> FloatArray:
        """Unit vectors along the semi-axes, the columns of a (d, d) matrix in their order."""
        return np.asarray(self._spectrum[1][:, ::-1])

    @property
    def radius(self) -> float:
        """Longest semi-axis."""
        return float(self.semi_axes[0])

    def half_width(self, directions: ArrayLike) -> FloatArray:
        """How far it reaches from its centre; see :meth:`ConfidenceRegion.half_width`."""
        values, vectors = self._spectrum
        along = (_unit(directions, self.dim) @ vectors) ** 2
        return np.asarray(np.sqrt(self.critical / (along / values).sum(axis=-1)))

    def intervals(self, contrasts: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals for linear functions of the mean, all of them at once.

        Parameters
        ----------
        contrasts : array_like, shape (..., d)
            Vectors a: the interval is about ``a @ mean``.

        Returns
        -------
        tuple of (ndarray, ndarray), each of shape (...)
        """
        a = real_array(contrasts, "contrasts")
        middle = a @ self.center
        reach = np.sqrt(self.critical * np.einsum("...i,ij,...j->...", a, self.shape, a))
        return np.asarray(middle - reach), np.asarray(middle + reach)


@final
@dataclass(frozen=True, eq=False)
class DirectionalRegion(ConfidenceRegion):
    """Vectors ``center + t u``, u of length 1, with ``t^2 <= critical * variance along u``.

    Attributes
    ----------
    moments : ReleasedMoments
        What the variances are computed from.
    critical : float
        Critical value.
    inflation : float
        What is added to noisy variances.
    allowance : float
        What the noise of the mean is not to exceed, in units of its standard deviation.
    """

    moments: ReleasedMoments = field(repr=False)
    critical: float
    inflation: float
    allowance: float

    @property
    def radius(self) -> float:
        """Bound of the half-widths in all directions."""
        matrix, more = self.moments.centred(self.allowance)
        spread = max(float(np.linalg.eigvalsh(matrix)[-1]) + more, 0.0)
        variance = spread / self.moments.degrees_of_freedom() + self.moments.sigma**2
        return math.sqrt(self.critical * (variance + self.inflation))

    def half_width(self, directions: ArrayLike) -> FloatArray:
        """How far it reaches from its centre; see :meth:`ConfidenceRegion.half_width`."""
        u = _unit(directions, self.dim)
        variances = self.moments.variance_along(u, self.allowance) + self.inflation
        return np.asarray(np.sqrt(self.critical * np.maximum(variances, self.moments.sigma**2)))


def confidence_region(
    moments: ReleasedMoments, level: float = 0.95, *, method: Method = "ellipsoid"
) -> ConfidenceRegion:
    """Region that covers the mean of the law that the records come from.

    Sampling and privacy noise both are in it. The mean is that of the clipped records' normal
    coordinates about the base: where records are clipped it is not the mean of what they were, and
    on a curved space its point is no Frechet mean.

    Parameters
    ----------
    moments : ReleasedMoments
        Mean and second moment of one release with Gaussian noise.
    level : float, optional
        Probability to cover the mean, in (0, 1 - 1e-9].
    method : {"ellipsoid", "directional", "distribution-free"}, optional
        ``"ellipsoid"``, by default: an upper bound of the covariance that holds in all directions
        at once. ``"directional"``: a bound in the direction that counts alone, narrower where
        noise is not small; the region need not be convex. Both are asymptotic in the number of
        records. ``"distribution-free"``: a ball for any number of records and any law, wide, and
        for public bases only.

    Returns
    -------
    ConfidenceRegion
        A :class:`ConfidenceEllipsoid`, or a :class:`DirectionalRegion`.

    Raises
    ------
    InvalidParameterError
        If the level or the method is not one of those above.
    InsufficientSamplesError
        If one record is to have a spread.
    UnsupportedError
        If the distribution-free ball is asked for about a base that was released.

    References
    ----------
    docs/proofs/confidence-regions.md
    """
    alpha = check_level(level)
    if not is_one_of(method, METHODS):
        raise InvalidParameterError(f"method must be one of {METHODS}, got {shown(method)}")
    if method == "distribution-free":
        return _ball(moments, alpha)
    return (_ellipsoid if method == "ellipsoid" else _directional)(moments, alpha)


def contrast_interval(
    moments: ReleasedMoments, contrast: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """Interval for one linear function of the mean, chosen without looking at the release.

    Parameters
    ----------
    moments : ReleasedMoments
    contrast : array_like, shape (d,)
        Vector a, not 0: the interval is about ``a @ mean``.
    level : float, optional
        Probability to cover it, asymptotic in the number of records.

    Returns
    -------
    tuple of (float, float)

    References
    ----------
    docs/proofs/confidence-regions.md
    """
    from scipy.special import ndtri

    alpha, a = check_level(level), real_array(contrast, "contrast")
    unit, size = _unit(a, moments.dim), float(np.linalg.norm(a))
    noise, floor = moments.variance_noise(), moments.sigma**2
    critical, inflation = calibrated(1, (1.0 - SHARE_MEAN) * alpha, noise=noise, floor=floor)
    allowance = -float(ndtri(0.5 * SHARE_MEAN * alpha))
    variance = float(moments.variance_along(unit, allowance)) + inflation
    reach = size * math.sqrt(critical * max(variance, floor))
    middle = float(a @ moments.mean)
    return middle - reach, middle + reach


def mean_noise_quantile(dim: int, beta: float) -> float:
    """Quantile that a standard normal vector's length exceeds with probability ``beta``."""
    from scipy.special import chdtri

    return math.sqrt(float(chdtri(dim, beta)))


def _ellipsoid(moments: ReleasedMoments, alpha: float) -> ConfidenceEllipsoid:
    from scipy.special import chdtri

    d, sigma, freedom = moments.dim, moments.sigma, moments.degrees_of_freedom()
    second = moments.sigma_second * largest_eigenvalue_quantile(d, SHARE_SECOND * alpha)
    matrix, more = moments.centred(mean_noise_quantile(d, SHARE_MEAN * alpha))
    values, vectors = np.linalg.eigh(matrix)
    variances = np.maximum(values + second + more, 0.0) / freedom + sigma**2
    critical = float(chdtri(d, (1.0 - SHARE_SECOND - SHARE_MEAN) * alpha))
    variances = np.maximum(variances, 4.0 * d * _EPS * variances.max())  # W stays definite
    shape = (vectors * variances) @ vectors.T
    shape = 0.5 * (shape + shape.T)
    return ConfidenceEllipsoid(moments.mean, 1.0 - alpha, _note(moments), shape, critical)


def _directional(moments: ReleasedMoments, alpha: float) -> DirectionalRegion:
    d = moments.dim
    noise, floor = moments.variance_noise(), moments.sigma**2
    critical, inflation = calibrated(d, (1.0 - SHARE_MEAN) * alpha, noise=noise, floor=floor)
    allowance = mean_noise_quantile(d, SHARE_MEAN * alpha)
    note = _note(moments)
    return DirectionalRegion(
        moments.mean, 1.0 - alpha, note, moments, critical, inflation, allowance
    )


def _ball(moments: ReleasedMoments, alpha: float) -> ConfidenceEllipsoid:
    if moments.released_base:
        raise UnsupportedError(
            "the distribution-free region needs a public base and length: about a released one the "
            "records are not independent; take the ellipsoid, or a public base"
        )
    # Shares of the miss for the sampling error: the rest is for the noise.
    radius = min(_ball_radius(moments, alpha, share) for share in np.linspace(0.02, 0.98, 97))
    note = f"for any number of records and any law; {_PARAMETER}"
    return ConfidenceEllipsoid(
        moments.mean, 1.0 - alpha, note, np.eye(moments.dim), radius * radius
    )


def _ball_radius(moments: ReleasedMoments, alpha: float, share: float) -> float:
    sampling = 1.0 + math.sqrt(-2.0 * math.log(share * alpha))
    noise = moments.sigma * mean_noise_quantile(moments.dim, (1.0 - share) * alpha)
    return moments.reach * sampling / math.sqrt(moments.n) + noise


def _note(moments: ReleasedMoments) -> str:
    base = "; the base was released from the same records" if moments.released_base else ""
    return f"{_ASYMPTOTIC}{caution(moments)}; {_PARAMETER}{base}"


def caution(*groups: ReleasedMoments) -> str:
    """Return what to add to a note about asymptotic levels where a group is small."""
    few = any(group.n < 20 * group.dim for group in groups)
    return "; with so few records per dimension take it with care" if few else ""


def _unit(directions: ArrayLike, dim: int) -> FloatArray:
    vectors = real_array(directions, "directions")
    if vectors.ndim == 0 or vectors.shape[-1] != dim:
        raise InvalidParameterError(f"directions must have shape (..., {dim}), got {vectors.shape}")
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not np.all((length > 0.0) & np.isfinite(length)):
        raise InvalidParameterError("directions must be finite, and no zero vector")
    return np.asarray(vectors / length)
