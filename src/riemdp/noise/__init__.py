"""Noise on manifolds: radial laws, log densities, exact draws, the secure generator."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names
from riemdp._potential import Kind, potential

if TYPE_CHECKING:
    from riemdp.noise import _affine_invariant_family  # noqa: F401 -- what the table of rules loads
    from riemdp.noise._affine_invariant import AffineInvariantLaw
    from riemdp.noise._affine_invariant_radial import AffineInvariantRadial
    from riemdp.noise._aligned import AlignedLaw
    from riemdp.noise._distance_laws import PartOfRadial, part_of
    from riemdp.noise._family import Family, SpaceForm, bisected
    from riemdp.noise._fisher import fisher_information
    from riemdp.noise._generator import (
        SecureGenerator,
        is_secure,
        resolve_generator,
        secure_generator,
        source_of,
    )
    from riemdp.noise._hinge import hinge_distance
    from riemdp.noise._independent import IndependentLaw
    from riemdp.noise._isotropic import IsotropicLaw
    from riemdp.noise._law import DistanceLaw, FactorLaw, Law
    from riemdp.noise._polar import constant_curvature
    from riemdp.noise._pushed import PushedLaw
    from riemdp.noise._quadrature import gauss_legendre
    from riemdp.noise._radial import RadialLaw
    from riemdp.noise._rules import family, has_family, rule
    from riemdp.noise._spaces import has_curve, isotropic_curve
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_affine_invariant": "AffineInvariantLaw",
            "_affine_invariant_radial": "AffineInvariantRadial",
            "_aligned": "AlignedLaw",
            "_distance_laws": "PartOfRadial part_of",
            "_family": "Family SpaceForm bisected",
            "_fisher": "fisher_information",
            "_generator": "SecureGenerator is_secure resolve_generator secure_generator source_of",
            "_hinge": "hinge_distance",
            "_independent": "IndependentLaw",
            "_isotropic": "IsotropicLaw",
            "_law": "DistanceLaw FactorLaw Law",
            "_polar": "constant_curvature",
            "_pushed": "PushedLaw",
            "_quadrature": "gauss_legendre",
            "_radial": "RadialLaw",
            "_rules": "family has_family rule",
            "_spaces": "has_curve isotropic_curve",
            "exact": "",
        },
    )

__all__ = [
    "AffineInvariantLaw",
    "AffineInvariantRadial",
    "AlignedLaw",
    "DistanceLaw",
    "FactorLaw",
    "Family",
    "IndependentLaw",
    "IsotropicLaw",
    "Kind",
    "Law",
    "PartOfRadial",
    "PushedLaw",
    "RadialLaw",
    "SecureGenerator",
    "SpaceForm",
    "bisected",
    "constant_curvature",
    "family",
    "fisher_information",
    "gauss_legendre",
    "has_curve",
    "has_family",
    "hinge_distance",
    "is_secure",
    "isotropic_curve",
    "part_of",
    "potential",
    "resolve_generator",
    "rule",
    "secure_generator",
    "source_of",
]
