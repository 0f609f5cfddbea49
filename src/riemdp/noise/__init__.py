"""Noise on manifolds: radial laws, exact samplers, log densities, the secure generator."""

from riemdp.noise._affine_invariant import AffineInvariantLaw
from riemdp.noise._affine_invariant_radial import AffineInvariantRadial
from riemdp.noise._ball_laplace import BallLaplace
from riemdp.noise._fisher import fisher_information
from riemdp.noise._generator import (
    SecureGenerator,
    is_secure,
    resolve_generator,
    secure_generator,
)
from riemdp.noise._isotropic import IsotropicLaw, isotropic_vectors
from riemdp.noise._metropolis import MetropolisLaw
from riemdp.noise._radial import RadialLaw

__all__ = [
    "AffineInvariantLaw",
    "AffineInvariantRadial",
    "BallLaplace",
    "IsotropicLaw",
    "MetropolisLaw",
    "RadialLaw",
    "SecureGenerator",
    "fisher_information",
    "is_secure",
    "isotropic_vectors",
    "resolve_generator",
    "secure_generator",
]
