"""Private medians and Huber means, by noisy steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.release._options import Options, with_options
from riemdp.release._run import run
from riemdp.statistics import GeometricMedian, HuberMean

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from riemdp.privacy import Budget
    from riemdp.release._options import ReleaseOptions
    from riemdp.release._release import Release
    from riemdp.release._search._found import PrivateBall
    from riemdp.spaces import Ball
    from riemdp.statistics import Records


@with_advice
@work("private_median")
@with_options
def private_median(
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release a differentially private geometric median of manifold-valued data.

    Noisy steps: the tangent mean at the centre of the ball first, with the spread of the records,
    then twelve steps along the mean of the directions in which records are seen. A record
    counts as a unit vector, so that outliers move the median little and its noise follows the
    spread of the records, not the radius of the ball. There is no solver and no limit of the
    radius but the ball's own, on every manifold. Other numbers of steps, and shares of the budget,
    are fields of :class:`riemdp.statistics.GeometricMedian`, for :func:`private_statistic`.

    Parameters
    ----------
    points, ball
        As in :func:`private_mean`.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee of the whole release. Gaussian noise composes without loss; for pure budgets,
        whose shares add up, there is much more noise.
    **options
        As in :func:`private_mean`; noise is added to vectors in tangent spaces.

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
    median, chosen = GeometricMedian(), Options(**options)
    return run(lambda *_: median, points, ball, budget, chosen, label="private_median")


@with_advice
@work("private_huber")
@with_options
def private_huber(
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release a differentially private Huber mean: between the mean and the median.

    Noisy steps as of :func:`private_median`, in which a record counts as in a mean up to a length,
    the spread that the first round releases, and with that length beyond it. Other lengths are
    fields of :class:`riemdp.statistics.HuberMean`, for :func:`private_statistic`.

    Parameters
    ----------
    points, ball, budget, **options
        As in :func:`private_median`.

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
    huber, chosen = HuberMean(), Options(**options)
    return run(lambda *_: huber, points, ball, budget, chosen, label="private_huber")
