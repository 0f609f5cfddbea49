import math

import numpy as np
import pytest

from riemdp.privacy import (
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    BudgetCurve,
    GaussianCurve,
    LaplaceCurve,
    PureCurve,
    RaoDP,
    _pld,
)
from riemdp.privacy._isotropic_curve import IsotropicCurve
from riemdp.privacy._pld import _randomised_response, dominating_masses, largest_loss

STEP = 2.0**-8
ISOTROPIC = [
    IsotropicCurve("gaussian", 2, 1.0, 1.0, 1.0),
    IsotropicCurve("gaussian", 3, -1.0, 1.0, 1.0),
    IsotropicCurve("gaussian", 9, 1.0, 20.0, 1.0),
    IsotropicCurve("laplace", 3, 1.0, 0.4, 2.5),
    IsotropicCurve("laplace", 2, -1.0, 0.3, 0.2),
    IsotropicCurve("laplace", 1, 0.0, 0.5, 1.0, math.pi),
]
# a curve, and a mechanism that has it or meets its definition
CURVES = [
    (PureCurve(1.0), PureCurve(1.0)),
    (PureCurve(0.75), PureCurve(0.75)),  # on the grid
    (PureCurve(1e-4), PureCurve(1e-4)),  # under one step
    (PureCurve(30.0), PureCurve(30.0)),
    (GaussianCurve(0.01), GaussianCurve(0.01)),
    (GaussianCurve(1.0), GaussianCurve(1.0)),
    (GaussianCurve(20.0), GaussianCurve(20.0)),
    (LaplaceCurve(0.3), LaplaceCurve(0.3)),
    (LaplaceCurve(12.0), LaplaceCurve(12.0)),
    (BudgetCurve(ZCDP(0.5)), GaussianCurve(1.0)),
    (BudgetCurve(ZCDP(3.0)), GaussianCurve(math.sqrt(6.0))),
    (BudgetCurve(ZCDP(0.5, xi=0.3)), GaussianCurve(1.0)),
    (BudgetCurve(ApproxDP(1.0, 1e-3)), BudgetCurve(ApproxDP(1.0, 1e-3))),
    (BudgetCurve(RDP(2.0, 0.7)), GaussianCurve(math.sqrt(0.7))),
    pytest.param(BudgetCurve(KLDP(0.125)), GaussianCurve(0.5), marks=pytest.mark.slow),
    (BudgetCurve(RaoDP(0.5, distance="angle")), PureCurve(0.5)),
    *((curve, curve) for curve in ISOTROPIC),
]


