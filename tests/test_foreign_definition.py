"""A definition of another package is one class: nothing else here knows it."""

import dataclasses
import math

import numpy as np
import pytest
import scipy

from riemdp import (
    Accountant,
    Ball,
    Euclidean,
    Hyperbolic,
    Release,
    SPDAffineInvariant,
    Sphere,
    _part,
    audit,
    compose,
    convert,
    plan,
    private_mean,
    register,
    verify,
)
from riemdp import _errors as errors
from riemdp.mechanisms import MECHANISMS, RiemannianLaplace, TangentGaussian
from riemdp.privacy import (
    GDP,
    ApproxDP,
    Budget,
    GaussianCurve,
    PrivacyCurve,
    PureCurve,
    PureDP,
    within,
)
from riemdp.research import GeneralizedGaussian

SPACES = [Euclidean(2), Sphere(2), Hyperbolic(2), SPDAffineInvariant(2)]


@dataclasses.dataclass(frozen=True)
class TotalVariation(Budget):
    """Total variation distance of the output laws of at most ``t``."""

    name = "elsewhere.TotalVariation"
    sizes = ("t",)
    t: float

    def delta_at(self, epsilon):
        return np.full(np.shape(epsilon), self.t)

    def epsilon_at(self, delta):
        return 0.0 if delta >= self.t else math.inf

    def allows(self, curve):
        return bool(curve.delta_at(0.0) <= self.t)

    def price(self):
        return (self.t,)

    def total(self, prices):
        return TotalVariation(prices[0]) if prices[0] > 0.0 else None


@dataclasses.dataclass(frozen=True)
class Silent(Budget):
    """Says of itself no more than it has to."""

    name = "elsewhere.Silent"
    t: float

    delta_at = TotalVariation.delta_at
    epsilon_at = TotalVariation.epsilon_at


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(_part, "_registry", _part._registry.copy())
    register(TotalVariation)


def records(manifold):
    generator = np.random.default_rng(0)
    tangent = manifold.tangent_vector(manifold.origin, generator.normal(size=(30, manifold.dim)))
    return manifold.exp(manifold.origin, 0.2 * tangent)


def test_the_scale_of_a_gaussian_is_the_exact_one():
    # the total variation of two Gaussians mu apart is 2 Phi(mu/2) - 1
    mu = 2.0 * scipy.special.ndtri(0.55)
    mechanism = TangentGaussian.calibrate(Euclidean(3), 0.2, TotalVariation(0.1))
    assert mechanism.sigma == pytest.approx(0.2 / mu, rel=1e-11)
    # and that of two Laplace laws on the line is 1 - exp(-epsilon/2)
    mechanism = RiemannianLaplace.calibrate(Euclidean(1), 0.2, TotalVariation(0.1))
    assert mechanism.sigma == pytest.approx(0.1 / -math.log(0.9), rel=1e-6)
    assert GeneralizedGaussian.calibrate(0.2, TotalVariation(0.1), power=2.0).sigma > 0.2


@pytest.mark.fast(3)
@pytest.mark.parametrize("manifold", SPACES, ids=str)
@pytest.mark.parametrize("name", ["auto", *MECHANISMS])
def test_a_release_under_it(manifold, name):
    budget, ball = TotalVariation(0.1), Ball(manifold, manifold.origin, 0.5)
    account = Accountant(TotalVariation(0.25))
    with pytest.raises(errors.UnprovenMechanismError, match=r"elsewhere\.TotalVariation"):
        private_mean(records(manifold), ball, budget, mechanism=name, accountant=account)
    assert account.spent is None
    release = private_mean(
        records(manifold),
        ball,
        budget,
        mechanism=name,
        accountant=account,
        allow_unproven=True,
        generator=np.random.default_rng(1),
    )
    assert account.remaining.t == pytest.approx(0.15, rel=1e-15)
    assert not release.proven
    again = Release.from_json(release.to_json())
    assert again.guarantee == budget
    checks = {check.name: check.passed for check in verify(again).checks}
    assert [name for name, passed in checks.items() if not passed] == ["proof"]
    # negative control: the same noise is too little for half of it
    half = dataclasses.replace(again, guarantee=TotalVariation(0.05))
    assert {check.name for check in verify(half).checks if not check.passed} > {"proof"}


def test_a_plan_for_it():
    table = plan(Euclidean(2), 0.5, 100, TotalVariation(0.1))
    assert len(table) > 1
    assert all(row.problem is None for row in table)


