"""Privacy definitions, privacy curves and calibration. Numbers only: no points, no noise."""

from riemdp.privacy._curve import (
    GaussianCurve,
    PrivacyCurve,
    PureCurve,
    gaussian_to_pure,
    pure_to_gaussian,
)
from riemdp.privacy._definitions import GDP, ZCDP, ApproxDP, Budget, PureDP
from riemdp.privacy._gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu

__all__ = [
    "GDP",
    "ZCDP",
    "ApproxDP",
    "Budget",
    "GaussianCurve",
    "PrivacyCurve",
    "PureCurve",
    "PureDP",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "gaussian_to_pure",
    "pure_to_gaussian",
]
