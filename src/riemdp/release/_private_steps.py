"""Private medians and Huber means, by noisy steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.release._run import Options, run
from riemdp.statistics import GeometricMedian, HuberMean

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
@work("private_median")
def private_median(
    points: ArrayLike,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    steps: int = 12,
    warm_share: float = 0.25,
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
    r"""Release a differentially private geometric median of manifold-valued data.

    Noisy steps: the tangent mean at the centre of the ball first, with the spread of the records,
    then ``steps`` steps along the mean of the directions in which records are seen. A record
    counts as a unit vector, so that outliers move the median little and its noise follows the
    spread of the records, not the radius of the ball. There is no solver and no limit of the
    radius but the ball's own, on every manifold.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Data, n >= 1. Records outside the ball are projected onto it. They may be read a part at a
        time, with ``n=``: see :func:`private_statistic` and :class:`riemdp.Chunks`.
    ball : Ball or PrivateBall
        Public ball, chosen without looking at the data; or one that :func:`riemdp.private_ball`
        found in the same records.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee of the whole release. Gaussian noise composes without loss; for pure budgets,
        whose shares add up, there is much more noise. On a ball that was found a share of what is
        left there, all of it by default.
    steps : int, default 12
        Number of steps, public.
    warm_share : float, default 0.25
        Share of the budget that the first round takes: of epsilon, of rho, or of mu^2.
    mechanism : str, Mechanism class, Choice or Mechanism, default "auto"
        As in :func:`private_statistic`; noise is added to vectors in tangent spaces.
    neighbours, adjacency, users, people, generator, accountant, n
        As in :func:`private_statistic`.
    allow_unproven
        As in :func:`private_statistic`.

    Returns
    -------
    Release
        Its ``expected_distance`` is that of the noise of the longest step, were the records spread
        over the whole ball: the noise is less by the share of the radius that they do spread
        over, and the steps average some of it. How far they end from the exact median is not
        bounded.

    Raises
    ------
    RiemdpError
        What :func:`private_statistic` raises.

    References
    ----------
    docs/proofs/noisy-steps.md; docs/proofs/neighbours.md where n is private; the steps are those
    of Weiszfeld's algorithm with one length for all records.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_median(points, ball, riemdp.GDP(1.0))
    >>> release.guarantee
    GDP(mu=1.0)
    >>> bool(ball.manifold.dist(release.value, ball.center) < 0.2)
    True
    """
    statistic = GeometricMedian(steps, warm_share)
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
    return run(lambda *_: statistic, points, ball, budget, options, label="private_median")


@with_advice
@work("private_huber")
def private_huber(
    points: ArrayLike,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    steps: int = 12,
    warm_share: float = 0.25,
    threshold: float = 1.0,
    clip: float = math.inf,
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
    r"""Release a differentially private Huber mean: between the mean and the median.

    Noisy steps as of :func:`private_median`, in which a record counts as in a mean up to a length,
    and with that length beyond it.

    Parameters
    ----------
    points, ball, budget, steps, warm_share, mechanism
        As in :func:`private_median`.
    threshold : float, default 1.0
        The length, in units of the spread that the first round releases; ``inf`` for ``clip``
        alone.
    clip : float, default inf
        Largest length, in units of distance: a public number.
    neighbours, adjacency, users, people, generator, accountant, n
        As in :func:`private_statistic`.
    allow_unproven
        As in :func:`private_statistic`.

    Returns
    -------
    Release
        Its ``expected_distance`` is that of the noise of one step, were the length the
        radius of the ball; see :func:`private_median`.

    Raises
    ------
    RiemdpError
        What :func:`private_statistic` raises.

    References
    ----------
    docs/proofs/noisy-steps.md; docs/proofs/neighbours.md where n is private

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_huber(points, ball, riemdp.GDP(1.0))
    >>> release.guarantee
    GDP(mu=1.0)
    >>> bool(ball.manifold.dist(release.value, ball.center) < 0.2)
    True
    """
    statistic = HuberMean(steps, warm_share, threshold, clip)
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
    return run(lambda *_: statistic, points, ball, budget, options, label="private_huber")
