import math

import mpmath as mp
import numpy as np
import pytest
import scipy

from riemdp import _errors as errors
from riemdp.privacy import normal_fisher_rao_distance


def reference(mean1, std1, mean2, std2, factor=1):
    with mp.workdps(900):
        m, a, b = mp.mpf(mean1) - mp.mpf(mean2), mp.mpf(std1), mp.mpf(std2)
        far = mp.sqrt(m**2 + 2 * (a + b) ** 2)
        near = mp.sqrt(m**2 + 2 * (a - b) ** 2)
        return float(factor * mp.sqrt(2) * mp.log((far + near) / (far - near)))


@pytest.mark.parametrize(
    "pair",
    [
        (0.0, 1.0, 0.0, 2.0),
        (0.0, 1.0, 1e-9, 1.0),
        (3.0, 0.2, -5.0, 40.0),
        (0.0, 1.0, 1.0, 1.0 + 1e-12),
        (0.0, 1e-8, 1e8, 1e-8),
        (0.0, 1e-150, 1e150, 1e-150),
        (0.0, 1e-3, 1e9, 1e3),
    ],
)
def test_against_many_digits(pair):
    value = normal_fisher_rao_distance(*pair)
    assert value == pytest.approx(reference(*pair), rel=1e-14)
    assert value == normal_fisher_rao_distance(pair[2], pair[3], pair[0], pair[1])
    # twice the constant, as once printed, fails
    assert value != pytest.approx(reference(*pair, factor=2), rel=0.1)


def test_pure_change_of_scale():
    assert normal_fisher_rao_distance(0.0, 1.0, 0.0, 2.0) == pytest.approx(0.98026, abs=1e-5)
    assert normal_fisher_rao_distance(1.5, 0.3, 1.5, 0.3) == 0.0


def test_length_of_the_geodesic_by_integration():
    """Along the half ellipse that the shortest path is, ds^2 = (dm^2 + 2 ds^2) / s^2."""
    # centre 0.5 on the axis of means: m = 0.5 + sqrt(2) R cos t, s = R sin t through (0, 1), (1, 1)
    radius = math.sqrt(1.0 + 0.125)
    start = math.asin(1.0 / radius)

    def speed(t):
        return math.sqrt(2.0) / math.sin(t)

    length = scipy.integrate.quad(speed, start, math.pi - start)[0]
    value = normal_fisher_rao_distance(0.0, 1.0, 1.0, 1.0)
    assert value == pytest.approx(length, rel=1e-12)
    assert value < 1.0  # the path at fixed scale, |dm| / s, is longer


def test_near_pairs_have_the_fisher_metric():
    dm, ds = 3e-7, -2e-7
    metric = math.sqrt(dm**2 + 2.0 * ds**2) / 0.7
    assert normal_fisher_rao_distance(0.0, 0.7, dm, 0.7 + ds) == pytest.approx(metric, rel=1e-6)


def test_bounds_the_angle():
    """``2 arccos`` of the Bhattacharyya coefficient is never larger; with half of it it is."""
    random = np.random.default_rng(5)
    halves = 0
    for _ in range(300):
        m1, m2 = random.normal(size=2)
        a, b = np.exp(random.normal(size=2))
        total = a * a + b * b
        affinity = math.sqrt(2.0 * a * b / total) * math.exp(-0.25 * (m1 - m2) ** 2 / total)
        angle = 2.0 * math.acos(affinity)
        distance = normal_fisher_rao_distance(m1, a, m2, b)
        assert angle <= distance * (1.0 + 1e-9)
        halves += angle > 0.5 * distance
    assert halves > 100


@pytest.mark.parametrize(
    "pair",
    [
        (math.nan, 1.0, 0.0, 1.0),
        (0.0, 1.0, math.inf, 1.0),
        (0.0, 0.0, 0.0, 1.0),
        (0.0, 1.0, 0.0, -1.0),
        (0.0, math.inf, 0.0, 1.0),
    ],
)
def test_outside_the_domain(pair):
    with pytest.raises(errors.InvalidParameterError, match="finite"):
        normal_fisher_rao_distance(*pair)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("bad", ["a", None, 10**400, True, [1.0], np.ones(2), 1j, math.nan])
def test_arguments_that_are_no_numbers_are_named(place, bad):
    arguments = [0.0, 1.0, 0.0, 1.0]
    arguments[place] = bad
    with pytest.raises(errors.InvalidParameterError, match=r"(mean|std)[12] must"):
        normal_fisher_rao_distance(*arguments)
