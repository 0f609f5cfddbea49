import math

import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    BudgetCurve,
    ComposedCurve,
    GaussianCurve,
    LaplaceCurve,
    MeanCDP,
    PureCurve,
    PureDP,
    RaoDP,
    _composed,
    compose_budgets,
    compose_curves,
    convert,
)


@pytest.fixture
def without_extra(monkeypatch):
    monkeypatch.setattr(_composed, "accounting_available", lambda: False)


MIXED = [PureDP(0.3), ApproxDP(0.2, 1e-8), GDP(0.4), ZCDP(0.02), RDP(16.0, 0.1)]


def test_closed_bounds_are_sound_and_looser(monkeypatch):
    pytest.importorskip("dp_accounting")
    epsilon = np.linspace(0.0, 6.0, 25)
    numerical = compose_budgets(MIXED)
    assert numerical.method == "privacy-loss-distribution"
    fine = numerical.delta_at(epsilon)
    monkeypatch.setattr(_composed, "accounting_available", lambda: False)
    closed = compose_budgets(MIXED)
    assert "pip install 'riemdp[accounting]'" in closed.method
    coarse = closed.delta_at(epsilon)
    assert np.all(coarse >= fine * (1.0 - 1e-12))
    assert np.any(coarse < 1.0)
    assert closed.epsilon_at(1e-5) > numerical.epsilon_at(1e-5)
    assert closed.epsilon_at(1e-5) < 1.05 * sum(budget.epsilon_at(2e-6) for budget in MIXED)


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_a_small_share_of_delta_goes_to_each_part():
    mixed = compose_budgets([RaoDP(0.05, distance="angle"), GDP(0.1)])
    assert mixed.delta_at(0.5) < 0.01


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_the_better_closed_bound_is_taken():
    few = compose_curves([PureCurve(0.1), PureCurve(0.2)])
    assert few.epsilon_at(1e-12) == pytest.approx(0.3, rel=1e-9)
    assert few.delta_at(0.31) == 0.0
    many = PureCurve(0.01).self_compose(10_000)
    assert many.epsilon_at(1e-6) < 6.5 < many.pure_epsilon()


@pytest.mark.parametrize("extra", [True, False])
def test_delta_and_epsilon_agree(extra, monkeypatch):
    if extra:
        pytest.importorskip("dp_accounting")
    monkeypatch.setattr(_composed, "accounting_available", lambda: extra)
    curve = compose_curves([PureCurve(0.4), LaplaceCurve(0.3), GaussianCurve(0.5)])
    for delta in (1e-8, 1e-4, 1e-2):
        epsilon = curve.epsilon_at(delta)
        assert curve.delta_at(epsilon) <= delta * (1.0 + 1e-9)
        assert curve.delta_at(0.99 * epsilon) > delta
    assert curve.epsilon_at(0.0) == math.inf
    assert np.all(np.diff(curve.delta_at(np.linspace(0.0, 10.0, 100))) <= 0.0)


def test_other_definitions_of_a_composition():
    curve = compose_curves([PureCurve(0.3), LaplaceCurve(0.4)])
    assert curve.pure_epsilon() == pytest.approx(0.7, rel=1e-14)
    assert curve.zcdp_rho() == pytest.approx(0.125, rel=1e-12)
    mu = math.hypot(PureCurve(0.3).mu(), LaplaceCurve(0.4).mu())
    assert mu <= curve.mu() <= mu * (1.0 + 1e-12)
    lower, upper = curve.mu_bracket()
    assert LaplaceCurve(0.4).mu() * 0.999 < lower < upper == curve.mu()
    parts = [PureCurve(0.3).rao("angle").theta, LaplaceCurve(0.4).rao("angle").theta]
    cosine = math.prod(math.cos(theta / 2) for theta in parts)
    assert curve.rao("angle").theta == pytest.approx(2.0 * math.acos(cosine), rel=1e-10)
    assert curve.satisfies(PureDP(0.7 + 1e-9))
    assert curve.satisfies(GDP(mu + 1e-9))
    assert not curve.satisfies(GDP(0.99 * mu))
    assert curve.satisfies(ZCDP(0.125 + 1e-9))


def test_one_part_without_a_definition_leaves_none():
    curve = compose_budgets([PureDP(0.3), GDP(0.5), ApproxDP(0.1, 1e-9)])
    assert curve.pure_epsilon() == math.inf
    assert curve.mu() == math.inf
    assert curve.zcdp_rho() == math.inf
    assert not curve.satisfies(GDP(1e6))


def test_only_a_mechanism_knows_a_parametric_distance():
    curve = compose_curves([PureCurve(0.3), LaplaceCurve(0.4)])
    with pytest.raises(errors.NoConversionError, match="ask the mechanism"):
        curve.rao("parametric")
    with pytest.raises(errors.InvalidParameterError, match="distance"):
        curve.rao("chord")


def test_an_angle_of_pi_stays():
    curve = compose_budgets([RaoDP(math.pi, distance="angle"), PureDP(1.0)])
    assert curve.rao("angle").theta == math.pi
    assert curve.delta_at(50.0) == 1.0


