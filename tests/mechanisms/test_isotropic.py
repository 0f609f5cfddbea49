import math
from pathlib import Path

import pytest

from riemdp import _errors as errors
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.mechanisms._calibration import isotropic_scales, least_noise
from riemdp.noise import family
from riemdp.privacy import GDP, ZCDP, ApproxDP, IsotropicCurve, PureDP, gaussian_floor
from riemdp.spaces import Hyperbolic, SPDAffineInvariant, Sphere


def test_scales_ascend_and_the_last_one_suffices():
    for budget in (ApproxDP(1.0, 1e-6), GDP(1.0), ZCDP(0.1)):
        scales = isotropic_scales(family("laplace", Sphere(2)), 0.1, budget)
        assert scales == sorted(scales)
        assert RiemannianLaplace(Sphere(2), scales[-1] * (1.0 + 1e-12)).satisfies(0.1, budget)
    assert isotropic_scales(family("laplace", Sphere(2)), 0.1, PureDP(0.5)) == [0.2]


def test_least_noise_takes_the_first_that_suffices():
    def build(sigma):
        return RiemannianGaussian(Sphere(2), sigma)

    found = least_noise(build, [0.01, 0.2, 0.4, 0.8], 0.1, GDP(0.3))
    assert found.sigma == 0.4


EXTREME_SPACES = [Sphere(1), Sphere(3), Hyperbolic(3), *map(SPDAffineInvariant, (1, 2, 10))]
EXTREME_BUDGETS = [ApproxDP(1e-3, 1e-300), ApproxDP(40.0, 1e-6), GDP(1e-6), GDP(1e3)]


@pytest.mark.fast(8)
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("budget", EXTREME_BUDGETS, ids=str)
@pytest.mark.parametrize("sensitivity", [1e-12, 1e-3, 1.0])
@pytest.mark.parametrize("manifold", EXTREME_SPACES, ids=str)
def test_extreme_budgets_have_a_scale_or_a_named_error(kind, budget, sensitivity, manifold):
    mechanism = RiemannianLaplace if kind == "laplace" else RiemannianGaussian
    try:
        found = mechanism.calibrate(manifold, sensitivity, budget)
    except errors.NotAttainableError:
        assert isinstance(manifold, (Hyperbolic, SPDAffineInvariant))
        return
    assert found.satisfies(sensitivity, budget)
    assert not mechanism(manifold, 0.49 * found.sigma).satisfies(sensitivity, budget)


def test_numbers_on_the_page_about_the_floor():
    page = Path(__file__).resolve().parents[2] / "docs" / "negative_curvature_floor.md"
    text = page.read_text(encoding="utf-8")

    def row(start):
        (line,) = (x for x in text.splitlines() if x.startswith(f"| {start}"))
        return [float(cell) for cell in line.split("|")[2:-1]]

    sigmas = row(r"$\sigma$")
    laws = [RiemannianGaussian(Hyperbolic(3), sigma) for sigma in sigmas]
    mu = [law.privacy(1.0).mu() for law in laws]
    assert row(r"$\mu$ on $H^3$") == pytest.approx(mu, abs=6e-5)
    distances = [law.expected_distance() for law in laws]
    assert row("mean distance") == pytest.approx(distances, abs=6e-5)
    sizes = row(r"least, times $\Delta$, at $k =$")
    least = [gaussian_floor(2, -0.5, 1e-4) / 1e-4, *(math.sqrt(k / 3.0) for k in sizes[1:])]
    assert row(r"$\mu$ of the Gaussian, small") == pytest.approx(least, abs=6e-5)
    assert row(r"$\varepsilon$ of the Laplace") == pytest.approx(
        [math.sqrt(k * (k * k - 1.0) / 12.0) for k in sizes], abs=6e-5
    )
    for name, dim in [("$H^2$", 2), ("$H^3$", 3), ("$H^9$", 9), ("$H^{30}$", 30)]:
        floors = [gaussian_floor(dim, -1.0, d) for d in (0.01, 0.1, 0.5, 1.0, 2.0)]
        assert row(name) == pytest.approx(floors, abs=6e-5)


@pytest.mark.fast(4)
@pytest.mark.parametrize(
    ("kind", "manifold", "sensitivity", "budget"),
    [
        ("laplace", Sphere(2), 5e-4, ApproxDP(1.0, 1e-6)),
        ("laplace", Hyperbolic(2), 0.1, ApproxDP(1.0, 1e-6)),
        ("laplace", Sphere(3), 1.0, ApproxDP(1.0, 1e-3)),
        ("laplace", Sphere(3), 1.0, ApproxDP(1.0, 0.9)),
        ("laplace", Hyperbolic(2), 1.0, ApproxDP(0.5, 0.2)),
        ("gaussian", Sphere(2), 1.0, ApproxDP(1.0, 1e-6)),
        ("gaussian", Sphere(5), 3.0, ApproxDP(1.0, 1e-6)),
        ("gaussian", Hyperbolic(2), 1.0, ApproxDP(1.0, 1e-6)),
        ("gaussian", Sphere(2), 1e-3, ApproxDP(3.0, 1e-2)),
    ],
)
def test_the_scale_is_the_least_to_a_billionth(kind, manifold, sensitivity, budget):
    scale = isotropic_scales(family(kind, manifold), sensitivity, budget)[0]

    def delta(sigma):
        return float(family(kind, manifold).curve(sigma, sensitivity).delta_at(budget.epsilon))

    assert delta(scale) <= budget.delta < delta(scale * (1.0 - 3e-9))


def test_a_delta_too_small_to_tell_takes_the_largest_loss():
    (scale, lossless) = isotropic_scales(family("laplace", Sphere(3)), 1.0, ApproxDP(1.0, 1e-40))
    assert scale == lossless == pytest.approx(1.0, rel=1e-11)


def test_the_same_public_numbers_are_calibrated_once(monkeypatch):
    points, calls = IsotropicCurve._points, []
    monkeypatch.setattr(
        IsotropicCurve, "_points", lambda c, e: calls.append(e.size) or points(c, e)
    )
    for mechanism in (RiemannianLaplace, RiemannianGaussian):
        first = mechanism.calibrate(Sphere(2), 0.123, ApproxDP(0.9, 1e-5))
        assert calls
        calls.clear()
        assert mechanism.calibrate(Sphere(2), 0.123, ApproxDP(0.9, 1e-5)) == first
        assert not calls
        # the control: another public number
        assert mechanism.calibrate(Sphere(2), 0.124, ApproxDP(0.9, 1e-5)) != first
        assert calls


def test_budgets_that_are_none_are_refused_by_name():
    for budget in ({}, [1.0], None, 1.0):
        with pytest.raises(errors.InvalidBudgetError):
            RiemannianGaussian.calibrate(Sphere(2), 0.1, budget)
