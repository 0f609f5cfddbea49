"""What tells Laplace from Gaussian noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from riemdp import InvalidParameterError
from riemdp._potential import potential

KINDS = ("laplace", "gaussian")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_mean_squares_on_flat_space(kind, dim):
    chosen = potential(kind)

    def moment(power):
        def height(r):
            return r ** (dim - 1 + power) * math.exp(-float(chosen.energy(np.array(r))))

        return integrate.quad(height, 0.0, math.inf)[0]

    assert moment(2) / moment(0) == pytest.approx(dim * chosen.spread(dim), rel=1e-8)


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_laws_on_flat_space(kind, dim):
    chosen, sigma = potential(kind), 0.7

    def height(r):
        return r ** (dim - 1) * math.exp(-float(chosen.energy(r / sigma)))

    total = integrate.quad(height, 0.0, math.inf)[0]
    mean = integrate.quad(lambda r: r * height(r), 0.0, math.inf)[0] / total
    assert mean == pytest.approx(chosen.flat_mean(dim, sigma), rel=1e-8)
    shape = chosen.gamma_shape(dim)
    constant = math.lgamma(shape) + chosen.log_radial_constant(shape) + dim * math.log(sigma)
    assert math.log(total) == pytest.approx(constant, rel=1e-8)
    share = integrate.quad(height, 0.0, 1.1)[0] / total
    assert special.gammainc(shape, chosen.energy(1.1 / sigma)) == pytest.approx(share, rel=1e-8)
    assert chosen.inverse(np.array(chosen.energy(1.3))) == pytest.approx(1.3)


@pytest.mark.parametrize("kind", KINDS)
def test_quantiles_of_a_cut_line(kind):
    chosen, end = potential(kind), 1.4
    found = chosen.cut_quantile(np.array([0.0, 0.3, 1.0]), end)
    assert found[[0, 2]] == pytest.approx([0.0, end])
    mass = [
        integrate.quad(lambda x: math.exp(-chosen.energy(x)), 0.0, z)[0] for z in (found[1], end)
    ]
    assert mass[0] / mass[1] == pytest.approx(0.3, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_modes_and_slopes(kind, sign):
    chosen, power, sigma = potential(kind), 3, 0.2
    growth = {
        -1: lambda r: 1.0 / math.tanh(r),
        0: lambda r: 1.0 / r,
        1: lambda r: 1.0 / math.tan(r),
    }
    mode = chosen.mode(power, sign, sigma)
    assert chosen.pull(mode, sigma) == pytest.approx(power * growth[sign](mode), rel=1e-9)
    step = 0.1
    rise = chosen.energy((mode + step) / sigma) - chosen.energy(mode / sigma)
    excess = rise - step * chosen.pull(mode, sigma)
    assert excess == pytest.approx(chosen.excess(np.array(step / sigma)), abs=1e-12)
    bend = chosen.pull(mode + step, sigma) - chosen.pull(mode, sigma)
    assert bend == pytest.approx(chosen.bend(step, sigma), abs=1e-12)
    assert chosen.degree == (1 if chosen.is_linear else 2)


def test_the_time_that_laplace_draws_seldom_exceed():
    sigma, k, growth, rare = 0.7, 3, 1.1, 1e-9
    law = stats.gamma(0.5 * (k + 1), scale=2.0 / (sigma**-2 - growth**2))
    assert potential("laplace").farthest_time(sigma, k, growth, rare) == pytest.approx(
        law.isf(rare), rel=1e-9
    )
