from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from riemdp import GDP, ZCDP, ApproxDP, Ball, Euclidean, Hyperbolic, PureDP, SPDLogEuclidean, Sphere
from riemdp._errors import BudgetExceededError
from riemdp.kernel import Choice, noise, within_budget
from riemdp.privacy import adds_up, share_of
from riemdp.release._search._adaptive import Add, Choose, Numbers, search, walked
from riemdp.release._search._steps import working_ball

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)
SIZES = {PureDP: ("pure", "epsilon"), GDP: ("gdp", "mu"), ZCDP: ("zcdp", "rho")}


def within(draws, budget):
    name, size = SIZES[type(budget)]
    return within_budget(draws, name, getattr(budget, size))


def of_rest(budget):
    """Noise that takes the whole of a budget."""
    if isinstance(budget, PureDP):
        return Choice(Fraction(budget.epsilon))
    square = Fraction(budget.mu) ** 2 if isinstance(budget, GDP) else 2 * Fraction(budget.rho)
    return noise("gaussian", 1, square, 1.0)


def cluster(radius, place=(0.3, 0.1), units=1000):
    """Answers of tight data, without noise: of so many units of a radius about a place."""

    def answer(query):
        if isinstance(query, Add):
            if query.name == "centre":
                seen = query.ball.coordinates(np.array(place))
                return units * seen / query.ball.reach
            return np.array([float(units if query.name == "count" else 0.0)])
        away = np.linalg.norm(query.center - np.array(place)) if query.name == "radius" else 0.0
        size = np.sqrt(2.0) * radius if query.name == "pairs" else radius + away
        return int(np.argmin(np.abs(query.candidates - size)))

    return answer


def walk(ball, budget, n, answer, axis=None):
    """Queries of a search and how it ends."""
    asked = []

    def answered(query):
        asked.append(query)
        return answer(query)

    outcome = walked(search(ball, budget, n, axis), answered)
    return asked, outcome


def at_random(rng, scale=1.0):
    """Whatever may be answered."""

    def answer(query):
        if isinstance(query, Choose):
            return int(rng.integers(query.count))
        if query.name == "count":
            return np.array([scale])
        return rng.normal(size=query.dim) * scale * 10.0 ** rng.uniform(-3, 1)

    return answer


@pytest.mark.parametrize("dim", [1, 2, 36, 253])
@pytest.mark.parametrize("n", [None, 60, 1000, 10**6])
@pytest.mark.parametrize(
    "budget", [PureDP(1.0), PureDP(0.3), GDP(0.5), GDP(1.7), ZCDP(0.125)], ids=str
)
@pytest.mark.fast(8)
def test_all_queries_and_the_rest_are_within_the_budget_whatever_is_answered(budget, n, dim):
    rng = np.random.default_rng(dim)
    ball = Ball(Euclidean(dim), np.zeros(dim), 2.0)
    for size in (3.0, 700.0, 1e5):
        asked, outcome = walk(ball, budget, n, at_random(rng, size), axis=np.eye(dim)[0])
        assert sum(query.share for query in asked) + outcome.left == 1
        assert outcome.left >= Fraction(3, 10)
        spent = Counter(query.cost for query in asked)
        assert spent == outcome.spent
        assert within(spent + Counter([of_rest(outcome.rest)]), budget)
        assert all(within({query.cost: 1}, budget) for query in asked)
        radii = [query.ball.reach for query in asked if isinstance(query, Add)]
        assert all(reach <= ball.reach for reach in [*radii, outcome.ball.reach])
        if asked:  # the rest is all that is left, but for 1e-13 of the budget
            little = of_rest(share_of(budget, 1e-12))
            assert not within(spent + Counter([of_rest(outcome.rest), little]), budget)
            # Control: one of the queries twice is over.
            assert not within(spent + Counter([asked[0].cost, of_rest(outcome.rest)]), budget)


@pytest.mark.parametrize("dim", [2, 40])
def test_search_and_release_are_within_epsilon_and_delta(dim):
    """Of the pure or the Gaussian budget that the search is run with."""
    whole = ApproxDP(1.0, 1e-6)
    budget = adds_up(whole, dim)
    assert type(budget) is (PureDP if dim == 2 else GDP)
    ball = Ball(Euclidean(dim), np.zeros(dim), 1.0)
    _, outcome = walk(ball, budget, 5000, at_random(np.random.default_rng(0), 100.0))
    draws = outcome.spent + Counter([of_rest(outcome.rest)])
    assert outcome.left < 1
    assert within_budget(draws, "approx", whole.epsilon, whole.delta)


def mu_of_splits(rate):
    """Largest mu of a binary pair whose log likelihood ratios are that far apart: a search."""
    v = np.linspace(-8.0, 8.0, 100_001)
    p, q = 1.0 / (1.0 + np.exp(-v - 0.5 * rate)), 1.0 / (1.0 + np.exp(-v + 0.5 * rate))
    return float((norm.ppf(p) - norm.ppf(q)).max())


