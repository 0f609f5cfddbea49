"""Tests on releases: uniformity of directions, and equality of two means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp import statistics
from riemdp._checks import count, shown
from riemdp._combinations import INFERENCE
from riemdp._described import Described
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._keywords import with_advice
from riemdp._potential import potential
from riemdp._progress import work
from riemdp.release._release import Release
from riemdp.statistics import NamedValues

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray
    from riemdp.statistics import TwoSampleTest


# Whether two releases come from groups with one mean.


@with_advice
@work("two_sample_test")
def two_sample_test(a: Release, b: Release) -> TwoSampleTest:
    """Test whether the laws of two groups' clipped records have one mean.

    Sampling and noise are both in the law of the statistic. It is post-processing: it costs no
    privacy. Who belongs to which group is public and no record is in both, so that each guarantee
    is about its own group; each release has its own noise.

    Parameters
    ----------
    a, b : Release
        Of :func:`riemdp.private_moments` with ``second="matrix"``, on the same ball, with Gaussian
        noise.

    Returns
    -------
    TwoSampleTest
        Its ``pvalue`` is valid asymptotically in both numbers of records, as ``note`` says.

    Raises
    ------
    InvalidParameterError
        If an argument is no release, or they are about different balls, statistics or bases.
    UnsupportedError
        If one has no matrix of second moments, was projected or shrunk, or its noise is not
        Gaussian.
    InsufficientSamplesError
        If a group has one record only.

    References
    ----------
    docs/proofs/confidence-regions.md, claim 5

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> a, b = (
    ...     riemdp.private_moments(half, ball, riemdp.GDP(1.0), second="matrix")
    ...     for half in (points[:250], points[250:])
    ... )
    >>> riemdp.two_sample_test(a, b).pvalue > 1e-9  # both are from one law
    True
    """
    for release in (a, b):
        if not isinstance(release, Release):
            raise InvalidParameterError(f"both must be a riemdp.Release, got {shown(release)}")
    first, second = a.released_moments(), b.released_moments()
    alike = a.ball == b.ball and a.statistic == b.statistic
    if not alike or not all(np.array_equal(a.value[name], b.value[name]) for name in _SEEN):
        raise InvalidParameterError(
            "means are comparable where records were seen from one base and clipped to one length: "
            "release both with the same statistic on the same ball, and with a public base"
        )
    return statistics.two_sample_test(first, second)


#: What two values have to have alike.
_SEEN = ("base", "clip")


# Rayleigh's test of uniformity, from a released mean resultant.

#: Directions that a simulation draws at most.
_MOST = 10**8


@dataclass(frozen=True)
class RayleighTest(Described):
    """Result of :func:`rayleigh_test`.

    Attributes
    ----------
    statistic : float
        ``|R|^2 / (1 / (N n) + sigma^2)``, R the released resultant of n directions in R^N.
    pvalue : float
        Probability of as large a statistic were the directions uniform and independent.
    degrees_of_freedom : int
        N, of the chi-square law that the statistic tends to.
    method : {"asymptotic", "simulated"}
        Whether the p-value is that of the chi-square law, right for large n, or that of draws
        from the law for this n.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_directional_summary(
    ...     points, riemdp.GDP(1.0), mechanism="tangent-gaussian"
    ... )
    >>> result = riemdp.rayleigh_test(release)
    >>> result.pvalue < 1e-6, result.degrees_of_freedom
    (True, 3)
    """

    statistic: float
    pvalue: float
    degrees_of_freedom: int
    method: Literal["asymptotic", "simulated"]

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        return "Rayleigh test of uniformity", [
            ("p-value", f"{self.pvalue:.4g}, {self.method}"),
            ("statistic", f"{self.statistic:.4g}, {self.degrees_of_freedom} degrees of freedom"),
        ]


@work("rayleigh_test")
def rayleigh_test(release: Release, *, simulations: int = 0) -> RayleighTest:
    """Test whether directions are uniform on the sphere, from their released mean resultant.

    The noise counts in the law that is held against the statistic, so that the test has its level.
    It costs no privacy. Uniformity is seen in the mean resultant alone: directions that cancel,
    such as axes, are not told from uniform ones.

    Parameters
    ----------
    release : Release
        Of :func:`riemdp.private_directional_summary` with order 1 or (1, 2), and Gaussian noise.
    simulations : int, default 0
        0 for the asymptotic chi-square law. Otherwise so many draws from the law of the statistic
        for this n, with a fixed seed, take its place, so that nothing is asymptotic but the number
        of draws. At most 1e8 over n; for n of some hundreds the chi-square law is as good.

    Returns
    -------
    RayleighTest

    Raises
    ------
    InvalidParameterError
        If ``release`` is no release, or ``simulations`` outside its domain.
    UnsupportedError
        If it holds no mean resultant of directions on a whole sphere, was projected or shrunk, or
        its noise is not Gaussian.

    References
    ----------
    docs/proofs/directional-statistics.md, claim 4; Mardia and Jupp, "Directional Statistics", 2000,
    section 10.4.1, for the test without noise

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_directional_summary(
    ...     points, riemdp.GDP(1.0), mechanism="tangent-gaussian"
    ... )
    >>> bool(riemdp.rayleigh_test(release).pvalue < 1e-6)  # far from uniform
    True
    """
    if not isinstance(release, Release):
        raise InvalidParameterError(f"release must be a riemdp.Release, got {shown(release)}")
    resultant, sigma = _released_resultant(release)
    if release.n is None:
        raise UnsupportedError(str(INFERENCE))
    n, dim = release.n, len(resultant)
    scale = 1.0 / (dim * n) + sigma**2
    statistic = float(resultant @ resultant) / scale
    draws = (
        0 if type(simulations) is int and simulations == 0 else count(simulations, "simulations")
    )
    if draws > 0:
        if draws * n > _MOST:
            raise InvalidParameterError(
                f"simulations must be at most {_MOST // n} for n = {n}, got {draws}; the "
                "asymptotic law needs none"
            )
        found = _null_squares(n, dim, sigma, draws) / scale
        larger = int(np.count_nonzero(found >= statistic))
        return RayleighTest(statistic, (1.0 + larger) / (1.0 + draws), dim, "simulated")
    import scipy.special

    pvalue = float(scipy.special.gammaincc(0.5 * dim, 0.5 * statistic))
    return RayleighTest(statistic, pvalue, dim, "asymptotic")


def _released_resultant(release: Release) -> tuple[FloatArray, float]:
    """Return the resultant and the standard deviation of its noise."""
    value = release.value
    if not isinstance(value, NamedValues) or "resultant" not in value:
        raise UnsupportedError(
            "a Rayleigh test needs the mean resultant of directions; release it with "
            "private_directional_summary, order 1 or (1, 2)"
        )
    if not release.ball.is_whole or release.projected or release.shrunk:
        raise UnsupportedError(
            "a Rayleigh test needs directions of a whole sphere, and a draw that was neither "
            "projected nor shrunk"
        )
    noise = release.mechanism.added_noise(release._answers)
    if noise is None or potential(noise.kind).degree != 2:
        raise UnsupportedError(
            f"a Rayleigh test needs Gaussian noise, and this release has that of "
            f'{release.mechanism.name}; release with mechanism="tangent-gaussian"'
        )
    return value["resultant"], float(value["resultant_sd"])


def _null_squares(n: int, dim: int, sigma: float, draws: int) -> FloatArray:
    """Draw squared lengths of noisy mean resultants of uniform directions.

    A sum of k directions and one more: the angle between them has the law of the angle between a
    fixed direction and a uniform one, whatever the sum is.
    """
    generator = np.random.default_rng(0)
    half = 0.5 * (dim - 1)
    squares = np.zeros(draws)
    for _ in range(n):
        cosine = 2.0 * generator.beta(half, half, size=draws) - 1.0
        squares = np.maximum(squares + 1.0 + 2.0 * np.sqrt(squares) * cosine, 0.0)
    along = np.sqrt(squares) / n + sigma * generator.standard_normal(draws)
    return np.asarray(along**2 + sigma**2 * generator.chisquare(dim - 1, size=draws))
