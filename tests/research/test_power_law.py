import math

import numpy as np
import pytest
from scipy import stats

from riemdp import InvalidParameterError
from riemdp.research._power_law import PowerLaw


def test_the_printed_scale_is_another_law():
    """With sigma for sigma^power in the exponent the formula for theta is wrong off power 1."""
    power, sigma = 3.0, 0.5
    printed = PowerLaw(sigma ** (1.0 / power), power).fisher_information()
    assert PowerLaw(sigma, power).fisher_information() > 1.5 * printed


@pytest.mark.parametrize("power", [0.3, 1.0, 1.5, 4.0])
def test_lengths_on_the_line_are_those_of_scipy(power):
    law, reference = PowerLaw(0.7, power), stats.gennorm(power, scale=0.7)
    levels = np.array([0.01, 0.5, 0.9, 1.0 - 1e-9])
    np.testing.assert_allclose(law.quantile(levels), reference.isf(0.5 * (1.0 - levels)), rtol=1e-6)
    assert law.log_normaliser() == pytest.approx(-float(reference.logpdf(0.0)), rel=1e-12)


@pytest.mark.parametrize("dim", [2, 7])
def test_power_two_is_a_chi_law(dim):
    law, reference = PowerLaw(0.7, 2.0, dim), stats.chi(dim, scale=0.7 * math.sqrt(0.5))
    assert law.mean() == pytest.approx(reference.mean(), rel=1e-12)
    assert law.mean() != pytest.approx(stats.chi(dim + 1, scale=reference.kwds["scale"]).mean())
    levels = np.array([0.01, 0.5, 0.999])
    np.testing.assert_allclose(law.quantile(levels), reference.ppf(levels), rtol=1e-10)
    assert law.fisher_information() == pytest.approx(2.0 / 0.49, rel=1e-12)


@pytest.mark.parametrize("level", [-0.1, 1.1, math.nan])
def test_levels_are_probabilities(level):
    with pytest.raises(InvalidParameterError, match="q must hold probabilities"):
        PowerLaw(1.0, 2.0).quantile(level)