@pytest.mark.parametrize("share", [Fraction(1, 100), Fraction(1, 50), Fraction(3, 25)], ids=str)
def test_the_rate_of_a_choice_is_the_largest_that_its_share_allows(share):
    part = float(share)
    assert Numbers(PureDP(0.7), 500, 3).rate(share) == pytest.approx(0.7 * part, rel=1e-9)
    assert Numbers(ZCDP(0.2), 500, 3).rate(share) == pytest.approx(
        math.sqrt(8 * 0.2 * part), rel=1e-9
    )
    for mu in (0.1, 1.0, 6.0):
        rate = Numbers(GDP(mu), 500, 3).rate(share)
        assert mu_of_splits(rate) == pytest.approx(mu * math.sqrt(part), rel=1e-6)
        assert mu_of_splits(rate) <= mu * math.sqrt(part) * (1.0 + 1e-9)


def test_noise_is_that_of_the_page():
    half = Fraction(1, 2)
    assert Numbers(PureDP(0.5), 100, 3).noise(half) == pytest.approx(2 * 3 / (100 * 0.25))
    length = math.sqrt(math.pi / 2)  # of a normal vector of two coordinates
    assert Numbers(GDP(0.5), 100, 2).noise(half) == pytest.approx(
        2 * length / (100 * 0.5 * math.sqrt(0.5))
    )
    counted = Numbers(ZCDP(0.125), None, 2)
    counted.n = 100
    assert counted.noise(half) == pytest.approx(length / (100 * 0.5 * math.sqrt(0.5)))


@pytest.mark.parametrize(
    ("budget", "limit"), [(PureDP(0.25), 166.7 / 0.25), (GDP(0.5), 36.0 / 0.5)], ids=str
)
def test_with_few_units_nothing_is_asked_and_all_of_the_budget_is_left(budget, limit):
    asked, outcome = walk(PLANE, budget, int(0.98 * limit), cluster(0.05))
    assert (asked, outcome.reason, outcome.left) == ([], "small n", 1)
    assert outcome.rest is budget
    assert outcome.ball is PLANE
    asked, outcome = walk(PLANE, budget, int(1.02 * limit), cluster(0.05))
    assert asked[0].name == "pairs"
    assert asked[0].share == Fraction(12, 100)


@pytest.mark.parametrize("n", [100, 400, 5000])
def test_the_share_of_a_choice_is_the_least_of_its_grid_that_is_enough(n):
    numbers = Numbers(GDP(1.0), n, 3)
    found = numbers.choice_share()
    shares = [0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.12]
    lam = [2 * math.log(norm.cdf(0.5 * x**0.5) / norm.sf(0.5 * x**0.5)) for x in shares]
    wanted = next(x for x, each in zip(shares, lam, strict=True) if each * n >= 40)
    assert float(found) == wanted


@pytest.mark.parametrize("budget", [PureDP(1.0), GDP(0.5)], ids=str)
def test_a_private_number_of_units_is_asked_for_first(budget):
    asked, outcome = walk(PLANE, budget, None, cluster(0.01, units=2000))
    assert asked[0].name == "count"
    assert asked[0].share == Fraction(2 if isinstance(budget, PureDP) else 1, 100)
    assert outcome.n == math.floor(2000 - asked[0].deviation)
    assert {query.move for query in asked if isinstance(query, Add)} == {1}
    few, outcome = walk(PLANE, budget, None, cluster(0.01, units=3))
    assert [query.name for query in few] == ["count"]
    assert (outcome.reason, outcome.ball) == ("small n", PLANE)


def test_wide_data_cost_one_choice():
    asked, outcome = walk(PLANE, PureDP(1.0), 2000, cluster(0.8, (0.0, 0.0)))
    assert [query.name for query in asked] == ["pairs"]
    assert (outcome.reason, outcome.ball) == ("wide", PLANE)
    assert asked[0].top == 2.0


@pytest.mark.parametrize("budget", [PureDP(1.0), GDP(0.5), ZCDP(0.125)], ids=str)
@pytest.mark.parametrize("n", [None, 2000])
def test_a_cluster_is_found_through_planned_radii(budget, n):
    asked, outcome = walk(PLANE, budget, n, cluster(0.02, units=2000))
    assert outcome.reason == "found"
    assert outcome.ball.radius < 0.04
    np.testing.assert_allclose(outcome.ball.center, [0.3, 0.1], atol=1e-2)
    names = [query.name for query in asked if query.name != "count"]
    assert (names[0], names[-1]) == ("pairs", "guard")
    loops = "".join(str(int(x == "centre")) for x in names).split("0")
    sizes = iter(query.ball.reach for query in asked if query.name == "centre")
    for loop in loops:  # between two radii that are found
        radii = [next(sizes) for _ in loop]
        assert radii == sorted(radii, reverse=True)
    assert names.count("centre") <= 6
    assert names.count("radius") <= 3


