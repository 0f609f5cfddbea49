"""Whatever is made of a guarantee is about the neighbours of that guarantee, and nothing mixes."""

import copy
import inspect
import math
import pickle
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import riemdp
from riemdp import _errors as errors
from riemdp import privacy
from riemdp._part import registered
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Budget,
    BudgetCurve,
    ComposedCurve,
    GaussianCurve,
    MeanCDP,
    PrivacyCurve,
    PureCurve,
    PureDP,
    RaoDP,
    compose,
    compose_budgets,
    compose_curves,
    convert,
    within,
)
from riemdp.privacy._composed import worst_curve

OTHER = "add-remove"
BUDGETS = [
    PureDP(0.5),
    ApproxDP(0.5, 1e-6),
    GDP(0.5),
    ZCDP(0.1),
    ZCDP(0.1, 0.01),
    RDP(1.2, 0.1),
    RDP(4.0, 0.1),
    RDP(math.inf, 0.1),
    KLDP(0.1),
    MeanCDP(0.1, 0.4),
    RaoDP(0.3, distance="angle"),
    RaoDP(0.3, distance="parametric"),
]
OPTIONS = [{}, {"delta": 1e-3}, {"order": 1.1}, {"distance": "angle"}, {"distance": "parametric"}]
CURVES = [
    GaussianCurve(0.5),
    PureCurve(0.5),
    privacy.LaplaceCurve(0.5),
    privacy.GeneralizedGaussianCurve(0.5, 1.5),
    ComposedCurve(((PureCurve(0.5), 2), (GaussianCurve(0.2), 1))),
]


def about(found):
    """Relations of the guarantees in a result."""
    if isinstance(found, (Budget, PrivacyCurve)):
        return [found.adjacency]
    if isinstance(found, (tuple, list)):
        return [name for one in found for name in about(one)]
    return []


def results(held, arguments):
    """What the methods and properties of an object return, by name, where they return."""
    for name in dir(type(held)):
        if name == "under" or (name.startswith("__")) or name == "_named_with_adjacency":
            continue
        member = inspect.getattr_static(type(held), name)
        if isinstance(member, property):
            yield name, getattr(held, name)
        if not inspect.isfunction(member):
            continue
        for given in arguments:
            try:
                found = getattr(held, name)(*given)
            except (errors.RiemdpError, TypeError, AttributeError):
                continue
            yield name, found


def test_the_walk_is_over_all_definitions():
    kinds = {type(budget) for budget in BUDGETS}
    definitions = registered(Budget.sort).values()
    own = {kind for kind in definitions if kind.__module__.startswith("riemdp.")}
    assert kinds == own


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_what_methods_make_of_a_budget_keeps_its_relation(budget):
    budget = budget.under(OTHER)
    same = [other.under(OTHER) for other in BUDGETS]
    arguments = [(), (3,), (0.25,), (budget.price() if type(budget) is not MeanCDP else (),)]
    arguments += [(other,) for other in same]
    seen = {}
    for name, found in results(budget, arguments):
        for adjacency in about(found):
            seen[name] = seen.get(name, 0) + 1
            assert adjacency == OTHER, name
    wanted = {"at", "implied_by", "_simplest", "_adaptive", "_without_infinity"}
    wanted |= set() if type(budget) is MeanCDP else {"split", "total"}
    assert wanted <= set(seen)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_what_methods_make_of_a_curve_keeps_its_relation(curve):
    assert curve.adjacency is None
    named = curve.under(OTHER)
    assert (named, named.adjacency, curve.adjacency) == (curve, OTHER, None)
    again = eval(repr(named), vars(privacy))
    assert (again, again.adjacency) == (named, OTHER)
    assert "under" not in repr(curve)
    assert named.under(OTHER).adjacency == OTHER
    seen = set()
    for name, found in results(named, [(), (2,), (0.25,), ("angle",), (named,)]):
        for adjacency in about(found):
            seen.add(name)
            assert adjacency == OTHER, name
    assert {"compose", "self_compose", "rao", "_guarantees", "_parts", "_simplest"} <= seen


