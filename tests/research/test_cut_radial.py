"""Laws of distances that end at a public bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.noise import RadialLaw
from riemdp.research._cut_radial import CutRadial

LEVELS = np.array([1e-6, 0.01, 0.3, 0.5, 0.9, 0.999])


@pytest.mark.parametrize("dim", [1, 3, 55])
@pytest.mark.parametrize("sigma", [1e-8, 0.05, 1.0, 1e6])
@pytest.mark.parametrize("curvature", [0.0, -1.0])
def test_against_the_law_of_a_space_form(dim, sigma, curvature):
    wanted = RadialLaw("laplace", dim, curvature, sigma, 2.0)

    def log_density(r):
        volume = np.log(np.sinh(r)) if curvature and dim > 1 else np.log(r)
        return (dim - 1) * volume - r / sigma

    found = CutRadial(log_density, 2.0)
    assert found.mean() == pytest.approx(wanted.mean(), rel=1e-9)
    np.testing.assert_allclose(found.quantile(LEVELS), wanted.quantile(LEVELS), rtol=2e-5)
    # negative control: another scale is another law, where the density sees it
    other = CutRadial(lambda r: log_density(r) - 0.1 * r / sigma, 2.0)
    assert sigma > 0.1 or other.mean() < 0.9995 * found.mean()


def test_ends_and_wrong_levels():
    law = CutRadial(lambda r: -r, 3.0)
    np.testing.assert_array_equal(law.quantile([0.0, 1.0]), [0.0, 3.0])
    assert law.quantile(0.5) == pytest.approx(-math.log(0.5 * (1.0 + math.exp(-3.0))), rel=1e-9)
    for q in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidParameterError):
            law.quantile(q)
