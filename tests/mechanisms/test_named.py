"""The mechanisms that need no more than their name."""

from __future__ import annotations

import pytest

from riemdp import (
    Euclidean,
    RiemannianGaussian,
    RiemannianLaplace,
    Sphere,
    UnsupportedManifoldError,
)
from riemdp._part import lookup, registered
from riemdp.mechanisms import MECHANISMS, Mechanism
from riemdp.noise import family


def test_they_are_the_registered_ones_that_a_scale_determines():
    assert {name: lookup(name, "mechanism") for name in MECHANISMS} == dict(MECHANISMS)
    assert set(registered("mechanism")) == set(MECHANISMS)
    for name, kind in MECHANISMS.items():
        assert issubclass(kind, Mechanism)
        assert (kind.name, kind(Euclidean(2), 0.5).name) == (name, name)


def test_nobody_may_add_to_them():
    with pytest.raises(TypeError):
        MECHANISMS["lab.Mine"] = Mechanism


@pytest.mark.parametrize("kind", [RiemannianGaussian, RiemannianLaplace])
def test_they_are_a_family_at_one_scale(kind, bumpy):
    known = family(kind.kind, Sphere(2))
    found = kind(Sphere(2), 0.3)
    assert found.privacy(0.1) == known.curve(0.3, 0.1)
    assert found.expected_distance() == known.law(0.3).radial.mean()
    with pytest.raises(UnsupportedManifoldError):
        kind(bumpy(2), 0.3)
