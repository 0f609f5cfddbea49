import itertools
import math
import time

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    RDP,
    ZCDP,
    ApproxDP,
    ComposedCurve,
    GaussianCurve,
    LaplaceCurve,
    PureCurve,
    PureDP,
    RaoDP,
    accounting_available,
    compose_budgets,
    compose_curves,
    gaussian_delta,
    gaussian_epsilon,
)
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._pld import LossTable, composed_losses

pytest.importorskip("dp_accounting")


def binomial_delta(epsilon0, n, epsilon):
    """Exact delta of n randomised responses."""
    heads = np.arange(n + 1)
    loss = epsilon0 * (2 * heads - n)
    mass = scipy.stats.binom.pmf(heads, n, 1.0 / (1.0 + math.exp(-epsilon0)))
    return float(mass @ -np.expm1(np.minimum(epsilon - loss, 0.0)))


def test_thirty_gaussians_against_the_closed_form():
    closed = gaussian_epsilon(math.sqrt(30.0), 1e-6)
    assert closed == pytest.approx(40.3176053, abs=1e-6)
    assert GaussianCurve(1.0).self_compose(30).epsilon_at(1e-6) == pytest.approx(closed, abs=1e-9)
    losses = composed_losses([(GaussianCurve(1.0), 30)])
    assert closed <= losses.epsilon_at(1e-6) <= closed + 1e-5
    # never below, at any epsilon; and the check would see a floor that is missing
    epsilon = np.linspace(0.0, 60.0, 301)
    exact = gaussian_delta(math.sqrt(30.0), epsilon)
    assert np.all(losses.delta_at(epsilon) >= exact)
    without = LossTable(losses.step, 0.5 * losses.deltas, losses.floor)
    assert np.any(without.delta_at(epsilon) < exact)


def test_gaussians_one_by_one_give_the_same():
    parts = [(GaussianCurve(mu), 1) for mu in np.linspace(0.2, 1.0, 9)]
    total = math.sqrt(sum(curve.separation**2 for curve, _ in parts))
    losses = composed_losses(parts)
    for delta in (1e-3, 1e-6, 1e-9):
        closed = gaussian_epsilon(total, delta)
        assert closed <= losses.epsilon_at(delta) <= closed + 2e-3


@pytest.mark.parametrize(("epsilon0", "n"), [(0.1, 50), (1.0, 20), (0.37, 300), (3e-4, 1000)])
def test_pure_composition_against_the_binomial_law(epsilon0, n):
    curve = PureCurve(epsilon0).self_compose(n)
    losses = composed_losses([(PureCurve(epsilon0), n)])
    for epsilon in np.linspace(0.0, 6.0 * math.sqrt(n) * epsilon0, 25):
        exact = binomial_delta(epsilon0, n, epsilon)
        assert losses.delta_at(epsilon) >= exact * (1.0 - 1e-12)
        assert curve.delta_at(epsilon) >= exact * (1.0 - 1e-12)
        if epsilon0 > 0.01:
            assert curve.delta_at(epsilon) <= exact * 1.05 + 1e-8


def test_laplace_twice_against_quadrature():
    t = 1.0
    curve = LaplaceCurve(t)

    def extended(epsilon):
        if epsilon >= 0.0:
            return float(curve.delta_at(epsilon))
        return -math.expm1(epsilon) + math.exp(epsilon) * float(curve.delta_at(-epsilon))

    for epsilon in (0.0, 0.4, 1.1, 1.9):
        between, _ = scipy.integrate.quad(
            lambda x, e=epsilon: 0.5 * math.exp(-x) * extended(e - (t - 2.0 * x)),
            0.0,
            t,
            points=[min(max(0.5 * (t - epsilon + s * t), 0.0), t) for s in (-1, 0, 1)],
            epsabs=1e-13,
        )
        exact = 0.5 * extended(epsilon - t) + 0.5 * math.exp(-t) * extended(epsilon + t) + between
        bound = float(curve.self_compose(2).delta_at(epsilon))
        assert exact - 1e-12 <= bound <= exact + 1e-6


