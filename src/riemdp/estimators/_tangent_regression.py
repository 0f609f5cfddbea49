"""Regression of points on a real covariate, in a tangent space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import plain_array, real_entries
from riemdp._errors import InvalidParameterError
from riemdp.estimators._base import PrivateEstimator, seen_from_base
from riemdp.estimators._points import rows_of
from riemdp.estimators._scikit_learn import check_features, check_is_fitted
from riemdp.release import private_statistic
from riemdp.statistics import Records, TangentRegression

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Self

    from numpy.typing import ArrayLike, NDArray

    from riemdp.estimators._base import MechanismChoice, RandomState
    from riemdp.estimators._points import PublicBall
    from riemdp.privacy import Budget
    from riemdp.release import Adjacency
    from riemdp.spaces import FloatArray
    from riemdp.statistics import Neighbours, Statistic


class PrivateTangentRegression(PrivateEstimator):
    r"""Private line in a tangent space: how points move with a real covariate.

    One release (:class:`riemdp.statistics.TangentRegression`). As scikit-learn has it, ``X`` are
    the covariates and ``y`` what is predicted: the points, which the ball bounds. Both are private.

    Parameters
    ----------
    ball, budget
        As in :class:`PrivateFrechetMean`.
    low, high : float
        Public range of the covariate. Values outside count as the nearer end.
    design : sequence of float, optional
        The covariates of the records, where they are public and not to be protected: with
        ``adjacency="replace-point"``.
    base, share, alpha
        As in :class:`PrivateMDM`.
    mechanism, adjacency, accountant, allow_unproven, random_state
        As in :class:`PrivateFrechetMean`.

    Attributes
    ----------
    intercept\_, coef\_ : ndarray, shape (dim,)
        Of the line at the covariate 0, and per unit of the covariate, in normal coordinates about
        the base.
    base\_, clip\_ : ndarray, float
        Where records were seen from, and the length that they were clipped to.
    n_features_in\_ : int
        1.
    release\_, guarantee\_, private\_
        As in :class:`PrivateFrechetMean`.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, GDP, Sphere
    >>> from riemdp.estimators import PrivateTangentRegression
    >>> age = np.linspace(20.0, 80.0, 1000)
    >>> angle = (age - 50.0) / 100.0
    >>> points = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    >>> ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> line = PrivateTangentRegression(ball, GDP(2.0), 20.0, 80.0).fit(age, points)
    >>> line.predict([[20.0], [80.0]]).shape
    (2, 3)
    """

    def __init__(
        self,
        ball: PublicBall,
        budget: Budget | None,
        low: float,
        high: float,
        *,
        design: Sequence[float] | None = None,
        base: Literal["recentred", "public"] = "recentred",
        share: float = 0.2,
        alpha: float = 2.0,
        mechanism: MechanismChoice = "auto",
        adjacency: Adjacency | Neighbours | None = None,
        accountant: Any = None,
        allow_unproven: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self._take(locals())

    def _statistic(self) -> Statistic:
        design = () if self.design is None else tuple(self.design)
        regression = TangentRegression(self.low, self.high, design)
        return seen_from_base(regression, self.base, self.share, self.alpha)

    def _axes(self) -> int:
        return 2

    def _covariates(self, X: Any, *, reset: bool = False) -> NDArray[Any]:
        """Return covariates as an array, shape (n,); in a fit with an account, of anything.

        What a single one of them decides is an error after the charge then.
        """
        late = plain_array(X, "X") if reset and self._pays else None
        found = real_entries(X, "X") if late is None else late
        if found.ndim not in (1, 2) or found.shape[1:] not in ((), (1,)):
            raise InvalidParameterError(
                "X must be one real covariate a record, of shape (n,) or (n, 1), got rows of shape "
                f"{found.shape[1:]}; the points are y: fit(covariates, points)"
            )
        check_features(self, found[:, None] if found.ndim == 1 else X, reset=reset)
        return found.reshape(-1)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        users: ArrayLike | None = None,
        *,
        people: int | None = None,
    ) -> Self:
        r"""Release the line.

        Parameters
        ----------
        X : array_like, shape (n,) or (n, 1)
            Covariates.
        y : array_like, shape (n, \*point_shape)
            Points. Those outside the ball count as the nearest in it.
        users : array_like of int or str, shape (n,), optional
            Whose record each is, as in :meth:`PrivateFrechetMean.fit`; sums of points times
            covariates are averaged over the records of a person.
        people : int, optional
            As in :meth:`PrivateFrechetMean.fit`.

        Returns
        -------
        PrivateTangentRegression
            Itself.

        Raises
        ------
        NotOnManifoldError
            If a row is not on the manifold, or a covariate is not finite.
        UnsupportedError, BudgetExceededError
            See :meth:`PrivateFrechetMean.fit`.
        InvalidParameterError
            If a parameter is outside its domain.
        """
        with self._fitting():
            covariates = self._covariates(X, reset=True)
            manifold = self._public_ball().manifold
            rows = rows_of(y, manifold.point_shape, "y", manifold.read)
            records = Records(rows, covariates=covariates)
            release = private_statistic(self._statistic(), records, **self._options(users, people))
            value = self._kept(release)
            self.intercept_, self.coef_ = value.coefficients
            self.base_, self.clip_ = value.base, value.clip
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        r"""Return the points of the line, those outside the ball projected onto it.

        Parameters
        ----------
        X : array_like, shape (n,) or (n, 1)
            Covariates, in the range or beyond it.

        Returns
        -------
        ndarray, shape (n, \*point_shape)
        """
        check_is_fitted(self)
        covariates = self._covariates(X).astype(np.float64)

        def line(some: FloatArray) -> FloatArray:
            vectors = self.intercept_ + some[:, None] * self.coef_
            return self._public_ball().project(self._unseen(vectors, self.base_))

        return self._each_of_numbers(covariates, line)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        r"""Return minus the mean squared distance between points and their predictions.

        Of private records the score is private too, and nothing protects it.

        Parameters
        ----------
        X : array_like, shape (n,) or (n, 1)
            Covariates.
        y : array_like, shape (n, \*point_shape)
            Points.

        Returns
        -------
        float
            The larger the better, at most 0.
        """
        predicted, manifold = self.predict(X), self._public_ball().manifold
        points = manifold.validate(rows_of(y, manifold.point_shape, "y", manifold.read))
        return -float(np.mean(np.square(manifold.dist(points, predicted))))
