import math

import mpmath
import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy import _isotropic_quadrature as quadrature
from riemdp.privacy._isotropic_quadrature import LossIntegrals


def reference(law, epsilon):
    """Return ``log P_1(L >= epsilon)`` to about 20 digits, straight from the cap."""
    with mpmath.workdps(30):
        d, s, h = mpmath.mpf(law.sensitivity), mpmath.mpf(law.sigma), mpmath.mpf(law.dim - 1) / 2
        size = {-1: mpmath.sinh, 0: lambda x: x, 1: mpmath.sin}[law.sign]
        laplace = law.kind == "laplace"
        growth = law.dim - 1 if law.sign < 0 else 0
        end = d + (1.6 * law.dim + 60) / (1 / s - growth) if laplace else d + s * (growth * s + 20)
        end = mpmath.pi if law.sign > 0 else end

        def density(r):
            return size(r) ** (law.dim - 1) * mpmath.exp(-r / s if laplace else -((r / s) ** 2) / 2)

        def cap(r):
            rho = r + s * epsilon if laplace else mpmath.sqrt(max(r * r + 2 * s * s * epsilon, 0))
            x = size((r + d + rho) / 2) * size((r + d - rho) / 2) / (size(r) * size(d))
            return mpmath.betainc(h, h, 0, min(max(x, 0), 1), regularized=True)

        near = -(d - s * epsilon) / 2 if laplace else s * s * epsilon / d - d / 2
        far = end
        if law.sign > 0:
            turn = 2 * mpmath.pi - d
            far = (turn - s * epsilon) / 2 if laplace else turn / 2 - s * s * epsilon / turn
        low, high = abs(near), min(far, end)
        cuts = [low + (high - low) * mpmath.mpf(k) ** 2 / 400 for k in range(21)]
        total = mpmath.quad(lambda r: density(r) * cap(r), cuts)
        if near < 0:
            total += mpmath.quad(density, mpmath.linspace(0, -near, 5))
        mass = mpmath.quad(density, mpmath.linspace(0, end, 21))
        return float(mpmath.log(total / mass))


@pytest.mark.fast("law1-4.0")
@pytest.mark.parametrize(
    ("law", "epsilon"),
    [
        (LossIntegrals("gaussian", 2, 1, 0.5, 1.0, math.pi), 1.0),
        (LossIntegrals("gaussian", 3, -1, 0.7, 1.5), 4.0),
        (LossIntegrals("gaussian", 20, -1, 0.5, 1.0), 3.0),
        (LossIntegrals("gaussian", 50, 1, 0.3, 1.0, math.pi), 6.0),
        (LossIntegrals("laplace", 2, -1, 0.7, 1e-2), 0.005),
        (LossIntegrals("laplace", 3, 1, 2.0, 3.1, math.pi), 1.0),
        (LossIntegrals("laplace", 120, 0, 0.1, 2.0), 1.0),
    ],
)
def test_probabilities_against_many_digits(law, epsilon):
    found = law.log_first(np.array([epsilon]))[0]
    exact = reference(law, epsilon)
    assert found == pytest.approx(exact, abs=1e-11 + 1e-14 * abs(exact))
    # negative control: an epsilon that differs in the ninth digit is seen
    other = law.log_first(np.array([epsilon * (1.0 + 1e-8)]))[0]
    assert abs(other - exact) > 1e-11


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("dim", [2, 7, 50])
def test_the_event_and_its_complement_have_probability_one(kind, sign, dim):
    upper = math.pi if sign > 0 else math.inf
    law = LossIntegrals(kind, dim, sign, 0.8 / dim, 0.5, upper)
    epsilon = np.linspace(-3.0, 3.0, 31) * (0.3 if kind == "laplace" else 1.0)
    total = np.exp(law.log_first(epsilon)) + np.exp(law.log_complement(epsilon))
    np.testing.assert_allclose(total, 1.0, rtol=2e-11)


def test_two_scales_need_the_graded_rules_or_the_panels(monkeypatch):
    law = LossIntegrals("laplace", 2, -1, 0.7, 1e-4)
    expected = law.log_first(np.zeros(1))
    assert math.exp(expected[0]) == pytest.approx(0.5, abs=1e-4)
    rules = quadrature._RULES
    monkeypatch.setattr(quadrature, "_RULES", rules[3:])
    assert law.log_first(np.zeros(1))[0] == pytest.approx(expected[0], abs=1e-11)
    monkeypatch.setattr(quadrature, "_RULES", rules[:1])
    with pytest.raises(errors.ConvergenceError, match=r"dim = 2, sigma = 0\.7"):
        law.log_first(np.zeros(1))


def test_mean_distance():
    flat = LossIntegrals("gaussian", 3, 0, 1.0, 1.0)
    assert math.exp(flat.log_mean) == pytest.approx(2.0 * math.sqrt(2.0 / math.pi), rel=1e-11)
    assert math.exp(LossIntegrals("laplace", 5, 0, 1.0, 1.0).log_mean) == pytest.approx(5.0)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_no_probability_of_a_loss_beyond_the_largest(kind):
    law = LossIntegrals(kind, 2, 1, 0.5, 1.0, math.pi)
    epsilon = np.array([40.0, 60.0])
    assert np.all(law.log_first(epsilon) == -math.inf)


def test_a_law_narrower_than_any_node_is_refused():
    law = LossIntegrals("gaussian", 2, 1, 1e-60, 1e-60, math.pi)
    with pytest.raises(errors.ConvergenceError, match="did not settle"):
        _ = law.log_mass