def test_what_functions_make_of_a_guarantee_keeps_its_relation():
    """All public functions of the package, with all arguments that they take."""
    budgets = [budget.under(OTHER) for budget in BUDGETS]
    curves = [curve.under(OTHER) for curve in CURVES]
    arguments = [(one,) for one in budgets + curves]
    arguments += [([one, two],) for one, two in product(budgets, budgets)]
    arguments += [([one, two],) for one, two in product(curves, curves)]
    arguments += [(one, 0.25) for one in budgets] + [(one, 2) for one in budgets]
    arguments += [(one, []) for one in budgets]
    arguments += [(one, [one.split(4)]) for one in budgets if type(one) is not MeanCDP]
    seen = set()
    for name in privacy.__all__:
        function = getattr(privacy, name)
        if not inspect.isfunction(function) or name == "convert":
            continue
        for given in arguments:
            try:
                found = function(*given)
            except (errors.RiemdpError, TypeError, AttributeError, ValueError):
                continue
            for adjacency in about(found):
                seen.add(name)
                assert adjacency == OTHER, name
    assert {
        "compose",
        "compose_budgets",
        "compose_curves",
        "adds_up",
        "share_of",
        "rest_of",
    } <= seen
    assert about(worst_curve(GDP(1.0, adjacency=OTHER))) == [OTHER]
    assert privacy.bounded_range(GDP, 0.1, adjacency=OTHER).adjacency == OTHER


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_conversions_keep_the_relation(budget):
    found = 0
    for to, options in product({type(other) for other in BUDGETS}, OPTIONS):
        try:
            plain = convert(budget, to, **options)
        except errors.RiemdpError:
            continue
        assert convert(budget.under(OTHER), to, **options) == plain.under(OTHER)
        assert plain.adjacency == "replace-one"
        found += 1
    assert found >= 1


@pytest.mark.parametrize(("one", "two"), list(product(BUDGETS[:5], BUDGETS[:3])))
def test_nothing_is_composed_across_relations(one, two):
    other = two.under(OTHER)
    assert about(compose([one, two])) == ["replace-one"]
    for composed in (compose, compose_budgets):
        with pytest.raises(errors.UnsupportedNeighboursError, match=r"add-remove and replace-one"):
            composed([one, other])
    with pytest.raises(errors.UnsupportedNeighboursError, match="under one relation"):
        compose_curves([worst_curve(one), worst_curve(other)])
    with pytest.raises(errors.UnsupportedNeighboursError, match="under one relation"):
        worst_curve(one).compose(worst_curve(other))


def test_curves_that_name_no_relation():
    """Beside named ones they count as replace-one, by which nothing is added up that should not."""
    curve, pure = GaussianCurve(0.5), PureCurve(0.5)
    assert compose_curves([curve, pure]).adjacency is None
    assert compose_curves([curve, worst_curve(PureDP(0.5))]).adjacency == "replace-one"
    with pytest.raises(errors.UnsupportedNeighboursError):
        compose_curves([curve, pure.under(OTHER)])
    with pytest.raises(errors.UnsupportedNeighboursError):
        ComposedCurve(((curve, 1), (pure.under(OTHER), 1)))
    together = compose_curves([curve.under(OTHER), pure.under(OTHER)])
    assert together.adjacency == OTHER
    assert {part.adjacency for part, _ in together.parts} == {OTHER}
    assert {part.adjacency for part, _ in together.under("replace-user").parts} == {"replace-user"}
    assert together.epsilon_at(1e-6) == compose_curves([curve, pure]).epsilon_at(1e-6)
    gaussian = compose_curves([curve.under(OTHER), GaussianCurve(1.0).under(OTHER)])
    assert (type(gaussian), gaussian.adjacency) == (GaussianCurve, OTHER)
    assert BudgetCurve(KLDP(0.1)).under(OTHER).budget.adjacency == OTHER
    for made in (copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))):
        assert made(together).adjacency == OTHER


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_nothing_follows_from_a_guarantee_about_other_neighbours(budget):
    other = budget.under(OTHER)
    if budget.sizes and type(budget) is not RDP:
        assert budget.follows_from(budget)
        assert other.follows_from(other)
    for held, given in ((budget, other), (other, budget)):
        assert not held.follows_from(given)
        assert not within(given, held)
        for judged in (held.implied_by, held.price_of):
            with pytest.raises(errors.NoConversionError, match="add-remove and replace-one"):
                judged(given)
    assert (budget == other, hash(budget) == hash(other)) == (False, False)


