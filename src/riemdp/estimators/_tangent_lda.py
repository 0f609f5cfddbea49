"""Linear discriminant analysis in a tangent space, of moments of classes that are released."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.special import log_softmax, softmax

from riemdp._checks import real_array, shown
from riemdp._errors import InvalidParameterError
from riemdp.estimators._classifiers import ClassEstimator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.estimators._base import MechanismChoice, RandomState
    from riemdp.estimators._points import PublicBall
    from riemdp.privacy import Budget
    from riemdp.release import Adjacency
    from riemdp.spaces import FloatArray
    from riemdp.statistics import Neighbours

#: Priors are taken to be at least this part of what they would be were all classes of one size.
_FLOOR = 0.1


class PrivateTangentLDA(ClassEstimator):
    r"""Private linear discriminant analysis in a tangent space.

    One release of the means and sizes of all classes and of the matrix of second moments of all
    records (:class:`riemdp.statistics.ClassMoments`), which together cost the sums of classes no
    noise. Labels are private.

    The covariance within classes is computed of these. Its eigenvalues are taken to be at least
    ``second_moment_sd sqrt(dim / 2)``, half of the largest eigenvalue that noise alone has: along
    directions in which the noise hides the spread all count alike.

    Parameters
    ----------
    ball, budget, classes, base, share, alpha, sizes
        As in :class:`PrivateMDM`.
    priors : "equal", "released" or array_like of shape (n_classes,), default "equal"
        Probabilities of the sorted classes. ``"released"`` takes the released shares of the
        records, each at least a tenth of ``1 / n_classes``: where noise hides the spread of the
        records, these outweigh what a record says, and a small budget lets the largest class win.
    mechanism, adjacency, accountant, allow_unproven, random_state
        As in :class:`PrivateFrechetMean`.

    Attributes
    ----------
    covariance\_ : ndarray, shape (dim, dim)
        Covariance within classes in normal coordinates about the base, its eigenvalues at least
        the floor.
    coef\_, intercept\_ : ndarray, shape (n_classes, dim) and (n_classes,)
        Of the scores in these coordinates, up to what all classes have in common.
    priors\_ : ndarray, shape (n_classes,)
    classes\_, means\_, counts\_, base\_, clip\_
        As in :class:`PrivateMDM`.
    release\_, guarantee\_, private\_, n_features_in\_
        As in :class:`PrivateFrechetMean`.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean, GDP
    >>> from riemdp.estimators import PrivateTangentLDA
    >>> X, y = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 300, axis=0), np.repeat([0, 1], 300)
    >>> ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    >>> model = PrivateTangentLDA(ball, GDP(1.0), classes=[0, 1]).fit(X, y)
    >>> model.predict([[-0.4, 0.0], [0.4, 0.0]]).tolist()
    [0, 1]
    """

    _second: ClassVar[Literal["none", "scalar", "matrix"]] = "matrix"

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
        priors: Literal["equal", "released"] | ArrayLike = "equal",
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
        """Release the moments of the classes. See :meth:`PrivateMDM.fit`."""
        with self._fitting():
            given = self._public_priors()
            value = self._release(X, y, users, people)
            self.priors_ = floored_shares(value.shares) if given is None else given
            floor = noise_floor(value.second_moment_sd, len(value.covariance), value.clip)
            values, vectors = np.linalg.eigh(value.covariance)
            values = np.maximum(values, floor)
            self.covariance_ = (vectors * values) @ vectors.T
            self.coef_ = (value.coordinates @ vectors / values) @ vectors.T
            half = 0.5 * np.sum(self.coef_ * value.coordinates, axis=1)
            self.intercept_ = np.log(self.priors_) - half
        return self

    def _public_priors(self) -> FloatArray | None:
        """Return probabilities of the classes that are public, None for those released."""
        priors: Any = self.priors
        classes = len(self._class_moments().classes)
        if isinstance(priors, str):
            if priors not in ("equal", "released"):
                raise InvalidParameterError(
                    f'priors must be "equal", "released" or numbers, got {shown(priors)}'
                )
            return None if priors == "released" else np.full(classes, 1.0 / classes)
        found = real_array(priors, "priors")
        right = found.shape == (classes,) and np.all(found > 0.0) and abs(found.sum() - 1.0) < 1e-6
        if not right:
            raise InvalidParameterError(
                f"priors must be {classes} positive numbers of sum 1, one for each class"
            )
        return np.asarray(found / found.sum())

    def _scores(self, X: ArrayLike) -> FloatArray:
        return self._each(X, self._scores_of)

    def _scores_of(self, points: FloatArray) -> FloatArray:
        turned = np.ascontiguousarray(self.coef_.T)
        return np.asarray(self._seen(points, self.base_) @ turned + self.intercept_)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        r"""Return the scores of the classes.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)
            Points, which are not clipped.

        Returns
        -------
        ndarray, shape (n, n_classes)
            Of two classes, as scikit-learn has it, the score of the second less that of the first,
            shape (n,).
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities as if records were Gaussian. See :meth:`PrivateMDM.predict_proba`."""
        return self._each(X, lambda some: softmax(self._scores_of(some), axis=1))

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Return the logarithms of the probabilities. See :meth:`predict_proba`."""
        return self._each(X, lambda some: log_softmax(self._scores_of(some), axis=1))


def floored_shares(shares: FloatArray) -> FloatArray:
    """Return positive probabilities of sum 1 of released shares, which may be negative."""
    found = np.maximum(shares, _FLOOR / len(shares))
    return np.asarray(found / found.sum())


def noise_floor(deviation: float, dim: int, clip: float) -> float:
    """Return the least eigenvalue of a released covariance that tells of spread; positive.

    ``deviation`` is the standard deviation of the noise of an entry of the diagonal, NaN where it
    is not known; ``clip`` the length that records were clipped to.
    """
    known = 0.0 if math.isnan(deviation) else deviation * math.sqrt(dim / 2.0)
    return max(known, 1e-9 * clip**2)
