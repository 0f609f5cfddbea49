import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    Budget,
    MeanCDP,
    PrivacyCurve,
    PureDP,
    RaoDP,
    compose,
    compose_budgets,
)
from riemdp.privacy._rounding import root_of_squares_up, sum_up

EPSILON = 0.7


def angle(theta):
    return RaoDP(theta, distance="angle")


# measure of a pair, the guarantee of a value, the composed value, measure of the composition
KINDS = {
    "pure": (lambda p: p.pure, PureDP, lambda g: g.epsilon, None),
    "approx": (
        lambda p: p.delta(EPSILON),
        lambda v: ApproxDP(EPSILON, min(v, 0.999)),
        lambda g: g.delta,
        lambda p: p.delta(2.0 * EPSILON),
    ),
    "gdp": (lambda p: p.gdp, GDP, lambda g: g.mu, None),
    "zcdp": (lambda p: p.zcdp, ZCDP, lambda g: g.rho, None),
    "rdp": (lambda p: p.renyi(3.0), lambda v: RDP(3.0, v), lambda g: g.epsilon, None),
    "kl": (lambda p: p.kl, KLDP, lambda g: g.alpha, None),
    "mean": (lambda p: p.tau, lambda v: MeanCDP(1.0, v), lambda g: g.tau, None),
    "angle": (lambda p: p.angle, lambda v: angle(min(v, math.pi)), lambda g: g.theta, None),
}


@pytest.mark.fast(3)
@pytest.mark.parametrize("kind", KINDS)
def test_no_adaptive_composition_of_laws_violates_the_rule(triples, kind):
    measure, build, parameter, final = KINDS[kind]
    first, second, other = triples
    if kind == "mean":  # this rule is not for adaptive choices
        other = second
    joint = (final or measure)(first.then(second, other))
    grid = np.geomspace(1e-4, 30.0, 90)
    table = np.full((91, 91), np.inf)
    table[:90, :90] = [[parameter(compose([build(a), build(b)])) for a in grid] for b in grid]
    indices = [
        np.searchsorted(grid, value * (1.0 + 1e-9) + 1e-15)
        for value in (measure(first), np.maximum(measure(second), measure(other)))
    ]
    if kind == "approx":  # deltas near 1 lie under the grid's next value
        indices = [
            np.where(i < 90, np.where(grid[np.minimum(i, 89)] > 0.99, 90, i), i) for i in indices
        ]
    bound = table[indices[1], indices[0]]
    assert np.all(joint <= bound * (1.0 + 1e-9) + 1e-13)
    assert np.any(joint > 0.5 * bound * (1.0 + 1e-9) + 1e-13)


def test_adaptive_choices_break_the_rule_of_mean_concentrated_privacy():
    # A coin decides between randomised response and nothing: the mean of the loss depends on it.
    truth = 1.0 / (1.0 + math.exp(-16.0))
    response = np.array([truth, 1.0 - truth])
    joint = np.concatenate([0.5 * response, [0.25, 0.25]])
    other = np.concatenate([0.5 * response[::-1], [0.25, 0.25]])
    alone = _variance_proxy(response, response[::-1])
    assert alone == pytest.approx(32.0 * math.tanh(8.0), rel=1e-3)
    assert _variance_proxy(joint, other) > 1.9 * alone


def _variance_proxy(p, q):
    loss = np.log(p) - np.log(q)
    loss = loss - np.sum(p * loss)
    t = np.concatenate([np.geomspace(0.01, 3.0, 200), -np.geomspace(0.01, 3.0, 200), [-1.0]])
    return np.max(2.0 / t**2 * np.log(np.exp(t[:, None] * loss) @ p))


def test_pinned_compositions():
    assert compose([PureDP(0.25), PureDP(0.5)]) == PureDP(0.75)
    assert compose([GDP(3.0), GDP(4.0)]) == GDP(5.0)
    assert compose([ZCDP(0.25, 0.5), ZCDP(0.5, 0.25)]) == ZCDP(0.75, 0.75)
    assert compose([RDP(3.0, 0.25), RDP(3.0, 0.5)]) == RDP(3.0, 0.75)
    assert compose([RDP(3.0, 0.25), RDP(2.0, 0.5)]) == RDP(2.0, 0.75)
    assert compose([KLDP(0.25), KLDP(0.5)]) == KLDP(0.75)
    assert compose([MeanCDP(0.25, 3.0), MeanCDP(0.5, 4.0)]) == MeanCDP(0.75, 5.0)
    path = [RaoDP(value, distance="parametric") for value in (3.0, 4.0)]
    assert compose(path) == RaoDP(5.0, distance="parametric")
    approximate = compose([ApproxDP(0.25, 0.1), ApproxDP(0.5, 0.2)])
    assert approximate.epsilon == 0.75
    assert approximate.delta == pytest.approx(1.0 - 0.9 * 0.8, rel=1e-14)
    assert compose([GDP(1.0)] * 30).epsilon_at(1e-6) == pytest.approx(40.3176053, abs=1e-7)
    assert compose([GDP(1.0)]) == GDP(1.0)


