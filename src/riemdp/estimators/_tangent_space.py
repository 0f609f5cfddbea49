"""The tangent space at a released mean, as a transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp.estimators._base import PrivateEstimator, is_recentred
from riemdp.estimators._points import checked_vectors
from riemdp.estimators._scikit_learn import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
)
from riemdp.release import private_mean, private_statistic
from riemdp.statistics import RefinedMean

if TYPE_CHECKING:
    from typing import Literal, Self

    from numpy.typing import ArrayLike

    from riemdp.estimators._base import MechanismChoice, RandomState
    from riemdp.estimators._points import PublicBall
    from riemdp.privacy import Budget
    from riemdp.release import Adjacency
    from riemdp.spaces import FloatArray
    from riemdp.statistics import Neighbours, Statistic


class PrivateTangentSpace(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    r"""Normal coordinates about a mean that is released.

    The mean is the one thing that is learned, so that each vector is a function of its own record
    and of a release. The vectors themselves are as private as the records: what learns from them
    has to be private too.

    Parameters
    ----------
    ball, budget
        As in :class:`PrivateFrechetMean`.
    base : {"recentred", "public"}, default "recentred"
        ``"recentred"`` releases the mean in two rounds, the second about the first: its noise
        follows the spread of the records. ``"public"`` releases it in one, with the ball's centre
        as its base.
    share : float, default 0.2
        Share of the budget that the first round takes: of epsilon, of rho, or of mu^2.
    alpha : float, default 2.0
        Length that the second round clips to, in units of the released spread.
    mechanism, adjacency, accountant, allow_unproven, random_state
        As in :class:`PrivateFrechetMean`.

    Attributes
    ----------
    reference\_ : ndarray, shape (\*point_shape,)
        Released mean.
    release\_, guarantee\_, private\_, n_features_in\_
        As in :class:`PrivateFrechetMean`.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, GDP, SPDLogEuclidean
    >>> from riemdp.estimators import PrivateTangentSpace
    >>> matrices = np.tile(np.diag([1.0, 2.0, 3.0]), (500, 1, 1))
    >>> ball = Ball(SPDLogEuclidean(3), np.eye(3), 2.0)
    >>> PrivateTangentSpace(ball, GDP(1.0)).fit_transform(matrices).shape
    (500, 6)
    """

    def __init__(
        self,
        ball: PublicBall,
        budget: Budget | None,
        *,
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

    def _statistic(self) -> Statistic | None:
        if not is_recentred(self.base):
            return None
        return RefinedMean(2, (self.share, 1.0 - self.share), self.alpha)

    def fit(
        self,
        X: ArrayLike,
        y: object = None,  # noqa: ARG002
        users: ArrayLike | None = None,
        *,
        people: int | None = None,
    ) -> Self:
        """Release the mean. See :meth:`PrivateFrechetMean.fit`."""
        with self._fitting():
            rows = self._rows(X, reset=True)
            refined, options = self._statistic(), self._options(users, people)
            if refined is None:
                release = private_mean(rows, **options)
            else:
                release = private_statistic(refined, rows, **options)
            self.reference_ = self._kept(release)
            self._n_features_out = self._public_ball().manifold.dim
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return normal coordinates about the released mean, (n, dim), of points as they are.

        In an orthonormal basis of the tangent space. See :meth:`PrivateTangentPCA.transform`.
        """
        check_is_fitted(self)
        return self._each(X, lambda some: self._seen(some, self.reference_))

    def inverse_transform(self, X: ArrayLike) -> FloatArray:
        """Return the points at normal coordinates about the released mean.

        The coordinates have shape (n, dim). See :meth:`PrivateTangentPCA.inverse_transform`.
        """
        check_is_fitted(self)
        vectors = checked_vectors(X, self._n_features_out)
        return self._each_of_numbers(vectors, lambda some: self._unseen(some, self.reference_))