class PairCurve(PrivacyCurve):
    """Exact curve of two laws on a few points, the worse of both orders."""

    def __init__(self, p, q, *, share=1.0):
        self.p, self.q, self.share = p, q, share

    def delta_at(self, epsilon):
        scale = np.exp(np.asarray(epsilon, dtype=float))[..., None]
        return self.share * np.maximum(
            np.maximum(self.p - scale * self.q, 0.0).sum(-1),
            np.maximum(self.q - scale * self.p, 0.0).sum(-1),
        )

    def epsilon_at(self, delta):
        raise errors.NoConversionError(f"not needed here: {delta}")

    def mu(self):
        return math.inf

    def mu_bracket(self):
        return 0.0, math.inf

    def pure_epsilon(self):
        return self.share * float(np.max(np.abs(np.log(self.p / self.q)))) + 1e-9

    def zcdp_rho(self):
        return math.inf


def violations(rng, *, share):
    """Random triples of pairs of which the composed curve promises too much."""
    count = 0
    for _ in range(60):
        pairs = rng.dirichlet(np.ones(4) * rng.uniform(0.5, 8.0), size=(3, 2))
        curve = compose_curves([PairCurve(p, q, share=share) for p, q in pairs])
        joint = [
            np.array([math.prod(c) for c in itertools.product(*pairs[:, side])]) for side in (0, 1)
        ]
        epsilon = np.linspace(0.0, 4.0, 41)
        exact = PairCurve(*joint).delta_at(epsilon)
        count += bool(np.any(curve.delta_at(epsilon) < exact * (1.0 - 1e-12)))
    return count


def test_no_random_composition_is_more_than_was_promised():
    assert violations(np.random.default_rng(3), share=1.0) == 0


def test_the_check_sees_halved_curves():
    assert violations(np.random.default_rng(3), share=0.5) > 30


def test_infinite_losses_are_kept():
    curve = compose_budgets([ApproxDP(0.5, 1e-4), ApproxDP(0.3, 1e-3), GDP(0.2)])
    lost = 1.0 - (1.0 - 1e-4) * (1.0 - 1e-3)
    assert curve.delta_at(100.0) >= lost * (1.0 - 1e-12)
    assert curve.delta_at(100.0) == pytest.approx(lost, rel=1e-6)
    assert curve.epsilon_at(0.9 * lost) == math.inf
    assert curve.epsilon_at(1.1 * lost) < 2.0


def test_mixed_kinds():
    budgets = [
        PureDP(0.3),
        ApproxDP(0.2, 1e-8),
        GDP(0.4),
        ZCDP(0.02),
        RDP(8.0, 0.1),
        RDP(math.inf, 0.1),
    ]
    curve = compose_budgets(budgets)
    assert isinstance(curve, ComposedCurve)
    # more than the worst one alone, less than everything one after the other
    epsilon = curve.epsilon_at(1e-5)
    assert max(b.epsilon_at(1e-5) for b in budgets) < epsilon
    assert epsilon < sum(b.epsilon_at(1e-5 / 6) for b in budgets)


def test_a_thousand_mixed_guarantees_are_quick():
    rng = np.random.default_rng(0)
    budgets = []
    for i, x in enumerate(rng.uniform(0.01, 0.3, 1000)):
        kinds = (PureDP(x), ApproxDP(x, 1e-9), GDP(x), ZCDP(x * x / 2), RDP(4.0, 2 * x * x))
        budgets.append((*kinds, RaoDP(1e-6, distance="angle"))[i % 6])
    compose_budgets([PureDP(1.0), GDP(1.0)]).epsilon_at(1e-5)  # the import is not measured
    start = time.process_time()
    epsilon = compose_budgets(budgets).epsilon_at(1e-4)
    assert time.process_time() - start <= 2.0
    assert 10.0 < epsilon < 100.0


@pytest.mark.parametrize("curve", [PureCurve(0.01), PureCurve(1.0), LaplaceCurve(0.1)])
def test_ten_thousand_times_is_quick(curve):
    compose_budgets([PureDP(1.0), GDP(1.0)]).epsilon_at(1e-5)
    start = time.process_time()
    composed = curve.self_compose(10_000)
    epsilon = composed.epsilon_at(1e-6)
    assert time.process_time() - start <= 1.0
    assert epsilon <= gaussian_epsilon(100.0 * curve.mu(), 1e-6)
    if isinstance(curve, PureCurve) and curve.epsilon < 0.1:
        assert binomial_delta(curve.epsilon, 10_000, 0.999 * epsilon) > 0.9e-6


