from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta as beta_law
from scipy.stats import norm

from riemdp import (
    GDP,
    KLDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Ball,
    BudgetExceededError,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    SPDAffineInvariant,
    Sphere,
    UnprovenMechanismError,
    UnsupportedBallError,
    UnsupportedBudgetError,
    UnsupportedNeighboursError,
    private_ball,
    private_mean,
    private_statistic,
    secure_generator,
    verify,
)
from riemdp.privacy import within_total
from riemdp.release._search._units import Records
from riemdp.spaces import Product
from riemdp.statistics import FrechetMean, Groups

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)


def cluster(n, dim=2, spread=0.05, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0.3 / np.sqrt(dim), spread / np.sqrt(dim), (n, dim))


def seeded(seed=0):
    return np.random.default_rng(seed)


class Ledger:
    """An account of another package."""

    def __init__(self):
        self.spent = []

    def spend(self, guarantee, label):
        self.spent.append((label, guarantee))


def test_a_tight_cluster_is_found_and_released_with_a_fraction_of_the_noise():
    points = cluster(2000, spread=0.02)
    found = private_ball(points, PLANE, GDP(0.5), generator=seeded())
    assert found.reason == "found"
    assert found.ball.radius < 0.1
    assert np.mean(found.ball.contains(points)) > 0.95
    release = private_mean(points, found, generator=seeded())
    plain = private_mean(points, PLANE, GDP(0.5), generator=seeded())
    assert release.expected_distance < 0.15 * plain.expected_distance
    assert release.guarantee == GDP(0.5)
    assert release.budget.mu < 0.5
    assert verify(release).passed


WHOSE = np.arange(2400) // 4


@pytest.mark.parametrize(
    "options",
    [
        {"adjacency": "add-remove"},
        {"users": WHOSE},
        {"users": WHOSE, "people": 600},
    ],
    ids=["add-remove", "add-remove-user", "replace-user"],
)
@pytest.mark.parametrize("budget", [PureDP(3.0), GDP(1.0), ZCDP(0.5), ApproxDP(4.0, 1e-6)], ids=str)
@pytest.mark.fast(6)
def test_under_every_adjacency(budget, options):
    """Of records and of people, whether their number is public or not."""
    points = cluster(2400, spread=0.02)
    found = private_mean(points, PLANE, budget, method="adaptive", generator=seeded(1), **options)
    plain = private_mean(points, PLANE, budget, generator=seeded(1), **options)
    assert found.ball.radius < 0.2
    assert found.expected_distance < 0.5 * plain.expected_distance
    assert found.guarantee == plain.guarantee
    assert found.adjacency == plain.adjacency != "replace-one"
    assert (found.search.n is None) == found.adjacency.startswith("add-remove")
    assert verify(found.to_json()).passed
    np.testing.assert_allclose(found.value, points.mean(axis=0), atol=0.05)


def test_a_ball_belongs_to_the_adjacency_of_its_search():
    points, either = cluster(2000), GDP(1.0, adjacency="add-remove")
    found = private_ball(points, PLANE, either, generator=seeded())
    assert found.left.adjacency == "add-remove"
    first = private_mean(points, found, GDP(0.2))  # a share names no adjacency
    assert (first.guarantee, first.n) == (either, None)
    assert verify(first).passed
    other = private_ball(points, PLANE, GDP(1.0), generator=seeded())
    users = np.arange(2000)
    for ball, options in (
        (found, {"adjacency": "replace-one"}),
        (found, {"users": users}),
        (found, {"users": users, "people": 2000}),
        (other, {"adjacency": "add-remove"}),
        (other, {"users": users}),
    ):
        with pytest.raises(UnsupportedNeighboursError, match="another adjacency"):
            private_mean(points, ball, **options)
    people = private_ball(points, PLANE, GDP(1.0), users=users, people=2000, generator=seeded())
    assert private_mean(points, people, users=users, people=2000).n == 2000
    account = Accountant(either)
    private_mean(points, PLANE, either, method="adaptive", accountant=account)
    assert account.remaining is None
    with pytest.raises(UnsupportedNeighboursError):
        private_ball(points, PLANE, either, accountant=Accountant(GDP(1.0)))


