"""scikit-learn's own checks of estimators, with a reason for every one that does not apply."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils import estimator_checks

from riemdp import GDP, Ball, Euclidean, estimators
from riemdp.estimators import PrivateFrechetMean, PublicProjection
from riemdp.estimators._scikit_learn import check_features

RADIUS = 100.0
#: So much that noise is not seen: the checks are about all else.
BUDGET = GDP(1e4)

#: Checks that fail, and why they have to.
EXCEPTIONS = {
    "check_complex_data": "complex numbers are no points of this space, and the message is the "
    "space's own",
    "check_dtype_object": "arrays of objects are refused: what they hold may be anything",
    "check_estimators_empty_data_messages": "the number of features is that of the public ball, "
    "and the message names it",
    "check_parameters_default_constructible": "ball and budget have no defaults: they are for the "
    "caller to choose (scikit-learn up to 1.5 asks for some)",
}
TWO_CLASSES = "classes are public, at least two: one that does not occur has a mean of noise"
#: The same for single classes.
EXCEPTIONS_OF = {
    "PrivateMDM": {"check_classifiers_one_label": TWO_CLASSES},
    "PrivateTangentLDA": {"check_classifiers_one_label": TWO_CLASSES},
    "PublicProjection": {
        "check_complex_data": "fit does not look at the entries of X",
        "check_estimators_nan_inf": "fit does not look at the entries of X",
    },
}
#: Not run: of PrivateTangentRegression X is one real covariate, and y are points.
CHECKED = ["MDM", "LDA", "Mean", "Median", "Space", "Components", "Projection"]


def ball_of(width):
    return Ball(Euclidean(width), np.zeros(width), RADIUS)


class AnyWidth:
    """With a ball for as many features as a check comes with, which differ from check to check."""

    def fit(self, X, y=None):
        array = np.asarray(X)
        width = array.shape[1] if array.ndim == 2 and array.shape[1] else 1
        given = vars(self).copy()
        self.ball = ball_of(width)
        self.change(width, y)
        try:
            return super().fit(X, self.labels(y))
        finally:
            for name in self.get_params(deep=False):
                setattr(self, name, given[name])

    def change(self, width, y):
        """Set other parameters that depend on what a check comes with."""

    def labels(self, y):
        return y

    def _public_ball(self):
        width = getattr(self, "n_features_in_", self.ball.manifold.dim)
        return self.ball if width == self.ball.manifold.dim else ball_of(width)


class AnyClasses(AnyWidth):
    def change(self, width, y):
        array = np.asarray(self.labels(y))
        if y is not None and array.dtype.kind in "iuUO":
            found = np.unique(array).tolist()
            more = ["none of them"] if isinstance(found[0], str) else [10**6]
            self.classes = found if len(found) > 1 else found + more

    def labels(self, y):
        """Some checks have integers as floats, which the estimators refuse."""
        array = None if y is None else np.asarray(y)
        if array is None or array.dtype.kind != "f" or np.any(array % 1.0):
            return y
        return array.astype(int)


class Mean(AnyWidth, estimators.PrivateFrechetMean):
    pass


class Median(AnyWidth, estimators.PrivateMedian):
    pass


class Space(AnyWidth, estimators.PrivateTangentSpace):
    pass


class Components(AnyWidth, estimators.PrivateTangentPCA):
    pass


class MDM(AnyClasses, estimators.PrivateMDM):
    pass


class LDA(AnyClasses, estimators.PrivateTangentLDA):
    pass


class Projection(AnyWidth, estimators.PublicProjection):
    def change(self, width, y):
        self.public_points = np.random.default_rng(0).normal(size=(20, width))
        self.n_components = min(self.n_components, width)


def instance(name):
    kind = globals()[name]
    if issubclass(kind, PublicProjection):
        return kind(np.eye(2), ball_of(2), 2)
    return kind(ball_of(2), BUDGET, *([["a", "b"]] if issubclass(kind, AnyClasses) else []))


def checks_of(name):
    """Names of checks and how to run them."""
    if hasattr(estimator_checks, "estimator_checks_generator"):
        found = estimator_checks.estimator_checks_generator(instance(name), legacy=True)
    else:  # before scikit-learn 1.6
        found = estimator_checks.check_estimator(instance(name), generate_only=True)
    for estimator, check in found:
        yield getattr(check, "func", check).__name__, lambda e=estimator, c=check: c(e)


def exceptions_of(name):
    original = next(k.__name__ for k in globals()[name].__mro__ if k.__name__ in estimators.__all__)
    return {**EXCEPTIONS, **EXCEPTIONS_OF.get(original, {})}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.fast("Space")
@pytest.mark.parametrize("name", CHECKED)
def test_checks_of_scikit_learn(name):
    known, failed, passed = exceptions_of(name), {}, []
    for check, run in checks_of(name):
        try:
            run()
        except Exception as error:
            if type(error).__name__ != "SkipTest":
                failed[check] = f"{type(error).__name__}: {error}"
        else:
            passed.append(check)
    assert {check: text for check, text in failed.items() if check not in known} == {}
    assert len(passed) > 20
    # an exception that is no longer one has to go, on the version that is looked at
    if hasattr(estimator_checks, "estimator_checks_generator"):
        stale = set(known) & set(passed) - set(failed)
        by_chance = {"check_classifiers_one_label"}  # what the noise predicts may be that label
        by_chance |= {"check_complex_data", "check_parameters_default_constructible"}
        assert stale <= by_chance


def test_features_are_noted_and_compared():
    mean = PrivateFrechetMean(ball_of(2), BUDGET)
    check_features(mean, np.zeros((4, 2)), reset=True)
    assert mean.n_features_in_ == 2
    check_features(mean, np.zeros((9, 2)), reset=False)
    with pytest.raises(ValueError, match="expecting 2 features"):
        check_features(mean, np.zeros((4, 3)), reset=False)


def test_without_scikit_learn_the_extra_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None; import riemdp\n"
        "try:\n    import riemdp.estimators\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'riemdp[sklearn]'" in done.stdout