@pytest.mark.parametrize("budget", [*BUDGETS[:7], *BUDGETS[8:11]], ids=repr)
def test_a_budget_allows_curves_of_its_own_relation_alone(budget):
    """Those of a sensitivity too, which calibration measures between the budget's neighbours."""
    curve = PureCurve(1e-3)
    assert budget.allows(curve)
    assert budget.allows(curve.under("replace-one"))
    assert not budget.allows(curve.under(OTHER))
    assert not budget.allows(PureCurve(9.0).under("replace-one"))
    assert budget.under(OTHER).allows(curve)
    assert budget.under(OTHER).allows(curve.under(OTHER))
    assert not budget.under(OTHER).allows(curve.under("replace-one"))
    assert not curve.under("replace-one").satisfies(budget.under(OTHER))
    assert not worst_curve(PureDP(1e-3)).satisfies(budget.under(OTHER))
    assert not budget.under(OTHER).allows(PureCurve(9.0))


@pytest.mark.parametrize("budget", [GDP(0.5), ApproxDP(0.5, 1e-6), KLDP(0.1), RDP(4.0, 0.1)])
def test_noise_is_calibrated_alike_under_every_relation(budget):
    kind = riemdp.TangentGaussian
    plain = kind.calibrate(riemdp.Euclidean(2), 0.5, budget)
    assert kind.calibrate(riemdp.Euclidean(2), 0.5, budget.under(OTHER)).sigma == plain.sigma
    assert privacy.affordable_mu(budget.under(OTHER)) == privacy.affordable_mu(budget)
    assert privacy.implied_epsilon(budget.under(OTHER)) == privacy.implied_epsilon(budget)


@pytest.mark.parametrize("bad", ["", " ", None, 1, b"add-remove", ["add-remove"]])
@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_a_relation_has_a_name(budget, bad):
    with pytest.raises(errors.InvalidBudgetError, match="adjacency must name a relation"):
        budget.under(bad)
    with pytest.raises(errors.InvalidBudgetError, match="adjacency must name a relation"):
        GaussianCurve(1.0).under(bad)


@dataclass(frozen=True)
class Foreign(Budget):
    """As another package would write it: it has never heard of relations."""

    sizes = ("size",)
    size: float

    def delta_at(self, epsilon):
        return PureDP(self.size).delta_at(epsilon)

    def epsilon_at(self, delta):
        return PureDP(self.size).epsilon_at(delta)

    def allows(self, curve):
        return curve.pure_epsilon() <= self.size

    def split(self, releases):
        return Foreign(self.size / releases)

    def price(self):
        return (self.size,)

    def total(self, prices):
        return Foreign(prices[0]) if prices[0] > 0.0 else None

    @property
    def pure(self):
        return PureDP(self.size)


@dataclass(frozen=True)
class Checked(Foreign):
    def __post_init__(self):
        assert self.size > 0.0


def test_definitions_of_other_packages_keep_the_relation():
    for kind in (Foreign, Checked):
        budget = kind(1.0, adjacency=OTHER)
        assert (budget.split(2).adjacency, budget.pure.adjacency) == (OTHER, OTHER)
        assert budget.allows(PureCurve(0.5))
        assert not budget.allows(PureCurve(0.5).under("replace-one"))
        with pytest.raises(errors.InvalidBudgetError, match="adjacency must name"):
            kind(1.0, adjacency="")
    account = Accountant(Foreign(1.0), adjacency=OTHER)
    account.spend(Foreign(0.25, adjacency=OTHER), "first")
    assert account.remaining == Foreign(0.75, adjacency=OTHER)
    with pytest.raises(errors.UnsupportedNeighboursError):
        account.spend(Foreign(0.25), "second")


def test_numbers_do_not_depend_on_the_relation():
    for budget in BUDGETS:
        epsilon = np.array([0.0, 0.1, 1.0])
        assert np.array_equal(budget.delta_at(epsilon), budget.under(OTHER).delta_at(epsilon))
        assert budget.epsilon_at(0.1) == budget.under(OTHER).epsilon_at(0.1)
        again = eval(repr(budget.under(OTHER)), vars(privacy) | {"inf": math.inf})
        assert again == budget.under(OTHER)


def test_a_curve_that_names_no_relation_is_the_same_one_beside_others():
    named = PureCurve(0.5).under("replace-one")
    found = privacy.compose_curves([PureCurve(0.5), named, PureCurve(0.5)])
    assert found.parts == ((named, 3),)
