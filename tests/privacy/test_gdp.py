import numpy as np

from riemdp.privacy import GDP, gaussian_delta

EPSILONS = np.array([0.0, 0.1, 0.5, 0.999, 1.0, 1.5, 10.0, 1e6, np.inf])


def test_gaussian_guarantee():
    exact = gaussian_delta(0.7, EPSILONS)
    np.testing.assert_allclose(GDP(0.7).delta_at(EPSILONS), exact, rtol=3e-12, atol=5e-324)
