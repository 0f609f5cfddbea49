"""Former name of :mod:`riemdp.statistics`, with what it held in version 0.1."""

from riemdp.statistics import (
    CertifiedMean as FrechetMean,
)
from riemdp.statistics import (
    clipped_frechet_mean,
    clipped_tangent_mean,
    frechet_mean,
    frechet_mean_sensitivity,
    is_average,
    public_tolerance,
    tangent_mean,
    tangent_mean_sensitivity,
    tolerance_floor,
)

__all__ = [
    "FrechetMean",
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