@pytest.mark.slow
@pytest.mark.parametrize("space", [Euclidean(2), Sphere(2)], ids=["flat", "curved"])
def test_a_plan_for_an_error(space):
    table = plan(space, 0.5, 100, TotalVariation(0.1), target_error=0.05)
    assert all(row.problem is None for row in table)
    assert table["tangent-gaussian"].required_n == 100
    for i, row in enumerate(table):
        wanted = row.required_budget
        assert type(wanted) is TotalVariation
        found = plan(space, 0.5, 100, wanted).rows[i].expected_distance
        assert found == pytest.approx(0.05, rel=1e-5)


def test_an_account_in_it():
    account = Accountant(TotalVariation(0.3))
    account.spend(TotalVariation(0.2), "first")
    with pytest.raises(errors.BudgetExceededError, match=r"TotalVariation\(t=0\.2\)"):
        account.spend(TotalVariation(0.2), "second")
    assert account.spent == TotalVariation(0.2)
    with pytest.raises(errors.NoConversionError, match="no TotalVariation guarantee"):
        account.spend(GDP(0.01), "another definition")
    with pytest.raises(errors.NoConversionError, match="no PureDP guarantee"):
        Accountant(PureDP(1.0)).spend(TotalVariation(0.01), "the other way round")


def test_what_follows_from_it():
    budget = TotalVariation(0.1)
    assert convert(budget, ApproxDP, epsilon=0.5) == ApproxDP(0.5, 0.1)
    assert convert(budget, TotalVariation) is budget
    with pytest.raises(errors.NoConversionError, match="no rule says what follows"):
        convert(budget, GDP)
    assert within(budget, TotalVariation(0.1))
    assert within(budget, ApproxDP(0.5, 0.1))
    assert not within(budget, TotalVariation(0.09))
    assert GaussianCurve(0.2).satisfies(budget)
    assert not PureCurve(0.3).satisfies(budget)
    together = compose([budget, PureDP(0.1)])
    assert isinstance(together, PrivacyCurve)
    assert 0.1 < float(together.delta_at(0.1)) < 0.2


def test_a_claim_of_it():
    def mechanism(shift, generator):
        return generator.normal(shift)

    shifts = {"dataset": 0.0, "neighbour": 1.0}
    options = {"samples": 8000, "generator": np.random.default_rng(2)}
    # the total variation is 0.383
    assert audit(mechanism, **shifts, claim=TotalVariation(0.45), **options).verdict == "consistent"
    assert audit(mechanism, **shifts, claim=TotalVariation(0.3), **options).verdict == "violated"


def test_what_it_does_not_say_is_refused_by_name():
    silent = Silent(0.1)
    with pytest.raises(errors.UnsupportedBudgetError, match="Silent cannot be a total"):
        Accountant(silent)
    for kind in MECHANISMS.values():
        with pytest.raises(errors.UnsupportedBudgetError, match=r"Silent.*Budget\.allows"):
            kind.calibrate(Euclidean(2), 0.1, silent)
    table = plan(Euclidean(2), 0.5, 100, silent, target_error=0.1)
    assert all("Silent" in row.problem and row.required_budget is None for row in table)
    with pytest.raises(errors.UnsupportedBudgetError, match=r"Budget\.sizes"):
        silent.at(0.2)
    with pytest.raises(errors.UnsupportedBudgetError, match="to share Silent"):
        silent.split(2)
    assert within(silent, silent)
    # of another size nothing is known
    assert not within(Silent(0.05), silent)


def test_only_sizes_may_differ_in_an_account():
    @dataclasses.dataclass(frozen=True)
    class Powered(TotalVariation):
        name = "elsewhere.Powered"
        power: float = 1.0

    account = Accountant(Powered(1.0, 2.0))
    account.spend(Powered(0.5, 2.0), "the same power")
    with pytest.raises(errors.NoConversionError, match="differ in more than their size"):
        account.spend(Powered(0.1, 1.0), "another power")


def test_noise_that_never_suffices_is_not_attainable():
    class Never(TotalVariation):
        name = "elsewhere.Never"

        def allows(self, curve):
            return isinstance(curve, (GaussianCurve, PureCurve)) and curve.mu() < 1.0

        def largest_mu(self):
            return 1.0

    class Shy(TangentGaussian):
        name = "elsewhere.Shy"

        def privacy(self, sensitivity):
            return GaussianCurve(sensitivity)

    with pytest.raises(errors.NotAttainableError, match="exceeds float64"):
        Shy.calibrate(Euclidean(2), 2.0, Never(0.1))
