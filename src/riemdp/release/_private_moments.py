"""Private means with their second moments, and variances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.release._run import Options, run
from riemdp.statistics import DirectVariance, Moments, Recentred, Statistic, Variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball
    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Budget
    from riemdp.release._relation import Adjacency
    from riemdp.release._release import Release
    from riemdp.release._run import SupportsSpend
    from riemdp.release._search._found import PrivateBall
    from riemdp.statistics import Neighbours


@with_advice
@work("private_moments")
def private_moments(
    points: ArrayLike,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    second: Literal["scalar", "matrix"] = "scalar",
    base: Literal["public", "recentred"] = "public",
    share: float = 0.2,
    alpha: float = 2.0,
    mechanism: str | type[Mechanism] | Choice | Mechanism = "auto",
    neighbours: Neighbours | None = None,
    adjacency: Adjacency | None = None,
    users: ArrayLike | None = None,
    people: int | Sequence[int | str] | None = None,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    n: int | None = None,
    allow_unproven: bool = False,
) -> Release:
    r"""Release the tangent mean and the second moment of manifold-valued data together.

    With Gaussian noise (GDP, zCDP, (epsilon, delta)) the second moment is free: the mean gets the
    noise that it would get alone.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Data, n >= 1. Records outside the ball are projected onto it. They may be read a part at a
        time, with ``n=``: see :func:`private_statistic` and :class:`riemdp.Chunks`.
    ball : Ball or PrivateBall
        Public ball, chosen without looking at the data; or one that :func:`riemdp.private_ball`
        found in the same records. Moments are about its centre.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee of the whole release. Under a pure epsilon nothing is free. On a ball that was
        found a share of what is left there, all of it by default.
    second : {"scalar", "matrix"}, default "scalar"
        The mean squared distance to the base; or the mean of ``v v^T``, v the normal coordinates
        of a record there, from which covariances, components and regions come.
    base : {"public", "recentred"}, default "public"
        Where records are seen from: the centre of the ball, or a mean that is released first, with
        a ``share`` of the budget; records are clipped to ``alpha`` times the spread there,
        so that noise follows the spread and not the radius. See
        :class:`riemdp.statistics.Recentred`.
    share, alpha : float
        Of the first round, where the base is ``"recentred"``.
    mechanism, neighbours, adjacency, users, people, generator, accountant, n
        As in :func:`private_statistic`.
    allow_unproven
        As in :func:`private_statistic`.

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
    moments = Moments(second)
    statistic = Recentred(moments, share, alpha) if _recentred(base, share, alpha) else moments
    options = Options(
        mechanism=mechanism,
        neighbours=neighbours,
        adjacency=adjacency,
        users=users,
        people=people,
        generator=generator,
        accountant=accountant,
        n=n,
        allow_unproven=allow_unproven,
    )
    return run(lambda *_: statistic, points, ball, budget, options, label="private_moments")


@with_advice
@work("private_variance")
def private_variance(
    points: ArrayLike,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    base: Literal["recentred", "public", "direct"] = "recentred",
    share: float = 0.2,
    alpha: float = 2.0,
    mechanism: str | type[Mechanism] | Choice | Mechanism = "auto",
    neighbours: Neighbours | None = None,
    adjacency: Adjacency | None = None,
    users: ArrayLike | None = None,
    people: int | Sequence[int | str] | None = None,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    n: int | None = None,
    allow_unproven: bool = False,
) -> Release:
    r"""Release the variance of manifold-valued data: the mean squared distance to their mean.

    In the tangent space where records are seen from; on flat spaces that is the Fréchet variance.

    Parameters
    ----------
    points, ball, budget, share, alpha
        As in :func:`private_moments`.
    base : {"recentred", "public", "direct"}, default "recentred"
        ``"recentred"`` and ``"public"``: from a mean and a second moment that are released
        together, as by :func:`private_moments`. ``"direct"``: noise is added to the variance
        itself, which takes more of it under Gaussian noise, and less under a pure epsilon in some
        twenty dimensions or more.
    mechanism, neighbours, adjacency, users, people, generator, accountant, n
        As in :func:`private_statistic`.
    allow_unproven
        As in :func:`private_statistic`.

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
    statistic: Statistic
    if is_one_of(base, ("direct",)):
        _recentred("public", share, alpha)
        statistic = DirectVariance()
    elif _recentred(base, share, alpha, others='"direct"'):
        statistic = Variance("recentred", share, alpha)
    else:
        statistic = Variance("public")
    options = Options(
        mechanism=mechanism,
        neighbours=neighbours,
        adjacency=adjacency,
        users=users,
        people=people,
        generator=generator,
        accountant=accountant,
        n=n,
        allow_unproven=allow_unproven,
    )
    return run(lambda *_: statistic, points, ball, budget, options, label="private_variance")


def _recentred(base: object, share: float, alpha: float, others: str = "") -> bool:
    """Whether a mean is released first; refuses options of that where none is."""
    if not is_one_of(base, ("public", "recentred")):
        known = ", ".join(('"public"', '"recentred"', *([others] if others else ())))
        raise InvalidParameterError(f"base must be one of {known}, got {shown(base)}")
    if base == "public" and (share, alpha) != (0.2, 2.0):
        raise InvalidParameterError(
            'share and alpha are options of base="recentred"; give them with it'
        )
    return base == "recentred"
