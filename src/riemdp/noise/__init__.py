"""Noise on manifolds: radial laws, exact samplers, log densities, the secure generator."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names
from riemdp._potential import Kind, potential

if TYPE_CHECKING:
    from riemdp.noise import _affine_invariant_family  # noqa: F401 -- what the table of rules loads
    from riemdp.noise._affine_invariant import AffineInvariantLaw
    from riemdp.noise._affine_invariant_ball import AffineInvariantBallLaplace
    from riemdp.noise._affine_invariant_radial import AffineInvariantRadial
    from riemdp.noise._aligned import AlignedLaw
    from riemdp.noise._ball_laplace import BallLaplace, RestrictedLaplace
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
    from riemdp.noise._graph_metric import (
        conformal_graph,
        entered_distance,
        graph_distance,
        solve_poisson,
    )
    from riemdp.noise._hinge import hinge_distance
    from riemdp.noise._independent import IndependentLaw
    from riemdp.noise._isotropic import IsotropicLaw, isotropic_vectors
    from riemdp.noise._law import DistanceLaw, FactorLaw, Law, RestrictedLaw, draws_otherwise
    from riemdp.noise._metropolis import MetropolisLaw
    from riemdp.noise._net import BallNet, ball_net
    from riemdp.noise._polar import constant_curvature, leading_axes, normal_coordinates
    from riemdp.noise._pushed import LiftedLaw, PushedLaw
    from riemdp.noise._quadrature import gauss_legendre
    from riemdp.noise._radial import RadialLaw
    from riemdp.noise._rules import family, has_family, rule
    from riemdp.noise._samplers import Sampler, find_sampler
    from riemdp.noise._spaces import DensityFamily, has_curve, isotropic_curve
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_affine_invariant": "AffineInvariantLaw",
            "_affine_invariant_ball": "AffineInvariantBallLaplace",
            "_affine_invariant_radial": "AffineInvariantRadial",
            "_aligned": "AlignedLaw",
            "_ball_laplace": "BallLaplace RestrictedLaplace",
            "_distance_laws": "PartOfRadial part_of",
            "_family": "Family SpaceForm bisected",
            "_fisher": "fisher_information",
            "_generator": "SecureGenerator is_secure resolve_generator secure_generator source_of",
            "_graph_metric": "conformal_graph entered_distance graph_distance solve_poisson",
            "_hinge": "hinge_distance",
            "_independent": "IndependentLaw",
            "_isotropic": "IsotropicLaw isotropic_vectors",
            "_law": "DistanceLaw FactorLaw Law RestrictedLaw draws_otherwise",
            "_metropolis": "MetropolisLaw",
            "_net": "BallNet ball_net",
            "_polar": "constant_curvature leading_axes normal_coordinates",
            "_pushed": "LiftedLaw PushedLaw",
            "_quadrature": "gauss_legendre",
            "_radial": "RadialLaw",
            "_rules": "family has_family rule",
            "_samplers": "Sampler find_sampler",
            "_spaces": "DensityFamily has_curve isotropic_curve",
            "exact": "",
        },
    )

__all__ = [
    "AffineInvariantBallLaplace",
    "AffineInvariantLaw",
    "AffineInvariantRadial",
    "AlignedLaw",
    "BallLaplace",
    "BallNet",
    "DensityFamily",
    "DistanceLaw",
    "FactorLaw",
    "Family",
    "IndependentLaw",
    "IsotropicLaw",
    "Kind",
    "Law",
    "LiftedLaw",
    "MetropolisLaw",
    "PartOfRadial",
    "PushedLaw",
    "RadialLaw",
    "RestrictedLaplace",
    "RestrictedLaw",
    "Sampler",
    "SecureGenerator",
    "SpaceForm",
    "ball_net",
    "bisected",
    "conformal_graph",
    "constant_curvature",
    "draws_otherwise",
    "entered_distance",
    "family",
    "find_sampler",
    "fisher_information",
    "gauss_legendre",
    "graph_distance",
    "has_curve",
    "has_family",
    "hinge_distance",
    "is_secure",
    "isotropic_curve",
    "isotropic_vectors",
    "leading_axes",
    "normal_coordinates",
    "part_of",
    "potential",
    "resolve_generator",
    "rule",
    "secure_generator",
    "solve_poisson",
    "source_of",
]
