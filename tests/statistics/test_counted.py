"""Sums over a private number of records, or with weights: none moves them farther than is said."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from scipy import stats

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Release,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    UnsupportedNeighboursError,
    private_mean,
    private_statistic,
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.release._offer import deviation_of, exact_sensitivity
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    Answer,
    ClassMoments,
    Counted,
    DirectionalMoments,
    DirectVariance,
    FrechetMean,
    GeometricMedian,
    HuberMean,
    MeanRotation,
    Moments,
    NamedValues,
    PointStatistic,
    Prepared,
    ProcrustesMean,
    Recentred,
    Records,
    RefinedMean,
    ReplaceOne,
    ReplaceUser,
    TangentMean,
    TangentRegression,
    Variance,
    answer,
    counted,
    outline,
    through,
    weighted,
)
from riemdp.statistics._counted import Total
from riemdp.statistics._statistic import Around
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

BALLS = [
    Ball(Euclidean(2), [0.3, 0.0], 1.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 2.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 2.0),
]
DISC, CAP = BALLS[:2]
SEGMENT = Ball(Euclidean(1), [0.0], 1.0)
#: The square root of 3, rounded down: it costs a mean nothing.
ROOT_3 = 1.7320508075688772
INNER = [
    TangentMean(),
    Moments(),
    Moments("matrix"),
    ClassMoments((0, 1, 2)),
    ClassMoments(("a", "b"), "scalar"),
    ClassMoments((0, 1), "matrix"),
    TangentRegression(-1.0, 3.0),
    RefinedMean(rounds=3),
    GeometricMedian(steps=3),
    HuberMean(steps=3),
    Variance(),
    Variance("public"),
    Recentred(Moments()),
    Recentred(Moments("matrix"), share=0.4),
    Recentred(ClassMoments((0, 1))),
    Recentred(ClassMoments((0, 1), "matrix")),
    Recentred(TangentRegression(-1.0, 3.0)),
]
WHOLE = [
    (DirectionalMoments(1), Ball.whole(Sphere(2))),
    (DirectionalMoments(2), Ball.whole(Sphere(2))),
    (DirectionalMoments((1, 2)), Ball.whole(Sphere(3))),
    (MeanRotation(), Ball.whole(Sphere(3))),
    (ProcrustesMean(), Ball.whole(Sphere(5))),
]
PAIRS = [*((s, BALLS[k % 5]) for k, s in enumerate(INNER)), *WHOLE]
CASES = [*itertools.product(INNER, BALLS), *WHOLE]
over_pairs = pytest.mark.parametrize(("statistic", "ball"), PAIRS, ids=str)
over_cases = pytest.mark.parametrize(("statistic", "ball"), CASES, ids=str)
over_weights = pytest.mark.parametrize("weighs", [False, True], ids=["counts", "weights"])


def form_of(statistic, ball, weighs):
    return (weighted if weighs else counted)(statistic, ball)


def query_of(form, ball):
    return next(form.queries(ball))


def spread_out(statistic, ball, n=40, seed=2):
    """Records, with weights that are halves where there are any."""
    rng = np.random.default_rng(seed)
    rows = 0.3 + 0.2 * rng.normal(size=(n, ball.manifold.dim))
    points = ball.point(min(ball.reach, 2.0) * rows)
    extras = statistic.typical_extras(n, rng)
    if "weights" in extras:
        extras = {**extras, "weights": 0.5 * (1 + np.arange(n) % 2)}
    return Records(points, **extras)


def repeated(records):
    """Records without weights, each as often as it has halves."""
    if records.weights is None:
        return records
    times = np.rint(2.0 * np.asarray(records.weights)).astype(int)
    return taken(replace(records, weights=None), np.repeat(np.arange(len(times)), times))


def number_of(records):
    return len(records) if records.weights is None else float(np.sum(records.weights))


def ends(statistic, ball):
    """Records whose sums are longest, and farthest apart: at the boundary, of every class."""
    axes = (np.pi if ball.is_whole else ball.reach) * np.eye(ball.manifold.dim)
    points = ball.point(np.concatenate([axes, -axes, 0.5 * axes, -0.5 * axes]))
    if "weights" in statistic.takes:
        found = ends(statistic.statistic, ball)
        weights = np.append(np.ones(len(found)), [0.0, 0.5])
        return replace(taken(found, [*range(len(found)), 0, 1]), weights=weights)
    inner = getattr(statistic, "statistic", statistic)
    values = {"labels": getattr(inner, "classes", ()), "covariates": (-1.0, 3.0)}
    for name in statistic.takes:
        each = np.array(values[name], dtype=object if name == "labels" else float)
        return Records(np.repeat(points, len(each), axis=0), **{name: np.tile(each, len(points))})
    return Records(points)


def taken(records, rows):
    extras = {name: np.asarray(getattr(records, name))[rows] for name in records.extras}
    return Records(np.asarray(records.points)[rows], **extras)


def floats(exact):
    return np.array([float(x) for x in exact])


def exactly(query, ball, records):
    return answer(query, ball, Prepared(ball, records), 0.0)


def asked(sums, form, ball):
    """Queries wherever noise may have led."""
    found = sums.asked(form, ball)
    return found if len(found) == 1 else [*found, *sums.asked(form, ball, 0.2)]


def square(vector):
    return sum(x * x for x in vector)


# What one record adds.


def check_moves(form, ball, sums):
    """No record adds, or moves, more than is said; both bounds are attained to 1e-6."""
    records, replaced = ends(form if form.weighs else form.statistic, ball), []
    for query in asked(sums, form, ball):
        added = Fraction(query.add_remove(ball, "distance"))
        moved = Fraction(query.replace_one(ball, 7, "distance"))
        rows = [exactly(query, ball, taken(records, [i])) for i in range(len(records))]
        longest = max(map(square, rows)) / added**2
        pairs = itertools.combinations(rows, 2)
        far = max(square(a - b for a, b in zip(*pair, strict=True)) for pair in pairs)
        replaced.append(far / moved**2)
        assert 1 - Fraction(1, 10**6) < longest <= 1
        assert replaced[-1] <= 1
    assert 1 - Fraction(1, 10**6) < max(replaced)


@over_weights
@over_pairs
def test_one_record_more_or_another_one_moves_an_answer_as_far_as_is_said(
    statistic, ball, weighs, sums
):
    check_moves(form_of(statistic, ball, weighs), ball, sums)


@pytest.mark.fast(8)
@over_pairs
def test_no_record_with_a_weight_replaced_by_another_moves_an_answer_farther(statistic, ball, sums):
    """Answers are linear in weights, to the last bit; all pairs of records, and of weights."""
    form, rng = form_of(statistic, ball, True), np.random.default_rng(7)
    some = ends(statistic, ball)
    wild = spread_out(statistic, ball, 6)
    weights = np.array([1.0, 0.0, 2.0**-41, 1.0 / 3.0, 1.0 - 2.0**-53, 5e-324, 0.7])
    for query in asked(sums, form, ball):
        moved, rows = query.replace_one(ball, 7, "distance"), []
        for records in (some, wild):
            for i in range(0, len(records), 3 if len(records) > 20 else 1):
                one, own = taken(records, [i]), rng.permutation(weights)[:2]
                whole = exactly(query, ball, replace(one, weights=np.ones(1)))
                rows.append(floats(whole))
                for w in own:
                    found = exactly(query, ball, replace(one, weights=np.array([w])))
                    part = Fraction(math.floor(Fraction(w) * 2**40), 2**40)
                    assert found == tuple(part * x for x in whole)
        rows, grid = np.array(rows), np.linspace(0.0, 1.0, 5)
        for w, other in itertools.product(grid, grid):
            gaps = np.linalg.norm(w * rows[:, None] - other * rows[None], axis=-1)
            assert gaps.max() <= moved * (1.0 + 1e-12)


def largest_move(weight):
    """Search all pairs of vectors of the unit disc with weights."""

    def negative(x):
        w, other, one, two, a, b = x
        v, u = (length * np.array([math.cos(t), math.sin(t)]) for length, t in ((one, a), (two, b)))
        return -np.sum((w * v - other * u) ** 2) - weight**2 * (w - other) ** 2

    box = [(0.0, 1.0)] * 4 + [(0.0, 2.0 * math.pi)] * 2
    starts = np.random.default_rng(1).uniform(size=(25, 6)) * np.array(box)[:, 1]
    found = [scipy.optimize.minimize(negative, x, bounds=box).fun for x in starts]
    return math.sqrt(-min(found))


@pytest.mark.parametrize("weight", [0.5, ROOT_3, 1.74, 2.5])
def test_no_pair_of_vectors_with_weights_is_farther_apart(weight):
    query = query_of(Counted(TangentMean(), weight, weighs=True), DISC)
    stated = query.replace_one(DISC, 7, "coordinates") / (query.scale * DISC.reach)
    assert largest_move(weight) == pytest.approx(stated, rel=1e-6)
    assert (stated > 2.0 + 1e-10) == (weight > ROOT_3)  # 1.74 fails to come free
    points = query.replace_point(DISC, 7, "coordinates") / (query.scale * DISC.reach)
    assert points == pytest.approx(2.0, rel=1e-12)  # where weights are public


def test_the_weight_of_a_sum_of_weights_is_the_largest_that_costs_nothing():
    assert Fraction(ROOT_3) ** 2 < 3 < Fraction(math.nextafter(ROOT_3, 2.0)) ** 2
    assert weighted(TangentMean(), DISC) == Counted(TangentMean(), ROOT_3, weighs=True)
    assert weighted(RefinedMean(rounds=1), DISC).weight == ROOT_3
    for statistic, ball in PAIRS:
        form, best = form_of(statistic, ball, True), counted(statistic, ball).weight
        shape = query_of(statistic, ball).shape
        move, norm = math.sqrt(shape.move), math.sqrt(shape.norm)
        if shape.counts is not None:
            assert form.weight == best == 0.0
        elif form.weight > best:
            assert math.hypot(form.weight, norm) == pytest.approx(move, rel=1e-12)
        else:
            assert form.weight == best
            assert math.hypot(best, norm) >= move
        assert AddRemove().form(form, ball) == replace(counted(statistic, ball), weighs=True)


def check_count(form, ball):
    """Sums are those of each record alone; they say how many there are."""
    records = spread_out(form, ball)
    query = query_of(form, ball)
    total = exactly(query, ball, records)
    alone = [exactly(query, ball, taken(records, [i])) for i in range(len(records))]
    assert total == tuple(map(sum, zip(*alone, strict=True)))
    found, per = query.number_of(Answer(query.answers(ball).point(floats(total)), 0.0))
    assert found == pytest.approx(number_of(records), rel=1e-12)
    # what a record adds to the count is within the move
    assert per * query.add_remove(ball, "distance") >= 1.0


def check_value(form, ball, sums):
    """Without noise values are those of a public number of records."""
    records = spread_out(form, ball)
    found, wanted = (
        sums.walked(form, ball, records),
        sums.walked(form.statistic, ball, repeated(records)),
    )
    number, name = number_of(records), "weight" if form.weighs else "count"
    assert found.total == pytest.approx(number, rel=1e-12)
    assert found.count == (None if form.weighs else found.total)
    assert found.moments is None
    raw = found.raw
    if wanted.parts is not None:
        assert raw[-1] == found.total
        assert (found.parts[name], found.parts[f"{name}_sd"]) == (found.total, 0.0)
        for part, value in wanted.parts.items():
            if np.asarray(value).dtype.kind in "fc":
                np.testing.assert_allclose(
                    found.parts[part], value, rtol=1e-8, atol=1e-8, err_msg=part
                )
        raw = raw[:-1]
    np.testing.assert_allclose(raw, wanted.raw, rtol=1e-8, atol=1e-8)


@pytest.mark.fast(9)
@over_weights
@over_cases
def test_sums_and_their_number_are_exact_and_values_those_of_a_public_number(
    statistic, ball, weighs, sums
):
    form = form_of(statistic, ball, weighs)
    check_count(form, ball)
    check_value(form, ball, sums)


@over_weights
@pytest.mark.parametrize("statistic", [Moments(), GeometricMedian(3), ClassMoments((0, 1))])
def test_a_form_that_is_wrong_is_seen(statistic, weighs, monkeypatch, sums):
    """Controls: vectors, and what is divided by, that are one per cent off."""
    form = form_of(statistic, CAP, weighs)

    def scale(by, right=Total.scale.fget):
        return property(lambda self: by * right(self))

    def number(by, right=Total.number_of):
        return lambda *given: (by * right(*given)[0], right(*given)[1] / by)

    def mean(by, right=Total.mean_of):
        return lambda self, ball, noisy, number, relative: right(
            self, ball, noisy, number / by, relative
        )

    for name, wrong, check in (
        ("scale", scale(1.01), lambda: check_moves(form, CAP, sums)),
        ("scale", scale(0.99), lambda: check_moves(form, CAP, sums)),
        ("number_of", number(1.01), lambda: check_count(form, CAP)),
        ("number_of", number(0.99), lambda: check_value(form, CAP, sums)),
        ("mean_of", mean(1.01), lambda: check_value(form, CAP, sums)),
    ):
        check()
        with monkeypatch.context() as patch:
            patch.setattr(Total, name, wrong)
            with pytest.raises(AssertionError):
                check()


def test_a_weight_that_is_taken_for_public_is_seen(monkeypatch, sums):
    form = Counted(TangentMean(), 2.0, weighs=True)
    check_moves(form, DISC, sums)
    monkeypatch.setattr(Total, "replace_one", Total.replace_point)
    with pytest.raises(AssertionError):
        check_moves(form, DISC, sums)


@pytest.mark.parametrize("statistic", [RefinedMean(), Recentred(Moments()), GeometricMedian(2)])
def test_the_number_is_in_the_first_answer_alone(statistic, sums):
    form = counted(statistic, DISC)
    first, *others = sums.asked(form, DISC)
    assert first.weight == form.weight > 0.0
    for query, inner in zip([first, *others], sums.asked(statistic, DISC), strict=True):
        size = inner.shape.size + (query is first)
        assert query.answers(DISC).manifold.dim == size
        assert query.share == inner.share
        assert (query.weight == 0.0) == (query is not first)
        assert not query.projects
    # later sums are longer: they are not shortened for a number
    assert all(query.scale > first.scale for query in others)


def test_vectors_are_scaled_down_to_the_weight_of_their_answer():
    """Never beyond it by the last bit, which the nearest float is in half of the cases."""
    beyond = 0
    for weight in np.random.default_rng(0).uniform(0.1, 2.0, size=60).tolist():
        query = query_of(Counted(GeometricMedian(steps=3), weight), DISC)
        norm = query.inner.shape.norm + Fraction(weight) ** 2
        assert Fraction(query.scale) ** 2 * norm <= 1
        assert Fraction(query.scale) ** 2 * norm >= 1 - Fraction(1, 10**15)
        beyond += Fraction(1.0 / math.sqrt(norm)) ** 2 * norm > 1
    assert beyond > 5  # the control


def too_long(ball, coordinates):
    """Vectors of which those to one side are longer than any may be."""
    vectors = coordinates / ball.reach
    return np.where(coordinates[:, :1] > 0.0, 1.01 * vectors, 0.5 * vectors)


def test_a_vector_that_is_too_long_counts_as_zero():
    far = Records(CAP.point(CAP.reach * np.array([[1.0, 0.0], [-1.0, 0.0]])))
    query = query_of(counted(TangentMean(), CAP), CAP)
    other = replace(query, inner=replace(query.inner, vectors=too_long))
    assert exactly(other, CAP, taken(far, [0])) == (0, 0, query.one)
    assert exactly(other, CAP, taken(far, [1]))[0] < 0


def by_length(ball, coordinates):
    """What an array does whose results depend on its length, far more than any does."""
    return coordinates / ball.reach / (1.0 + len(coordinates))


def test_what_the_length_of_an_array_does_is_undone():
    """A control: in one array of all records the sums would tell how many there are."""
    records = spread_out(TangentMean(), CAP)
    query = query_of(counted(TangentMean(), CAP), CAP)
    query = replace(query, inner=replace(query.inner, vectors=by_length))
    alone = [exactly(query, CAP, taken(records, [i])) for i in range(len(records))]
    assert exactly(query, CAP, records) == tuple(map(sum, zip(*alone, strict=True)))
    rows = query.rows(CAP, query.prepare(CAP, np.asarray(records.points)))
    together = query.finish(CAP, query.added(CAP, rows), 0.0)
    assert together != exactly(query, CAP, records)


@pytest.mark.fast(3)
@over_weights
@over_pairs
def test_the_checks_of_any_statistic_hold(statistic, ball, weighs):
    ball = ball if not ball.is_whole else Ball(ball.manifold, ball.center, 1.0)
    check_part(form_of(statistic, ball, weighs), ball=ball)


# A number that is noisy, or none.


@over_weights
@over_pairs
def test_no_records_and_fewer_than_none(statistic, ball, weighs, sums):
    form = form_of(statistic, ball, weighs)
    points = np.zeros((0, *ball.manifold.point_shape))
    nobody = Records(points, **form.typical_extras(0, np.random.default_rng(0)))
    for below in (0.0, 0.3):  # as it was drawn; divided by one
        found = sums.walked(
            form, ball, nobody, deviation=0.1, change=lambda exact, step, below=below: exact - below
        )
        assert np.isfinite(found.raw).all()
        assert math.isfinite(found.gain)
        assert (found.total < 0.0) == (below > 0.0)
        for value in (found.parts or {}).values():
            # the concentration of a resultant of length 1 or more is infinite
            assert np.asarray(value).dtype.kind not in "fc" or not np.isnan(value).any()
    query = query_of(form, ball)
    exact = exactly(query, ball, nobody)
    assert exact == (0,) * query.answers(ball).manifold.dim
    if weighs:
        light = spread_out(form, ball)
        light = replace(light, weights=np.full(len(light), 2.0**-41))
        assert exactly(query, ball, light) == exact


class Spy(Around):
    """Another statistic, and what it was sent."""

    name = "tests.Spy"

    def __init__(self, statistic):
        self.statistic, self.sent = statistic, []

    def queries(self, ball):
        queries = self.statistic.queries(ball)
        query = next(queries)
        while True:
            self.sent.append((yield query))
            try:
                query = queries.send(self.sent[-1])
            except StopIteration as end:
                return end.value


def first_sent(form, ball, noisy, deviation):
    """What the inner statistic is sent first, and the value, of noise alone afterwards."""
    spy = Spy(form.statistic)
    left = iter([noisy])

    def answered(query):
        answers = query.answers(ball)
        return Answer(answers.point(next(left, np.zeros(answers.manifold.dim))), deviation)

    value = through(replace(form, statistic=spy), ball, answered)
    return spy.sent[0], value


@over_pairs
def test_a_number_under_one_is_taken_for_one(statistic, ball):
    """Which it is to the last bit, where what is read of an answer is the same."""
    form = counted(statistic, ball)
    query = query_of(form, ball)
    one = floats(exactly(query, ball, spread_out(statistic, ball, 1)))
    sent, counts = [], []
    for number in (1.0, 0.5, -3.0):
        noisy = one.copy()
        if form.weight:
            noisy[-1] = number * float(query.one)
        found, value = first_sent(form, ball, noisy, 0.1)
        sent.append((found.point.tobytes(), found.deviation, found.relative))
        counts.append(value.count)
    assert len(set(sent)) == 1
    if form.weight:
        np.testing.assert_allclose(counts, [1.0, 0.5, -3.0], atol=1e-9)


def test_a_sum_of_weights_under_the_deviation_of_its_noise_is_taken_for_that():
    form = Counted(TangentMean(), 1.5, weighs=True)
    low = np.array([0.2, 0.0, -5.0])  # of the number the deviation is 6 / (1.5 unit)
    _, value = first_sent(form, DISC, low, 6.0)
    np.testing.assert_allclose(
        DISC.coordinates(value.raw[None])[0], [0.2 * 1.5 * DISC.reach / 6.0, 0.0]
    )
    form = Counted(Moments(), 1.5, weighs=True)
    query = query_of(form, DISC)
    _, value = first_sent(form, DISC, np.append(np.ones(3), -2.0), 0.5)
    deviation = 0.5 / float(query.one)
    assert value.parts["weight_sd"] == pytest.approx(deviation)
    assert value.parts["mean_sd"] > 0.5 / (query.scale * deviation)
    _, value = first_sent(form, DISC, np.append(np.ones(3), -2.0), math.nan)  # not known
    assert math.isnan(value.parts["weight_sd"])
    assert np.isfinite(value.raw).all()


def test_weights_outside_the_unit_interval_count_as_the_nearest_in_it():
    """However they came there: releases refuse them."""
    query, point = (
        query_of(Counted(TangentMean(), 1.0, weighs=True), DISC),
        DISC.point([[0.3, 0.2]]),
    )
    for wild, near in ((7.0, 1.0), (1e300, 1.0), (math.inf, 1.0), (-3.0, 0.0), (math.nan, 0.0)):
        found, wanted = (
            exactly(query, DISC, Records(point, weights=[each]))
            for each in (np.float64(wild), near)
        )
        assert found == wanted


@over_pairs
def test_the_inner_statistic_is_told_the_noise_in_its_own_answers(statistic, ball):
    """Its deviation, of so many records as were released, and that of their number."""
    form = counted(statistic, ball)
    query = query_of(form, ball)
    sums_ = 0.5 * floats(exactly(query, ball, spread_out(statistic, ball, 40)))
    moved = sums_.copy()
    moved[0] += 1e-3 * np.linalg.norm(sums_)
    told = [first_sent(form, ball, noisy, 3.0)[0] for noisy in (sums_, moved)]
    points = [each.point for each in told]
    if query.inner.points:
        points = [ball.coordinates(each[None])[0] for each in points]
    by = (points[1] - points[0])[0] / (moved - sums_)[0]
    assert told[0].deviation == pytest.approx(3.0 * by, rel=1e-6)
    number, per = query.number_of(Answer(query.answers(ball).point(sums_), 3.0))
    assert number == pytest.approx(20.0)
    assert told[0].relative == pytest.approx(3.0 * per / 20.0)
    assert told[0].deviation < 0.5  # the control: divided by the number


# What is said of the noise in values.


def simulated(form, ball, records, sd, draws):
    """Values with Gaussian noise in every answer, of this deviation if it had all of the budget."""
    rng, data, known = np.random.default_rng(4), Prepared(ball, records), {}
    for _ in range(draws):
        steps = itertools.count()

        def answered(query, steps=steps):
            step, own = next(steps), sd / math.sqrt(query.share)
            if step or not known:
                known[step] = floats(answer(query, ball, data, 0.0))
            noisy = known[step] + own * rng.normal(size=len(known[step]))
            return Answer(query.answers(ball).point(noisy), own)

        yield through(form, ball, answered)


def line(middle):
    scaled = np.linspace(-1.0, 1.0, 600)
    rows = np.stack([0.7 + 0.05 * scaled, -0.1 * scaled], axis=-1)
    statistic = TangentRegression(middle - 30.0, middle + 30.0)
    return statistic, Records(CAP.point(rows), covariates=middle + 30.0 * scaled)


def at_the_boundary(n=400):
    rows = np.tile(0.75 * np.eye(2)[0], (n, 1)) + 0.02 * np.eye(2)[np.arange(n) % 2]
    return Records(CAP.point(rows))


SPREADS = {
    "moments": (Moments(), at_the_boundary(), 2.0),
    "matrix": (Moments("matrix"), at_the_boundary(), 2.0),
    "recentred": (Recentred(Moments()), at_the_boundary(800), 0.5),
    "line": (*line(0.0), 1.0),
    "line far from 0": (*line(50.0), 1.0),
}


@pytest.mark.fast("line-True")
@pytest.mark.parametrize(("name", "weighs"), [*((name, False) for name in SPREADS), ("line", True)])
def test_standard_deviations_have_both_noises_in_them(name, weighs, sums):
    """At the boundary of the ball, where the number of records matters most."""
    statistic, records, sd = SPREADS[name]
    form, n = counted(statistic, CAP), len(records)
    if weighs:  # halves, of twice as many: the same sums
        records = replace(taken(records, [*range(n)] * 2), weights=np.full(2 * n, 0.5))
        form = replace(form, weighs=True)
    once = name != "recentred"
    values = list(simulated(form, CAP, records, sd, 1500 if once else 400))
    draws = [NamedValues(each.raw, each.parts) for each in values]
    number = "weight" if weighs else "count"
    spread = np.std([draw[number] for draw in draws])
    assert spread == pytest.approx(draws[0][f"{number}_sd"], rel=0.12)
    if "line" in name:
        found = np.array([draw.coefficients for draw in draws]).std(axis=0)
        stated = np.mean([draw.coefficients_sd for draw in draws], axis=0)
        np.testing.assert_allclose(found, stated, rtol=0.09)
    else:
        means = [d.coordinates if once else CAP.coordinates(d.mean[None])[0] for d in draws]
        spreads = [np.array(means).std(axis=0)]
        if once:
            moments = [np.diag(np.atleast_2d(d.second_moment)) for d in draws]
            spreads.append(np.array(moments).std(axis=0))
        for spread, key in zip(spreads, ("mean_sd", "second_moment_sd"), strict=False):
            stated = np.mean([draw[key] for draw in draws])
            assert math.sqrt(np.mean(spread**2)) == pytest.approx(stated, rel=0.12), key
    if once and name != "line far from 0":  # the control: the sums alone
        alone = sums.named(statistic, CAP, values[0].raw[:-1], sd / (query_of(form, CAP).scale * n))
        key, spread = ("coefficients_sd", found) if "line" in name else ("mean_sd", spreads[0])
        assert np.ravel(spread)[0] > 1.1 * np.ravel(alone[key])[0]


@pytest.mark.parametrize(
    "statistic", [TangentMean(), Moments(), ClassMoments((0, 1)), DirectionalMoments(1)], ids=str
)
def test_expected_noise_is_that_of_a_value_at_the_boundary(statistic):
    n, sd = 500, 0.5
    labels = {"labels": np.zeros(n, dtype=int)} if statistic.takes else {}
    records = Records(CAP.point(np.tile(CAP.reach * np.eye(2)[0], (n, 1))), **labels)
    form = counted(statistic, CAP)
    query = query_of(form, CAP)
    exact = floats(exactly(query, CAP, records))
    answers, size = query.answers(CAP), query.inner.shape.size
    noisy = exact + sd * np.random.default_rng(8).normal(size=(4000, len(exact)))
    numbers = [query.number_of(Answer(answers.point(each), sd))[0] for each in noisy]
    error = (noisy / np.array(numbers)[:, None] - exact / n)[:, :size] / query.scale
    found = math.sqrt(np.mean(np.sum(error**2, axis=-1)))
    value = through(form, CAP, lambda _: Answer(answers.point(exact), sd))
    gain, stated = value.gain, value.gain * sd * math.sqrt(value.size)
    if form.weight:
        assert found == pytest.approx(stated, rel=0.05)
    else:  # of class sizes the noise of the count is in the features too
        assert 0.7 * stated < found <= 1.03 * stated
    planned = outline(form, CAP, n=n).value.gain
    assert 0.9 * gain < planned < 2.0 * gain


@pytest.mark.parametrize(("before", "last"), [(3.0, 1.0), (4.0, 1.0), (0.0, 0.0)])
def test_the_noise_of_the_number_counts_as_long_as_it_was_drawn(before, last):
    """Laplace noise has one over the share, where Gaussian noise has the root of that."""
    form, left = counted(RefinedMean(alpha=100.0), DISC), [before, last]

    def answered(query):
        typical = query.typical(DISC, 1.0, 500.0)
        typical[0] = 500.0 * query.scale  # of a mean at the boundary
        return Answer(query.answers(DISC).point(typical), left.pop(0))

    first, second = outline(form, DISC).queries
    per = 1.0 / float(first.one)
    ratio = before / last if last > 0.0 else 1.0
    factor, far = 1.0 / (second.scale * 500.0), 1.0
    wanted = math.sqrt((2.0 * factor**2 + (far * per / 500.0 * ratio) ** 2) / 2.0)
    assert through(form, DISC, answered).gain == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
def test_noise_of_a_refined_mean_is_no_longer_than_said():
    points = [1.1, 0.1] + 0.05 * np.random.default_rng(0).normal(size=(500, 2))
    form, sd = counted(RefinedMean(alpha=4.0), DISC), 0.02
    values = list(simulated(form, DISC, Records(points), sd, 300))
    found = np.mean([np.linalg.norm(each.raw - points.mean(axis=0)) for each in values])
    length = sd / math.sqrt(0.8) * math.sqrt(0.5 * math.pi)
    stated = np.mean([each.gain for each in values]) * length
    assert found == pytest.approx(stated, rel=0.15)  # of records as near as they are
    planned = outline(form, DISC, n=500.0).value.gain * length
    assert 2.0 * found < planned  # which is were they spread over the whole ball


@pytest.mark.slow
@pytest.mark.parametrize("base", ["recentred", "public"])
def test_a_variance_comes_out_right_on_average(base):
    points = [0.3, 0.0] + 0.25 * np.random.default_rng(0).normal(size=(600, 2))
    exact = float(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=-1)))
    form = counted(Variance(base, alpha=4.0), DISC)
    found = np.array([value.raw for value in simulated(form, DISC, Records(points), 0.6, 300)])
    assert found.shape == (300, 1)
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    assert found.mean() == pytest.approx(exact, abs=5.0 * found.std() / 300**0.5 + 0.01 * exact)


def test_the_weight_is_the_best_one():
    for statistic, ball in (
        (Moments(), BALLS[2]),
        (Moments("matrix"), DISC),
        (TangentRegression(0.0, 1.0), CAP),
    ):
        best, shape = counted(statistic, ball).weight, query_of(statistic, ball).shape
        a, size = math.sqrt(shape.norm), shape.size

        def error(w, a=a, size=size):
            return (a * a + w * w) * (size + a * a / (w * w))

        assert error(best) <= min(error(1.02 * best), error(0.98 * best))
        assert error(best) == pytest.approx((a * (1.0 + math.sqrt(size))) ** 2)
    assert counted(ClassMoments((0, 1)), CAP).weight == 0.0


# Releases.


@pytest.mark.fast(9)
@over_pairs
def test_releases_from_end_to_end(statistic, ball):
    n = 150
    records = spread_out(statistic, ball, n)
    release = private_statistic(statistic, records, ball, GDP(1.0), adjacency=AddRemove())
    assert verify(release).passed
    assert (release.n, release.proven) == (None, True)
    assert release.guarantee.adjacency == "add-remove"
    assert set(statistic.proofs()) | {"counted"} == set(release.statistic.proofs())
    first = release.offer.asked[0]
    noisy = Answer(first.answers.center, deviation_of(first.mechanism, first.answers))
    sd = noisy.deviation * first.query.number_of(noisy)[1]
    assert abs(release.count - n) < 6.0 * sd
    assert release.expected_distance > 0.0
    again = Release.from_json(release.to_json())
    assert verify(again).passed
    assert (again.statistic, again.count) == (release.statistic, release.count)
    if outline(statistic, ball).value.parts is not None:
        assert release.value.count == pytest.approx(release.count, rel=1e-12)
        assert release.value.count_sd == pytest.approx(sd)
    with pytest.raises(UnsupportedError, match="public number of records"):
        release.released_moments()


def test_releases_for_people():
    points = np.asarray(spread_out(RefinedMean(), CAP, 90).points)
    records = Records(points, users=np.arange(90) // 3)
    release = private_statistic(RefinedMean(), records, CAP, GDP(1.0), adjacency=AddRemoveUser())
    assert verify(release).passed
    assert abs(release.count - 30) < 30.0


@pytest.mark.slow
def test_the_noise_of_sum_and_count_is_as_large_as_said_and_independent():
    """Half of it, a part of it left out, or one number used twice would be seen."""
    disc, draws = Ball(Euclidean(2), [0.0, 0.0], 1.0), 250
    generator, data = np.random.default_rng(29), np.array([[0.3, 0.0], [0.0, -0.2]])
    released = [
        private_mean(data, disc, GDP(1.0), adjacency="add-remove", generator=generator)
        for _ in range(draws)
    ]
    mechanism, weight = released[0].mechanism, released[0].statistic.weight
    assert mechanism.sigma == pytest.approx(1.0)
    noisy = np.array([np.array(each.rounded) * 2.0**-each.grid for each in released])
    noise = noisy - np.array([0.3, -0.2, 2.0 * weight]) / math.hypot(1.0, weight)

    def refuted(standard):
        squares = stats.chi2.sf(np.square(standard).sum(axis=0), draws)
        correlations = np.corrcoef(standard.T)[np.triu_indices(3, 1)] * np.sqrt(draws)
        two_sided = 2.0 * np.minimum(squares, 1.0 - squares)
        return min(*two_sided, *(2.0 * stats.norm.sf(abs(correlations)))) < 1e-4

    assert not refuted(noise)
    assert refuted(0.5 * noise)
    assert refuted(noise[:, [0, 0, 2]])
    assert refuted(np.column_stack([noise[:, :2], 0.0 * noise[:, 2] + 1e-9 * noise[:, 0]]))


@over_pairs
def test_weights_of_one_are_a_count(statistic, ball):
    form, records = counted(statistic, ball), spread_out(statistic, ball, 9)
    ones = replace(records, weights=np.ones(9))
    found = exactly(query_of(replace(form, weighs=True), ball), ball, ones)
    assert found == exactly(query_of(form, ball), ball, records)


def test_what_is_no_sum_of_private_records_is_refused():
    public = ClassMoments((0, 1), sizes=(3, 4)), TangentRegression(0.0, 1.0, design=(0.1, 0.9))
    for statistic, match in (
        (public[0], "leave out sizes"),
        (public[1], "or the design"),
        *((Recentred(each), "leave") for each in public),
        (DirectVariance(), r"such as Variance\(\)"),
        (FrechetMean(), "no function of sums"),
        (PointStatistic(1.0, 5), "no function of sums"),
    ):
        with pytest.raises(UnsupportedNeighboursError, match=match):
            counted(statistic, CAP)
    for each in (*public, *map(Recentred, public)):  # however the form was made
        for weighs in (False, True):
            form = Counted(each, 1.0, weighs)
            query = query_of(form, CAP)
            for relation in (AddRemove(), ReplaceOne()):
                with pytest.raises(UnsupportedNeighboursError, match="leave out sizes"):
                    exact_sensitivity(form, query, CAP, 2, relation, "coordinates")


def test_weights_are_in_their_range():
    assert Counted(Moments(), weight=4.0).weight == 4.0
    for wrong in (-1.0, 2.0**-21, 4.001, math.inf, math.nan):
        with pytest.raises(InvalidParameterError, match="weight"):
            Counted(Moments(), weight=wrong)
    for wrong in (0, 1, None, "yes"):
        with pytest.raises(InvalidParameterError, match="weighs must be true or false"):
            Counted(Moments(), 1.0, weighs=wrong)


def test_parameters():
    for statistic, weight in ((ClassMoments((0, 1)), 1.0), (Moments(), 0.0)):
        with pytest.raises(InvalidParameterError, match="weight must be 0 where features count"):
            outline(Counted(statistic, weight), CAP)
    with pytest.raises(UnsupportedNeighboursError, match="no function of sums"):
        outline(Counted(FrechetMean(), 1.0), CAP)
    for wrong in ("moments", Counted(TangentMean(), 1.0, True), Counted(Moments(), 1.0)):
        with pytest.raises(InvalidParameterError, match="sum over the records"):
            Counted(wrong, 1.0)
    for statistic, ball in PAIRS:
        form = counted(statistic, ball)
        assert decode(encode(form), "statistic") == form
        assert counted(form, ball) == form
        assert form.title == f"counted {statistic.name}"
        other = form_of(statistic, ball, True)
        assert decode(encode(other), "statistic") == other
        assert other.title == f"weighted {statistic.name}"
        assert form.proofs()["counted"] == "docs/proofs/neighbours.md"


# Releases with private weights, and of people who count for their records.


@pytest.mark.slow
def test_the_error_with_weights_is_that_of_the_formula():
    n, sigma, draws = 500, 1.0, 4000
    rng = np.random.default_rng(3)
    points, weights = rng.uniform(0.8, 1.0, size=(n, 1)), rng.uniform(size=n)
    form, records = weighted(TangentMean(), SEGMENT), Records(points, weights=weights)
    found = list(simulated(form, SEGMENT, records, sigma, draws))
    values = [value.raw[0] for value in found]
    total, mean = weights.sum(), float(weights @ points[:, 0] / weights.sum())
    rms = math.sqrt(np.mean((np.array(values) - mean) ** 2))
    law = 2.0 * sigma * math.sqrt(1.0 + mean**2 / 3.0) / total
    assert rms == pytest.approx(law, rel=0.06)
    assert abs(rms / (2.0 * sigma / total) - 1.0) > 0.06  # the control: public weights
    stated = np.mean([value.gain for value in found]) * sigma * math.sqrt(math.pi / 2.0)
    assert np.mean(np.abs(np.array(values) - mean)) <= 1.05 * stated


@pytest.mark.parametrize("budget", [GDP(1.0), PureDP(2.0)])
@pytest.mark.parametrize("method", ["one-shot", "refined"])
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_means_with_private_weights_are_written_read_and_verified(budget, method, adjacency):
    rng, n = np.random.default_rng(4), 3000
    points, weights = CAP.point(rng.uniform(-0.4, 0.5, size=(n, 2))), rng.uniform(size=n)
    options = {"weights": weights, "private_weights": True, "method": method}
    found = private_mean(points, CAP, budget, adjacency=adjacency, **options)
    inner = TangentMean() if method == "one-shot" else RefinedMean()
    form = weighted(inner, CAP)
    assert found.statistic == (form if adjacency == "replace-one" else counted(form, CAP))
    assert found.proven
    assert (found.n, found.count) == ((n, n) if adjacency == "replace-one" else (None, None))
    read = Release.from_json(found.to_json())
    assert verify(read).passed
    mean = weights @ CAP.coordinates(points) / weights.sum()
    assert np.linalg.norm(CAP.coordinates(found.value[None])[0] - mean) < 0.05
    # honest: by the sum of weights that was released, not by the number of records
    last = found.offer.last
    length = found.mechanism.expected_distance() / (last.query.scale * weights.sum())
    share = 1.0 if method == "one-shot" else found.expected_distance / length
    assert found.expected_distance == pytest.approx(share * length, rel=0.3)
    tampered = replace(read, statistic=replace(found.statistic, weight=1.9))
    assert not verify(tampered).passed


def test_the_noise_of_a_weighted_mean_is_that_of_one_sum_and_another():
    """In units of the longest row: r sqrt(1 + weight^2) of the sums themselves is r here.

    The number of records is off by as much, times how far the mean is from the centre.
    """
    options = {"weights": np.full(800, 0.25), "private_weights": True}
    found = private_mean(np.full((800, 1), 0.5), SEGMENT, GDP(1.0), **options)
    assert found.sensitivity == pytest.approx(1.0)  # half of 2 r, as rows are
    # of a mean at half the radius
    noise = 2.0 * math.sqrt(1.0 + 0.25 / 3.0) * math.sqrt(2.0 / math.pi)
    assert found.expected_distance == pytest.approx(noise / 200.0, rel=0.1)
    found = private_mean(
        np.full((800, 1), 0.5), SEGMENT, GDP(1.0), adjacency="add-remove", **options
    )
    assert found.statistic.weight == 1.0
    noise = math.sqrt(2.0 + 0.5) * math.sqrt(2.0 / math.pi)
    assert found.expected_distance == pytest.approx(noise / 200.0, rel=0.1)


@pytest.mark.parametrize("inner", [Moments(), ClassMoments((0, 1)), Recentred(Moments())], ids=str)
def test_statistics_with_private_weights(inner):
    rng, n = np.random.default_rng(4), 3000
    points, weights = CAP.point(rng.uniform(-0.4, 0.5, size=(n, 2))), rng.uniform(size=n)
    records = Records(points, weights=weights, **inner.typical_extras(n, rng))
    form = weighted(inner, CAP)
    found = private_statistic(form, records, CAP, GDP(1.0))
    assert verify(Release.from_json(found.to_json())).passed
    assert found.value.weight == pytest.approx(weights.sum(), abs=6.0 * found.value.weight_sd)
    with pytest.raises(InvalidParameterError, match="takes weights"):
        private_statistic(form, replace(records, weights=None), CAP, GDP(1.0))


def test_weights_lie_in_the_unit_interval():
    points = np.zeros((2, 2))
    with pytest.raises(NotOnManifoldError, match="row 1: its weight is more than 1"):
        private_mean(points, DISC, GDP(1.0), weights=[1.0, 1.5], private_weights=True)
    with pytest.raises(NotOnManifoldError, match="row 0: its weight is negative"):
        private_mean(points, DISC, GDP(1.0), weights=[-1.0, 0.5], private_weights=True)
    found = private_mean(points, DISC, GDP(1.0), weights=[0, 0], private_weights=True)
    assert DISC.contains(found.value)


def of_people(relation, statistic, *people):
    """Sums of people's records."""
    points = np.concatenate([np.reshape(each, (-1, 1)) for each in people]).astype(np.float64)
    users = [j for j, each in enumerate(people) for _ in each]
    records = Records(points, users=users).validated(SEGMENT.manifold)
    units = replace(relation.units(SEGMENT, records), users=None)
    return exactly(query_of(statistic, SEGMENT), SEGMENT, units)


