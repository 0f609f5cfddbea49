"""Features that turn raw data into manifold-valued records with a proved, public radius."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.features._covariance_descriptors import covariance_descriptors, descriptor_radius
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_covariance_descriptors": "covariance_descriptors descriptor_radius",
        },
    )

__all__ = ["covariance_descriptors", "descriptor_radius"]
