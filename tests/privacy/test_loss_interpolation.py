import math

import numpy as np
import pytest

from riemdp.privacy import _isotropic_mu as interpolation
from riemdp.privacy import certified_delta
from riemdp.privacy._isotropic_curve import IsotropicCurve
from riemdp.privacy._isotropic_mu import LossInterpolation, LossPoints

CURVES = [
    IsotropicCurve("gaussian", 2, 1.0, 0.25, 1.0),
    IsotropicCurve("gaussian", 2, 1.0, 0.02, 2.0),
    IsotropicCurve("gaussian", 9, 1.0, 0.05, 1.0),
    IsotropicCurve("gaussian", 3, 1.0, 0.1, 3.0),
    IsotropicCurve("gaussian", 1, 0.0, 0.3, 1.0, math.pi),
    IsotropicCurve("gaussian", 2, -1.0, 0.25, 0.1),
    IsotropicCurve("gaussian", 9, -1.0, 0.25, 1.0),
    IsotropicCurve("laplace", 5, 0.0, 0.1, 1.0),
    IsotropicCurve("laplace", 3, -1.0, 0.3, 1.0),
]


def counted(curve):
    """Evaluate by integrals; and how many points each time."""
    sizes = []

    def evaluate(epsilon):
        sizes.append(epsilon.size)
        return curve._points(epsilon)

    return evaluate, sizes


def top(curve):
    return min(0.98 * curve.pure_epsilon(), curve._reach(6.0))


def excess(found, exact):
    """Largest difference over what is allowed for both, in the three probabilities."""
    pairs = (
        (found.log_first, exact.log_first),
        (found.log_complement, exact.log_complement),
        (found.log_second, exact.log_second),
    )
    return max(np.max(np.abs(f - e) / found.allowed(e)) for f, e in pairs)


@pytest.mark.fast(4)
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_interpolated_probabilities_are_the_integrated_ones(curve):
    evaluate, sizes = counted(curve)
    points = LossInterpolation(evaluate, curve.pure_epsilon())
    epsilon = np.linspace(0.0, top(curve), 500)
    found = points(epsilon)
    assert sizes == [81]
    # half of what is allowed is for the integrals themselves
    assert excess(found, curve._points(epsilon)) < 0.5
    assert found.error.tolist() == [2e-11] * 500
    later = points(np.sort(np.random.default_rng(0).uniform(0.0, top(curve), 9)))
    assert sizes == [81]
    assert excess(later, curve._points(later.epsilon)) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES[:1] + CURVES[5:6] + CURVES[8:], ids=str)
def test_delta_from_them_is_never_under_the_enclosure(curve):
    pytest.importorskip("flint")
    points = LossInterpolation(curve._points, curve.pure_epsilon())
    epsilon = np.linspace(0.0, top(curve), 41)
    found = np.exp(points(epsilon).log_delta())
    for i in (0, 7, 20, 33):
        lower, upper = certified_delta(curve, float(epsilon[i]))
        assert upper <= found[i] <= lower * (1.0 + 1e-9) + 1e-10
    # the control: without their error some are under it
    bare = points(epsilon)
    bare = LossPoints(
        bare.epsilon, bare.log_first, bare.log_complement, bare.log_second, -4.0 * bare.error
    )
    assert np.exp(bare.log_delta()[0]) < certified_delta(curve, 0.0)[0]


def test_few_points_and_those_beyond_are_integrated():
    curve = CURVES[0]
    pure = curve.pure_epsilon()
    evaluate, sizes = counted(curve)
    points = LossInterpolation(evaluate, pure)
    few = points(np.linspace(0.0, 1.0, 40))
    assert sizes == [40]
    assert few.error.tolist() == [1e-11] * 40
    many = points(np.append(np.linspace(0.0, 0.9 * pure, 60), [0.99 * pure, 0.999 * pure]))
    assert sizes == [40, 81, 2]
    assert many.error.tolist() == [2e-11] * 60 + [1e-11] * 2
    assert points(np.zeros(0)).epsilon.size == 0


def test_a_node_is_its_own_value():
    curve = CURVES[5]
    points = LossInterpolation(curve._points, math.inf)
    epsilon = np.linspace(0.0, 1.0, 100)
    points(epsilon)
    nodes = points._table.place
    found, exact = points(nodes), curve._points(nodes)
    np.testing.assert_allclose(found.log_second, exact.log_second, rtol=2e-15)


@pytest.mark.parametrize("spoil", ["degree", "noise", "kink"])
def test_what_is_not_smooth_enough_is_integrated(spoil, monkeypatch):
    curve, random = CURVES[0], np.random.default_rng(1)

    def evaluate(epsilon):
        points = curve._points(epsilon)
        noise = {
            "degree": 0.0,
            "noise": 1e-10 * random.standard_normal(epsilon.size),
            "kink": 1e-7 * np.abs(epsilon - 3.3),
        }[spoil]
        logs = points.log_first, points.log_complement, points.log_second + noise
        return LossPoints(epsilon, *logs, points.error)

    if spoil == "degree":
        monkeypatch.setattr(interpolation, "_DEGREE", 16)
    points = LossInterpolation(evaluate, curve.pure_epsilon())
    found = points(np.linspace(0.0, top(curve), 100))
    assert points._table is None
    assert found.error.tolist() == [1e-11] * 100


def test_the_bracket_is_the_same_without(monkeypatch):
    spaces = [("gaussian", 2, 1.0, 0.25, 1.0), ("gaussian", 2, -1.0, 0.25, 0.1)]
    with_it = [IsotropicCurve(*space).mu_bracket() for space in spaces]
    monkeypatch.setattr(interpolation, "_FEW", 10**9)
    without = [IsotropicCurve(*space).mu_bracket() for space in spaces]
    np.testing.assert_allclose(with_it, without, rtol=2e-9)
