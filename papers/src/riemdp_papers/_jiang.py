"""Algorithms 1 and 2 of Jiang et al., NeurIPS 2023: ``mu`` of the Riemannian Gaussian."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp import InvalidParameterError, UnsupportedManifoldError
from riemdp.mechanisms import RiemannianGaussian
from riemdp.noise import resolve_generator
from riemdp.research import sample
from riemdp.spaces import FlatManifold, Sphere
from riemdp_papers._checks import count, positive

if TYPE_CHECKING:
    from riemdp.mechanisms import Mechanism
    from riemdp.noise import Law
    from riemdp.spaces import Manifold
    from riemdp_papers._experiment import FloatArray


def jiang_algorithm_1(
    manifold: Manifold,
    sigma: float,
    sensitivity: float,
    *,
    epsilons: int = 1000,
    as_printed: bool = False,
) -> float:
    """``mu`` of the Gaussian on flat space (in closed form) and on the circle (on a grid).

    As printed the circle's result is too small, and so unsafe, for three reasons. The acceptance
    set is not the set where the likelihood ratio exceeds ``exp(epsilon)``: its end beyond the
    antipode, ``pi + sigma^2 epsilon / sensitivity``, has to be ``pi + sigma^2 epsilon / (2 pi -
    sensitivity)``; so ``h`` is below ``delta``. The range of ``epsilon`` ends too early, at
    ``pi sensitivity / (2 sigma^2)`` in place of ``sensitivity (2 pi - sensitivity) /
    (2 sigma^2)``. And the grid leaves out ``epsilon = 0``, where the largest ``mu`` is (there both
    versions agree, so that the result is nearly right all the same).

    Parameters
    ----------
    manifold : Manifold
        A flat space or ``Sphere(1)``.
    sigma : float
        Scale, in units of geodesic distance.
    sensitivity : float
        Distance of the footpoints; on the circle below half its length.
    epsilons : int, default 1000
        Steps of the grid of ``epsilon``.
    as_printed : bool, default False
        The paper's set, range and grid instead of the corrected ones.

    Returns
    -------
    float

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    UnsupportedManifoldError
        If the manifold is neither flat nor a circle.

    References
    ----------
    Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023, Corollary
    3.2.1 and Algorithm 1. The corrected set: docs/proofs/isotropic-curve.md.

    Examples
    --------
    >>> from riemdp import Sphere
    >>> from riemdp_papers import jiang_algorithm_1
    >>> found = jiang_algorithm_1(Sphere(1), 1.0, 0.5)
    >>> printed = jiang_algorithm_1(Sphere(1), 1.0, 0.5, as_printed=True)
    >>> f"{found:.5f}", printed < found
    ('0.49528', True)
    """
    sigma, sensitivity = positive(sigma, "sigma"), positive(sensitivity, "sensitivity")
    epsilons = count(epsilons, "epsilons")
    if isinstance(manifold, FlatManifold):
        return sensitivity / sigma
    if not (isinstance(manifold, Sphere) and manifold.dim == 1):
        raise UnsupportedManifoldError(
            f"Algorithm 1 covers flat spaces and the circle Sphere(1), got {manifold}; use "
            "jiang_algorithm_2, or the exact curve of RiemannianGaussian"
        )
    _check_below(sensitivity, manifold.injectivity_radius)
    unit = manifold.injectivity_radius / math.pi
    s, width = sigma / unit, sensitivity / unit
    end = width * (math.pi if as_printed else 2.0 * math.pi - width) / (2.0 * s * s)
    epsilon = np.linspace(0.0, end, epsilons + 1)[1 if as_printed else 0 :]
    return _largest_mu(epsilon, circle_delta(epsilon, s, width, as_printed=as_printed))


def circle_delta(
    epsilon: FloatArray, sigma: float, sensitivity: float, *, as_printed: bool = False
) -> FloatArray:
    """``delta`` of the Gaussian on the unit circle: ``h`` of Corollary 3.2.1, or corrected.

    With footpoints at 0 and ``sensitivity``, in radians, the acceptance set is an arc from ``low``
    to ``high``; only ``low`` differs. The printed one stays within half a turn of the second
    footpoint's antipode for small ``epsilon`` and passes it later, whence two cases. No
    ``epsilon``, shape (...), may lie above the end of the range of either version.
    """
    cdf = scipy.special.ndtr
    beyond = sensitivity if as_printed else 2.0 * math.pi - sensitivity
    low = -math.pi + 0.5 * sensitivity + sigma**2 * epsilon / beyond
    high = 0.5 * sensitivity - sigma**2 * epsilon / sensitivity
    first = cdf(high / sigma) - cdf(low / sigma)
    # Seen from the second footpoint the arc runs from low - sensitivity + 2 pi over the antipode
    # (pi = -pi) to high - sensitivity; where low lies past the antipode, in one piece.
    start = (low - sensitivity + 2.0 * math.pi) / sigma
    turn = math.pi / sigma
    piece = cdf(-start) - cdf(-turn)
    past = cdf(start - 2.0 * turn) - cdf(-turn)
    second = cdf((high - sensitivity) / sigma) - cdf(-turn)
    second += np.where(start <= turn, piece, -past)
    mass = 1.0 - 2.0 * cdf(-turn)
    return np.asarray((first - np.exp(epsilon) * second) / mass)


def jiang_algorithm_2(
    manifold: Manifold,
    sigma: float,
    sensitivity: float,
    *,
    draws: int = 1000,
    repeats: int = 100,
    epsilons: int = 1000,
    largest_epsilon: float | None = None,
    pairs: int = 1,
    law: Mechanism | Law | None = None,
    clip_repeats: bool = False,
    generator: np.random.Generator | None = None,
) -> float:
    """Monte Carlo estimate of ``mu`` of the Gaussian, unsafe: it may be too small.

    **No guarantee may rest on it**; the exact curve is that of ``RiemannianGaussian``. There is no
    error bound, neither for the draws nor for the ``epsilon`` off the grid, nor, where the
    curvature is not constant, for pairs of footpoints not tried. Of 20 runs with the defaults at
    sensitivity 1, 3, 7 and 3 reported too little on S^2 for sigma = 1, 2 and 4, 6, 8 and 10 on the
    circle, and 7 and 4 on H^2 for sigma = 2 and 4, by up to 6 %. Runs dominated by the few draws
    of the largest ``epsilon`` report too much: 5 % at sigma = 1/4, on H^2 up to 17 % at sigma = 1,
    on S^2 up to 22 % at sigma = 4.

    Parameters
    ----------
    manifold : Manifold
        Homogeneous; on constant curvature one pair of footpoints is enough.
    sigma : float
        Scale, in units of geodesic distance.
    sensitivity : float
        Distance of the footpoints, below the injectivity radius.
    draws, repeats, epsilons : int
        n, m and n_epsilon of the paper: draws from each of the two laws in each repeat, and
        points of the grid ``largest_epsilon * {1, ..., epsilons} / epsilons``.
    largest_epsilon : float, optional
        End of that grid. By default the paper's: ``injectivity_radius sensitivity / (2 sigma^2)``
        where that is finite, else ``max(10, 5 t + t^2 / 2)`` with ``t = sensitivity / sigma``.
    pairs : int, default 1
        Pairs of footpoints, each at random; the largest ``mu`` counts.
    law : Mechanism or Law, optional
        What :func:`riemdp.research.sample` draws from; by default
        :class:`~riemdp.noise.IsotropicLaw` where the curvature is constant, else
        :class:`~riemdp.noise.AffineInvariantLaw`. The paper has a Markov chain
        (:class:`~riemdp.research.Metropolis`) or a sampler made for the space.
    clip_repeats : bool, default False
        Replace a negative ``delta`` of a single repeat by 0 before averaging. The paper does not
        say so; its authors' code does, which biases ``mu`` upwards.
    generator : numpy.random.Generator, optional
        Source of randomness; a new secure generator by default.

    Returns
    -------
    float
        ``inf`` if some average is 1 or more.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.

    References
    ----------
    Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023, Theorem
    4.1, Algorithm 2 and the remark before it (several pairs).

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Sphere
    >>> from riemdp_papers import jiang_algorithm_2
    >>> seeded = np.random.default_rng(0)
    >>> round(jiang_algorithm_2(Sphere(2), 0.25, 0.1, repeats=20, generator=seeded), 2)
    0.48
    """
    sigma, sensitivity = positive(sigma, "sigma"), positive(sensitivity, "sensitivity")
    draws, repeats = count(draws, "draws"), count(repeats, "repeats")
    _check_below(sensitivity, manifold.injectivity_radius)
    generator = resolve_generator(generator)
    if largest_epsilon is None:
        ratio = sensitivity / sigma
        reach = manifold.injectivity_radius / sensitivity
        bounded = math.isfinite(reach)
        largest_epsilon = ratio * ratio * reach / 2 if bounded else 5.0 * ratio + 0.5 * ratio**2
        largest_epsilon = largest_epsilon if bounded else max(10.0, largest_epsilon)
    largest_epsilon = positive(largest_epsilon, "largest_epsilon")
    epsilon = np.linspace(0.0, largest_epsilon, count(epsilons, "epsilons") + 1)[1:]
    if law is None:
        law = RiemannianGaussian(manifold, sigma)
    worst = 0.0
    for _ in range(count(pairs, "pairs")):
        one, two = _footpoints(manifold, sensitivity, generator)
        shares = []
        for center in (one, two):
            points = sample(law, center, (repeats, draws), generator)
            gap = np.square(manifold.dist(two, points)) - np.square(manifold.dist(one, points))
            shares.append(_shares_above(gap / (2.0 * sigma * sigma), epsilon))
        # exp(epsilon) may overflow where no draw is left
        with np.errstate(over="ignore", invalid="ignore"):
            second = np.where(shares[1] > 0.0, np.exp(epsilon) * shares[1], 0.0)
        delta = shares[0] - second
        if clip_repeats:
            delta = np.maximum(delta, 0.0)
        worst = max(worst, _largest_mu(epsilon, np.mean(delta, axis=0)))
    return worst


def _shares_above(losses: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Share of each row's losses that are at least ``epsilon``: ``(repeats, epsilons)``."""
    repeats, draws = losses.shape
    bins = len(epsilon) + 1
    reached = np.searchsorted(epsilon, losses.ravel(), side="right").reshape(losses.shape)
    offset = bins * np.arange(repeats)[:, None]
    counts = np.bincount((reached + offset).ravel(), minlength=bins * repeats)
    at_least = np.cumsum(counts.reshape(repeats, bins)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(at_least[:, 1:] / draws)


def _footpoints(
    manifold: Manifold, sensitivity: float, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Two points at a distance of ``sensitivity``, the second in a uniform direction.

    The space is homogeneous: a first point at the origin is as good as a random one.
    """
    direction = generator.standard_normal(manifold.dim)
    direction *= sensitivity / np.linalg.norm(direction)
    one = manifold.origin
    return one, manifold.exp(one, manifold.tangent_vector(one, direction))


def _largest_mu(epsilon: FloatArray, delta: FloatArray) -> float:
    """Smallest ``mu`` whose curve is at least ``delta`` at every ``epsilon``.

    The same as the largest of the ``mu`` that solve for one ``epsilon`` each.
    """
    if np.any(delta >= 1.0):
        return math.inf
    kept = delta > 1e-280  # smaller ones have few digits
    epsilon, delta = epsilon[kept], delta[kept]
    if not len(delta):
        return 0.0

    def missing(mu: float) -> float:
        high = scipy.special.ndtr(0.5 * mu - epsilon / mu)
        low = np.exp(epsilon + scipy.special.log_ndtr(-0.5 * mu - epsilon / mu))
        return float(np.max(delta - (high - low)))

    upper = 1.0
    while missing(upper) > 0.0:
        upper *= 2.0
    lower = upper
    while missing(lower) <= 0.0:
        lower *= 0.5
    return float(scipy.optimize.brentq(missing, lower, upper, xtol=1e-14, rtol=1e-14))


def _check_below(sensitivity: float, limit: float) -> None:
    if not sensitivity < limit:
        raise InvalidParameterError(
            f"sensitivity must be below {limit:.6g}, the largest distance on the space, got "
            f"{sensitivity:g}"
        )
