"""The private mean and the private median as estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp.estimators._base import PrivateEstimator
from riemdp.release import checked_method, private_mean, private_median
from riemdp.statistics import GeometricMedian, RefinedMean

if TYPE_CHECKING:
    from typing import Literal, Self

    from numpy.typing import ArrayLike

    from riemdp.estimators._base import MechanismChoice, RandomState
    from riemdp.estimators._points import PublicBall
    from riemdp.privacy import Budget
    from riemdp.release import Adjacency
    from riemdp.statistics import Neighbours, Statistic


class PrivateFrechetMean(PrivateEstimator):
    r"""Private mean of points.

    One release: :func:`riemdp.private_mean`. The mean is the Fréchet mean, or the tangent mean
    where noise is in a tangent space; ``release_.statistic`` says which.

    Parameters
    ----------
    ball : Ball or PrivateBall
        Public ball, chosen without looking at the data, or one that :func:`riemdp.private_ball`
        found in the very records that are fitted.
    budget : Budget
        Guarantee of each fit; on a ball that was found None for all that is left there.
    method : {"auto", "one-shot", "adaptive", "refined"}, default "auto"
        With ``"adaptive"`` and ``"refined"`` noise follows the spread of the records, not the
        radius; see :func:`riemdp.private_mean`.
    mechanism : str, Mechanism class, Choice or Mechanism, default "auto"
        See :func:`riemdp.private_mean`.
    adjacency : {"replace-one", "add-remove"} or Neighbours, optional
        Whether one record is replaced, or added or removed, and the number of records is private;
        see :func:`riemdp.private_mean`.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with the budget by every fit, before the data are used. Clones share it, so that
        fits of a cross-validation are charged one by one, and the one that exceeds the total
        raises :class:`riemdp.BudgetExceededError`. Without an accountant each fit spends a budget
        of its own, and nobody adds them up. It is not pickled: an estimator that comes out of a
        pickle, in a worker of joblib too, has to be given one before it fits again.
    allow_unproven : bool, default False
        Whether parts may be used whose claims nobody proved.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default None
        None draws from a new secure generator each time. All else is for tests: the release is
        then marked as not private.

    Attributes
    ----------
    mean\_ : ndarray, shape (\*point_shape,)
        Released mean.
    release\_ : Release
        With all that is public about it.
    guarantee\_ : Budget
        What was proved of the fit.
    private\_ : bool
        Whether the noise came from the secure generator.
    n_features_in\_ : int
        First axis of a point: of matrices the number of rows.

    See Also
    --------
    riemdp.private_mean

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean, GDP
    >>> from riemdp.estimators import PrivateFrechetMean
    >>> ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    >>> mean = PrivateFrechetMean(ball, GDP(1.0)).fit(np.full((500, 2), 0.3))
    >>> mean.mean_.shape, mean.guarantee_, mean.private_
    ((2,), GDP(mu=1.0), True)
    """

    def __init__(
        self,
        ball: PublicBall,
        budget: Budget | None,
        *,
        method: Literal["auto", "one-shot", "adaptive", "refined"] = "auto",
        mechanism: MechanismChoice = "auto",
        adjacency: Adjacency | Neighbours | None = None,
        accountant: Any = None,
        allow_unproven: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self._take(locals())

    def _statistic(self) -> Statistic | None:
        return RefinedMean() if checked_method(self.method) == "refined" else None

    def fit(
        self,
        X: ArrayLike,
        y: object = None,  # noqa: ARG002
        users: ArrayLike | None = None,
        *,
        people: int | None = None,
    ) -> Self:
        r"""Release the mean.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)
            Points. Those outside the ball count as the nearest in it.
        y : None
            Not used.
        users : array_like of int or str, shape (n,), optional
            Whose record each is, where people are to be protected with all their records: each
            counts with one point, the mean of all own ones. In a pipeline ``step__users=...``.
        people : int, optional
            Public number of people among ``users``, stated and not counted. Without it their
            number is private, as under ``adjacency="add-remove"``; see :func:`riemdp.private_mean`.

        Returns
        -------
        PrivateFrechetMean
            Itself.

        Raises
        ------
        NotOnManifoldError
            If a row is not on the manifold.
        UnsupportedError
            If no mechanism can satisfy the budget on this ball.
        InvalidParameterError
            If a parameter is outside its domain.
        BudgetExceededError
            If the accountant has less left.
        """
        with self._fitting():
            rows = self._rows(X, reset=True)
            release = private_mean(
                rows,
                method=self.method,
                **self._options(users, people),
            )
            self.mean_ = self._kept(release)
        return self


class PrivateMedian(PrivateEstimator):
    r"""Private geometric median of points: outliers move it little.

    One release of noisy steps: :func:`riemdp.private_median`.

    Parameters
    ----------
    ball, budget
        As in :class:`PrivateFrechetMean`.
    mechanism, adjacency, accountant, allow_unproven, random_state
        As in :class:`PrivateFrechetMean`.

    Attributes
    ----------
    median\_ : ndarray, shape (\*point_shape,)
        Released median.
    release\_, guarantee\_, private\_, n_features_in\_
        As in :class:`PrivateFrechetMean`.

    See Also
    --------
    riemdp.private_median

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean, GDP
    >>> from riemdp.estimators import PrivateMedian
    >>> ball = Ball(Euclidean(2), np.zeros(2), 10.0)
    >>> median = PrivateMedian(ball, GDP(1.0)).fit(np.full((500, 2), 0.3))
    >>> median.median_.shape, median.guarantee_
    ((2,), GDP(mu=1.0))
    """

    def __init__(
        self,
        ball: PublicBall,
        budget: Budget | None,
        *,
        mechanism: MechanismChoice = "auto",
        adjacency: Adjacency | Neighbours | None = None,
        accountant: Any = None,
        allow_unproven: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self._take(locals())

    def _statistic(self) -> Statistic:
        return GeometricMedian()

    def fit(
        self,
        X: ArrayLike,
        y: object = None,  # noqa: ARG002
        users: ArrayLike | None = None,
        *,
        people: int | None = None,
    ) -> Self:
        """Release the median. See :meth:`PrivateFrechetMean.fit`."""
        with self._fitting():
            rows = self._rows(X, reset=True)
            release = private_median(rows, **self._options(users, people))
            self.median_ = self._kept(release)
        return self
