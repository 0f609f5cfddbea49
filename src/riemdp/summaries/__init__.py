"""What is released: a value with its certificate, and its sensitivity on a public ball."""

from riemdp.summaries._frechet_mean import (
    FrechetMean,
    clipped_frechet_mean,
    clipped_tangent_mean,
    frechet_mean,
    tangent_mean,
)
from riemdp.summaries._sensitivity import frechet_mean_sensitivity, tangent_mean_sensitivity
from riemdp.summaries._tolerance import public_tolerance

__all__ = [
    "FrechetMean",
    "clipped_frechet_mean",
    "clipped_tangent_mean",
    "frechet_mean",
    "frechet_mean_sensitivity",
    "public_tolerance",
    "tangent_mean",
    "tangent_mean_sensitivity",
]
