from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.mechanisms import RiemannianGaussian
from riemdp.privacy import GDP
from riemdp.spaces import Sphere
from riemdp_papers import _jiang_checks as checks
from riemdp_papers._jiang import circle_delta


def test_tests_on_a_circle_have_the_certified_mu():
    exact = RiemannianGaussian(Sphere(1), 1.0).privacy(1.0).mu()
    found = checks.trade_off_mu(checks.circle_laws(1.0, 1.0))
    assert found == pytest.approx(exact, abs=1e-4)
    assert exact == pytest.approx(0.98317, abs=1e-5)


def test_sums_have_the_corrected_delta_and_not_the_printed_one():
    laws = checks.circle_laws(1.0, 1.0)
    for epsilon in (0.0, 0.8, 1.5):
        both = [
            float(circle_delta(np.array([epsilon]), 1.0, 1.0, as_printed=flag)[0])
            for flag in (False, True)
        ]
        assert checks.hockey_stick(laws, epsilon) == pytest.approx(both[0], abs=1e-6)
        assert checks.profile_of_losses(laws, epsilon) == pytest.approx(both[0], abs=1e-4)
        assert epsilon == 0.0 or both[1] < both[0] - 1e-3


def test_a_line_has_the_curve_of_its_mu():
    laws = checks.line_laws(2.0, 1.0)
    assert checks.trade_off_mu(laws) == pytest.approx(0.5, abs=1e-3)
    assert checks.hockey_stick(laws, 0.3) == pytest.approx(GDP(0.5).delta_at(0.3), abs=1e-6)


def test_mu_zero_is_no_mu():
    """Theorem A.1: the losses on the circle are bounded, so that mu_0 = 0 - and mu is not."""
    laws = checks.circle_laws(1.0, 1.0)
    largest = 0.5 * (2.0 * math.pi - 1.0)
    assert largest < 2.7
    assert checks.hockey_stick(laws, 2.7) == 0.0
    assert checks.hockey_stick(laws, 0.0) > 0.37
    assert GDP(0.98).delta_at(0.0) < checks.hockey_stick(laws, 0.0) < GDP(0.984).delta_at(0.0)


def test_directions_matter_on_a_flat_torus_and_less_the_smaller_the_noise():
    def gap(sigma, apart):
        half = apart / math.sqrt(2.0)
        pairs = [checks.torus_laws(x, sigma) for x in ((apart, 0.0), (half, half))]
        return abs(np.subtract(*[checks.hockey_stick(laws, 0.0) for laws in pairs]))

    assert gap(1.5, 2.5) > 0.03
    assert gap(0.3, 0.3) < 1e-3


def test_a_product_of_laws_is_a_law():
    laws = checks.torus_laws((1.0, 0.0), 1.0, points=50)
    np.testing.assert_allclose(np.sum(laws, axis=1), 1.0, rtol=1e-12)


def test_the_normaliser_on_a_sphere_stays():
    space = Sphere(2)
    rng = np.random.default_rng(3)
    other = rng.standard_normal((2, 3))
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    law = RiemannianGaussian(space, 0.5)
    exact = math.exp(-float(law.log_density(space.origin, space.origin)))
    found = [checks.sphere_normaliser(x, 0.5, 200) for x in other]
    np.testing.assert_allclose(found, exact, rtol=1e-4)


def test_a_chain_comes_near_its_law_and_begins_far_from_it():
    found = [checks.chain_distance(0.5, steps, 200, antipode=True) for steps in (0, 5, 200)]
    assert found[0] > 0.99
    assert found[1] > 0.01
    assert found[2] < 1e-9
    # from the footpoint it is nearer: the start matters
    assert 1e-4 < checks.chain_distance(0.5, 5, 200) < 0.2 * found[1]
