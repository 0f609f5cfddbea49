from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from riemdp_papers import _he_bounds as bounds

TURN = 2.0 * math.pi * np.arange(1024) / 1024


def test_the_circle_is_solved_as_well_as_it_can_be():
    solution, left = bounds.circle_poisson(-np.cos(2.0 * TURN))
    np.testing.assert_allclose(solution, 0.25 * np.cos(2.0 * TURN), atol=1e-12)
    assert left < 1e-9
    assert bounds.circle_poisson(1.0 - np.cos(TURN))[1] == pytest.approx(1.0, abs=1e-9)


def test_the_bound_of_the_norm_fails():
    """Theorem III.4 (1): closed forms on the first spheres, and the circle as a series."""
    assert bounds.hemisphere_supremum(1) == pytest.approx(math.pi**2 / 8.0, abs=1e-9)
    assert bounds.hemisphere_supremum(2) == pytest.approx(2.0 * math.log(2.0), abs=1e-9)
    assert bounds.hemisphere_supremum(3) == pytest.approx(1.5, abs=1e-9)
    # a smooth source on the circle is past the bound as well
    smooth = bounds.circle_poisson(-np.tanh(10.0 * np.cos(TURN)))[0]
    assert 1.2 < np.max(smooth) < math.pi**2 / 8.0


def test_a_density_keeps_the_bound_up_to_the_sixth_sphere():
    caps = [bounds.cap_supremum(dim) for dim in (*range(1, 13), 20, 40)]
    assert caps == sorted(caps)
    assert caps[5] < 0.99
    assert caps[6] > 1.03
    # hemispheres, which are not the best caps, would say twelve
    halves = [0.5 * bounds.hemisphere_supremum(dim) for dim in range(1, 13)]
    assert max(halves[:-1]) < 1.0 < halves[-1] < 1.001
    assert all(cap > half for cap, half in zip(caps, halves, strict=False))


def test_the_best_cap_against_series():
    """In Legendre polynomials on the second sphere, whose least eigenvalue is 2."""
    x = np.linspace(-0.99, 0.99, 199)
    degrees = np.arange(402)
    values = scipy.special.eval_legendre(degrees[:, None], x)
    inner = degrees[1:-1]
    terms = 0.5 * (values[:-2] - values[2:]) / (inner * (inner + 1.0))[:, None]
    found = 2.0 * np.max(np.sum(terms, axis=0))
    assert found == pytest.approx(bounds.cap_supremum(2), abs=1e-4)
    # the arc of a share 1 - 1 / sqrt 3 on the circle, in closed form
    share = 1.0 - 1.0 / math.sqrt(3.0)
    exact = math.pi**2 / 6.0 * (1.0 - (1.0 - share) ** 3 - share)
    assert bounds.cap_supremum(1) == pytest.approx(exact, rel=1e-10)


def test_a_density_on_the_circle_keeps_the_bound():
    """Its exact supremum is that of an arc of a share 1 - 1/sqrt 3: half the norm of the kernel."""
    best = bounds.cap_supremum(1)
    shares = np.linspace(0.05, 0.95, 19)
    arcs = [
        np.where(np.minimum(TURN, 2.0 * math.pi - TURN) < x * math.pi, 1.0, 0.0) for x in shares
    ]
    found = [np.max(np.abs(bounds.circle_poisson(np.mean(x) - x)[0])) for x in arcs]
    assert 0.62 < max(found) < best + 1e-3


def test_the_bound_of_the_error_fails_from_dimension_two_on():
    """Theorem V.1: 12.6 and 146 lie on the way to the worst step."""
    assert bounds.step_error(2, math.exp(10.0), 3.6213) == pytest.approx(12.6, abs=0.01)
    assert bounds.step_error(9, 1000.0, 12.0507) == pytest.approx(146.0, abs=0.1)
    assert bounds.worst_step(2, math.exp(10.0))[1] == pytest.approx(27.38, abs=0.01)
    assert bounds.worst_step(9, 1000.0)[1] == pytest.approx(1884.0, abs=1.0)
    assert bounds.worst_step(2, 1.01)[1] > 6.0