@pytest.mark.parametrize(
    ("budget", "mu", "pure", "rho"),
    [
        (PureDP(1.0), PureCurve(1.0).mu(), 1.0, convert(PureDP(1.0), ZCDP).rho),
        (GDP(1.0), 1.0, math.inf, 0.5),
        (ZCDP(0.5), math.inf, math.inf, 0.5),
        (ZCDP(0.5, xi=0.1), math.inf, math.inf, math.inf),
        (ApproxDP(1.0, 1e-6), math.inf, math.inf, math.inf),
        (KLDP(0.5), math.inf, math.inf, math.inf),
        (RaoDP(0.5, distance="angle"), math.inf, math.inf, math.inf),
    ],
)
def test_curve_of_a_definition(budget, mu, pure, rho):
    curve = BudgetCurve(budget)
    assert curve.mu() == pytest.approx(mu, rel=1e-12)
    assert curve.pure_epsilon() == pure
    assert curve.zcdp_rho() == pytest.approx(rho, rel=1e-12)
    assert curve.mu_bracket() == (0.0, curve.mu())
    assert curve.delta_at(0.3) == budget.delta_at(0.3)
    assert curve.epsilon_at(0.3) == budget.epsilon_at(0.3)
    assert 0.0 < curve.rao("angle").theta <= math.pi


def test_like_guarantees_are_composed_in_their_definition():
    curve = compose_budgets([ZCDP(0.1), ZCDP(0.2), RDP(4.0, 0.1), RDP(4.0, 0.2), PureDP(0.1)])
    assert len(curve.parts) == 3
    concentrated = [
        part.budget.rho
        for part, _ in curve.parts
        if isinstance(part, BudgetCurve) and isinstance(part.budget, ZCDP)
    ]
    assert concentrated == pytest.approx([0.3])


def test_mean_concentrated_goes_through_zcdp():
    curve = compose_budgets([MeanCDP(0.1, 0.5), PureDP(0.1)])
    assert isinstance(curve, ComposedCurve)
    assert any(isinstance(getattr(part, "budget", None), ZCDP) for part, _ in curve.parts)
    assert curve.epsilon_at(1e-5) < 10.0


def test_mixed_renyi_guarantees_are_composed_at_their_smallest_order():
    mixes = [
        [ZCDP(5e-4)] * 50 + [RDP(2.0 + 0.1 * i, 5e-4) for i in range(50)],
        [GDP(0.3), ZCDP(0.05), RDP(8.0, 0.2)],
    ]
    for mix in mixes:
        order = min(part.order for part in mix if isinstance(part, RDP))
        total = sum(convert(part, RDP, order=order).epsilon for part in mix)
        best = RDP(order, total * (1 + 1e-12)).epsilon_at(1e-5)
        assert compose_budgets(mix).epsilon_at(1e-5) <= best * (1 + 1e-9)


@pytest.mark.usefixtures("without_extra")
def test_pairs_in_place_of_a_curve_are_charged_what_they_leave_out():
    curve = compose_budgets([ApproxDP(0.2, 1e-3), ZCDP(0.02), GDP(0.4)])
    infinity = curve._split[0]
    assert infinity >= 1e-3
    masses = sorted({mass for mass, _ in curve._closed})
    expected = [infinity + (1.0 - infinity) * share for share in _composed._SHARES]
    assert masses == pytest.approx([infinity, *sorted(expected)], rel=1e-14)
    assert all(m >= e for m, e in zip(masses[1:], sorted(expected), strict=True))


def test_a_pair_in_place_of_a_parameter_has_an_epsilon_above_zero():
    # delta at epsilon = 0 is under the share already, and the definitions want a positive epsilon
    curve = GaussianCurve(1e-20)
    assert curve.epsilon_at(1e-3) == 0.0
    replaced = _composed._replaced([(curve, 1)], GaussianCurve.pure_epsilon, float, 1e-3)
    assert replaced == [(1e-300, 1)]


@pytest.mark.usefixtures("without_extra")
def test_what_a_pair_leaves_out_is_left_out_once():
    """Of releases with deltas d and e no more than 1 - (1 - d)(1 - e) can be lost."""
    composed = compose_budgets([ApproxDP(0.2, 0.2), ApproxDP(0.3, 0.1)])
    lost = 1.0 - 0.8 * 0.9
    assert composed.delta_at(0.5) == pytest.approx(lost, rel=1e-9)
    rest = PureCurve(0.5).delta_at(0.4)
    assert composed.delta_at(0.4) <= (lost + (1.0 - lost) * rest) * (1.0 + 1e-9)


@pytest.mark.usefixtures("without_extra")
def test_parts_are_replaced_by_pairs_that_have_a_mu():
    composed = compose_budgets([ApproxDP(0.2, 1e-3), ZCDP(0.02)])
    infinity = composed._split[0]
    masses = [mass for mass, curve in composed._closed if isinstance(curve, GaussianCurve)]
    assert max(masses) > infinity
