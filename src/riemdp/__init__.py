"""Differentially private statistics on Riemannian manifolds."""

from riemdp._errors import (
    BudgetExceededError,
    ConvergenceError,
    CutLocusError,
    InsufficientSamplesError,
    InvalidBudgetError,
    InvalidParameterError,
    NoConversionError,
    NotAttainableError,
    NotOnManifoldError,
    RiemdpError,
    UnprovenMechanismError,
    UnsupportedBallError,
    UnsupportedManifoldError,
)
from riemdp.features import covariance_descriptors, descriptor_radius
from riemdp.manifolds import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.mechanisms import (
    RiemannianGaussian,
    RiemannianLaplace,
    TangentGaussian,
    TangentLaplace,
)
from riemdp.noise import secure_generator
from riemdp.privacy import GDP, ZCDP, ApproxDP, PrivacyCurve, PureDP
from riemdp.release import Plan, PlanRow, Release, plan, private_mean, verify
from riemdp.summaries import (
    frechet_mean,
    frechet_mean_sensitivity,
    tangent_mean,
    tangent_mean_sensitivity,
)

__version__ = "0.1.0"

__all__ = [
    "GDP",
    "ZCDP",
    "ApproxDP",
    "Ball",
    "BudgetExceededError",
    "ConvergenceError",
    "CutLocusError",
    "Euclidean",
    "Hyperbolic",
    "InsufficientSamplesError",
    "InvalidBudgetError",
    "InvalidParameterError",
    "NoConversionError",
    "NotAttainableError",
    "NotOnManifoldError",
    "Plan",
    "PlanRow",
    "PrivacyCurve",
    "PureDP",
    "Release",
    "RiemannianGaussian",
    "RiemannianLaplace",
    "RiemdpError",
    "SPDAffineInvariant",
    "SPDLogEuclidean",
    "Sphere",
    "TangentGaussian",
    "TangentLaplace",
    "UnprovenMechanismError",
    "UnsupportedBallError",
    "UnsupportedManifoldError",
    "covariance_descriptors",
    "descriptor_radius",
    "frechet_mean",
    "frechet_mean_sensitivity",
    "plan",
    "private_mean",
    "secure_generator",
    "tangent_mean",
    "tangent_mean_sensitivity",
    "verify",
]
