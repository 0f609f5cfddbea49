"""What tells Laplace from Gaussian noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

from riemdp import InvalidParameterError
from riemdp.noise import potential

KINDS = ("laplace", "gaussian")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_mean_squares_on_flat_space(kind, dim):
    chosen = potential(kind)

    def moment(power):
        def height(r):
            return r ** (dim - 1 + power) * math.exp(-float(chosen.energy(np.array(r))))

        return integrate.quad(height, 0.0, math.inf)[0]

    assert moment(2) / moment(0) == pytest.approx(chosen.mean_square(dim), rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_loss_on_a_circle(kind):
    reach, sensitivity, epsilon = math.pi, 0.4, 0.7
    chosen = potential(kind)
    sigma = chosen.lossless_scale(sensitivity, epsilon, reach)
    angle = np.linspace(-math.pi, math.pi, 100_001)
    near, far = (np.abs(np.angle(np.exp(1j * (angle - x)))) / sigma for x in (0.0, sensitivity))
    loss = np.max(np.abs(chosen.energy(near) - chosen.energy(far)))
    assert loss == pytest.approx(epsilon, rel=1e-4)
    bound = chosen.triangle_epsilon(sensitivity / sigma)
    assert loss <= bound * (1.0 + 1e-12)
    assert math.isfinite(bound) == (kind == "laplace")


def test_scales_with_a_normaliser():
    assert potential("laplace").scale_limit(4.0) == 0.25
    assert potential("laplace").scale_limit(0.0) == math.inf
    assert potential("gaussian").scale_limit(4.0) == math.inf


@pytest.mark.parametrize("kind", ["cauchy", None, ["laplace"]])
def test_other_kinds_are_refused_by_name(kind):
    with pytest.raises(InvalidParameterError, match="laplace"):
        potential(kind)
