"""What estimators of points share: rows that are points in a public ball."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from riemdp._checks import kind_of, plain_array, real_array
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._keywords import with_advice
from riemdp.estimators._scikit_learn import BaseEstimator, check_features, check_is_fitted
from riemdp.release import PrivateBall
from riemdp.spaces import check_ball
from riemdp.statistics import Records, of_each

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray

    PublicBall: TypeAlias = Ball | PrivateBall

#: Rows of a tile at most, and entries: a record that comes alone takes as long as so many.
_ROWS, _ENTRIES = 256, 2**13


class PointsEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose records are points in a public ball."""

    ball: Any

    #: Parameters that a clone has in common with its original: what is left of a budget is there.
    _shared: ClassVar[tuple[str, ...]] = ("ball",)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            type.__setattr__(cls, "__init__", with_advice(vars(cls)["__init__"]))

    def _take(self, given: dict[str, Any]) -> None:
        """Keep a constructor's arguments as they are: ``locals()``, before any other variable."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def _public_ball(self) -> Ball:
        """Return the ball that records are clipped to."""
        ball: Any = self.ball
        if isinstance(ball, PrivateBall):
            return ball.ball
        check_ball(ball)
        return ball  # type: ignore[no-any-return]

    def _rows(self, X: Any, *, reset: bool = False) -> NDArray[Any]:
        """Return points as an array with one of them in each row, as they are."""
        manifold = self._public_ball().manifold
        found = rows_of(X, manifold.point_shape, "X", manifold.read)
        listed = isinstance(X, (list, tuple))
        check_features(self, found if listed and len(X) == 0 else X, reset=reset)
        return found

    def _each(self, X: Any, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return what a function makes of every point, valid and by itself, one in each row.

        The bits of a row are a function of that point: of several at once they might depend on how
        many there are, which a relation with more or fewer records must not tell the next step.
        """
        check_is_fitted(self)
        valid = Records(self._rows(X)).validated(self._public_ball().manifold)
        return self._of_each(np.asarray(valid.points), function)

    def _each_of_numbers(
        self, numbers: FloatArray, function: Callable[[FloatArray], FloatArray]
    ) -> FloatArray:
        """Return the same of vectors or numbers, of any of which the function knows what to do."""
        return self._of_each(numbers, function, np.full(numbers.shape[1:], 0.1))

    def _of_each(
        self,
        rows: FloatArray,
        function: Callable[[FloatArray], FloatArray],
        row: FloatArray | None = None,
    ) -> FloatArray:
        ball = self._public_ball()
        most = min(_ROWS, max(1, _ENTRIES // math.prod(ball.manifold.point_shape)))
        found, lost = of_each(ball, function, rows, record=row, rows=most)
        if lost.any():
            raise NotOnManifoldError(
                f"row {int(np.argmax(lost))}: float64 does not hold what is asked of it"
            )
        return np.asarray(found)

    def _seen(self, points: FloatArray, base: FloatArray) -> FloatArray:
        """Return normal coordinates of valid points about a base, shape (n, dim)."""
        return self._public_ball().manifold.coordinates(base, points)

    def _unseen(self, vectors: FloatArray, base: FloatArray) -> Any:
        """Return the points at normal coordinates about a base."""
        return self._public_ball().manifold.point(base, vectors)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn from 1.6 on asks for: of which shape X is, and the like."""
        tags = super().__sklearn_tags__()
        axes = self._axes()
        tags.input_tags.two_d_array = axes == 2
        tags.input_tags.three_d_array = axes == 3
        tags.non_deterministic = self._is_random()
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Return the same for older versions."""
        return {
            "X_types": ["3darray" if self._axes() == 3 else "2darray"],
            "non_deterministic": self._is_random(),
        }

    def _axes(self) -> int:
        found = self.ball.ball if isinstance(self.ball, PrivateBall) else self.ball
        manifold = getattr(found, "manifold", None)
        return 2 if manifold is None else 1 + len(manifold.point_shape)

    def _is_random(self) -> bool:
        return False

    def __sklearn_clone__(self) -> Any:
        """Return an estimator with the same parameters that is not fitted: one account for both."""
        shared = {name: getattr(self, name) for name in self._shared}
        bare = object.__new__(type(self))
        bare.__dict__ = {**self.__dict__, **dict.fromkeys(shared)}
        return BaseEstimator.__sklearn_clone__(bare).set_params(**shared)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the public ball, without what is left of its budget."""
        state = dict(super().__getstate__())
        if isinstance(self.ball, PrivateBall):
            state["ball"] = self.ball.ball
        return state


def rows_of(
    values: Any, shape: tuple[int, ...], name: str, read: Callable[[Any], Any] | None = None
) -> NDArray[Any]:
    """Return points as an array, one in each row, shape (n, ...); entries are not checked.

    ``shape`` is that of a point, ``name`` that of the parameter, ``read`` how a space reads what
    is written in complex numbers (:meth:`Manifold.read`). An empty list has no rows. Sparse values
    are a ``TypeError``, more or fewer axes a :class:`NotOnManifoldError`.
    """
    if issparse(values):
        raise TypeError(f"{name} is sparse, and points are dense: use {name}.toarray()")
    if isinstance(values, (list, tuple)) and len(values) == 0:  # which has no shape
        return np.empty((0, *shape))
    found = plain_array(values, name, error=NotOnManifoldError)
    if read is not None and found is not None and found.dtype.kind == "c":
        found = read(found)
    if found is None or found.ndim != 1 + len(shape):
        wanted = ", ".join(map(str, ("n", *shape)))
        got = kind_of(values) if found is None else f"rows of shape {found.shape[1:]}"
        raise NotOnManifoldError(
            f"{name} must have shape ({wanted}), a point in each row, got {got}. Reshape your "
            f"data, with {name}[None] where it is a single point"
        )
    return found


def checked_vectors(vectors: object, width: int) -> FloatArray:
    """Return finite vectors of shape (n, width) that an inverse transformation is asked about."""
    found = real_array(vectors, "X")  # type: ignore[arg-type]
    if found.ndim != 2 or found.shape[1] != width:
        raise InvalidParameterError(f"X must have shape (n, {width}), got {found.shape}")
    if not np.isfinite(found).all():
        raise InvalidParameterError("X must have finite entries")
    return found