def test_wide_data_cost_one_choice():
    rng = np.random.default_rng(2)
    points = PLANE.project(rng.normal(0.0, 0.6, (5000, 2)))
    found = private_ball(points, PLANE, PureDP(1.0), generator=rng)
    assert (found.reason, found.ball) == ("wide", PLANE)
    assert [step["query"] for step in found.steps] == ["pairs"]
    assert found.left.epsilon == pytest.approx(0.99)


@pytest.mark.parametrize("budget", [PureDP(1.0), GDP(0.5), ZCDP(0.1), ApproxDP(1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("dim", [2, 40])
def test_with_too_few_records_it_is_the_public_release_bit_by_bit(budget, dim):
    ball = Ball(Euclidean(dim), np.zeros(dim), 1.0)
    points = cluster(35, dim)
    plain = private_mean(points, ball, budget, generator=seeded(5))
    source = seeded(5)
    found = private_ball(points, ball, budget, generator=source)
    assert source.bit_generator.state == seeded(5).bit_generator.state
    assert (found.reason, found.left, found.spent) == ("small n", budget, None)
    on_found = private_mean(points, found, generator=source)
    adapted = private_mean(points, ball, budget, method="adaptive", generator=seeded(5))
    same = [replace(each, nonce="0" * 32).digest for each in (plain, on_found, adapted)]
    assert len(set(same)) == 1
    assert on_found.search is None


@pytest.mark.parametrize(
    "manifold", [Sphere(2), SPDAffineInvariant(2), Hyperbolic(2), Product(Sphere(2), Euclidean(1))]
)
def test_on_every_space(manifold):
    ball = Ball(manifold, manifold.origin, 0.7)
    steps = np.random.default_rng(0).normal(0.05, 0.02, (800, manifold.dim))
    found = private_ball(ball.point(steps), ball, GDP(2.0), generator=seeded(1))
    assert found.ball.manifold == manifold
    assert found.ball.radius < 0.5 * ball.radius
    assert within_total(GDP(2.0), [found.spent, found.left])
    assert all(step.get("radius", 0.0) <= ball.radius for step in found.steps)


def test_a_whole_space_is_narrowed_as_any_ball():
    space = Sphere(2)
    points = Ball(space, space.origin, 0.05).point(np.zeros((1000, 2)))
    found = private_ball(points, Ball.whole(space), PureDP(5.0), generator=seeded())
    assert found.ball.radius < 1.0


def test_a_found_ball_can_be_spent_once():
    found = private_ball(cluster(600), PLANE, GDP(1.0))
    assert found.private
    first = private_mean(cluster(600), found, GDP(0.2))
    second = private_statistic(FrechetMean(), cluster(600), found)
    assert first.guarantee == second.guarantee == GDP(1.0)
    assert first.budget == GDP(0.2)
    assert verify(first).passed
    assert verify(second).passed
    assert within_total(GDP(1.0), [found.spent, first.budget, second.budget])
    assert first.private
    for budget in (None, GDP(0.01)):
        with pytest.raises(BudgetExceededError):
            private_mean(cluster(600), found, budget)


def test_what_fails_after_the_charge_is_paid_for(monkeypatch):
    """Whether it fails may tell of the records."""
    from riemdp.release import _run

    def fails(*_, **__):
        raise KeyboardInterrupt

    found, account = private_ball(cluster(600), PLANE, GDP(1.0)), Accountant(GDP(1.0))
    monkeypatch.setattr(_run, "drawn", fails)
    for options in ({"ball": found}, {"ball": PLANE, "budget": GDP(1.0), "accountant": account}):
        with pytest.raises(KeyboardInterrupt):
            private_mean(cluster(600), **options)
    assert found.left is account.remaining is None


def test_a_search_has_one_entry_and_nothing_is_given_back():
    account = Accountant(PureDP(2.0))
    found = private_ball(cluster(2000), PLANE, PureDP(1.0), generator=seeded(), accountant=account)
    assert account.remaining == PureDP(1.0)
    labels = [entry.label for entry in account.ledger]
    assert labels == ["private_ball, search", "private_ball, left"]
    release = private_mean(cluster(2000), found, accountant=account)
    assert account.remaining == PureDP(1.0)
    assert account.ledger[-1] == (f"private_mean, {release.mechanism.name}", release.budget)
    assert sum(entry.guarantee.epsilon for entry in account.ledger) == pytest.approx(1.0)
    account = Accountant(PureDP(1.0))
    source = seeded()
    private_mean(
        cluster(2000), PLANE, PureDP(0.5), method="adaptive", accountant=account, generator=source
    )
    assert account.remaining == PureDP(0.5)
    assert len(account.ledger) == 2
    with pytest.raises(BudgetExceededError):
        private_ball(cluster(2000), PLANE, PureDP(0.6), accountant=account)


def test_an_account_of_another_package_is_charged_once():
    ledger = Ledger()
    private_mean(cluster(600), PLANE, GDP(1.0), method="adaptive", accountant=ledger)
    # of what the steps add up to another package may make less
    private_ball(cluster(600), PLANE, ApproxDP(1.0, 1e-6), accountant=ledger)
    assert ledger.spent == [("private_mean", GDP(1.0)), ("private_ball", ApproxDP(1.0, 1e-6))]


def test_what_another_account_calls_reserve_is_not_asked():
    """Only spend is known of it: what reserve returns, or charges, would be a guess."""
    ledger = Ledger()
    ledger.reserve = lambda *_: None
    private_ball(cluster(600), PLANE, GDP(1.0), accountant=ledger)
    assert ledger.spent == [("private_ball", GDP(1.0))]


def test_a_seeded_search_marks_what_follows():
    found = private_ball(cluster(600), PLANE, GDP(1.0), generator=seeded())
    release = private_mean(cluster(600), found, generator=secure_generator())
    assert (found.private, release.private) == (False, False)


def test_other_records_relations_and_definitions_are_refused():
    found = private_ball(cluster(600), PLANE, GDP(1.0), generator=seeded())
    for other in (500, 599, 601, 1200):
        with pytest.raises(InvalidParameterError, match="600"):
            private_mean(cluster(other), found)
    with pytest.raises(InvalidParameterError, match="give the accountant to private_ball"):
        private_mean(cluster(600), found, accountant=Accountant(GDP(1.0)))
    for attempt in (
        lambda: private_mean(cluster(600), found, adjacency=Groups(2)),
        lambda: private_mean(cluster(600), PLANE, GDP(1.0), method="adaptive", adjacency=Groups(2)),
    ):
        with pytest.raises(UnsupportedNeighboursError, match="groups"):
            attempt()
    with pytest.raises(UnsupportedBudgetError, match="search"):
        private_ball(cluster(600), PLANE, KLDP(1.0))
    assert found.left is not None


def test_bad_input_is_refused():
    points, budget = cluster(600), GDP(1.0)
    for error, match, attempt in [
        (InvalidParameterError, "budget", lambda: private_ball(points, PLANE, 1.0)),
        (InvalidParameterError, "axis", lambda: private_ball(points, PLANE, budget, axis="x")),
        (
            InvalidParameterError,
            "accountant",
            lambda: private_ball(points, PLANE, GDP(1.0), accountant=3),
        ),
        (InvalidParameterError, "ball", lambda: private_ball(points, 1.0, GDP(1.0))),
        (
            InvalidParameterError,
            "adapt",
            lambda: private_mean(points, PLANE, GDP(1.0), method="adapt"),
        ),
        (
            InvalidParameterError,
            "ball",
            lambda: private_mean(points, 1.0, GDP(1.0), method="adaptive"),
        ),
        (InvalidParameterError, "budget", lambda: private_mean(points, PLANE)),
        (NotOnManifoldError, "row", lambda: private_ball([[math.nan, 0.0]], PLANE, GDP(1.0))),
    ]:
        with pytest.raises(error, match=match):
            attempt()


class Bent(Euclidean):
    """A space that nobody vouches for."""


@pytest.mark.parametrize(
    ("manifold", "radius", "options", "error"),
    [
        (Bent(2), 1.0, {}, UnprovenMechanismError),
        (Euclidean(2), 1e-70, {}, InvalidParameterError),
        (Euclidean(2), 1e-200, {}, InvalidParameterError),
        (SPDAffineInvariant(3), 40.0, {"mechanism": "riemannian-laplace"}, UnsupportedBallError),
        (Euclidean(2), 1.0, {"mechanism": "tangent-gaussian"}, UnsupportedBudgetError),
        (Euclidean(2), 1.0, {"adjacency": Groups(2)}, UnsupportedNeighboursError),
    ],
)
def test_what_public_numbers_decide_is_decided_before_the_charge(manifold, radius, options, error):
    ledger, source = Ledger(), seeded()
    points = np.zeros((200, 2))
    if manifold == SPDAffineInvariant(3):
        points = np.broadcast_to(np.eye(3), (200, 3, 3))
    ball = Ball(manifold, manifold.origin, radius)
    with pytest.raises(error):
        private_mean(
            points,
            ball,
            PureDP(1.0),
            method="adaptive",
            accountant=ledger,
            generator=source,
            **options,
        )
    assert ledger.spent == []
    assert source.bit_generator.state == seeded().bit_generator.state


def test_parts_that_nobody_proved_are_refused_before_the_charge(monkeypatch):
    ledger, bent = Ledger(), Ball(Bent(2), np.zeros(2), 1.0)
    with pytest.raises(UnprovenMechanismError):
        private_ball(cluster(600), bent, GDP(1.0), accountant=ledger)
    found = private_ball(cluster(600), bent, GDP(1.0), allow_unproven=True, generator=seeded())
    assert found.reason == "found"
    # those that the search alone rests on too
    monkeypatch.setattr("riemdp.release._search._steps.PROOF", None)
    with pytest.raises(UnprovenMechanismError, match="private ball"):
        private_ball(cluster(600), PLANE, GDP(1.0), accountant=ledger)
    assert ledger.spent == []


def test_without_python_flint_nothing_is_charged(monkeypatch):
    from riemdp.noise.exact import _choice

    ledger = Ledger()
    monkeypatch.setattr(_choice, "certified_available", lambda: False)
    with pytest.raises(InvalidParameterError, match="python-flint"):
        private_ball(cluster(600), PLANE, GDP(1.0), accountant=ledger)
    assert ledger.spent == []


def test_where_the_small_ball_does_not_do_it_is_the_public_one(monkeypatch):
    """A named mechanism that float64 has no room for on the ball that was found."""
    from riemdp.release import _run

    points, honest = cluster(2000), _run.checked_offer

    def no_small_ball(wanted, terms, options):
        if terms.ball.radius < 0.5:
            raise UnsupportedBallError("too small")
        return honest(wanted, terms, options)

    found = private_ball(points, PLANE, GDP(1.0), generator=seeded())
    assert found.ball.radius < 0.5
    monkeypatch.setattr(_run, "checked_offer", no_small_ball)
    release = private_mean(points, found, generator=seeded())
    assert release.ball == PLANE
    assert release.budget == found.part(None) if found.left else True
    assert verify(release).passed


def _lower_bound(first, second):
    """Bound of mu from below, at 99 %, by the best threshold of a score on half of the draws."""
    half = len(first) // 2
    levels = np.quantile(np.concatenate([first[:half], second[:half]]), np.linspace(0.1, 0.9, 33))
    gaps = [
        norm.ppf(np.mean(second[:half] > t)) - norm.ppf(np.mean(first[:half] > t)) for t in levels
    ]
    level = levels[int(np.nanargmax(np.where(np.isfinite(gaps), gaps, -np.inf)))]
    rest = len(first) - half
    false = beta_law.ppf(
        0.995, np.sum(first[half:] > level) + 1, rest - np.sum(first[half:] > level)
    )
    missed = np.sum(second[half:] <= level)
    return -norm.ppf(false) - norm.ppf(beta_law.ppf(0.995, missed + 1, rest - missed))


def _ratio(ball, sets, grid, rounded, sigma, *, total=False):
    """Log likelihood ratio of a Gaussian answer about the centre of a ball, on the second set.

    Of a mean, or of a total in units of the radius.
    """
    unit = len(sets[0]) / ball.radius if total else 1.0
    first, second = (np.mean(ball.coordinates(points), axis=0) * unit for points in sets)
    noisy = np.array(rounded) * 2.0**-grid
    return ((noisy - first) @ (noisy - first) - (noisy - second) @ (noisy - second)) / sigma**2


def _scores(sets, which, budgets):
    """Log likelihood ratios of all Gaussian answers of a search and of releases after it."""
    rng, found = np.random.default_rng([which, len(budgets)]), []
    for _ in range(1000):
        ball = private_ball(sets[which], PLANE, GDP(3.0), generator=rng)
        score = 0.0
        for step in ball.steps:
            if step["query"] == "centre":
                about = Ball(PLANE.manifold, step["center"], step["radius"])
                answer = step["grid"], step["rounded"], step["sigma"]
                score += _ratio(about, sets, *answer, total=True)
        for budget in budgets:
            release = private_mean(
                sets[which],
                ball.ball,
                budget or ball.left,
                generator=rng,
                mechanism="tangent-gaussian",
            )
            score += _ratio(ball.ball, sets, release.grid, release.rounded, release.sigma)
        found.append(score)
    return np.array(found)


@pytest.mark.slow
def test_the_whole_path_keeps_its_guarantee_and_twice_the_budget_does_not():
    """Distinguishing game on all that is published: 20 records, one moved through the ball."""
    left, right = np.zeros((2, 20, 2))
    left[0], right[0] = [-1.0, 0.0], [1.0, 0.0]
    sets = (left, right)
    bound = _lower_bound(*(_scores(sets, which, [None]) for which in range(2)))
    assert 1.5 < bound <= 3.0
    # negative control: releases that take what the search has taken already, and once more
    twice = [_scores(sets, which, [GDP(3.0), GDP(3.0)]) for which in range(2)]
    assert _lower_bound(*twice) > 3.0


@pytest.mark.slow
def test_with_pairs_that_share_a_record_the_path_fails_the_audit(monkeypatch):
    """A spread of pairs with one record in all of them gives that away."""
    budget = PureDP(12.0)
    points = np.zeros((20, 2))
    moved = points.copy()
    moved[0] = [1.0, 0.0]

    def wide(data, seed):
        rng = np.random.default_rng(seed)
        found = [private_ball(data, PLANE, budget, generator=rng) for _ in range(400)]
        first = [ball.steps[0] for ball in found]
        return np.mean([step["top"] * 2.0 ** (-step["place"] / 4) > 0.9 for step in first])

    rate = private_ball(points, PLANE, budget).steps[0]["rate"]

    def refuted():
        low, high = wide(points, 0), wide(moved, 1)
        upper = beta_law.ppf(0.9999, 400 * low + 1, 400 * (1 - low) + 1e-9) if low < 1 else 1.0
        lower = beta_law.ppf(0.0001, max(400 * high, 1e-9), 400 * (1 - high) + 1)
        return lower > math.exp(rate) * upper

    assert not refuted()

    def overlapping(self, order):
        return np.linalg.norm(self.points[1:] - self.points[0], axis=1)

    monkeypatch.setattr(Records, "pairs", overlapping)
    assert refuted()
