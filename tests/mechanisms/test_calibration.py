import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    frechet_mean,
    plan,
    privacy,
    private_mean,
)
from riemdp import _errors as errors
from riemdp.mechanisms import (
    RiemannianGaussian,
    RiemannianLaplace,
    TangentGaussian,
    TangentLaplace,
)
from riemdp.mechanisms._calibration import check_sensitivity, enough_noise
from riemdp.privacy import GDP, ZCDP, ApproxDP, PureDP, RaoDP, classical_mu


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "x", None, True, [1.0]])
def test_sensitivity_outside_its_domain(bad):
    with pytest.raises(errors.InvalidParameterError, match="sensitivity must be"):
        check_sensitivity(bad)


#: Sensitivities from the least to the largest float.
SENSITIVITIES = [
    *(5e-324, 1e-310, 1e-200, 1e-154, 1e-100, 0.999e-75, 1e-75, 1e-50, 1e-3, 1.0),
    *(1e50, 1e75, 1.001e75, 1e150, 3e231, 1.7e308),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "budget",
    [
        *(PureDP(1e-300), PureDP(1.0), PureDP(300.0), GDP(1e-300), GDP(1e-5), GDP(1.0), GDP(30.0)),
        *(ApproxDP(1.0, 1e-6), ZCDP(1e-300), ZCDP(0.5), RaoDP(0.5, distance="angle")),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("mechanism", "space"),
    [
        (TangentLaplace, Euclidean(3)),
        (TangentGaussian, Euclidean(3)),
        (RiemannianLaplace, SPDLogEuclidean(2)),
        (RiemannianLaplace, Hyperbolic(2)),
        (RiemannianGaussian, Sphere(2)),
        (RiemannianGaussian, SPDAffineInvariant(2)),
        (RiemannianGaussian, Hyperbolic(2)),
    ],
)
@pytest.mark.fast(12)
def test_at_all_scales_noise_suffices_or_is_refused(mechanism, space, budget):
    """The program of the issue: OverflowError at 3e231, and others at 1e-160 and 5e-324."""
    for sensitivity in SENSITIVITIES:
        try:
            found = mechanism.calibrate(space, sensitivity, budget)
        except errors.InvalidParameterError as error:
            in_range = 1e-75 <= sensitivity <= 1e75  # then it is the noise scale
            words = f"and 1e+75, so that float64 holds its powers, got {sensitivity:.6g}; change"
            refused_well = in_range or words in str(error)
        except errors.RiemdpError:  # no noise for this budget, by public numbers
            refused_well = 1e-75 <= sensitivity <= 1e75
        else:
            refused_well = found.satisfies(sensitivity, budget) and math.isfinite(found.sigma)
            if space.curvature_bound == 0.0 and isinstance(budget, PureDP):
                assert Fraction(found.sigma) * Fraction(budget.epsilon) >= Fraction(sensitivity)
            if mechanism is TangentGaussian and isinstance(budget, GDP):
                assert Fraction(found.sigma) * Fraction(budget.mu) >= Fraction(sensitivity)
        assert refused_well


@pytest.mark.parametrize("wrong", [5e-324, 0.999e-75, 1.001e75, 3e231])
@pytest.mark.parametrize(
    "build",
    [
        lambda x: privacy.IsotropicCurve("laplace", 2, 0.0, 1.0, x),
        lambda x: privacy.IsotropicCurve("laplace", 2, 0.0, x, 1.0),
        lambda x: privacy.AffineInvariantGaussianCurve(3, 0.2, x),
        lambda x: privacy.AffineInvariantGaussianCurve(3, x, 0.1),
        lambda x: privacy.affine_invariant_sigma(3, x, 1.0),
        lambda x: privacy.score_bound("gaussian", 3, 1.0, 1.0, x),
        lambda x: privacy.score_bound("gaussian", 3, 1.0, x, 1.0),
        lambda x: privacy.gaussian_floor(3, -1.0, x),
        lambda x: privacy.delta_floor(3, -1.0, x, 1.0),
        lambda x: TangentGaussian(Euclidean(2), 1.0).privacy(x),
        lambda x: TangentLaplace(Euclidean(2), 1.0).rao(x, "angle"),
        lambda x: RiemannianLaplace(Sphere(2), 1.0).satisfies(x, PureDP(1.0)),
    ],
)
@pytest.mark.fast(12)
def test_one_range_of_scales_holds_everywhere(build, wrong):
    with pytest.raises(
        errors.InvalidParameterError, match=r"between 1e-75 and 1e\+75.* change the"
    ):
        build(wrong)


def test_classical_formula():
    expected = math.sqrt(2.0 * math.log(1.25e6)) / 0.5
    assert 1.0 / classical_mu(ApproxDP(0.5, 1e-6)) == pytest.approx(expected, rel=1e-14)
    for budget in (GDP(1.0), PureDP(0.5), ZCDP(0.5)):
        with pytest.raises(errors.InvalidBudgetError, match='use method="analytic"'):
            classical_mu(budget)
    for epsilon in (1.0, 2.0):
        with pytest.raises(errors.InvalidBudgetError, match="epsilon < 1 only"):
            classical_mu(ApproxDP(epsilon, 1e-6))


def test_noise_grows_by_roundings_until_it_is_enough():
    def build(sigma):
        return RiemannianLaplace(Euclidean(1), sigma)

    least = enough_noise(build, 0.3 * (1.0 - 1e-15), 0.3, PureDP(1.0)).sigma
    assert 0.3 <= least <= 0.3 * (1.0 + 1e-14)
    assert not build(0.3 * (1.0 - 1e-9)).satisfies(0.3, PureDP(1.0))
    with pytest.raises(errors.NotAttainableError, match="exceeds float64"):
        enough_noise(build, math.inf, 0.3, PureDP(1.0))


def test_privacy_that_double_precision_cannot_tell_is_not_attainable():
    """It is about public numbers: a plan lists it."""
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
    noise = RiemannianGaussian(Sphere(2), 1e-9)
    with pytest.raises(errors.ConvergenceError):  # negative control: asked by itself
        noise.satisfies(0.03, GDP(1e9))
    with pytest.raises(errors.NotAttainableError, match="in double precision"):
        enough_noise(lambda sigma: RiemannianGaussian(Sphere(2), sigma), 1e-9, 0.03, GDP(1e9))
    for budget in (GDP(1e6), GDP(1e9)):
        with pytest.raises(errors.NotAttainableError, match="use another budget"):
            RiemannianGaussian.calibrate(Sphere(2), 0.03, budget)
        points = np.tile(ball.center, (50, 1))
        with pytest.raises(errors.NotAttainableError, match="in double precision"):
            private_mean(points, ball, budget, mechanism="riemannian-gaussian")
    compared = ["riemannian-gaussian", "tangent-gaussian"]
    found = plan(Sphere(2), 0.7, 50, GDP(1e6), mechanisms=compared)
    assert "in double precision" in found["riemannian-gaussian"].problem
    assert found.best == found["tangent-gaussian"]


def test_what_data_cause_stays_what_it_is():
    with pytest.raises(errors.ConvergenceError):
        frechet_mean(SPDAffineInvariant(2), [np.eye(2), np.diag([1e3, 1.0])], tol=1e-30)
