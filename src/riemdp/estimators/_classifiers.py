"""What classifiers share: labels, public classes, and means of classes that are released."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from riemdp._checks import plain_array
from riemdp._errors import InvalidParameterError
from riemdp.estimators._base import PrivateEstimator, seen_from_base
from riemdp.estimators._scikit_learn import ClassifierMixin, column_or_1d
from riemdp.release import private_statistic
from riemdp.statistics import ClassMoments, Records

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.statistics import Statistic

#: What labels may not be, by the kind of their type; its size would tell the longest label.
_KINDS = {"b": "booleans", "c": "complex numbers", "f": "floats", "S": "byte strings"}


class ClassEstimator(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A classifier by moments of public classes."""

    classes: Any
    base: Any
    share: Any
    alpha: Any
    sizes: Any

    #: Second moment that is released with the means.
    _second: ClassVar[Literal["none", "scalar", "matrix"]] = "none"

    def _class_moments(self) -> ClassMoments:
        """Return moments of the classes in the order of scikit-learn, which is that of labels."""
        sizes = () if self.sizes is None else tuple(self.sizes)
        given = ClassMoments(self.classes, self._second, sizes)
        order = sorted(range(len(given.classes)), key=given.classes.__getitem__)
        classes = tuple(given.classes[i] for i in order)
        return ClassMoments(classes, self._second, tuple(given.sizes[i] for i in order if sizes))

    def _statistic(self) -> Statistic:
        return seen_from_base(self._class_moments(), self.base, self.share, self.alpha)

    def _release(
        self, X: ArrayLike, y: ArrayLike, users: ArrayLike | None, people: int | None
    ) -> Any:
        """Release, keep what all classifiers have, and return the value."""
        rows = self._rows(X, reset=True)
        if y is None:
            raise InvalidParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: a label "
                "for each record"
            )
        plain_array(y, "y")  # no masked array, whose mask would be lost
        labels = column_or_1d(y, warn=True)
        no_labels = labels.dtype.kind not in "iuUO" and len(labels) > 0  # none have no kind
        if no_labels and not self._pays:  # with an account it is charged before they are looked at
            raise InvalidParameterError(
                f"Unknown label type: labels must be integers or texts, got "
                f"{_KINDS.get(labels.dtype.kind, 'something else')}; "
                "continuous targets are for a regression"
            )
        records = Records(rows, labels=labels)
        release = private_statistic(self._statistic(), records, **self._options(users, people))
        value = self._kept(release, stacklevel=4)
        self.classes_: NDArray[Any] = np.array(value.classes)
        self.means_, self.base_, self.clip_ = value.means, value.base, value.clip
        number = release.count
        self.counts_ = value.shares * (math.nan if number is None else number)
        return value

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        r"""Return the classes of the largest scores: of the nearest mean, or the likeliest.

        Parameters
        ----------
        X : array_like, shape (n, \*point_shape)

        Returns
        -------
        ndarray, shape (n,)
        """
        largest = self._scores(X).argmax(axis=1)  # which also checks that there are classes
        return np.asarray(self.classes_[largest])