def test_people_move_the_sums_by_no_more_whatever_their_numbers_of_records():
    relation, rng = ReplaceUser(contribution=200), np.random.default_rng(5)
    other, one, many = [0.3, -0.2], np.ones(1), np.ones(250)
    persons = [one, -one, many, -many, rng.uniform(-1, 1, 30), 0.5 * many[:120]]

    def largest(form):
        sums = [of_people(relation, form, each, other) for each in persons]
        return max(math.dist(map(float, a), map(float, b)) for a in sums for b in sums)

    found = {}
    for weight in (ROOT_3, 1.74):
        form = Counted(TangentMean(), weight, weighs=True)
        query = query_of(form, SEGMENT)
        found[weight] = largest(form) / query.scale
        stated = relation.sensitivity(query, SEGMENT, 2, "coordinates")
        assert largest(form) <= stated
    assert found[ROOT_3] == pytest.approx(2.0, rel=1e-6)
    assert found[1.74] > 2.001  # the control: it is not free


def test_people_count_for_their_records_up_to_a_bound():
    relation = ReplaceUser(contribution=3)
    form = Counted(TangentMean(), 1.0, weighs=True)
    found = of_people(relation, form, [0.5], [0.1, 0.3], [-0.2] * 9)
    total = (0.5 + 2 * 0.2 - 3 * 0.2) / 3.0
    unit = query_of(form, SEGMENT).scale
    np.testing.assert_allclose(floats(found), [unit * total, unit * 2.0], atol=1e-9)
    assert ReplaceUser().units(SEGMENT, Records([[0.5]], users=[1])).weights is None
    assert (relation.adds, ReplaceUser().adds, ReplaceOne().adds) == (("weights",), (), ())
    assert relation.title == "replace-user, who counts for up to 3"
    for each in (relation, AddRemoveUser(contribution=7), AddRemoveUser()):
        assert decode(encode(each), "neighbours") == each
    for wrong in (0, -1, 1.5):
        with pytest.raises(InvalidParameterError, match="contribution"):
            ReplaceUser(contribution=wrong)
    weighted = Records([[0.5]], weights=[1.0], users=[1])
    with pytest.raises(InvalidParameterError, match="leave out weights"):
        relation.units(SEGMENT, weighted)


