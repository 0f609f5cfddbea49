"""Classification by the nearest class mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from riemdp.estimators._classifiers import ClassEstimator
from riemdp.estimators._scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Self

    from numpy.typing import ArrayLike

    from riemdp.estimators._base import MechanismChoice, RandomState
    from riemdp.estimators._points import PublicBall
    from riemdp.privacy import Budget
    from riemdp.release import Adjacency
    from riemdp.spaces import FloatArray
    from riemdp.statistics import Neighbours


class PrivateMDM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassEstimator):  # type: ignore[misc]
    r"""Private minimum distance to mean: a record is of the class whose mean is nearest.

    One release of the means and sizes of all classes (:class:`riemdp.statistics.ClassMoments`).
    Labels are private: which class a record is of is protected like its point. On every manifold.

    Parameters
    ----------
    ball, budget
        As in :class:`PrivateFrechetMean`.
    classes : sequence of int or str
        The labels that there may be, public. Not those that occur in the data: that a label occurs
        tells of whom it is.
    base : {"recentred", "public"}, default "recentred"
        ``"recentred"`` spends a share of the budget on the mean of all records, and looks at them
        from there, clipped to their spread; ``"public"`` looks from the ball's centre, at once.
    share, alpha : float
        See :class:`riemdp.statistics.Recentred`.
    sizes : sequence of int, optional
        Public sizes of the classes, in their order, where labels are public too and are not to be
        protected: with ``adjacency="replace-point"``.
    mechanism, adjacency, accountant, allow_unproven, random_state
        As in :class:`PrivateFrechetMean`.

    Attributes
    ----------
    classes\_ : ndarray, shape (n_classes,)
        The public classes, sorted.
    means\_ : ndarray, shape (n_classes, \*point_shape)
        Released means; ``covmeans_``, as pyRiemann calls them, is the same.
    counts\_ : ndarray, shape (n_classes,)
        Sizes of the classes, with noise.
    base\_, clip\_ : ndarray, float
        Where records were seen from, and the length that they were clipped to.
    release\_, guarantee\_, private\_, n_features_in\_
        As in :class:`PrivateFrechetMean`.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, GDP, SPDAffineInvariant
    >>> from riemdp.estimators import PrivateMDM
    >>> low, high = np.diag([1.0, 4.0]), np.diag([4.0, 1.0])
    >>> X, y = np.repeat([low, high], 300, axis=0), np.repeat(["low", "high"], 300)
    >>> ball = Ball(SPDAffineInvariant(2), np.eye(2), 2.0)
    >>> model = PrivateMDM(ball, GDP(1.0), classes=["low", "high"]).fit(X, y)
    >>> model.predict([low, high]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        ball: PublicBall,
        budget: Budget | None,
        classes: Sequence[int] | Sequence[str],
        *,
        base: Literal["recentred", "public"] = "recentred",
        share: float = 0.2,
        alpha: float = 2.0,
        sizes: Sequence[int] | None = None,
        mechanism: MechanismChoice = "auto",
        adjacency: Adjacency | Neighbours | None = None,
        accountant: Any = None,
        allow_unproven: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self._take(locals())

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        users: ArrayLike | None = None,
        *,
        people: int | None = None,
    ) -> Self:
        r"""Release the means of the classes.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)
            Points. Those outside the ball count as the nearest in it.
        y : array_like, shape (n,)
            Labels, all of them among the classes.
        users : array_like of int or str, shape (n,), optional
            Whose record each is, as in :meth:`PrivateFrechetMean.fit`; a person with several
            labels is in each class with the share of the own records there.
        people : int, optional
            As in :meth:`PrivateFrechetMean.fit`.

        Returns
        -------
        PrivateMDM
            Itself.

        Raises
        ------
        NotOnManifoldError, UnsupportedError, BudgetExceededError
            See :meth:`PrivateFrechetMean.fit`.
        InvalidParameterError
            If a parameter is outside its domain, or a label none of the classes.
        """
        with self._fitting():
            self._release(X, y, users, people)
        return self

    @property
    def covmeans_(self) -> FloatArray:
        """The released means, by pyRiemann's name."""
        return self.means_  # type: ignore[no-any-return]

    def transform(self, X: ArrayLike) -> FloatArray:
        r"""Return the distances to the means.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)

        Returns
        -------
        ndarray, shape (n, n_classes)
        """
        return self._distances(X)

    def _distances(self, X: ArrayLike) -> FloatArray:
        """Return what ``transform`` returns before it takes the form that was asked for."""
        return self._each(X, self._from_means)

    def _from_means(self, points: FloatArray) -> FloatArray:
        return self._public_ball().manifold.dist(self.means_, points[:, None])

    def _scores(self, X: ArrayLike) -> FloatArray:
        return -self._distances(X)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        r"""Return the softmax of negative squared distances.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)

        Returns
        -------
        ndarray, shape (n, n_classes)
            As pyRiemann has it: no probabilities of a model.
        """
        return self._each(X, lambda some: softmax(-np.square(self._from_means(some)), axis=1))

    @property
    def _n_features_out(self) -> int:
        return len(self.classes_)
