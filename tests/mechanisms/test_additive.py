"""What the Riemannian mechanisms share."""

from __future__ import annotations

import pytest

from riemdp import InvalidParameterError, Sphere, UnsupportedManifoldError
from riemdp.mechanisms._additive import noise
from riemdp.noise import DensityFamily, family


def test_a_chain_needs_no_law(bumpy):
    assert noise("laplace", Sphere(2), "metropolis") == family("laplace", Sphere(2))
    assert noise("laplace", bumpy(2), "metropolis") == DensityFamily("laplace", bumpy(2))
    with pytest.raises(UnsupportedManifoldError):
        noise("laplace", bumpy(2), "exact")
    with pytest.raises(InvalidParameterError, match="sampler"):
        noise("laplace", Sphere(2), "gibbs")