@pytest.mark.parametrize("people", [400, None])
@pytest.mark.parametrize("method", ["one-shot", "refined"])
def test_people_are_released_with_their_contributions(people, method):
    rng = np.random.default_rng(6)
    users = rng.integers(0, 400, size=4000) % rng.integers(1, 401, size=4000)
    points = rng.uniform(-0.5, 0.5, size=(4000, 1)) + 0.3 * (users < 100)[:, None]
    options = {"users": users, "contribution": 8, "people": people, "method": method}
    found = private_mean(points, SEGMENT, GDP(2.0), **options)
    assert found.statistic.weighs
    assert found.neighbours.contribution == 8
    assert verify(Release.from_json(found.to_json())).passed
    names, numbers = np.unique(users, return_counts=True)
    means = np.array([points[users == name].mean() for name in names])
    weights = np.minimum(numbers, 8)
    assert abs(found.value[0] - weights @ means / weights.sum()) < 0.08


def test_people_who_weigh_have_no_labels_of_their_own():
    """Rows of people are averaged without weights; refused before anything is charged."""
    form = weighted(ClassMoments((0, 1)), DISC)
    records = Records(np.zeros((4, 2)), labels=[0, 1, 0, 1], users=[0, 0, 1, 1])
    relation = AddRemoveUser(contribution=2)
    with pytest.raises(UnsupportedError, match="sees one point of each; leave out contribution"):
        private_statistic(form, records, DISC, GDP(1.0), adjacency=relation)
    plain = form.statistic
    private_statistic(plain, records, DISC, GDP(1.0), adjacency=AddRemoveUser())