def test_the_plan_is_the_best_of_all():
    numbers, left, taken = Numbers(GDP(1.0), 500, 36), Fraction(96, 100), Fraction(5, 100)
    shares = [Fraction(x, 100) for x in (1, 2, 4, 7, 10, 15, 20, 25, 30, 40, 50)]
    spread, best = 0.1, math.inf
    for count in (1, 2, 3):
        for parts in itertools.product(shares, repeat=count):
            if list(parts) != sorted(set(parts)):
                continue
            length = 1.0
            for part in parts:
                length = min(length, math.hypot(spread, numbers.noise(part) * length))
            if (end := left - taken - sum(parts)) >= Fraction(3, 10):
                best = min(best, numbers.noise(end) * length)
    found, chosen, lengths = numbers.plan(left, taken, spread, 1.0)
    assert found == pytest.approx(best)
    assert list(chosen) == sorted(set(chosen))
    assert list(lengths) == sorted(lengths, reverse=True)
    assert numbers.plan(Fraction(3, 10), taken, spread, 1.0) == (math.inf, (), ())


def test_much_outside_leads_back_and_the_first_mean_is_kept():
    inner = cluster(0.02)

    def answer(query):
        return np.array([500.0]) if query.name == "guard" else inner(query)

    asked, outcome = walk(PLANE, GDP(0.5), 1000, answer)
    assert asked[-1].name == "guard"
    assert (outcome.reason, outcome.ball, outcome.bias_at_most) == ("back", PLANE, 0.0)
    first = next(query for query in asked if query.name == "centre")
    if first.ball is PLANE:
        assert outcome.first[0] == first.share
    # Laplace noise is not averaged
    _, outcome = walk(PLANE, PureDP(1.0), 2000, answer)
    assert (outcome.reason, outcome.first) == ("back", None)


def test_the_bound_of_the_bias_is_that_of_the_released_sum():
    inner = cluster(0.02)

    def answer(query):
        return np.array([3.0]) if query.name == "guard" else inner(query)

    asked, outcome = walk(PLANE, GDP(0.5), 1000, answer)
    assert outcome.reason == "found"
    far = asked[-1].far
    assert far == pytest.approx(1.0 + np.linalg.norm(outcome.ball.center), rel=1e-5)
    sd = 1.0 / (0.5 * math.sqrt(float(asked[-1].share)))
    expected = (3.0 + 2.0 * sd) * (far - outcome.ball.radius) / 1000
    assert outcome.bias_at_most == pytest.approx(expected)


def test_units_that_were_lost_lead_back():
    seen = []

    def answer(query):
        if query.name == "radius":
            seen.append(query)
            return 0 if len(seen) > 1 else query.count - 1
        return cluster(0.003, (0.0, 0.0))(query)

    _, outcome = walk(PLANE, GDP(1.0), 20_000, answer)
    if len(seen) > 1:
        assert (outcome.reason, outcome.ball) == ("back", PLANE)


def test_a_search_is_a_function_of_its_answers():
    rng = np.random.default_rng(3)
    answers = []

    def recorded(query):
        answers.append(at_random(rng, 50.0)(query))
        return answers[-1]

    first, found = walk(PLANE, GDP(1.0), 3000, recorded)
    again = iter(answers)
    second, outcome = walk(PLANE, GDP(1.0), 3000, lambda _: next(again))
    assert [q.cost for q in first] == [q.cost for q in second]
    assert [q.name for q in first] == [q.name for q in second]
    assert outcome.ball.radius == found.ball.radius


@pytest.mark.parametrize(
    ("name", "wrong"), [("sigma", lambda x: x * 0.999), ("rate", lambda x: x * 1.001)]
)
def test_a_calibration_that_errs_is_refused_before_the_draw(monkeypatch, name, wrong):
    right = getattr(Numbers, name)
    monkeypatch.setattr(Numbers, name, lambda *given: wrong(right(*given)))
    with pytest.raises(BudgetExceededError):
        walk(PLANE, GDP(1.0), 3000, cluster(0.02))


@pytest.mark.parametrize(
    "ball",
    [
        Ball(Sphere(3), [1.0, 0.0, 0.0, 0.0], 1.2),
        Ball(Hyperbolic(2), [1.0, 0.0, 0.0], 3.0),
        Ball(Hyperbolic(2), Hyperbolic(2).exp([1.0, 0.0, 0.0], [0.0, 7.9, 0.0]), 1.0),
        working_ball(Ball(SPDLogEuclidean(3), np.eye(3), 2.0)),
    ],
    ids=lambda ball: str(ball.manifold),
)
@pytest.mark.parametrize("budget", [PureDP(2.0), GDP(1.0)], ids=str)
def test_balls_of_a_search_are_in_the_space_whatever_is_answered(ball, budget):
    rng = np.random.default_rng(1)
    for scale in (1.0, 1e3, 1e12):
        _, outcome = walk(ball, budget, 3000, at_random(rng, scale))
        assert outcome.ball.reach <= ball.reach
        assert ball.contains(outcome.ball.center)
