"""What one person can do to an answer: adversarial people with many records, labels, covariates.

Of statistics that average rows, rows of records are integers, and a search looks for the people
whose means are farthest apart, and longest. All others see a point of each person.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import laws
from riemdp import GDP, Accountant, Records, UnsupportedError, private_statistic, verify
from riemdp.kernel import Classes, Line, _people, guarded, means_of_owners
from riemdp.kernel._verify import check_release
from riemdp.spaces import Ball, Sphere
from riemdp.statistics import (
    AddRemoveUser,
    ClassMoments,
    FrechetMean,
    Moments,
    PointStatistic,
    Prepared,
    Recentred,
    ReplaceUser,
    Rows,
    TangentRegression,
)

pytestmark = pytest.mark.usefixtures("small_tiles")

CLASSES = ("a", "b", "c", "d", "e")
BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8)
#: Statistics that average rows.
OF_ROWS = {
    "classes": ClassMoments(CLASSES),
    "classes scalar": ClassMoments(CLASSES, "scalar"),
    "classes matrix": ClassMoments(CLASSES, "matrix"),
    "regression": TangentRegression(-3.0, 5.0),
    "recentred classes": Recentred(ClassMoments(CLASSES, "scalar")),
    "recentred regression": Recentred(TangentRegression(-3.0, 5.0)),
}
RELATIONS = {"replaced": ReplaceUser(), "removed": AddRemoveUser()}
#: Numbers of records and labels of a person, each label at least once.
PEOPLE = [(1, 1), (3, 1), (3, 2), (3, 3), (30, 1), (30, 2), (30, 5)]
#: Shares that are reached by people who have several labels, each at least once: the length of a
#: vector of shares (the most records of one label, and one of each other one) is under 1. People
#: with one label, and first rounds, in which labels do not count, reach what is stated.
GAPS = {
    ("classes", "replaced"): {(3, 2): 0.7454, (3, 3): 0.5774, (30, 2): 0.9672, (30, 5): 0.8692},
    ("classes", "removed"): {(3, 2): 0.7454, (3, 3): 0.5774, (30, 2): 0.9672, (30, 5): 0.8692},
    ("classes scalar", "replaced"): {
        (3, 2): 0.8165, (3, 3): 0.6700, (30, 2): 0.9755, (30, 5): 0.8877
    },
    ("classes scalar", "removed"): {
        (3, 2): 0.8389, (3, 3): 0.7454, (30, 2): 0.9783, (30, 5): 0.9149
    },
    ("classes matrix", "replaced"): {
        (3, 2): 0.8157, (3, 3): 0.6916, (30, 2): 0.9749, (30, 5): 0.895
    },
    ("classes matrix", "removed"): {
        (3, 2): 0.8165, (3, 3): 0.7071, (30, 2): 0.9755, (30, 5): 0.9037
    },
    # five covariates, of which two are either end of the range, and one is between
    ("regression", "replaced"): {(3, 3): 0.8498, (30, 5): 0.9204},
    ("regression", "removed"): {(3, 3): 0.8646, (30, 5): 0.9458},
}  # fmt: skip


def cell(name, relation):
    found = laws.cell_of(BALL, OF_ROWS[name], RELATIONS[relation])
    assert found is not None
    return found


@functools.cache
def records_of(form):
    """Points at the boundary on either side, beyond it, and at the centre, with all that may be."""
    ways = [(math.cos(t), math.sin(t)) for t in (0.0, 1.0, 2.5, math.pi, math.pi + 1.0, 5.5)]
    points = BALL.point(0.8 * np.array([*ways, (0.0, 0.0), (0.3, 0.0), (1.2, 0.4)]))
    beside = CLASSES if form.takes == ("labels",) else (-3.0, 5.0, 1.0, 1e308, -1e308)
    column = [each for each in beside for _ in points]
    return Records(np.tile(points, (len(beside), 1)), **{form.takes[0]: column})


def rows_of(query, records):
    """Integer rows of records, as they are guarded."""
    valid = records.validated(BALL.manifold)
    given = valid if query.takes else np.asarray(valid.points)
    return query.guarded(BALL, query.rows(BALL, query.prepare(BALL, given)))


@functools.cache
def asked(name, relation):
    """Queries, and the rows of all records."""
    form = cell(name, relation).form
    several = itertools.islice(laws.queries(form, BALL, 2), 3)
    return [(query, rows_of(query, records_of(form))) for query in several]


def adversary(rows, kinds, size, against, random):
    """Indices of the records of a person whose mean is as far as can be from a vector.

    So many records with so many labels at least once. Records are replaced by better ones, in turn.
    """
    many, several = size
    wanted = random.permutation(np.max(kinds) + 1)[:several]
    own = [int(random.choice(np.flatnonzero(kinds == k))) for k in wanted]
    own += random.choice(np.flatnonzero(np.isin(kinds, wanted)), many - several).tolist()
    for _ in range(2):
        before = list(own)
        for i in range(many):
            fits = np.flatnonzero(kinds == wanted[i] if i < several else np.isin(kinds, wanted))
            rest = rows[own].sum(axis=0) - rows[own[i]]
            own[i] = int(fits[np.square((rest + rows[fits]) / many - against).sum(axis=1).argmax()])
        if own == before:
            break
    return own


def searched(rows, kinds, size, tries=6):
    """People who are far from one another, and long, as lists of indices of their records."""
    random, found = np.random.default_rng(0), []
    numbers, middle = rows.astype(np.float64), np.zeros(rows.shape[1])
    for _ in range(tries):
        one = adversary(numbers, kinds, size, middle, random)
        for _ in range(2):
            other = adversary(numbers, kinds, size, numbers[one].mean(axis=0), random)
            found += [one, other]
            one = adversary(numbers, kinds, size, numbers[other].mean(axis=0), random)
    return found


def means(rows, people):
    """Integer rows of people."""
    owners = np.repeat(np.arange(len(people)), [len(own) for own in people])
    return np.concatenate(list(means_of_owners([rows[np.concatenate(people)]], owners)))


def share_of(own, stated, *, replaced):
    """The largest share of what is stated that one of these answers is, or two are apart."""
    far = max(map(laws.square, own))
    if replaced:
        far = max(laws.square(laws.minus(own[i], own[j])) for i, j in laws.farthest(own))
    share = math.sqrt(far) / stated
    assert far <= Fraction(stated) ** 2, f"{share:.15g} of what is stated"
    return share


def reached(name, relation, many, several):
    """The largest share of what is stated that people reach."""
    here, best = cell(name, relation), 0.0
    column = [str(each) for each in getattr(records_of(here.form), here.form.takes[0])]
    kinds = np.unique(column, return_inverse=True)[1]
    nobody = laws.absent(here.form, BALL)
    for query, rows in asked(name, relation):
        (stated,) = {*here.stated(1, query).values()}
        found = np.unique(means(rows, searched(rows, kinds, (many, several))), axis=0)
        assert (query.guarded(BALL, found) == found).all(), "a row is longer than is stated"
        own = [query.finish(BALL, query.added(BALL, row[None]), 0.0) for row in found]
        own.append(laws.row(query, BALL, nobody))
        best = max(best, share_of(own, stated, replaced=relation == "replaced"))
    return best


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", OF_ROWS)
def test_no_person_moves_an_answer_farther_than_is_stated_and_one_as_far(name, relation):
    gaps = GAPS.get((name, relation), {})
    for many, several in PEOPLE:
        share, gap = reached(name, relation, many, several), gaps.get((many, several), 1.0)
        assert share == pytest.approx(gap, abs=1e-6 if gap == 1.0 else 5e-3), (many, several)


def test_every_statistic_of_labels_or_covariates_is_among_these():
    of_rows = {type(each) for each in OF_ROWS.values()}
    for name, of in laws.STATISTICS.items():
        statistic = of(BALL)
        several = bool({"labels", "covariates"} & {*statistic.takes})
        assert (statistic.of == "rows") == several, name
        assert not several or type(statistic) in of_rows


def unrounded(sums):
    """Means that are rounded down."""
    high, low = np.split(sums[:, :-1], 2, axis=1)
    return ((high << 21) + low) // sums[:, -1:]


def undivided(sums):
    """Sums in place of means."""
    high, low = np.split(sums[:, :-1], 2, axis=1)
    return (high << 21) + low


def at_the_bound(most, size):
    """Two integer rows that are hardly shorter than is allowed, of which no other is a mean."""
    first, left = np.zeros(size, dtype=np.int64), most
    for i in range(3):
        first[i] = -math.isqrt(left)
        left -= int(first[i]) ** 2
    second = first + np.eye(1, size, 0, dtype=np.int64)[0] - np.eye(1, size, 1, dtype=np.int64)[0]
    return np.array([first, second])


@pytest.mark.parametrize("name", ["classes", "classes matrix", "regression"])
def test_rows_at_the_bound_without_a_margin_have_means_within_it(name, monkeypatch):
    """However a row function rounds, what the guard lets through is averaged to what it does."""
    shape = OF_ROWS[name].shape(2)
    most = shape.longest
    rows = guarded(at_the_bound(most, shape.size), most)
    people = [[0], [1], [0, 1], [0, 0, 1], [0, 1, 1] * 10]

    def longest():
        return max(sum(x * x for x in row) for row in means(rows, people).tolist())

    assert most - 10**7 < longest() <= most
    for wrong in (unrounded, undivided):
        monkeypatch.setattr(_people, "_quotients", wrong)
        assert longest() > most


def test_a_row_that_is_too_long_is_none_before_rows_are_averaged(monkeypatch):
    query, honest = OF_ROWS["classes"].query(BALL), Classes.rows
    points = BALL.point(np.array([[0.5, 0.3], [0.1, 0.2], [0.4, -0.6]]))
    records = Records(points, labels=["a", "e", "e"]).validated(BALL.manifold)
    row = rows_of(query, records)[0]

    def hostile(self, vectors, beside):
        found = honest(self, vectors, beside)
        found[beside == CLASSES.index("e")] = [2**62, -(2**63), *[7] * (found.shape[1] - 2)]
        return found

    monkeypatch.setattr(Classes, "rows", hostile)
    found = Prepared(BALL, records, np.zeros(3, dtype=int)).summary(query)
    assert list(found.total) == [math.trunc(Fraction(x, 3)) for x in row.tolist()]
    monkeypatch.setattr(Rows, "guarded", lambda self, ball, rows: rows)
    found = Prepared(BALL, records, np.zeros(3, dtype=int)).summary(query)
    assert list(found.total) != [math.trunc(Fraction(x, 3)) for x in row.tolist()]


def test_sums_in_place_of_means_are_noticed(monkeypatch):
    monkeypatch.setattr(_people, "_quotients", undivided)
    reached("classes", "replaced", 1, 1)
    with pytest.raises(AssertionError, match="longer than is stated"):
        reached("classes", "replaced", 3, 1)


def test_a_sensitivity_that_is_stated_a_little_short_is_noticed(monkeypatch):
    short = Line(2).move * (1 - Fraction(2, 10**9))
    monkeypatch.setattr(Line, "move", short)
    with pytest.raises(AssertionError, match="of what is stated"):
        reached("regression", "replaced", 3, 1)


def test_a_row_is_that_of_the_own_records_in_any_order_with_whatever_others():
    random, form = np.random.default_rng(0), OF_ROWS["classes scalar"]
    query, records = form.query(BALL), records_of(form).validated(BALL.manifold)
    own = random.integers(0, len(records), 30)
    row = means(rows_of(query, records), [own])[0].tolist()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(2030)
        rows = np.append(own, random.integers(0, len(records), 2000))[order]
        owners = np.append(np.full(30, 7), random.integers(8, 400, 2000))[order]
        alone = rows[owners == 7]
        together = Prepared(BALL, records.at(rows), owners).summary(query)
        others = Prepared(BALL, records.at(rows[owners != 7]), owners[owners != 7]).summary(query)
        assert [a - b for a, b in zip(together.total, others.total, strict=True)] == row
        assert together.count == len(set(owners.tolist())) == others.count + 1
        one = Prepared(BALL, records.at(alone), np.zeros(30, dtype=int)).summary(query)
        assert list(one.total) == row


def released(statistic, people, **options):
    """A release with hardly any noise of 40 people, of whom the first has two labels."""
    points = np.tile(BALL.point(np.array([[0.4, 0.0]])), (61, 1))
    users = [0, 0, 0, *np.repeat(np.arange(1, 30), 2)]
    labels = ["a", "b", "b", *["a"] * 30, *["c"] * 28]
    covariates = [5.0, -3.0, -3.0, *[1.0] * 58]
    beside = {"labels": labels, "covariates": covariates}
    given = {name: beside[name] for name in statistic.takes}
    records, budget = Records(points, users=users, **given), GDP(1e5)
    options = {"mechanism": "tangent-gaussian", "people": people, **options}
    return private_statistic(statistic, records, BALL, budget, **options)


def test_who_has_two_labels_counts_in_both_classes():
    shares = np.array([1 / 3 + 15, 2 / 3, 14, 0, 0])
    for people in (40, None):
        release = released(OF_ROWS["classes scalar"], people)
        number = 40 if people else 30
        np.testing.assert_allclose(release.value.shares, shares / number, atol=1e-4)
        np.testing.assert_allclose(release.value.coordinates[:3], [[0.4, 0.0]] * 3, atol=1e-3)
        assert release.value.second_moment == pytest.approx(0.16 * 30 / number, abs=1e-4)
        assert verify(release).passed


def test_covariates_of_a_person_keep_their_spread():
    """The mean of squares is that of records, where one covariate a person had the square of it."""
    for people in (30, None):
        release = released(OF_ROWS["regression"], people)
        squares = (29 * 1.0**2 + (5.0**2 + 2 * 3.0**2) / 3) / 30
        assert release.value.gram[1, 1] == pytest.approx(squares, abs=1e-3)
        assert verify(release).passed


def test_a_sensitivity_without_what_rounding_adds_is_refused():
    document = json.loads(released(OF_ROWS["classes"], 40).to_json())
    assert all(check.passed for check in check_release(document))
    exact = OF_ROWS["classes"].query(BALL).replace_one(BALL, 40, "distance")
    (query,) = document["header"]["queries"]
    assert exact < query["sensitivity"] < exact * (1.0 + 1e-10)
    query["sensitivity"] = exact
    assert {x.name for x in check_release(document) if not x.passed} == {"sensitivity"}


@dataclass(frozen=True)
class OfPoints(Moments):
    """One of labels that sees a point of people who have several."""

    name = "tests.OfPoints"
    takes = ("labels",)
    of = "points"


def test_what_averages_points_of_people_takes_no_labels():
    account = Accountant(GDP(1e9), adjacency="add-remove-user")
    with pytest.raises(UnsupportedError, match=r'several labels.*say of = "rows"'):
        released(OfPoints(), None, accountant=account, allow_unproven=True)
    assert account.spent is None


def test_rows_without_a_stated_length_are_not_averaged():
    points, owners = np.asarray(records_of(OF_ROWS["classes"]).points), np.zeros(45, dtype=int)
    for statistic in (FrechetMean(), PointStatistic(1.0, 5, "x", lambda rows: rows[0])):
        with pytest.raises(UnsupportedError, match=r"no length is stated|no rows"):
            Prepared(BALL, points, owners).summary(next(statistic.queries(BALL)))


#: Statistics for which a data set of one person is none, or one of spread 0: see the laws.
ELSEWHERE = {"direct-variance", "point-statistic"}
#: Shares that points in the ball reach, where records anywhere on the sphere reach all.
POINT_GAPS = {
    ("directional-moments", "replaced"): 0.7174,  # sin .8
    ("directional-moments 2", "replaced"): 0.9999,
    ("directional-moments both", "replaced"): 0.8743,
}


def people_of(many):
    """People with so many records: of one kind, or of two, at the boundary, beyond and between."""
    found, random = laws.wild_points(laws.BALLS["sphere"]()), np.random.default_rng(0)
    own = [np.full(many, i) for i in (2, *range(0, len(found), 4))]
    own += [np.where(np.arange(many) % 2, 0, i) for i in (1, 4, 9)]
    own += [random.integers(0, len(found), many) for _ in range(2)]
    return [Records(found[i], users=np.zeros(many, dtype=int)) for i in own]


@pytest.mark.fast(10)
@pytest.mark.parametrize("name", [x for x in laws.STATISTICS if x not in ELSEWHERE])
def test_nor_does_a_point_of_a_person(name):
    ball = laws.BALLS["sphere"]()
    here = [
        each for each in laws.cells(ball, laws.STATISTICS[name](ball)) if each.form.of == "points"
    ]
    for each in here:
        if "users" not in each.relation.takes:
            continue
        replaced = each.relation.size_is_public
        for many in (1, 3, 30):
            found = 0.0
            people = [x.validated(ball.manifold) for x in people_of(many)]
            units = [each.relation.units(ball, x) for x in people]
            units.append(laws.absent(each.form, ball))
            for query in itertools.islice(laws.queries(each.form, ball, 2), 2):
                own = [
                    laws.answered(query, each, x) for x in [*units, laws.absent(each.form, ball)]
                ]
                stated = min(each.stated(1, query).values()) + 2.0 * each.tolerance(query)
                found = max(found, share_of(own, stated, replaced=replaced))
            # who has fewer records than count weighs less
            least = min(many, each.relation.contribution) / each.relation.contribution
            gap = POINT_GAPS.get((name, "replaced" if replaced else "removed"), least)
            assert found == pytest.approx(gap, abs=1e-4 if gap != least else 1e-6), (each, many)