def hockey_stick(masses, infinity, step, epsilon, *, scale=1.0):
    losses = step * (np.arange(len(masses)) - len(masses) // 2)
    gains = -np.expm1(np.minimum(epsilon[:, None] - losses, 0.0))
    return scale * (gains @ masses) + infinity


@pytest.mark.fast(6)
@pytest.mark.parametrize(("curve", "mechanism"), CURVES, ids=str)
def test_a_probability_that_dominates_the_mechanism_in_both_orders(curve, mechanism):
    masses, infinity = dominating_masses(curve, STEP, largest_loss(curve, 1e-15))
    losses = STEP * (np.arange(len(masses)) - len(masses) // 2)
    assert np.all(masses >= 0.0)
    assert masses.sum() + infinity == pytest.approx(1.0, abs=1e-10)
    # exchanging the laws changes nothing: P(loss = -l) = exp(-l) P(loss = l)
    np.testing.assert_allclose(
        masses[losses < 0][::-1], masses[losses > 0] * np.exp(-losses[losses > 0]), rtol=1e-12
    )
    epsilon = np.concatenate([np.linspace(0.0, 2.0, 73), np.geomspace(2.0, 80.0, 17)])
    true = mechanism.delta_at(epsilon)
    bound = hockey_stick(masses, infinity, STEP, epsilon)
    # curves state delta up to 2e-12 above the truth, which is what has to be dominated
    assert np.all(bound >= true * (1.0 - 3e-12) - 1e-15)
    # negative epsilon: H(e^-x) = 1 - e^-x (1 - H(e^x))
    below = hockey_stick(masses, infinity, STEP, -epsilon)
    assert np.all(below >= 1.0 - np.exp(-epsilon) * (1.0 - true) - 1e-12)
    # the control: a little less mass does not dominate any more
    assert np.any(hockey_stick(masses, 0.0, STEP, epsilon, scale=0.5) < true)


@pytest.mark.parametrize("curve", [GaussianCurve(1.0), LaplaceCurve(1.0), PureCurve(1.0)])
def test_the_excess_falls_with_the_square_of_the_step(curve):
    epsilon = np.linspace(0.1, 0.9, 57)
    excess = []
    for step in (2.0**-4, 2.0**-6):
        masses, infinity = dominating_masses(curve, step, largest_loss(curve, 1e-15))
        bound = hockey_stick(masses, infinity, step, epsilon)
        excess.append(np.max(bound - curve.delta_at(epsilon)))
    assert excess[1] < excess[0] / 8.0 or excess[0] < 1e-3


@pytest.mark.slow
def test_a_curve_that_is_no_pair_of_laws_is_cut_down_to_one():
    curve = BudgetCurve(KLDP(0.125))
    masses, infinity = dominating_masses(curve, STEP, largest_loss(curve, 1e-15))
    middle = len(masses) // 2
    assert masses[middle] == 0.0  # filled up before the middle was reached
    assert masses.sum() + infinity == pytest.approx(1.0, abs=1e-10)


def test_largest_loss():
    assert largest_loss(PureCurve(2.0), 1e-15) == 2.0
    assert largest_loss(PureCurve(1e4), 1e-15) == 1e4
    assert largest_loss(LaplaceCurve(590.0), 1e-15) == 590.0
    assert largest_loss(LaplaceCurve(1e4), 1e-15) < 1e-8  # as good as infinite everywhere
    epsilon = largest_loss(GaussianCurve(1.0), 1e-15)
    curve = GaussianCurve(1.0)
    assert curve.delta_at(epsilon) <= 1e-15 < curve.delta_at(0.9 * epsilon)
    assert largest_loss(BudgetCurve(RaoDP(0.5, distance="angle")), 1e-12) < 60.0
    assert math.isfinite(largest_loss(BudgetCurve(KLDP(0.1)), 1e-15))


@pytest.mark.fast(1)
@pytest.mark.parametrize("curve", [ISOTROPIC[i] for i in (0, 1, 3)], ids=str)
def test_fewer_integrals_dominate_too(curve, monkeypatch):
    largest = largest_loss(curve, 1e-12)
    fine, _ = dominating_masses(curve, STEP, largest)
    monkeypatch.setattr("riemdp.privacy._pld._MOST_INTEGRALS", len(fine) // 8)
    masses, infinity = dominating_masses(curve, STEP, largest)
    assert np.count_nonzero(masses) <= len(fine) // 4 + 1
    assert masses.sum() + infinity == pytest.approx(1.0, abs=1e-10)
    epsilon = np.linspace(0.0, largest, 100)
    true = curve.delta_at(epsilon)
    bound = hockey_stick(masses, infinity, STEP, epsilon)
    assert np.all(bound >= true * (1.0 - 3e-12) - 1e-15)
    # the control: one step further down, as on a grid that is misread, they do not
    assert np.any(hockey_stick(masses, infinity, STEP, epsilon + STEP) < true)


def test_a_grid_point_next_to_the_largest_loss():
    curve = IsotropicCurve("gaussian", 2, 1.0, 0.8, 1.0)
    pure = curve.pure_epsilon()
    step = pure / 64.0 * (1.0 - 1e-12)
    masses, infinity = dominating_masses(curve, step, pure)
    epsilon = np.linspace(0.0, 1.1 * pure, 200)
    true = curve.delta_at(epsilon)
    assert np.all(hockey_stick(masses, infinity, step, epsilon) >= true * (1.0 - 3e-12) - 1e-15)


@pytest.mark.parametrize("epsilon", [1e-6, 0.05, 0.099, 0.1, 0.25])
def test_masses_of_randomised_response_are_probabilities(epsilon):
    masses, _ = _pld._randomised_response(epsilon, 0.1)
    size = len(masses) // 2
    assert np.sum(masses) == pytest.approx(1.0, abs=1e-15)
    # under the other law of the pair each loss l has exp(-l) times the mass
    losses = 0.1 * np.arange(-size, size + 1)
    assert np.sum(masses * np.exp(-losses)) == pytest.approx(1.0, abs=1e-12)
    assert np.all(masses >= 0.0)


@pytest.mark.parametrize("share", [0.0, 1e-16, 0.5, 1.0 - 1e-16])
def test_no_loss_of_a_pure_pair_has_more_mass_than_there_is(share):
    for step in (1e-3, 0.1, 0.7):
        for below in (0, 1, 7):
            epsilon = (below + share) * step
            masses, _ = _randomised_response(epsilon, step)
            mass = 1.0 / (1.0 + math.exp(-epsilon))
            assert np.all(masses >= 0.0)
            assert masses[-1] <= mass * (1.0 + 1e-15)
            assert np.sum(masses) == pytest.approx(1.0, rel=1e-12)
