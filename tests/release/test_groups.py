"""What a release guarantees to groups, and to a record that is replaced."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import riemdp
from riemdp._errors import InvalidParameterError, UnsupportedError, UnsupportedNeighboursError
from riemdp.manifolds import Ball, Euclidean, Sphere
from riemdp.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP, product_up
from riemdp.release import private_mean, private_median, private_moments
from riemdp.statistics import Counted, Groups, ReplacePoint, ReplaceUser

BALL = Ball(Sphere(2), Sphere(2).origin, 0.5)
POINTS = BALL.point(np.random.default_rng(0).normal(scale=0.15, size=(40, 2)))
USERS = np.arange(40) // 4

mean = functools.partial(private_mean, POINTS, BALL)


def near(value):
    """Rounded up, by very little."""
    return pytest.approx(value, rel=3e-9)


@pytest.mark.parametrize(
    ("budget", "parameter", "expected"),
    [
        (GDP(0.5), "mu", 1.5),
        (PureDP(0.5), "epsilon", 1.5),
        (ZCDP(0.1), "rho", 0.9),
        (RDP(4.0, 0.2), "epsilon", 1.8),
    ],
)
def test_a_group_of_three_has_what_three_times_the_sensitivity_gives(budget, parameter, expected):
    kind = "tangent-laplace" if isinstance(budget, PureDP) else "tangent-gaussian"
    release = mean(budget, mechanism=kind)
    group = release.group(3)
    assert getattr(group, parameter) == near(expected)
    assert getattr(group, parameter) >= expected * (1.0 - 1e-12)
    assert group.adjacency == "groups of 3"
    alone = release.group(1)
    assert alone.adjacency == "replace-one"
    assert getattr(alone, parameter) == near(getattr(budget, parameter))
    assert release.guarantee.follows_from(alone)
    assert not release.guarantee.follows_from(group.under("replace-one"))


def test_the_delta_of_a_group_stays_and_its_curve_says_the_epsilon():
    release = mean(ApproxDP(0.5, 1e-6), mechanism="tangent-gaussian")
    group = release.group(4)
    mu = 4.0 * release.sensitivity / release.sigma
    assert group.delta == 1e-6
    assert group.epsilon == pytest.approx(GDP(mu).epsilon_at(1e-6), rel=1e-6)
    assert group.epsilon > 4 * 0.5  # at one delta, it grows faster than the group


@pytest.mark.parametrize("kind", ["tangent-gaussian", "riemannian-laplace"])
def test_a_group_of_all_moves_the_answer_across_the_ball_and_no_farther(kind):
    release = mean(PureDP(0.5) if "laplace" in kind else GDP(0.5), mechanism=kind)
    assert release.group(10**6) == release.group(10**9).under("groups of 1000000")
    all_of_them, half = release.group(40), release.group(20)
    size = all_of_them.sizes[0]
    assert getattr(half, size) <= getattr(all_of_them, size)
    if kind == "tangent-gaussian":
        assert all_of_them.mu == near(2.0 * 0.5 / release.sigma)


def test_groups_of_what_is_protected_are_named():
    added = mean(GDP(0.5), adjacency="add-remove")
    assert added.group(3).mu == near(1.5)
    assert added.group(3).adjacency == "add-remove, groups of 3"
    assert added.group(10**6).mu == near(5e5)  # sums: there is no diameter
    people = mean(GDP(0.5), users=USERS, people=len(np.unique(USERS)))
    assert people.group(2).adjacency == "replace-user, groups of 2"
    assert people.group(1).adjacency == "replace-user"
    assert mean(GDP(0.5), neighbours=Groups(3)).group(2).adjacency == "groups of 6"
    assert mean(GDP(0.5), neighbours=ReplacePoint()).group(2).adjacency.startswith("replace-point,")
    with pytest.raises(InvalidParameterError, match="size"):
        added.group(0)
    with pytest.raises(InvalidParameterError, match="size"):
        added.group(1.5)


@pytest.mark.parametrize("budget", [GDP(0.5), PureDP(0.5)], ids=["joint", "shares"])
def test_several_answers_are_paid_for_together(budget):
    release = private_median(POINTS, BALL, budget, steps=3)
    assert release.statistic.steps > 1
    size = budget.sizes[0]
    assert getattr(release.group(1), size) == near(0.5)
    assert getattr(release.group(2), size) == near(1.0)


def test_a_release_on_a_ball_that_was_found_has_the_guarantee_that_it_was_made_with():
    points = BALL.point(np.random.default_rng(1).normal(scale=1e-3, size=(4000, 2)))
    found = riemdp.private_ball(points, BALL, GDP(1.0))
    release = private_mean(points, found)
    assert release.search is not None
    with pytest.raises(UnsupportedError, match="search"):
        release.group(2)


@pytest.mark.parametrize("radius", [0.5, 3.0])
@pytest.mark.parametrize("users", [None, USERS], ids=["records", "people"])
def test_one_that_is_replaced_moves_no_count(radius, users):
    ball = Ball(Euclidean(6), np.zeros(6), radius)
    points = np.random.default_rng(0).normal(size=(40, 6))
    release = private_mean(points, ball, GDP(0.5), adjacency="add-remove", users=users)
    weight = release.statistic.weight
    replaced = release.replace_one()
    assert replaced.adjacency == ("replace-one" if users is None else "replace-user")
    assert replaced.mu == near(2.0 * 0.5 / math.sqrt(1.0 + weight**2))
    for wrong in (1.0, 0.5):  # that of two neighbours, and that of one
        assert replaced.mu != pytest.approx(wrong, rel=0.05)
    assert 0.5 < replaced.mu < 1.0


def test_a_heavy_count_does_not_make_a_replacement_worse_than_two_neighbours():
    for budget in (GDP(0.5), PureDP(0.5)):
        release = mean(budget, adjacency="add-remove")
        size = budget.sizes[0]
        assert getattr(release.replace_one(), size) < getattr(release.group(2), size)


def test_how_many_records_people_count_for_is_kept():
    release = mean(GDP(0.5), adjacency="add-remove", users=USERS, contribution=3)
    assert release.group(2).adjacency == "add-remove-user, groups of 2"
    replaced = release.replace_one()
    assert replaced.adjacency == "replace-user"
    assert release.neighbours.replacing() == ReplaceUser(contribution=3)
    assert replaced.mu == near(2.0 * 0.5 / math.sqrt(1.0 + release.statistic.weight**2))


def test_there_is_no_way_back():
    for options in (
        {},
        {"users": USERS, "people": len(np.unique(USERS))},
        {"neighbours": Groups(2)},
        {"neighbours": ReplacePoint()},
    ):
        with pytest.raises(UnsupportedNeighboursError, match="another size"):
            mean(GDP(0.5), **options).replace_one()


def test_draws_tell_replaced_records_apart_by_what_is_said_and_no_less():
    """The two ends of a diameter: the separation of the draws along it, in units of the noise."""
    ball = Ball(Euclidean(1), [0.0], 1.0)
    others = np.full((9, 1), 0.25)
    means, deviations = [], []
    for record in (-1.0, 1.0):
        records = np.vstack([others, [[record]]])
        source = np.random.default_rng(7)  # the same noise, so that the means differ by no chance
        made = [
            private_mean(
                records,
                ball,
                GDP(0.5),
                adjacency="add-remove",
                mechanism="tangent-gaussian",
                generator=source,
            )
            for _ in range(300)
        ]
        sums = np.ldexp([float(each.rounded[0]) for each in made], -made[0].grid)
        means.append(sums.mean())
        deviations.append(sums.std(ddof=1))
    separation = (means[1] - means[0]) / deviations[0]
    stated = made[0].replace_one().mu
    error = stated / math.sqrt(2.0 * 300)
    assert abs(separation - stated) < 4.0 * error
    for wrong in (0.5, 1.0):
        assert abs(separation - wrong) > 5.0 * error


def test_of_several_answers_one_that_is_replaced_is_one_removed_and_one_added():
    release = private_moments(
        POINTS, BALL, GDP(0.5), second="matrix", base="recentred", adjacency="add-remove"
    )
    assert release.statistic.steps == 2
    assert release.replace_one().mu == near(1.0)
    # the control: no answer by itself moves as far
    exact = release.statistic.replace_one(BALL, 40, "coordinates")
    assert exact < 1.9 * release.statistic.add_remove(BALL, "coordinates")


@pytest.mark.parametrize("budget", [GDP(0.3), PureDP(0.7), ZCDP(0.1)])
def test_what_is_said_of_groups_is_satisfied_to_the_last_bits(budget):
    """Rounded up: what is next below it need not be."""
    kind = "tangent-laplace" if isinstance(budget, PureDP) else "tangent-gaussian"
    release = mean(budget, mechanism=kind)
    for size in (2, 3, 7):
        moved = product_up(release.sensitivity, float(size))
        said = release.group(size)
        assert release.mechanism.satisfies(moved, said.under("replace-one"))
        below = said.at(getattr(said, said.sizes[0]) * (1.0 - 2e-12))
        assert not release.mechanism.satisfies(moved, below.under("replace-one"))


def test_a_sum_that_moves_by_how_many_records_there_are_is_not_taken_at_its_word(monkeypatch):
    """How many there are is private: what is said at one number is nothing about the others."""
    release = mean(GDP(0.5), adjacency="add-remove")
    assert release.replace_one().mu < 0.99
    monkeypatch.setattr(Counted, "replace_one", lambda self, ball, n, metric: ball.reach / n)
    assert release.replace_one().mu == near(1.0)