def test_the_bound_of_the_error_fails_for_the_local_sensitivity_as_well():
    """With a core of phi_max about the footpoint both readings of lambda agree."""
    ratio = math.exp(10.0)
    # without it Delta* = Delta, and the printed bound is far above what the step gives
    assert bounds.worst_step(2, ratio)[1] < 6.0 * ratio / 1000.0
    for epsilon, least in ((1.0, 25.0), (0.1, 27.0)):
        core = 0.5 * epsilon / math.sqrt(ratio)
        found = bounds.step_error(2, ratio, 6.55, core=core)
        assert least < found < bounds.step_error(2, ratio, 6.55)
    # by quadrature
    r, step = np.linspace(0.0, 8.0, 1_600_001, retstep=True)
    core = 0.5 / math.sqrt(ratio)
    factor = np.where((r < core) | (r > 6.55), ratio, 1.0)
    weight = factor * r * np.exp(-np.cumsum(np.sqrt(factor)) * step)
    by_sum = np.sum(weight * r * r) / np.sum(weight)
    assert by_sum == pytest.approx(bounds.step_error(2, ratio, 6.55, core=core), rel=2e-3)


@pytest.mark.parametrize("ratio", [1.0, 1.5, 100.0])
def test_the_bound_of_the_error_holds_on_a_line(ratio):
    assert bounds.worst_step(1, ratio)[1] < 2.0 + 1e-12


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_without_a_step_the_bound_is_attained(dim):
    """So that "strictly less" is false too."""
    assert bounds.step_error(dim, 1.0, 3.0) == pytest.approx(dim * (dim + 1.0), rel=1e-12)


def test_a_smooth_step_is_past_the_bound_as_well():
    radius, worst = bounds.worst_step(2, math.exp(10.0))
    found = [bounds.ramp_error(2, math.exp(10.0), radius, width) for width in (0.1, 0.01, 0.002)]
    assert 6.0 < found[0] < found[1] < found[2] < worst
    # a gentle one meets a step: the quadrature is that of the closed form
    near = bounds.ramp_error(2, 4.0, 3.0, 1e-3)
    assert near == pytest.approx(bounds.step_error(2, 4.0, 3.0), rel=1e-3)


def test_the_hyperbolic_plane_against_quadrature():
    r = np.linspace(0.0, 80.0, 400_001)
    weight = np.exp(-2.0 * r) * np.sinh(r)
    by_sum = np.sum(weight * r * r) / np.sum(weight)
    assert bounds.hyperbolic_error(2.0) == pytest.approx(by_sum, rel=1e-6)
    assert by_sum > 1.9 * 6.0 / 4.0


def test_the_missing_factor_is_nothing_for_a_constant():
    assert bounds.published_acceptance_error(1.0, 1e-9) < 1e-8
    assert bounds.published_acceptance_error(1.0, 1.0) == pytest.approx(0.2003, abs=1e-4)


def test_the_stretch_lies_within_its_bounds():
    low, high = bounds.stretch(0.5)
    assert math.exp(-0.5) <= low < math.exp(-0.5) * 1.001
    assert math.exp(0.5) * 0.999 < high <= math.exp(0.5)


@pytest.mark.parametrize("ratio", [1.0, 2.0, 1000.0])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_the_bound_holds_with_the_power_of_the_ratio(dim, ratio):
    worst = bounds.worst_step(dim, ratio)[1]
    assert worst <= ratio**dim * dim * (dim + 1.0) * (1.0 + 1e-12)


@pytest.mark.parametrize("end", [3.0, 10.0, 60.0])
def test_the_bound_with_the_power_holds_for_the_law_cut_to_a_conformal_ball(end):
    """A step, cut at rho* = end / lambda: by quadrature in rho*."""
    dim, ratio, radius = 2, math.exp(10.0), 6.55
    t = np.linspace(0.0, end, 200_001)
    r = np.where(t < radius, t, radius + (t - radius) / math.sqrt(ratio))
    factor = np.where(t < radius, 1.0, ratio)
    weight = factor ** (0.5 * (dim - 1)) * r ** (dim - 1) * np.exp(-t)
    found = np.sum(weight * r * r) / np.sum(weight)
    cut = np.sum(t ** (dim + 1) * np.exp(-t)) / np.sum(t ** (dim - 1) * np.exp(-t))
    assert cut < dim * (dim + 1.0) * (1.0 + 1e-6)
    assert found <= ratio**dim * cut
    # that of the printed proof is none once the step is inside
    assert found == pytest.approx(cut, rel=1e-9) if end < radius else found > 2.0 * cut
    if end > 20.0:
        assert found == pytest.approx(bounds.step_error(dim, ratio, radius), rel=1e-3)
