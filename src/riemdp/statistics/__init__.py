"""What is released: a value with its certificate, and its sensitivity on a public ball."""

from riemdp.statistics._frechet_mean import (
    CertifiedMean,
    clipped_frechet_mean,
    clipped_tangent_mean,
    frechet_mean,
    tangent_mean,
)
from riemdp.statistics._sensitivity import frechet_mean_sensitivity, tangent_mean_sensitivity
from riemdp.statistics._tolerance import is_average, public_tolerance, tolerance_floor

__all__ = [
    "CertifiedMean",
    "clipped_frechet_mean",
    "clipped_tangent_mean",
    "frechet_mean",
    "frechet_mean_sensitivity",
    "is_average",
    "public_tolerance",
    "tangent_mean",
    "tangent_mean_sensitivity",
    "tolerance_floor",
]
