"""Every combination of options works, or is refused before the charge for a reason in the table."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Ball,
    Chunks,
    Euclidean,
    Records,
    RiemdpError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp._combinations import COMBINATIONS
from riemdp.privacy import Reservation
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    ClassMoments,
    DirectVariance,
    GeometricMedian,
    Groups,
    Moments,
    Recentred,
    ReplaceOne,
    ReplacePoint,
    ReplaceUser,
    TangentRegression,
    Variance,
    Weighted,
    largest_share,
)

N, PEOPLE, STEP = 30, 15, 5
BUDGET = GDP(2.0)
BALLS = {
    "plane": Ball(Euclidean(2), [0.0, 0.0], 1.0),
    "sphere": Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0),
    "matrices": Ball(SPDLogEuclidean(2), np.eye(2), 1.0),
}
INTRINSIC = {
    "plane": "riemannian-gaussian",
    "sphere": "wrapped-gaussian",
    "matrices": "riemannian-gaussian",
}
USERS = np.arange(N) // 2
WEIGHTS = np.linspace(0.5, 1.0, N)
LABELS = USERS % 2
COVARIATES = np.repeat(np.linspace(-1.0, 1.0, PEOPLE), 2)
STATISTICS = {
    "median": GeometricMedian(steps=2),
    "moments": Moments(),
    "recentred": Recentred(Moments()),
    "variance": Variance(),
    "direct variance": DirectVariance(),
    "classes": ClassMoments((0, 1)),
    "class sizes": ClassMoments((0, 1), sizes=tuple(np.bincount(LABELS).tolist())),
    "line": TangentRegression(-1.0, 1.0),
    "design": TangentRegression(-1.0, 1.0, tuple(COVARIATES.tolist())),
}
#: Those that take public weights in a form of their own, `Weighted`.
WEIGHABLE = "median", "moments", "recentred", "variance"
MEANS = {"mean": {}, "intrinsic": {}, "refined": {"method": "refined"}}
RELATIONS = {
    "replace-one": ReplaceOne(),
    "add-remove": AddRemove(),
    "replace-point": ReplacePoint(),
    "groups": Groups(2),
    "replace-one with users": ReplaceOne(),
    "replace-user": ReplaceUser(),
    "add-remove-user": AddRemoveUser(),
    "replace-user, for 2": ReplaceUser(2),
    "add-remove-user, for 2": AddRemoveUser(2),
}


class Accepted(BaseException):
    """Nothing stood in the way of the charge."""


class Door(Reservation):
    """An account at which a release ends that has come so far."""

    def __init__(self, adjacency):
        super().__init__(BUDGET, "door", BUDGET)
        self.adjacency = adjacency

    def spend(self, guarantee, label):
        raise Accepted


@dataclass(frozen=True)
class Case:
    space: str
    asked: str
    relation: str
    weights: str
    ball: str
    source: str
    groups: bool

    @property
    def exists(self):
        """Whether there is such an option, and what it takes can be known before the charge."""
        of_mean = self.asked in MEANS and not self.groups
        known = self.asked in MEANS or self.source != "iterator" or self.weights == "no"
        return (
            (self.asked in MEANS or not self.groups)
            and (self.asked in MEANS or self.ball != "adapt")
            and (of_mean or self.weights != "public" or self.asked in WEIGHABLE)
            and (not self.groups or self.ball != "found")
            and known
        )


def extras_of(case):
    """What comes with the records."""
    takes = STATISTICS[case.asked].takes if case.asked in STATISTICS else ()
    found = {"labels": LABELS, "covariates": COVARIATES}
    found = {name: found[name] for name in takes}
    with_records = case.weights == "private" or (
        case.weights == "public" and case.asked in STATISTICS
    )
    return found | ({"weights": WEIGHTS} if with_records else {})


def statistic_of(case):
    """What is asked for, where it is no mean of private_mean."""
    statistic = STATISTICS.get(case.asked)
    if case.weights == "public" and statistic is not None:
        return Weighted(statistic, largest_share(WEIGHTS))
    return statistic


def records_of(case, rows):
    ball, extras = BALLS[case.space], extras_of(case)
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.2, (N, ball.manifold.dim)))
    cuts = range(rows.start, rows.stop, STEP)
    parts = [slice(start, min(start + STEP, rows.stop)) for start in cuts]
    one, *_ = parts = [
        Records(points[part], **{name: values[part] for name, values in extras.items()})
        for part in ([rows] if case.source == "array" else parts)
    ]
    if case.source == "array":
        return one
    public = {"n": rows.stop - rows.start, "sizes": STEP} if case.weights == "public" else {}
    return Chunks(iter(parts) if case.source == "iterator" else parts, **public)


def call_of(case, ball, **more):
    """Return the entry point, its arguments and its keywords."""
    relation = RELATIONS[case.relation]
    options = {"adjacency": relation, **MEANS.get(case.asked, {}), **more}
    about_people = "user" in case.relation
    halves = {"a": slice(0, N // 2 + 1), "b": slice(N // 2 + 1, N)}

    def by_group(values):
        return (
            {name: values(rows) for name, rows in halves.items()}
            if case.groups
            else values(slice(0, N))
        )

    if about_people:
        options["users"] = by_group(lambda rows: USERS[rows])
    if relation.name == "replace-user":
        options["people"] = by_group(lambda rows: len(np.unique(USERS[rows])))
    elif relation.size_is_public and case.source != "array":
        options["n"] = by_group(lambda rows: rows.stop - rows.start)
    if case.asked == "intrinsic":
        options["mechanism"] = INTRINSIC[case.space]
    if case.weights == "public" and case.asked in MEANS:
        options["weights"] = WEIGHTS
    if case.weights == "private" and case.asked in MEANS and not case.groups:
        options["private_weights"] = True
    if case.ball == "adapt":
        options["method"] = "adaptive"
    return by_group(lambda rows: records_of(case, rows)), ball, options


def released(case, found, **more):
    points, ball, options = call_of(case, found or BALLS[case.space], **more)
    budget = None if found else BUDGET
    if case.groups:
        return riemdp.private_means(points, ball, budget, **options)
    if case.asked in MEANS:
        return riemdp.private_mean(points, ball, budget, **options)
    return riemdp.private_statistic(statistic_of(case), points, ball, budget, **options)


def row_of(error):
    """Return the only row whose reason an error states."""
    rows = [row for row in COMBINATIONS if row.why in str(error)]
    assert len(rows) == 1, f"{type(error).__name__}: {error}"
    return rows[0]


def outcome(case, found):
    """Return the row for which a case is refused before the charge; None if it works."""
    door = Door(RELATIONS[case.relation].adjacency)
    searched = replace(found, account=door) if case.ball == "found" else None
    try:
        released(case, searched, accountant=None if searched else door)
    except Accepted:
        pass
    except RiemdpError as error:
        return row_of(error)
    else:
        raise AssertionError(f"nothing was charged: {case}")
    if case.source == "iterator" or case.ball == "adapt":
        again = Reservation(BUDGET, "again", BUDGET)
        released(case, replace(found, account=again) if searched else None)
        return None
    points, ball, options = call_of(case, searched or BALLS[case.space])
    statistic = statistic_of(case)
    options |= {} if statistic is None else {"statistic": statistic}
    riemdp.check(points, ball, None if searched else BUDGET, **options)
    return None


def cases(space):
    axes = (
        (*MEANS, *STATISTICS),
        RELATIONS,
        ("no", "public", "private"),
        ("public", "found", "adapt"),
        ("array", "chunks", "iterator"),
        (False, True),
    )
    found = (Case(space, *chosen) for chosen in itertools.product(*axes))
    return [case for case in found if case.exists]


def others(space):
    """Refusals that no option of one release by itself brings about, by calls that end so."""
    ball = BALLS[space]
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.2, (N, ball.manifold.dim)))
    parts = [points[:20], points[20:]]

    def mean(given=points, ball=ball, **options):
        return riemdp.private_mean(given, ball, BUDGET, accountant=Door("replace-one"), **options)

    affine = Ball(SPDAffineInvariant(3), np.eye(3), 5.0)
    matrices = affine.point(np.zeros((N, 6)))
    whole, directions = Ball.whole(Sphere(2)), np.tile([0.0, 0.0, 1.0], (N, 1))
    hidden = riemdp.private_moments(
        points, ball, BUDGET, second="matrix", adjacency="add-remove", mechanism="tangent-gaussian"
    )
    public = riemdp.private_mean(points, ball, BUDGET)
    return [
        lambda: mean(people=PEOPLE),
        lambda: mean(contribution=2),
        lambda: mean(n=N, users=USERS, people=PEOPLE),
        lambda: riemdp.private_mean(points, ball, BUDGET, n=N, adjacency="add-remove"),
        lambda: mean(users=USERS, people=PEOPLE, adjacency="add-remove"),
        lambda: mean(Chunks(parts, N), weights=WEIGHTS),
        lambda: mean(Records(Chunks(parts, N), weights=WEIGHTS), private_weights=True),
        lambda: mean(matrices[:0], affine, users=[], mechanism="wrapped-gaussian"),
        lambda: riemdp.private_statistic(
            GeometricMedian(), directions, whole, BUDGET, users=USERS, people=PEOPLE
        ),
        lambda: riemdp.check(Chunks(iter(parts), N), ball),
        hidden.confidence_region,
        public.replace_one,
    ]


@pytest.mark.fast("sphere-7")
@pytest.mark.parametrize(("space", "step"), [("sphere", 7), *((space, 1) for space in BALLS)])
def test_each_works_or_is_refused_before_the_charge_for_a_reason_that_is_listed(space, step):
    ball = BALLS[space]
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.2, (N, ball.manifold.dim)))
    found = riemdp.private_ball(points, ball, BUDGET)
    left = found.left
    outcomes = Counter(outcome(case, found) for case in cases(space)[::step])
    assert found.left == left
    total = sum(outcomes.values())
    print(f"{space}: {outcomes[None]} of {total} combinations work")
    for row, times in outcomes.most_common():
        print(times, "work" if row is None else f"{row.what} | {row.beside}")
    assert outcomes[None] > 100 / step
    for refused in others(space):
        with pytest.raises(RiemdpError) as error:
            refused()
        outcomes[row_of(error.value)] += 1
    assert set(outcomes) == {None, *COMBINATIONS}


def test_what_is_in_no_row_is_noticed():
    with pytest.raises(AssertionError, match="of another kind"):
        row_of(RiemdpError("refused for a reason of another kind"))


def test_errors_say_what_to_do():
    assert len({row.why for row in COMBINATIONS}) == len(COMBINATIONS)
    for row in COMBINATIONS:
        assert str(row) == f"{row.why}; {row.instead}"
        assert not any(
            one.why in other.why for one, other in itertools.permutations(COMBINATIONS, 2)
        )
