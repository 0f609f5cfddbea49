"""scikit-learn, from version 1.4 on, or an error that says where it comes from."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import (
        BaseCrossValidator,
        KFold,
        LeaveOneOut,
        LeavePOut,
        RepeatedKFold,
        ShuffleSplit,
        TimeSeriesSplit,
    )
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.utils import _safe_indexing, validation
    from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d
except ImportError as error:
    raise ImportError(
        "riemdp.estimators needs scikit-learn 1.4 or newer: pip install 'riemdp[sklearn]'"
    ) from error

__all__ = [
    "BaseCrossValidator",
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "KFold",
    "LeaveOneOut",
    "LeavePOut",
    "Pipeline",
    "RepeatedKFold",
    "ShuffleSplit",
    "TimeSeriesSplit",
    "TransformerMixin",
    "_num_samples",
    "_safe_indexing",
    "check_features",
    "check_is_fitted",
    "check_scoring",
    "clone",
    "column_or_1d",
    "make_pipeline",
]


def check_features(estimator: Any, X: object, *, reset: bool) -> None:
    """Note number and names of the features of ``X``, or hold them against those that were noted.

    With ``reset`` they are noted: ``n_features_in_``, and ``feature_names_in_`` of a data frame.
    Otherwise others than before are a ``ValueError``.
    """
    if hasattr(validation, "validate_data"):
        validation.validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    # before scikit-learn 1.6
    estimator._check_feature_names(X, reset=reset)
    estimator._check_n_features(X, reset=reset)
