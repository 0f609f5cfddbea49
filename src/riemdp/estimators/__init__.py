"""Estimators for scikit-learn: each fit is one private release, and attributes come of that alone.

They need the extra ``riemdp[sklearn]``.
"""

from riemdp.estimators._cross_validate import private_cross_validate
from riemdp.estimators._hashed_fold import HashedFold
from riemdp.estimators._mdm import PrivateMDM
from riemdp.estimators._means import PrivateFrechetMean, PrivateMedian
from riemdp.estimators._pipeline import check_pipeline, make_private_pipeline
from riemdp.estimators._public_projection import PublicProjection
from riemdp.estimators._tangent_lda import PrivateTangentLDA
from riemdp.estimators._tangent_pca import PrivateTangentPCA
from riemdp.estimators._tangent_regression import PrivateTangentRegression
from riemdp.estimators._tangent_space import PrivateTangentSpace
from riemdp.estimators._warning import NotPrivateWarning, RecordLevelWarning

__all__ = [
    "HashedFold",
    "NotPrivateWarning",
    "PrivateFrechetMean",
    "PrivateMDM",
    "PrivateMedian",
    "PrivateTangentLDA",
    "PrivateTangentPCA",
    "PrivateTangentRegression",
    "PrivateTangentSpace",
    "PublicProjection",
    "RecordLevelWarning",
    "check_pipeline",
    "make_private_pipeline",
    "private_cross_validate",
]
