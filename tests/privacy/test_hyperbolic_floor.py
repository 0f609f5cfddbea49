import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy._hyperbolic_floor import delta_floor, gaussian_floor
from riemdp.privacy._isotropic_curve import IsotropicCurve


@pytest.mark.parametrize("dim", [2, 3, 9])
def test_floor_of_hyperbolic_space(dim):
    floor = gaussian_floor(dim, -4.0, 0.5)
    assert floor == pytest.approx({2: 0.786, 3: 1.232, 9: 2.689}[dim], abs=6e-4)
    far = IsotropicCurve("gaussian", dim, -4.0, 150.0, 0.5)
    assert far.mu() == pytest.approx(floor, rel=1e-8)
    epsilon = np.linspace(0.0, 0.9 * (dim - 1), 7)
    limit = delta_floor(dim, -4.0, 0.5, epsilon)
    np.testing.assert_allclose(far.delta_at(epsilon), limit, rtol=1e-3)
    assert np.all(np.abs(far.delta_at(epsilon) / delta_floor(dim, -4.0, 0.49, epsilon) - 1) > 5e-3)
    assert delta_floor(dim, -4.0, 0.5, dim - 1.0) == 0.0
    assert far.delta_at(1.05 * (dim - 1)) < 1e-9


def test_only_negative_curvature_has_a_floor():
    with pytest.raises(errors.InvalidParameterError):
        gaussian_floor(2, 1.0, 1.0)
