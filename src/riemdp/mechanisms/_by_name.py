"""The mechanisms that a manifold and a scale determine, which need no more than their name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from riemdp.mechanisms._riemannian import RiemannianLaplace
from riemdp.mechanisms._riemannian_gaussian import RiemannianGaussian
from riemdp.mechanisms._tangent import TangentGaussian, TangentLaplace
from riemdp.mechanisms._wrapped import WrappedGaussian, WrappedLaplace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.mechanisms._mechanism import Mechanism

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
