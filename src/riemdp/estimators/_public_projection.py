"""Fewer dimensions by directions that public data show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._checks import plain_array
from riemdp._errors import InvalidParameterError
from riemdp.estimators._points import PointsEstimator
from riemdp.estimators._scikit_learn import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_features,
    check_is_fitted,
)
from riemdp.estimators._tangent_pca import checked_components, principal, with_signs
from riemdp.spaces import Ball, Euclidean, clip_norm

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from riemdp.estimators._points import PublicBall
    from riemdp.spaces import FloatArray


class PublicProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PointsEstimator):  # type: ignore[misc]
    r"""Project tangent vectors onto directions that public data show, and nothing else.

    A map of one record at a time that needs no budget: the directions are learned of public points
    alone, and ``fit`` does not look at its data. Where the private records are few, noise in a few
    dimensions is much less than in all of them; what the other dimensions hold is lost.

    Parameters
    ----------
    public_points : array_like, shape (m, \*point_shape)
        Points that are public already, of a kind with the private ones. To take some of the
        private records for them breaks the guarantee of these.
    ball : Ball or PrivateBall
        Ball of the private records, public or found privately.
    n_components : int
        Number of directions, at most the dimension of the space.
    public_labels : array_like of shape (m,), optional
        Labels of the public points. The first directions are then those that tell classes apart by
        linear discriminant analysis, one less than there are classes; the others are principal
        components of what is left.

    Attributes
    ----------
    components\_ : ndarray, shape (n_components, dim)
        Orthonormal rows, in normal coordinates about the ball's centre.
    ball\_ : Ball
        Of the vectors, about 0 and with the radius of the public ball: the ball of the next
        estimator. It is there before the fit, too.
    n_features_in\_ : int
        First axis of a point.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, GDP, SPDLogEuclidean
    >>> from riemdp.estimators import PrivateTangentLDA, PublicProjection, make_private_pipeline
    >>> rng = np.random.default_rng(0)
    >>> signals = rng.normal(size=(700, 4, 40)) * np.repeat([1.0, 1.5], 350)[:, None, None]
    >>> X, y = signals @ signals.transpose(0, 2, 1) / 40, np.repeat([0, 1], 350)
    >>> ball = Ball(SPDLogEuclidean(4), np.eye(4), 3.0)
    >>> few = PublicProjection(X[::7], ball, 2, public_labels=y[::7])  # published before
    >>> lda = PrivateTangentLDA(few.ball_, GDP(1.0), classes=[0, 1])
    >>> private = np.arange(700) % 7 > 0
    >>> model = make_private_pipeline(few, lda).fit(X[private], y[private])
    >>> model.predict(X[:21:7]).shape
    (3,)
    """

    #: A record's vector is a function of that record and of public data; see ``check_pipeline``.
    per_record: ClassVar[bool] = True

    def __init__(
        self,
        public_points: ArrayLike,
        ball: PublicBall,
        n_components: int,
        *,
        public_labels: ArrayLike | None = None,
    ) -> None:
        self._take(locals())

    def fit(self, X: ArrayLike | None = None, y: object = None) -> Self:  # noqa: ARG002
        r"""Find the directions in the public points.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape), optional
            Not used, but for the names of its columns.
        y : None
            Not used.

        Returns
        -------
        PublicProjection
            Itself.

        Raises
        ------
        NotOnManifoldError
            If a public point is not on the manifold.
        InvalidParameterError
            If a parameter is outside its domain.
        """
        ball = self._public_ball()
        space = ball.manifold
        kept = checked_components(self.n_components, space.dim)
        points = space.validate(self.public_points)
        if points.ndim != 1 + len(space.point_shape) or len(points) < 2:
            raise InvalidParameterError("public_points must be at least two points, one in a row")
        labels = None
        if self.public_labels is not None:
            labels = plain_array(self.public_labels, "public_labels")
            if labels is None or labels.shape != (len(points),):
                raise InvalidParameterError("public_labels must be one for each public point")
            check_sorted(labels)
        check_features(self, points if X is None else self._rows(X, reset=True), reset=True)
        self.components_ = public_directions(ball.coordinates(points), labels)[:kept]
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        r"""Return the projections of the tangent vectors of points.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)
            Points. Those outside the ball count as the nearest in it.

        Returns
        -------
        ndarray, shape (n, n_components)
            No longer than the radius.
        """
        check_is_fitted(self)
        ball, turned = self._public_ball(), np.ascontiguousarray(self.components_.T)
        return self._each(X, lambda some: clip_norm(ball.coordinates(some) @ turned, ball.reach))

    @property
    def ball_(self) -> Ball:
        """Public ball of the vectors, for the next estimator."""
        try:
            ball = self._public_ball()
            space = Euclidean(checked_components(self.n_components, ball.manifold.dim))
        except InvalidParameterError as error:
            raise AttributeError(f"there is no ball_ with these parameters: {error}") from error
        return Ball(space, space.origin, ball.reach)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def check_sorted(labels: NDArray[Any]) -> None:
    """Refuse public labels (m,) that have no order, such as integers among texts, or are NaN."""
    try:
        found = np.unique(labels).tolist()
    except TypeError:
        found = [float("nan")]
    if any(each != each for each in found):  # noqa: PLR0124
        raise InvalidParameterError("public_labels must be all integers or all texts")


def public_directions(vectors: FloatArray, labels: NDArray[Any] | None) -> FloatArray:
    """Return an orthonormal basis for vectors (m, d) in rows, the directions that matter first.

    Without labels these are principal components; with them the directions of linear discriminant
    analysis, one less than classes, then the principal components of what is orthogonal to these.
    """
    dim, classes = vectors.shape[1], np.unique([] if labels is None else labels)
    if labels is None or len(classes) < 2:
        return principal(np.cov(vectors.T).reshape(dim, dim))[1]
    means = np.array([vectors[labels == each].mean(axis=0) for each in classes])
    centred = vectors - means[np.searchsorted(classes, labels)]
    within, between = shrunk_covariance(centred), means[1:] - means[0]
    first = np.linalg.qr(np.linalg.solve(within, between.T))[0].T[:dim]
    rest = centred - centred @ first.T @ first
    others = principal(rest.T @ rest)[1][: dim - len(first)]
    return with_signs(np.linalg.qr(np.concatenate([first, others]).T)[0].T)


def shrunk_covariance(centred: FloatArray) -> FloatArray:
    """Return a covariance of vectors (m, d) of mean 0, positive definite even of few of them.

    Ledoit, Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004.
    """
    from sklearn.covariance import ledoit_wolf

    found = np.asarray(ledoit_wolf(centred, assume_centered=True)[0])
    trace = float(np.trace(found)) or 1.0
    return found + 1e-9 * trace / len(found) * np.eye(len(found))
