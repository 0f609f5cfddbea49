import mpmath
import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy._incomplete_beta import beta_table, log_beta


@pytest.mark.parametrize("h", [0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 9.0, 24.5, 115.0])
def test_incomplete_beta(h):
    x = np.array([1e-9, 1e-3, 0.1, 0.3, 0.5])
    exact = [float(mpmath.log(mpmath.betainc(h, h, 0, float(v), regularized=True))) for v in x]
    found = log_beta(h, np.log(x), np.log(x) + np.log1p(-x))
    np.testing.assert_allclose(found, exact, rtol=2e-15, atol=1e-12)


def test_incomplete_beta_of_too_high_a_dimension_is_refused():
    with pytest.raises(errors.ConvergenceError, match="dimension 2001"):
        beta_table(1000.0)
