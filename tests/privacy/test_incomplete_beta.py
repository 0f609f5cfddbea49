import mpmath
import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy._isotropic_quadrature import beta_table, log_beta


@pytest.mark.parametrize("h", [0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 9.0, 24.5, 31.5, 32.0, 115.0, 499.5])
def test_incomplete_beta(h):
    x = np.array([1e-9, 1e-3, 0.1, 0.3, 0.45, 0.49, 0.5])
    exact = [float(mpmath.log(mpmath.betainc(h, h, 0, float(v), regularized=True))) for v in x]
    found = log_beta(h, np.log(x), np.log(x) + np.log1p(-x))
    np.testing.assert_allclose(found, exact, rtol=2e-15, atol=1e-12)


def test_incomplete_beta_of_too_high_a_dimension_is_refused():
    with pytest.raises(errors.ConvergenceError, match="dimension 5001"):
        beta_table(2500.0)


def test_half_of_the_mass_lies_under_one_half():
    for h in (32.0, 99.0, 499.5):
        found = log_beta(h, np.log([0.5]), np.log([0.25]))
        assert found[0] == pytest.approx(-np.log(2.0), abs=3e-13)