def test_the_order_infinity_is_lowered_exactly():
    lowered = compose([RDP(math.inf, 1.0), RDP(2.0, 0.5)])
    assert lowered.order == 2.0
    assert lowered.epsilon == pytest.approx(
        0.5 + math.log(math.cosh(1.5) / math.cosh(0.5)), rel=1e-13
    )
    assert compose([RDP(math.inf, 1.0), RDP(math.inf, 0.5)]) == RDP(math.inf, 1.5)


@given(st.lists(st.floats(1e-8, 3.0), min_size=2, max_size=8))
def test_angles(thetas):
    together = compose([angle(theta) for theta in thetas]).theta
    euclidean = math.sqrt(sum(theta**2 for theta in thetas))
    assert max(thetas) <= together <= min(math.pi, euclidean * (1.0 + 1e-15))
    product = math.prod(math.cos(0.5 * theta) for theta in thetas)
    assert math.cos(0.5 * together) == pytest.approx(product, abs=1e-14)


def test_angles_at_their_ends():
    assert compose([angle(math.pi), angle(0.1)]).theta == math.pi
    assert compose([angle(1e-200)] * 4).theta == pytest.approx(2e-200)
    assert compose([angle(1e-9)] * 4).theta == pytest.approx(2e-9, rel=1e-14)
    assert compose([angle(3.0)] * 50).theta == math.pi
    assert compose([angle(0.1)] * 100).theta < 1.0  # less than sqrt(sum of squares)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=12))
def test_sums_are_rounded_up(values):
    exact = sum(map(Fraction, values))
    total = sum_up(values)
    if total < math.inf:
        assert Fraction(total) >= exact
        assert Fraction(math.nextafter(total, 0.0)) < exact
    exact_square = sum(Fraction(value) ** 2 for value in values)
    root = root_of_squares_up(values)
    if root < math.inf:
        assert Fraction(root) ** 2 >= exact_square
        assert Fraction(root * (1.0 - 1e-15)) ** 2 < exact_square


def test_composition_never_shrinks_by_rounding():
    total = compose([PureDP(0.1)] * 10).epsilon
    assert Fraction(total) >= 10 * Fraction(0.1)
    delta = compose([ApproxDP(0.1, 1e-7)] * 10).delta
    assert 1.0 - (1.0 - 1e-7) ** 10 <= delta <= 1e-6


def test_mixed_definitions_give_a_curve():
    curve = compose([PureDP(0.5), GDP(0.5)])
    assert isinstance(curve, PrivacyCurve)
    alone = float(GDP(0.5).delta_at(0.5))
    assert alone < float(curve.delta_at(0.5)) <= 1.0


def test_what_does_not_compose():
    with pytest.raises(errors.InvalidBudgetError, match="convert"):
        compose([angle(0.1), RaoDP(0.1, distance="parametric")])
    with pytest.raises(errors.InvalidBudgetError, match="convert"):
        compose([angle(0.1), GDP(1.0), RaoDP(0.1, distance="parametric")])
    with pytest.raises(errors.InvalidParameterError, match="nothing to compose"):
        compose([])
    with pytest.raises(errors.InvalidParameterError, match="only privacy definitions"):
        compose([GDP(1.0), 1.0])
    with pytest.raises(errors.InvalidBudgetError, match="epsilon"):
        compose([PureDP(1e308)] * 2)
    with pytest.raises(errors.InvalidBudgetError, match="mu"):
        compose([GDP(1.5e308)] * 2)
    with pytest.raises(errors.InvalidBudgetError, match="delta is 1"):
        compose([ApproxDP(1.0, 1.0 - 1e-9)] * 3)


def test_a_definition_without_a_rule_composes_as_a_curve():
    class Other(Budget):
        def delta_at(self, epsilon):
            return PureDP(1.0).delta_at(epsilon)

        def epsilon_at(self, delta):
            return PureDP(1.0).epsilon_at(delta)

    other = Other()
    assert compose([other]) is other
    curve = compose([other, other])
    assert isinstance(curve, PrivacyCurve)
    # no pure epsilon is known of it, and the losses add up all the same
    one, two = float(other.delta_at(0.5)), float(curve.delta_at(0.5))
    assert one < float(compose([PureDP(1.0), GDP(1e-9), PureDP(1.0)]).delta_at(0.5)) <= two + 1e-9


@pytest.mark.parametrize("bad", [1.0, None, PureDP(1.0), [1.0], [np.array([0.125])]])
def test_only_lists_of_guarantees_compose(bad):
    with pytest.raises(errors.InvalidParameterError) as caught:
        compose(bad)
    assert "0.125" not in str(caught.value)


def test_only_guarantees_of_one_order_are_added_up():
    budgets = [RDP(2.0, 0.1), RDP(4.0, 0.1), RDP(2.0, 0.2)]
    curves = [curve.budget for curve, _ in compose_budgets(budgets).parts]
    assert {each.order: each.epsilon for each in curves} == {2.0: pytest.approx(0.3), 4.0: 0.1}
