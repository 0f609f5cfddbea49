"""What a release guarantees to groups, and to a record that is replaced."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import riemdp
from riemdp._errors import InvalidParameterError, UnsupportedError, UnsupportedNeighboursError
from riemdp.privacy import GDP, KLDP, RDP, ZCDP, ApproxDP, MeanCDP, PureDP, RaoDP, product_up
from riemdp.release import private_mean, private_moments, private_statistic
from riemdp.spaces import Ball, Euclidean, Sphere
from riemdp.statistics import (
    Answer,
    ClassMoments,
    GeometricMedian,
    Groups,
    HuberMean,
    Moments,
    Recentred,
    Records,
    RefinedMean,
    ReplacePoint,
    ReplaceUser,
    TangentMean,
    TangentRegression,
    Variance,
    answer,
    counted,
    outline,
    through,
)
from riemdp.statistics._counted import Total

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
    assert getattr(group, parameter) >= expected * (1.0 - 1e-11)
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
    assert mean(GDP(0.5), adjacency=Groups(3)).group(2).adjacency == "groups of 6"
    assert mean(GDP(0.5), adjacency=ReplacePoint()).group(2).adjacency.startswith("replace-point,")
    with pytest.raises(InvalidParameterError, match="size"):
        added.group(0)
    with pytest.raises(InvalidParameterError, match="size"):
        added.group(1.5)


@pytest.mark.parametrize("budget", [GDP(0.5), PureDP(0.5)], ids=["joint", "shares"])
def test_several_answers_are_paid_for_together(budget):
    release = private_statistic(GeometricMedian(steps=3), POINTS, BALL, budget)
    assert len(release.scales) > 1
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
        {"adjacency": Groups(2)},
        {"adjacency": ReplacePoint()},
    ):
        with pytest.raises(UnsupportedNeighboursError, match="another size"):
            mean(GDP(0.5), **options).replace_one()


FLAT = Ball(Euclidean(2), np.zeros(2), 2.0)
SUMS = {
    "mean": TangentMean(),
    "moments": Moments(),
    "matrix": Moments("matrix"),
    "classes": ClassMoments((0, 1)),
    "line": TangentRegression(-1.0, 1.0),
    "refined": RefinedMean(),
    "median": GeometricMedian(steps=3),
    "huber": HuberMean(steps=3),
    "recentred": Recentred(Moments()),
    "recentred matrix": Recentred(Moments("matrix")),
    "recentred classes": Recentred(ClassMoments((0, 1))),
    "recentred line": Recentred(TangentRegression(-1.0, 1.0)),
    "variance": Variance(),
    "public variance": Variance("public"),
}
#: What one replaced record is of one that is added or removed: move over norm, by hand.
#: Of two rounds the shares of the squares: 0.2 of 0.8818^2, and 0.8 of 1.0297^2 or 1.6330^2.
RATIOS = {"moments": 0.8199, "matrix": 1.3574, "recentred": 1.0019, "recentred matrix": 1.5129}


def single_records(statistic):
    """One record each, on the boundary, inside and beyond, with all that the statistic takes."""
    random = np.random.default_rng(3)
    angles = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
    ring = FLAT.reach * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    points = np.vstack([ring, random.normal(size=(6, 2)), 10.0 * ring[:3], np.zeros((1, 2))])
    for point in points:
        for label, covariate in itertools.product((0, 1), (-1.0, 1.0)):
            extras = {"labels": [label], "covariates": [covariate]}
            yield Records(point[None], **{name: extras[name] for name in statistic.takes})


def searched(form, statistic):
    """Largest moves of each answer when a record is replaced, and when one is added: by integers.

    Each query as it follows on answers of two opposite records, without noise.
    """
    found = []

    def answered(query):
        ends = np.array([answer(query, FLAT, one, 0.0) for one in single_records(statistic)], float)
        moves = np.linalg.norm(ends[:, None] - ends[None], axis=-1)
        found.append((moves.max(), np.linalg.norm(ends, axis=-1).max()))
        return Answer(ends[0] + ends[32], 1e-6)

    through(form, FLAT, answered)
    return found


@pytest.mark.fast(6)
@pytest.mark.parametrize("name", SUMS)
def test_one_that_is_replaced_moves_every_answer_by_what_its_rows_do(name):
    statistic = SUMS[name]
    points = FLAT.point(np.random.default_rng(1).normal(0.0, 0.4, (40, 2)))
    extras = {"labels": np.arange(40) % 2, "covariates": np.linspace(-1.0, 1.0, 40)}
    records = Records(points, **{each: extras[each] for each in statistic.takes})
    release = riemdp.private_statistic(
        statistic, records, FLAT, GDP(0.5), adjacency="add-remove", mechanism="tangent-gaussian"
    )
    found = searched(release.statistic, statistic)
    assert len(found) == len(release.scales)
    ratio = release.replace_one().mu / 0.5
    costs = [moved / scale for (moved, _), scale in zip(found, release.scales, strict=True)]
    worst = math.hypot(*costs)  # of all answers together, each with the noise of its own
    assert worst <= ratio * 0.5 * (1.0 + 1e-9)
    assert worst > 0.999 * ratio * 0.5  # so that 1 % less would be too little
    for (_, added), asked in zip(found, release.offer.asked, strict=True):
        assert asked.sensitivity >= added
    if name in RATIOS:
        assert ratio == pytest.approx(RATIOS[name], abs=1e-4)


def test_answers_that_have_no_shares_are_paid_for_together_in_groups_too():
    budget = MeanCDP(0.5, 1.0)
    one, several = (
        mean(budget, method=method, mechanism="tangent-gaussian").group(3)
        for method in ("one-shot", "refined")
    )
    assert several.mu == near(one.mu)
    assert several.mu > 4.0 * budget.mu


@pytest.mark.parametrize(
    "budget",
    [GDP(0.5), ZCDP(0.1), RDP(4.0, 0.2), KLDP(0.1), RaoDP(0.3, distance="parametric")],
    ids=str,
)
def test_of_several_answers_a_replaced_record_is_paid_for_by_the_shares_that_there_are(budget):
    """Each answer by how far it moves itself, over its own scale."""
    moments = Recentred(Moments("matrix"))
    release = private_statistic(
        moments, POINTS, BALL, budget, adjacency="add-remove", mechanism="tangent-gaussian"
    )
    moved = [asked.query.replace_one(BALL, 1, "coordinates") for asked in release.offer.asked]
    assert moved[1] / moved[0] > 1.2  # the matrix moves farther than the mean and its length
    cost = sum((m / scale) ** 2 for m, scale in zip(moved, release.scales, strict=True))
    one = sum(
        (asked.sensitivity / scale) ** 2
        for asked, scale in zip(release.offer.asked, release.scales, strict=True)
    )
    size = budget.sizes[0] if isinstance(budget, ZCDP) else budget.sizes[-1]
    ratio = getattr(release.replace_one(), size) / getattr(budget, size)
    by_squares = size in ("rho", "alpha") or isinstance(budget, RDP)
    assert ratio == near((cost / one) ** (1.0 if by_squares else 0.5))


def test_of_several_pure_answers_the_one_that_moves_farthest_over_its_share_counts():
    """Laplace noise of one answer is not paid for by what another one leaves over."""
    moments = Recentred(Moments("matrix"))
    release = private_statistic(moments, POINTS, BALL, PureDP(0.7), adjacency="add-remove")
    shares = [asked.query.share for asked in release.offer.asked]
    moved = [asked.query.replace_one(BALL, 1, "coordinates") for asked in release.offer.asked]
    needed = [m / (s * w) for m, s, w in zip(moved, release.scales, shares, strict=True)]
    assert release.replace_one().epsilon == near(max(needed))
    assert release.group(2).epsilon == near(1.4)


@pytest.mark.parametrize("name", ["mean", "moments", "classes"])
def test_so_many_added_or_removed_move_a_sum_so_many_times_and_no_more(name):
    """Some come and others go: the longest of all signed sums, of which no diameter is a bound."""
    (query,) = outline(counted(SUMS[name], FLAT), FLAT).queries
    ones = list(single_records(SUMS[name]))[::5]
    rows = np.array([answer(query, FLAT, one, 0.0) for one in ones], dtype=float)
    signed = np.vstack([rows, -rows])
    found = max(
        np.linalg.norm(signed[list(chosen)].sum(axis=0))
        for chosen in itertools.combinations_with_replacement(range(len(signed)), 3)
    )
    records = Records(POINTS, **({"labels": np.arange(40) % 2} if name == "classes" else {}))
    release = riemdp.private_statistic(
        SUMS[name], records, BALL, GDP(0.5), adjacency="add-remove", mechanism="tangent-gaussian"
    )
    said = release.group(3).mu / 0.5 * query.add_remove(FLAT, "coordinates")
    assert 0.999 * said < found <= said * (1.0 + 1e-11)  # the noise has a margin


def test_a_person_who_may_have_had_no_record_is_one_removed():
    """With the second moment a replacement moves a sum by less than one record more does."""
    options = {"adjacency": "add-remove", "mechanism": "tangent-gaussian"}
    record = private_moments(POINTS, BALL, GDP(0.5), **options)
    person = private_moments(POINTS, BALL, GDP(0.5), users=USERS, **options)
    assert record.replace_one().mu < 0.42
    assert person.replace_one().mu == near(0.5)


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
    monkeypatch.setattr(Total, "replace_one", lambda self, ball, n, metric: ball.reach / n)
    assert release.replace_one().mu == near(1.0)


def test_rounding_averaged_rows_is_paid_for_where_a_person_is_replaced():
    records = Records(POINTS, labels=np.arange(40) % 2, users=USERS)
    statistic = ClassMoments((0, 1), "scalar")
    release = private_statistic(statistic, records, BALL, GDP(0.5))
    query = release.offer.last.query
    moved = ReplaceUser().sensitivity(query, BALL, 1, "coordinates")
    rows = query.replace_one(BALL, 1, "coordinates")
    assert moved > rows * (1.0 + 2.0**-39)
    assert release.replace_one().mu * release.mechanism.sigma >= moved
