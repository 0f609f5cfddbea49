"""Mechanisms: noise that can be calibrated to a budget, drawn, and that says what it guarantees."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.mechanisms._calibration import check_sensitivity
    from riemdp.mechanisms._mechanism import (
        Choice,
        Mechanism,
        as_choice,
        calibrated,
        check_mechanism,
        if_known,
    )
    from riemdp.mechanisms._named import (
        MECHANISMS,
        RiemannianGaussian,
        RiemannianLaplace,
        TangentGaussian,
        TangentLaplace,
        WrappedGaussian,
        WrappedLaplace,
    )
    from riemdp.mechanisms._tangent import TangentMechanism
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_calibration": "check_sensitivity",
            "_mechanism": "Choice Mechanism as_choice calibrated check_mechanism if_known",
            "_named": "MECHANISMS RiemannianGaussian RiemannianLaplace TangentGaussian "
            "TangentLaplace WrappedGaussian WrappedLaplace",
            "_tangent": "TangentMechanism",
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
