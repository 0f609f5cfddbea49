"""Mechanisms: noise that can be calibrated to a budget, drawn, and that says what it guarantees."""

from collections.abc import Mapping
from types import MappingProxyType

from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.mechanisms._choice import Choice
from riemdp.mechanisms._conformal_rejection import ConformalRejection
from riemdp.mechanisms._generalized_gaussian import GeneralizedGaussian
from riemdp.mechanisms._mechanism import (
    Mechanism,
    as_choice,
    calibrated,
    check_mechanism,
    if_known,
)
from riemdp.mechanisms._public_prior import PublicPriorLaplace
from riemdp.mechanisms._riemannian import RiemannianLaplace
from riemdp.mechanisms._riemannian_gaussian import RiemannianGaussian
from riemdp.mechanisms._tangent import TangentGaussian, TangentLaplace
from riemdp.mechanisms._tangent_mechanism import TangentMechanism
from riemdp.mechanisms._wrapped import WrappedGaussian, WrappedLaplace

#: Mechanisms by name, those that a manifold and a scale determine.
MECHANISMS: Mapping[str, type[Mechanism]] = MappingProxyType(
    {
        mechanism.name: mechanism
        for mechanism in (
            RiemannianLaplace,
            RiemannianGaussian,
            TangentGaussian,
            TangentLaplace,
            WrappedGaussian,
            WrappedLaplace,
        )
    }
)

__all__ = [
    "MECHANISMS",
    "Choice",
    "ConformalRejection",
    "GeneralizedGaussian",
    "Mechanism",
    "PublicPriorLaplace",
    "RiemannianGaussian",
    "RiemannianLaplace",
    "TangentGaussian",
    "TangentLaplace",
    "TangentMechanism",
    "WrappedGaussian",
    "WrappedLaplace",
    "as_choice",
    "calibrated",
    "check_mechanism",
    "check_sensitivity",
    "if_known",
]
