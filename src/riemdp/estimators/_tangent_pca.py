"""Principal components in a tangent space, of a second moment that is released with the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count
from riemdp._errors import InvalidParameterError
from riemdp.estimators._base import PrivateEstimator, seen_from_base
from riemdp.estimators._points import checked_vectors
from riemdp.estimators._scikit_learn import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
)
from riemdp.release import private_statistic
from riemdp.statistics import Moments

if TYPE_CHECKING:
    from typing import Literal, Self

    from numpy.typing import ArrayLike

    from riemdp.estimators._base import MechanismChoice, RandomState
    from riemdp.estimators._points import PublicBall
    from riemdp.privacy import Budget
    from riemdp.release import Adjacency
    from riemdp.spaces import FloatArray
    from riemdp.statistics import Neighbours, Statistic


class PrivateTangentPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    r"""Private principal components in a tangent space.

    One release of the tangent mean with the matrix of second moments, which costs no noise beside
    it (:class:`riemdp.statistics.Moments`); mean and components are computed of that.

    Parameters
    ----------
    ball, budget
        As in :class:`PrivateFrechetMean`.
    n_components : int, optional
        Number of components, at most the dimension of the space, which is the default.
    base : {"recentred", "public"}, default "recentred"
        ``"recentred"`` spends a share of the budget on a mean, and looks at the records from there,
        clipped to their spread: where they are far from the ball's centre, or close together, that
        is what makes their directions visible through the noise. ``"public"`` looks from the
        centre, at once.
    share, alpha : float
        See :class:`riemdp.statistics.Recentred`.
    mechanism, adjacency, accountant, allow_unproven, random_state
        As in :class:`PrivateFrechetMean`.

    Attributes
    ----------
    components\_ : ndarray, shape (n_components, dim)
        Orthonormal rows, in normal coordinates about the base; of each the entry of largest
        absolute value is positive.
    explained_variance\_ : ndarray, shape (n_components,)
        Eigenvalues of the released covariance, with its noise, in falling order, at least 0. Noise
        makes the largest too large.
    mean\_ : ndarray, shape (\*point_shape,)
        Released mean, in the ball.
    base\_ : ndarray, shape (\*point_shape,)
        Where records are seen from: released, or the ball's centre.
    offset\_ : ndarray, shape (dim,)
        Normal coordinates of the mean about the base, which scores are counted from.
    release\_, guarantee\_, private\_, n_features_in\_
        As in :class:`PrivateFrechetMean`.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean, GDP
    >>> from riemdp.estimators import PrivateTangentPCA
    >>> line = np.linspace(-0.5, 0.5, 2000)[:, None] * np.array([0.6, 0.8])
    >>> ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    >>> PrivateTangentPCA(ball, GDP(1.0), n_components=1).fit(line).components_.round().tolist()
    [[1.0, 1.0]]
    """

    def __init__(
        self,
        ball: PublicBall,
        budget: Budget | None,
        *,
        n_components: int | None = None,
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
        return seen_from_base(Moments("matrix"), self.base, self.share, self.alpha)

    def fit(
        self,
        X: ArrayLike,
        y: object = None,  # noqa: ARG002
        users: ArrayLike | None = None,
        *,
        people: int | None = None,
    ) -> Self:
        """Release mean and covariance. See :meth:`PrivateFrechetMean.fit`."""
        with self._fitting():
            rows = self._rows(X, reset=True)
            kept = checked_components(self.n_components, self._public_ball().manifold.dim)
            release = private_statistic(self._statistic(), rows, **self._options(users, people))
            value = self._kept(release)
            self.mean_, self.base_, self.offset_ = value.mean, value.base, value.coordinates
            variances, directions = principal(value.covariance)
            self.components_ = directions[:kept]
            self.explained_variance_ = variances[:kept]
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        r"""Return the scores of points.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)
            Points, which are not clipped.

        Returns
        -------
        ndarray, shape (n, n_components)
        """
        check_is_fitted(self)
        turned = np.ascontiguousarray(self.components_.T)
        return self._each(X, lambda some: (self._seen(some, self.base_) - self.offset_) @ turned)

    def inverse_transform(self, X: ArrayLike) -> FloatArray:
        r"""Return the points that have these scores, and none along other components.

        Parameters
        ----------
        X : array_like, shape (n, n_components)

        Returns
        -------
        ndarray, shape (n, \*point_shape)
        """
        check_is_fitted(self)
        scores = checked_vectors(X, self._n_features_out)
        turned = self.components_
        return self._each_of_numbers(
            scores, lambda some: self._unseen(self.offset_ + some @ turned, self.base_)
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def checked_components(n_components: object, dim: int) -> int:
    """Return a number of components between 1 and ``dim``; ``dim`` for None."""
    found = dim if n_components is None else count(n_components, "n_components")
    if found > dim:
        raise InvalidParameterError(
            f"n_components must be at most the dimension {dim}, got {found}"
        )
    return found


def principal(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues (at least 0) and eigenvectors of a symmetric matrix, the largest first.

    The vectors are rows, their entry of largest absolute value positive.
    """
    values, columns = np.linalg.eigh(matrix)
    return np.maximum(values[::-1], 0.0), with_signs(columns.T[::-1])


def with_signs(rows: FloatArray) -> FloatArray:
    """Return rows, or their negatives, whose entry of largest absolute value is positive."""
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return np.asarray(rows * np.where(largest < 0.0, -1.0, 1.0)[:, None])
