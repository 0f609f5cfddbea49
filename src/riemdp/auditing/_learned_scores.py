"""Scores that learn on the choosing half to tell two data sets apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, shown
from riemdp._errors import InvalidParameterError
from riemdp.auditing._scores import Score, flat

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray, Manifold


@dataclass(frozen=True)
class LinearScore:
    """Fisher's linear discriminant of the outputs' entries; what arrays get without a score.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.auditing import LinearScore
    >>> random = np.random.default_rng(0)
    >>> near, far = random.normal(2.0, 1.0, (500, 3)), random.normal(0.0, 1.0, (500, 3))
    >>> score = LinearScore().fit(near, far)
    >>> score(np.full((1, 3), 2.0)) > score(np.zeros((1, 3)))
    array([ True])
    """

    def fit(self, first: Any, second: Any) -> Score:
        """Find the direction that separates the means best. See :meth:`LearnedScore.fit`."""
        x, y = pair(first, second, finite=True)
        offset = x.mean(axis=0) - y.mean(axis=0)
        pooled = np.atleast_2d(np.cov(np.concatenate([x - x.mean(axis=0), y - y.mean(axis=0)]).T))
        scale = float(np.trace(pooled)) / len(pooled)
        ridge = 1e-9 * scale if scale > 0.0 else 1.0  # outputs of a manifold may be degenerate
        weights = np.linalg.solve(pooled + ridge * np.eye(len(pooled)), offset)
        return lambda outputs: flat(outputs) @ weights


@dataclass(frozen=True)
class NearestNeighbourScore:
    """Log ratio of nearest-neighbour density estimates, learned on the choosing half.

    Parameters
    ----------
    neighbours : int, optional
        Which neighbour's distance is taken; by default the square root of the samples.
    manifold : Manifold, optional
        Space of the outputs, which are then validated. Distances are taken between their entries.

    Notes
    -----
    An output that one of the laws repeats exactly has distance 0 there and scores ``inf`` or
    ``-inf``, so atoms are found.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.auditing import NearestNeighbourScore
    >>> random = np.random.default_rng(0)
    >>> near, far = random.normal(2.0, 1.0, (500, 3)), random.normal(0.0, 1.0, (500, 3))
    >>> score = NearestNeighbourScore().fit(near, far)
    >>> score(np.full((1, 3), 2.0)) > score(np.zeros((1, 3)))
    array([ True])
    """

    neighbours: int | None = None
    manifold: Manifold | None = None

    def fit(self, first: Any, second: Any) -> Score:
        """Keep the outputs in two search trees. See :meth:`LearnedScore.fit`."""
        from scipy.spatial import cKDTree

        x, y = pair(self._valid(first), self._valid(second), finite=True)
        wanted = round(len(x) ** 0.5) if self.neighbours is None else self.neighbours
        wanted = min(count(wanted, "neighbours"), len(x), len(y))
        trees = cKDTree(x), cKDTree(y)

        def score(outputs: Any) -> FloatArray:
            points = flat(self._valid(outputs))
            check_finite(points)
            near, far = (tree.query(points, k=[wanted])[0][:, 0] for tree in trees)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.log(far) - np.log(near)
            return np.where((near == 0.0) & (far == 0.0), 0.0, ratio)

        return score

    def _valid(self, outputs: Any) -> Any:
        return outputs if self.manifold is None else self.manifold.validate(outputs)


@dataclass(frozen=True, eq=False)
class ClassifierScore:
    """Probability that a scikit-learn classifier, trained on the choosing half, gives the data set.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        With ``fit`` and ``predict_proba`` or ``decision_function``; a clone of it is trained. By
        default gradient boosted trees. Needs the extra ``riemdp[sklearn]``.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.auditing import ClassifierScore
    >>> random = np.random.default_rng(0)
    >>> from sklearn.linear_model import LogisticRegression
    >>> near, far = random.normal(2.0, 1.0, (200, 3)), random.normal(0.0, 1.0, (200, 3))
    >>> score = ClassifierScore(LogisticRegression()).fit(near, far)
    >>> score(np.full((1, 3), 2.0)) > score(np.zeros((1, 3)))
    array([ True])
    """

    classifier: Any = None

    def fit(self, first: Any, second: Any) -> Score:
        """Train the classifier to tell the outputs apart. See :meth:`LearnedScore.fit`."""
        try:
            from sklearn.base import clone
            from sklearn.ensemble import HistGradientBoostingClassifier
        except ImportError:
            raise InvalidParameterError(
                "ClassifierScore needs scikit-learn: pip install 'riemdp[sklearn]'"
            ) from None
        if self.classifier is None:
            model = HistGradientBoostingClassifier(random_state=0)
        else:
            model = clone(self.classifier)
        x, y = pair(first, second)
        model.fit(np.concatenate([x, y]), np.repeat([1, 0], [len(x), len(y)]))
        if hasattr(model, "predict_proba"):
            return lambda outputs: np.asarray(model.predict_proba(flat(outputs))[:, 1])
        return lambda outputs: np.asarray(model.decision_function(flat(outputs)))


@dataclass(frozen=True)
class FrequencyScore:
    """Log ratio of frequencies, for outputs that are labels or repeat; learned.

    Outputs are compared as they are if they can be hashed, arrays entry by entry.

    Examples
    --------
    >>> from riemdp.auditing import FrequencyScore
    >>> score = FrequencyScore().fit(["yes"] * 90 + ["no"] * 10, ["yes"] * 50 + ["no"] * 50)
    >>> score(["yes"]) > score(["no"])
    array([ True])
    """

    def fit(self, first: Any, second: Any) -> Score:
        """Count the outputs, with half a count added to each. See :meth:`LearnedScore.fit`."""
        counts = Counter(map(_key, first)), Counter(map(_key, second))

        def score(outputs: Any) -> FloatArray:
            keys = [_key(output) for output in outputs]
            numbers = [np.array([counted[key] + 0.5 for key in keys]) for counted in counts]
            return np.asarray(np.log(numbers[0]) - np.log(numbers[1]))

        return score


def pair(first: Any, second: Any, *, finite: bool = False) -> tuple[FloatArray, FloatArray]:
    """Numeric outputs of both data sets as rows of one length, finite where they have to be."""
    x, y = flat(first), flat(second)
    if x.shape[1] != y.shape[1]:
        raise InvalidParameterError(
            f"outputs have {x.shape[1]} entries on one data set and {y.shape[1]} on the other; "
            "give a score, a function of the outputs, for outputs of several shapes"
        )
    if finite:
        check_finite(x)
        check_finite(y)
    return x, y


def check_finite(outputs: FloatArray) -> None:
    """Check that outputs have no NaN and no infinite entry, which some scores cannot take."""
    if not np.isfinite(outputs).all():
        raise InvalidParameterError(
            "outputs have NaN or infinite entries; give FrequencyScore(), or a function of the "
            "outputs that scores those by a number of their own"
        )


def _key(output: Any) -> Any:
    if isinstance(output, np.ndarray):
        return output.tobytes()
    key = output.item() if isinstance(output, np.generic) else output
    if isinstance(key, float) and math.isnan(key):
        return math.nan  # one object, so that all NaN are one label
    if not isinstance(key, Hashable):
        raise InvalidParameterError(
            f"outputs must be labels, numbers or arrays for FrequencyScore, got {shown(key)}; give "
            "a function of the outputs"
        )
    return key
