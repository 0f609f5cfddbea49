"""Private means with their second moments, and variances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.release._options import Options, with_options
from riemdp.release._run import run
from riemdp.statistics import DirectVariance, Moments, Recentred, Variance

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from riemdp.privacy import Budget
    from riemdp.release._options import ReleaseOptions
    from riemdp.release._release import Release
    from riemdp.release._search._found import PrivateBall
    from riemdp.spaces import Ball
    from riemdp.statistics import Records, Statistic


@with_advice
@work("private_moments")
@with_options
def private_moments(
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    second: Literal["scalar", "matrix"] = "scalar",
    base: Literal["public", "recentred"] = "public",
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release the tangent mean and the second moment of manifold-valued data together.

    With Gaussian noise (GDP, zCDP, (epsilon, delta)) the second moment is free: the mean gets the
    noise that it would get alone.

    Parameters
    ----------
    points, ball
        As in :func:`private_mean`. Moments are about the centre of the ball.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee of the whole release. Under a pure epsilon nothing is free.
    second : {"scalar", "matrix"}, default "scalar"
        The mean squared distance to the base; or the mean of ``v v^T``, v the normal coordinates
        of a record there, from which covariances, components and regions come.
    base : {"public", "recentred"}, default "public"
        Where records are seen from: the centre of the ball, or a mean that is released first, with
        a fifth of the budget; records are clipped to twice the spread there, so that noise follows
        the spread and not the radius. For other numbers release
        :class:`riemdp.statistics.Recentred` with :func:`private_statistic`.
    **options
        As in :func:`private_mean`.

    Returns
    -------
    Release
        ``release.value.mean`` is a point of the ball, ``release.value.second_moment`` a number or
        an array of shape (dim, dim), with its noise; also ``variance``, ``covariance``,
        ``coordinates``, ``base``, ``clip``, ``mean_sd`` and ``second_moment_sd``: see
        :meth:`riemdp.statistics.Moments.parts`. Its ``expected_distance`` is that of the noise of
        all numbers together.

    Raises
    ------
    RiemdpError
        What :func:`private_statistic` raises.

    References
    ----------
    docs/proofs/joint-sensitivities.md; docs/proofs/neighbours.md where n is private

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_moments(points, ball, riemdp.GDP(1.0), second="matrix")
    >>> release.value.mean.shape, release.value.covariance.shape
    ((3,), (2, 2))
    """
    _one_of(base, "public", "recentred")
    moments, chosen = Moments(second), Options(**options)
    statistic = moments if base == "public" else Recentred(moments)
    return run(lambda *_: statistic, points, ball, budget, chosen, label="private_moments")


@with_advice
@work("private_variance")
@with_options
def private_variance(
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    base: Literal["recentred", "public", "direct"] = "recentred",
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release the variance of manifold-valued data: the mean squared distance to their mean.

    In the tangent space where records are seen from; on flat spaces that is the Fréchet variance.

    Parameters
    ----------
    points, ball, budget
        As in :func:`private_moments`.
    base : {"recentred", "public", "direct"}, default "recentred"
        ``"recentred"`` and ``"public"``: from a mean and a second moment that are released
        together, as by :func:`private_moments`. ``"direct"``: noise is added to the variance
        itself, which takes more of it under Gaussian noise, and less under a pure epsilon in some
        twenty dimensions or more.
    **options
        As in :func:`private_mean`.

    Returns
    -------
    Release
        ``release.value`` has shape (1,): at least 0, at most the squared radius.

    Raises
    ------
    RiemdpError
        What :func:`private_statistic` raises.

    References
    ----------
    docs/proofs/joint-sensitivities.md; docs/proofs/neighbours.md where n is private

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_variance(points, ball, riemdp.GDP(1.0))
    >>> bool(abs(release.value - 0.18) < 0.09)  # two coordinates with 0.09 each
    True
    """
    _one_of(base, "recentred", "public", "direct")
    statistic: Statistic = DirectVariance() if base == "direct" else Variance(base)
    chosen = Options(**options)
    return run(lambda *_: statistic, points, ball, budget, chosen, label="private_variance")


def _one_of(base: object, *known: str) -> None:
    if not is_one_of(base, known):
        names = ", ".join(f'"{name}"' for name in known)
        raise InvalidParameterError(f"base must be one of {names}, got {shown(base)}")
