"""Which spaces are space forms, and which noise may leave."""

from __future__ import annotations

import pytest

from riemdp._errors import UnsupportedManifoldError
from riemdp.noise._polar import constant_curvature, is_onto
from riemdp.spaces import (
    Euclidean,
    Power,
    Product,
    SPDAffineInvariant,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
)


def test_varying_curvature_is_refused():
    assert constant_curvature(Sphere(2, 4.0)) == 4.0
    assert constant_curvature(Sphere(1, 4.0)) == 0.0
    with pytest.raises(UnsupportedManifoldError, match="tangent-gaussian"):
        constant_curvature(SPDAffineInvariant(3))


def test_every_factor_of_a_product_has_to_be_complete():
    cone, small = SPDPower(2), Sphere(2, 25.0)
    # the injectivity radius of the sphere is less than the room of the cone
    assert small.injectivity_radius < cone.room(cone.origin)
    for space in (cone, Power(cone, 2), Product(small, cone), Product(small, Power(cone, 2))):
        assert not is_onto(space)
    assert is_onto(small)
    assert is_onto(Product(small, Euclidean(2), Power(SPDLogEuclidean(2), 2)))
