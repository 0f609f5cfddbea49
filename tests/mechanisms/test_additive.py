"""What the Riemannian mechanisms share."""

from __future__ import annotations

import pytest

from riemdp import RiemannianGaussian, RiemannianLaplace, Sphere, UnsupportedManifoldError
from riemdp.noise import family


@pytest.mark.parametrize("kind", [RiemannianGaussian, RiemannianLaplace])
def test_they_are_a_family_at_one_scale(kind, bumpy):
    known = family(kind.kind, Sphere(2))
    found = kind(Sphere(2), 0.3)
    assert found.privacy(0.1) == known.curve(0.3, 0.1)
    assert found.expected_distance() == known.law(0.3).radial.mean()
    with pytest.raises(UnsupportedManifoldError):
        kind(bumpy(2), 0.3)