def test_composition_flattens_and_counts():
    once = compose_curves([PureCurve(0.1), LaplaceCurve(0.2)])
    twice = once.self_compose(2).compose(PureCurve(0.1))
    assert dict(twice.parts) == {PureCurve(0.1): 3, LaplaceCurve(0.2): 2}
    assert compose_curves([PureCurve(0.1)]) == PureCurve(0.1)
    assert PureCurve(0.1).self_compose(1) == PureCurve(0.1)
    merged = GaussianCurve(3.0).compose(GaussianCurve(4.0))
    assert isinstance(merged, GaussianCurve)
    assert merged.separation == pytest.approx(5.0, rel=1e-14)
    assert merged.separation >= 5.0


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_bad_counts(n):
    with pytest.raises(errors.InvalidParameterError, match="positive integer"):
        PureCurve(1.0).self_compose(n)


def test_bad_parts():
    with pytest.raises(errors.InvalidParameterError, match="only privacy curves"):
        PureCurve(1.0).compose(PureDP(1.0))
    with pytest.raises(errors.InvalidParameterError, match="only privacy definitions"):
        compose_budgets([PureCurve(1.0)])
    with pytest.raises(errors.InvalidParameterError, match="nothing to compose"):
        compose_budgets([])


def test_the_extra_is_here():
    assert accounting_available()


@pytest.mark.parametrize("separation", [1e200, 1e-200, 5e-324])
def test_gaussians_whose_squares_leave_float64_compose(separation):
    composed = GaussianCurve(separation).self_compose(3)
    assert composed.separation >= math.sqrt(3.0) * separation
    assert composed.separation <= max(math.sqrt(3.0) * separation * (1.0 + 3e-15), 2e-323)


def test_a_separation_beyond_float64_is_refused():
    with pytest.raises(errors.InvalidParameterError, match="exceeds float64"):
        GaussianCurve(1e308).self_compose(9)


@pytest.mark.parametrize("n", [10**400, 2**63, 1.0, True, np.array([2])])
def test_a_number_of_releases_that_is_none_is_refused(n):
    with pytest.raises(errors.InvalidParameterError, match="n must be a positive integer"):
        GaussianCurve(1.0).self_compose(n)


def test_repetitions_of_repetitions_stay_countable():
    many = PureCurve(1e-9).self_compose(2**62)
    with pytest.raises(errors.InvalidParameterError, match="the number of releases"):
        many.self_compose(2)


@pytest.mark.parametrize("epsilon", [1e9, 1e160, 1e308])
def test_losses_too_large_for_a_grid_leave_the_closed_bounds(epsilon):
    curve = compose_budgets([PureDP(epsilon), GDP(1.0)])
    assert curve.delta_at(1.0) == 1.0
    assert curve.epsilon_at(1e-6) >= epsilon
    if epsilon < 1e300:
        assert curve.delta_at(1.7e308) < 1e-6


def test_a_tiny_guarantee_adds_next_to_nothing():
    curve = compose_budgets([PureDP(1e-300), GDP(1.0)])
    assert gaussian_delta(1.0, 1.0) <= curve.delta_at(1.0) <= gaussian_delta(1.0, 1.0) + 1e-6


def test_delta_at_a_huge_epsilon():
    curve = compose_budgets([PureDP(1.0), GDP(1.0)])
    assert curve.delta_at(1.7e308) == curve.delta_at(math.inf) <= 1e-9


@pytest.mark.parametrize("n", [10**7, 10**12])
def test_more_releases_than_memory_holds_fall_back_to_closed_bounds(n):
    curve = LaplaceCurve(1.0).self_compose(n)
    epsilon = curve.epsilon_at(1e-6)
    assert epsilon <= GaussianCurve(LaplaceCurve(1.0).mu() * math.sqrt(n)).epsilon_at(1e-6) * (
        1 + 1e-9
    )
    assert epsilon <= n
