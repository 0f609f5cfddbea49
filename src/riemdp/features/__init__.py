"""Features that turn raw data into manifold-valued records with a proved, public radius."""

from riemdp.features._covariance_descriptors import covariance_descriptors, descriptor_radius

__all__ = ["covariance_descriptors", "descriptor_radius"]
