"""Mechanisms: noise that can be calibrated to a budget, drawn, and that says what it guarantees."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.mechanisms._by_name import MECHANISMS
    from riemdp.mechanisms._calibration import check_sensitivity
    from riemdp.mechanisms._choice import Choice
    from riemdp.mechanisms._mechanism import (
        Mechanism,
        as_choice,
        calibrated,
        check_mechanism,
        if_known,
    )
    from riemdp.mechanisms._riemannian import RiemannianLaplace
    from riemdp.mechanisms._riemannian_gaussian import RiemannianGaussian
    from riemdp.mechanisms._tangent import TangentGaussian, TangentLaplace
    from riemdp.mechanisms._tangent_mechanism import TangentMechanism
    from riemdp.mechanisms._wrapped import WrappedGaussian, WrappedLaplace
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_by_name": "MECHANISMS",
            "_calibration": "check_sensitivity",
            "_choice": "Choice",
            "_mechanism": "Mechanism as_choice calibrated check_mechanism if_known",
            "_riemannian": "RiemannianLaplace",
            "_riemannian_gaussian": "RiemannianGaussian",
            "_tangent": "TangentGaussian TangentLaplace",
            "_tangent_mechanism": "TangentMechanism",
            "_wrapped": "WrappedGaussian WrappedLaplace",
        },
    )

__all__ = [
    "MECHANISMS",
    "Choice",
    "Mechanism",
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
