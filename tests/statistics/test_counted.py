"""Sums over a private number of records, or with weights: none moves them farther than is said."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
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
from riemdp.kernel import Vector
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    ClassMoments,
    Counted,
    DirectionalMoments,
    DirectVariance,
    FrechetMean,
    GeometricMedian,
    HuberMean,
    MeanRotation,
    Moments,
    PointStatistic,
    Prepared,
    ProcrustesMean,
    Recentred,
    Records,
    RefinedMean,
    ReplaceOne,
    ReplacePoint,
    ReplaceUser,
    SumStatistic,
    TangentMean,
    TangentRegression,
    Variance,
    answer,
)
from riemdp.testing import check_part, part_checks

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
    GeometricMedian(rounds=3),
    HuberMean(rounds=3),
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
    return statistic.weighted(statistic.dim(ball)) if weighs else statistic.counted(ball)


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


def exactly(question, ball, records):
    return answer(question, ball, Prepared(ball, records), 0.0)


def walked(form, ball, records, noise=0.0, change=lambda sums, step: sums):
    """Value of answers without noise, however long it is said to be."""
    point = form.start(ball)
    for step in range(form.steps):
        sums = floats(exactly(form.ask(ball, point, step), ball, records))
        noisy = form.answers(ball).point(change(sums, step))
        point = form.move(ball, point, noisy, step, lambda: noise)
    return form.value_at(ball, point)


def asked(form, ball):
    """Questions wherever noise may have led, with their weights."""
    for noise in (0.0, 0.2) if form.steps > 1 else (0.0,):
        point, rng = form.start(ball), np.random.default_rng(1)
        for step in range(form.steps):
            yield form.answer_weight(step), form.ask(ball, point, step)
            noisy = noise * ball.reach * rng.normal(size=form.answers(ball).manifold.dim)
            point = form.move(ball, point, noisy, step, lambda: 0.1 * ball.reach)


def square(vector):
    return sum(x * x for x in vector)


# What one record adds.


def check_moves(form, ball):
    """No record adds, or moves, more than is said; both bounds are attained to 1e-6."""
    added = Fraction(form.add_remove(ball, "distance"))
    moved = Fraction(form.replace_one(ball, 7, "distance"))
    records, replaced = ends(form if form.weighs else form.statistic, ball), []
    for weight, question in asked(form, ball):
        rows = [exactly(question, ball, taken(records, [i])) for i in range(len(records))]
        longest = max(map(square, rows)) / (Fraction(weight) * added) ** 2
        pairs = itertools.combinations(rows, 2)
        far = max(square(a - b for a, b in zip(*pair, strict=True)) for pair in pairs)
        replaced.append(far / (Fraction(weight) * moved) ** 2)
        assert 1 - Fraction(1, 10**6) < longest <= 1
    assert 1 - Fraction(1, 10**6) < max(replaced) <= 1


@over_weights
@over_pairs
def test_one_record_more_or_another_one_moves_an_answer_as_far_as_is_said(statistic, ball, weighs):
    check_moves(form_of(statistic, ball, weighs), ball)


@over_pairs
def test_no_record_with_a_weight_replaced_by_another_moves_an_answer_farther(statistic, ball):
    """Answers are linear in weights, to the last bit; all pairs of records, and of weights."""
    form, rng = form_of(statistic, ball, True), np.random.default_rng(7)
    moved = form.replace_one(ball, 7, "distance")
    some = ends(statistic, ball)
    wild = spread_out(statistic, ball, 6)
    weights = np.array([1.0, 0.0, 2.0**-41, 1.0 / 3.0, 1.0 - 2.0**-53, 5e-324, 0.7])
    for share, question in asked(form, ball):
        rows = []
        for records in (some, wild):
            for i in range(0, len(records), 3 if len(records) > 20 else 1):
                one, own = taken(records, [i]), rng.permutation(weights)[:2]
                whole = exactly(question, ball, replace(one, weights=np.ones(1)))
                rows.append(floats(whole))
                for w in own:
                    found = exactly(question, ball, replace(one, weights=np.array([w])))
                    part = Fraction(math.floor(Fraction(w) * 2**40), 2**40)
                    assert found == tuple(part * x for x in whole)
        rows, grid = np.array(rows), np.linspace(0.0, 1.0, 5)
        for w, other in itertools.product(grid, grid):
            gaps = np.linalg.norm(w * rows[:, None] - other * rows[None], axis=-1)
            assert gaps.max() <= share * moved * (1.0 + 1e-12)


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
    form = Counted(TangentMean(), weight, weighs=True)
    stated = form.replace_one(DISC, 7, "coordinates") / (form._scale(DISC, 0) * DISC.reach)
    assert largest_move(weight) == pytest.approx(stated, rel=1e-6)
    assert (stated > 2.0 + 1e-10) == (weight > ROOT_3)  # 1.74 fails to come free
    points = form.replace_point(DISC, 7, "coordinates") / (form._scale(DISC, 0) * DISC.reach)
    assert points == pytest.approx(2.0, rel=1e-12)  # where weights are public


def test_the_weight_of_a_sum_of_weights_is_the_largest_that_costs_nothing():
    assert Fraction(ROOT_3) ** 2 < 3 < Fraction(math.nextafter(ROOT_3, 2.0)) ** 2
    assert TangentMean().weighted(2) == Counted(TangentMean(), ROOT_3, weighs=True)
    assert RefinedMean(rounds=1).weighted(2) == TangentMean().weighted(2)
    for statistic, ball in PAIRS:
        form = form_of(statistic, ball, True)
        dim = statistic.dim(ball)
        best = statistic.count_weight(dim)
        move, norm = statistic.answer_move(dim, 0), statistic.answer_norm(dim, 0)
        if statistic.counts_records:
            assert form.weight == 0.0
        elif form.weight > best:
            assert Fraction(form.weight) ** 2 + Fraction(norm) ** 2 <= Fraction(move) ** 2
            assert math.hypot(form.weight, norm) == pytest.approx(move, rel=1e-12)
        else:
            assert form.weight == best
            assert math.hypot(best, norm) >= move
        assert AddRemove().form(form, ball) == replace(statistic.counted(ball), weighs=True)


def check_count(form, ball):
    """Sums are those of each record alone; they say how many there are, and divide to a mean."""
    records = spread_out(form, ball)
    question = form.ask(ball, form.start(ball), 0)
    total = exactly(question, ball, records)
    alone = [exactly(question, ball, taken(records, [i])) for i in range(len(records))]
    assert total == tuple(map(sum, zip(*alone, strict=True)))
    found = (form.released_count(ball, [floats(total)]), form.released_total(ball, [floats(total)]))
    assert found[not form.weighs] is None
    assert found[form.weighs] == pytest.approx(number_of(records), rel=1e-12)
    one = square(form._count_form(ball)) * Fraction(form.add_remove(ball, "distance")) ** 2
    assert form.weight == 0.0 or one >= 1  # what a record adds to the count is within the move


def check_value(form, ball):
    """Without noise values are those of a public number of records."""
    records = spread_out(form, ball)
    found, wanted = walked(form, ball, records), walked(form.statistic, ball, repeated(records))
    if form.statistic.in_parts:
        assert found[-1] == pytest.approx(number_of(records), rel=1e-12)
        parts = form.present(ball, found, lambda: 0.0)
        name = "weight" if form.weighs else "count"
        assert (parts[name], parts[f"{name}_sd"]) == (found[-1], 0.0)
        for name, value in form.statistic.present(ball, wanted, lambda: 0.0).items():
            if np.asarray(value).dtype.kind in "fc":
                np.testing.assert_allclose(parts[name], value, rtol=1e-8, atol=1e-8, err_msg=name)
        found = found[:-1]
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.fast(9)
@over_weights
@over_cases
def test_sums_and_their_number_are_exact_and_values_those_of_a_public_number(
    statistic, ball, weighs
):
    form = form_of(statistic, ball, weighs)
    check_count(form, ball)
    check_value(form, ball)


@over_weights
@pytest.mark.parametrize("statistic", [Moments(), GeometricMedian(3), ClassMoments((0, 1))])
def test_a_form_that_is_wrong_is_seen(statistic, weighs, monkeypatch):
    """Controls: vectors, and what is divided by, that are one per cent off."""
    form = form_of(statistic, CAP, weighs)
    for name, factor, check in (
        ("_scale", 1.01, check_moves),
        ("_scale", 0.99, check_moves),
        ("_count_form", 1.01, check_count),
        ("_count_form", 0.99, check_value),
        ("_factor", 1.01, check_value),
    ):
        right = getattr(Counted, name)
        with monkeypatch.context() as patch:
            patch.setattr(Counted, name, lambda *a, right=right, by=factor: by * right(*a))
            with pytest.raises(AssertionError):
                check(form, CAP)


def test_a_weight_that_is_taken_for_public_is_seen(monkeypatch):
    form = Counted(TangentMean(), 2.0, weighs=True)
    check_moves(form, DISC)
    monkeypatch.setattr(Counted, "_far", lambda self, dim, step: self.statistic.answer_move(dim, 0))
    with pytest.raises(AssertionError):
        check_moves(form, DISC)


def test_vectors_are_scaled_down_to_the_weight_of_their_answer():
    """Never beyond it by the last bit, which the nearest float is in half of the cases."""
    beyond = 0
    for weight in np.random.default_rng(0).uniform(0.1, 2.0, size=60).tolist():
        form = Counted(GeometricMedian(rounds=3), weight)
        norm = Fraction(form.statistic.answer_norm(2, 0)) ** 2 + Fraction(weight) ** 2
        allowed = Fraction(form.answer_weight(0)) ** 2
        found = form._scale(DISC, 0)
        assert Fraction(found) ** 2 * norm <= allowed
        assert Fraction(found) ** 2 * norm >= allowed * (1 - Fraction(1, 10**15))
        nearest = float(form.answer_weight(0) / math.sqrt(norm))
        beyond += Fraction(nearest) ** 2 * norm > allowed
    assert beyond > 5  # the control


@dataclass(frozen=True)
class Short(Vector):
    share: float

    @property
    def norm(self):
        return Fraction(self.share) ** 2


@dataclass(frozen=True)
class Understated(SumStatistic):
    """The vectors themselves; a norm that is too small is noticed."""

    name = "tests.Understated"
    share: float = 1.0

    def shape(self, dim):
        return Short(dim, self.share)

    def parts(self, view, features, deviation):
        return {"mean": features}


def test_a_norm_that_is_too_small_is_noticed():
    check = "features_are_as_short_as_is_stated"
    dict(part_checks(Understated(), ball=CAP))[check]()
    with pytest.raises(AssertionError, match=r"no longer than those of their shape, 0\.99"):
        dict(part_checks(Understated(0.99), ball=CAP))[check]()
    form = Counted(Understated(0.99), 1.0)
    far = Records(CAP.point(CAP.reach * np.eye(2)[:1]))
    assert exactly(form.ask(CAP, form.start(CAP), 0), CAP, far) == (0, 0, form._one(CAP))


class Batched(Understated):
    """What an array does whose results depend on its length, far more than any does."""

    name = "tests.Batched"

    def rows(self, ball, records):
        found = super().rows(ball, records)
        return found - len(found)


def test_what_the_length_of_an_array_does_is_undone():
    """A control: in one array of all records the sums would tell how many there are."""
    records = spread_out(Batched(), CAP)
    form = Counted(Batched(), 1.0)
    check_count(form, CAP)
    question = form.ask(CAP, form.start(CAP), 0)
    together = question.finish(CAP, question.summarise(CAP, records), 0.0)
    assert together != exactly(question, CAP, records)


@pytest.mark.fast(4)
@over_weights
@over_pairs
def test_the_checks_of_any_statistic_hold(statistic, ball, weighs):
    ball = ball if not ball.is_whole else Ball(ball.manifold, ball.center, 1.0)
    check_part(form_of(statistic, ball, weighs), ball=ball)


# A number that is noisy, or none.


@over_weights
@over_pairs
def test_no_records_and_fewer_than_none(statistic, ball, weighs):
    form = form_of(statistic, ball, weighs)
    points = np.zeros((0, *ball.manifold.point_shape))
    nobody = Records(points, **form.typical_extras(0, np.random.default_rng(0)))
    for below in (0.0, 0.3):  # as it was drawn; divided by one
        found = walked(form, ball, nobody, 0.1, lambda sums, step, below=below: sums - below)
        assert np.isfinite(found).all()
        if statistic.in_parts:
            assert (found[-1] < 0.0) == (below > 0.0)
            for value in form.present(ball, found, lambda: 1.0).values():
                # the concentration of a resultant of length 1 or more is infinite
                assert np.asarray(value).dtype.kind not in "fc" or not np.isnan(value).any()
    exact = exactly(form.ask(ball, form.start(ball), 0), ball, nobody)
    assert exact == (0,) * form.answers(ball).manifold.dim
    if weighs:
        light = spread_out(form, ball)
        light = replace(light, weights=np.full(len(light), 2.0**-41))
        assert exactly(form.ask(ball, form.start(ball), 0), ball, light) == exact


@over_pairs
def test_a_number_under_one_is_taken_for_one(statistic, ball):
    """Which it is to the last bit, where what is read of an answer is the same."""
    form = statistic.counted(ball)
    one = floats(exactly(form.ask(ball, form.start(ball), 0), ball, spread_out(statistic, ball, 1)))
    form_of_count, few = form._count_form(ball), []
    for number in (1.0, 0.5, -3.0):
        away = (number - 1.0) * form_of_count / square(form_of_count)
        noisy = one + (away if form.weight else 0.0)
        point = form.move(ball, form.start(ball), noisy, 0, lambda: 0.1)
        few.append((point.inner, point.count))
    texts = {str(inner) for inner, _ in few}
    assert len(texts) == 1
    if form.weight:
        np.testing.assert_allclose([count for _, count in few], [1.0, 0.5, -3.0], atol=1e-9)


def test_a_sum_of_weights_under_the_deviation_of_its_noise_is_taken_for_that():
    form = Counted(TangentMean(), 1.5, weighs=True)
    unit, length = form._scale(DISC, 0) * DISC.reach, 6.0 * math.sqrt(3.0)
    low = np.array([0.2, 0.0, -5.0])  # of the number the deviation is 6 / (1.5 unit)
    value = form.move(DISC, form.start(DISC), low, 0, lambda: length).inner
    np.testing.assert_allclose(DISC.coordinates(value[None])[0], [0.2 * 1.5 * DISC.reach / 6, 0.0])
    form = Counted(Moments(), 1.5, weighs=True)
    features = np.append(np.ones(3), -2.0)
    parts = form.present(DISC, features, lambda: 0.5)
    deviation = 0.5 / float(form._one(DISC))
    assert parts.weight_sd == pytest.approx(deviation)
    assert parts.mean_sd > 0.5 / (form._scale(DISC, 0) * deviation)
    assert unit > 0.0


def test_weights_outside_the_unit_interval_count_as_the_nearest_in_it():
    """However they came there: releases refuse them."""
    form, point = Counted(TangentMean(), 1.0, weighs=True), DISC.point([[0.3, 0.2]])
    for wild, near in ((7.0, 1.0), (1e300, 1.0), (math.inf, 1.0), (-3.0, 0.0), (math.nan, 0.0)):
        found, wanted = (
            exactly(form.ask(DISC, form.start(DISC), 0), DISC, Records(point, weights=[each]))
            for each in (np.float64(wild), near)
        )
        assert found == wanted


@over_pairs
def test_the_inner_statistic_is_told_the_noise_in_its_own_answers(statistic, ball, monkeypatch):
    """Its mean length in so many coordinates, of so many records as were released."""
    form, kind, told = statistic.counted(ball), type(statistic), []
    inner = kind.move

    def recorded(*given):
        told.append((np.ravel(given[3]), given[5]()))
        return inner(*given)

    question = form.ask(ball, form.start(ball), 0)
    sums = 0.5 * floats(exactly(question, ball, spread_out(statistic, ball, 40)))
    moved = sums.copy()
    moved[0] += 1e-3 * np.linalg.norm(sums)
    monkeypatch.setattr(kind, "move", recorded)
    for noisy in (sums, moved):
        form.move(ball, form.start(ball), noisy, 0, lambda: 3.0)
    if isinstance(statistic, TangentMean):
        told = [(ball.coordinates(point.reshape(ball.center.shape)), s) for point, s in told]
    by = (told[1][0] - told[0][0])[0] / (moved - sums)[0]
    size, whole = len(told[0][0]), len(sums)
    assert told[0][1] == pytest.approx(3.0 * by * math.sqrt((size - 0.5) / (whole - 0.5)), rel=1e-6)
    assert told[0][1] < 0.5  # the control: divided by the number, which is 20


# What is said of the noise in values.


def simulated(form, ball, records, sd, draws):
    """Values with Gaussian noise in every answer."""
    rng, size = np.random.default_rng(4), form.answers(ball).manifold.dim
    length, data = sd * math.sqrt(size - 0.5), Prepared(ball, records)
    known = {}
    for _ in range(draws):
        point = form.start(ball)
        for step in range(form.steps):
            if step or not known:
                known[step] = floats(answer(form.ask(ball, point, step), ball, data, 0.0))
            noisy = known[step] + sd * rng.normal(size=size)
            point = form.move(ball, point, noisy, step, lambda: length)
        yield form.value_at(ball, point)


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
    "recentred": (Recentred(Moments()), at_the_boundary(800), 1.0),
    "line": (*line(0.0), 1.0),
    "line far from 0": (*line(50.0), 1.0),
}


@pytest.mark.fast(3)
@pytest.mark.parametrize(("name", "weighs"), [*((name, False) for name in SPREADS), ("line", True)])
def test_standard_deviations_have_both_noises_in_them(name, weighs):
    """At the boundary of the ball, where the number of records matters most."""
    statistic, records, sd = SPREADS[name]
    form, n = statistic.counted(CAP), len(records)
    if weighs:  # halves, of twice as many: the same sums
        n = len(records)
        records = replace(taken(records, [*range(n)] * 2), weights=np.full(2 * n, 0.5))
        form = replace(form, weighs=True)
    size = 400 if form.steps > 1 else 1500
    raw = list(simulated(form, CAP, records, sd, size))
    draws = [form.present(CAP, each, lambda: sd) for each in raw]
    number = "weight" if weighs else "count"
    spread = np.std([draw[number] for draw in draws])
    assert spread == pytest.approx(draws[0][f"{number}_sd"], rel=0.12)
    if "line" in name:
        found = np.array([draw.coefficients for draw in draws]).std(axis=0)
        stated = np.mean([draw.coefficients_sd for draw in draws], axis=0)
        np.testing.assert_allclose(found, stated, rtol=0.09)
    else:
        mean = "mean" if form.steps > 1 else "coordinates"
        spreads = [np.array([draw[mean] for draw in draws]).std(axis=0)]
        if form.steps == 1:
            moments = [np.diag(np.atleast_2d(d.second_moment)) for d in draws]
            spreads.append(np.array(moments).std(axis=0))
        for spread, key in zip(spreads, ("mean_sd", "second_moment_sd"), strict=False):
            stated = np.mean([draw[key] for draw in draws])
            assert math.sqrt(np.mean(spread**2)) == pytest.approx(stated, rel=0.12), key
    if form.steps == 1 and name != "line far from 0":  # the control: the sums alone
        alone = statistic.present(CAP, raw[0][:-1], lambda: sd * form._factor(CAP, 0) / n)
        key, spread = ("coefficients_sd", found) if name == "line" else ("mean_sd", spreads[0])
        assert np.ravel(spread)[0] > 1.1 * np.ravel(alone[key])[0]


@pytest.mark.parametrize(
    "statistic", [TangentMean(), Moments(), ClassMoments((0, 1)), DirectionalMoments(1)], ids=str
)
def test_expected_noise_is_that_of_a_value_at_the_boundary(statistic):
    n, sd = 500, 0.5
    labels = {"labels": np.zeros(n, dtype=int)} if statistic.takes else {}
    records = Records(CAP.point(np.tile(CAP.reach * np.eye(2)[0], (n, 1))), **labels)
    form = statistic.counted(CAP)
    exact = floats(exactly(form.ask(CAP, form.start(CAP), 0), CAP, records))
    noisy = exact + sd * np.random.default_rng(8).normal(size=(4000, len(exact)))
    mean, number = exact / n, noisy @ form._count_form(CAP)
    error = form._factor(CAP, 0) * (noisy / number[:, None] - mean)[:, : form._size(CAP)]
    found = math.sqrt(np.mean(np.sum(error**2, axis=-1)))
    stated = form.noise_in_value(CAP) * sd * math.sqrt(len(exact)) / n
    if form.weight:
        assert found == pytest.approx(stated, rel=0.05)
    else:  # of class sizes the noise of the count is in the features too
        assert 0.7 * stated < found <= 1.03 * stated


def test_noise_of_a_refined_mean_is_no_longer_than_said():
    points = [1.1, 0.1] + 0.05 * np.random.default_rng(0).normal(size=(500, 2))
    form, sd = RefinedMean().counted(DISC), 0.15
    values = np.array(list(simulated(form, DISC, Records(points), sd, 300)))
    found = np.mean(np.linalg.norm(values - points.mean(axis=0), axis=-1))
    stated = form.noise_in_value(DISC) * sd * math.sqrt(3.5) / 500
    assert 0.05 * stated < found < stated  # which is were they spread over the whole ball


@pytest.mark.parametrize("base", ["recentred", "public"])
def test_a_variance_comes_out_right_on_average(base):
    points = [0.3, 0.0] + 0.25 * np.random.default_rng(0).normal(size=(600, 2))
    exact = float(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=-1)))
    form = Variance(base, alpha=4.0).counted(DISC)
    found = np.array(list(simulated(form, DISC, Records(points), 0.6, 300)))
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
        dim = ball.manifold.dim
        best = statistic.count_weight(dim)
        a, size = statistic.answer_norm(dim, 0), statistic.shape(dim).size

        def error(w, a=a, size=size):
            return (a * a + w * w) * (size + a * a / (w * w))

        assert error(best) <= min(error(1.02 * best), error(0.98 * best))
        assert error(best) == pytest.approx((a * (1.0 + math.sqrt(size))) ** 2)
    assert ClassMoments((0, 1)).counted(CAP).weight == 0.0


# Releases.


@pytest.mark.fast(9)
@over_pairs
def test_releases_from_end_to_end(statistic, ball):
    n = 150
    records = spread_out(statistic, ball, n)
    release = private_statistic(statistic, records, ball, GDP(1.0), neighbours=AddRemove())
    assert verify(release).passed
    assert (release.n, release.proven) == (None, True)
    assert release.guarantee.adjacency == "add-remove"
    assert set(statistic.proofs()) | {"counted"} == set(release.statistic.proofs())
    sd = release.mechanism.sigma * math.sqrt(square(release.statistic._count_form(ball)))
    assert abs(release.count - n) < 6.0 * sd
    assert release.expected_distance > 0.0
    again = Release.from_json(release.to_json())
    assert verify(again).passed
    assert (again.statistic, again.count) == (release.statistic, release.count)
    if statistic.in_parts:
        assert release.value.count == pytest.approx(release.count, rel=1e-12)
        assert release.value.count_sd == pytest.approx(sd)
        with pytest.raises(UnsupportedError, match="public number of records"):
            release.statistic.released_moments(ball, release.raw, 1.0, n)


def test_releases_for_people():
    points = np.asarray(spread_out(RefinedMean(), CAP, 90).points)
    records = Records(points, users=np.arange(90) // 3)
    release = private_statistic(RefinedMean(), records, CAP, GDP(1.0), neighbours=AddRemoveUser())
    assert verify(release).passed
    assert abs(release.count - 30) < 30.0


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
    form = statistic.counted(ball)
    records = spread_out(statistic, ball, 9)
    counted = exactly(form.ask(ball, form.start(ball), 0), ball, records)
    ones, form = replace(records, weights=np.ones(9)), replace(form, weighs=True)
    assert exactly(form.ask(ball, form.start(ball), 0), ball, ones) == counted


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
            statistic.counted(CAP)
    for each in (*public, *map(Recentred, public)):  # however the form was made
        for weighs in (False, True):
            form = Counted(each, 1.0, weighs)
            for relation in (AddRemove(), ReplaceOne(), ReplacePoint()):
                with pytest.raises(UnsupportedNeighboursError):
                    relation.sensitivity(form, CAP, 2, "coordinates")


def test_weights_are_in_their_range():
    assert Counted(Moments(), weight=4.0).weight == 4.0
    for wrong in (0.0, -1.0, 2.0**-21, 4.001, math.inf, math.nan):
        with pytest.raises(InvalidParameterError, match="weight"):
            Counted(Moments(), weight=wrong)
    for wrong in (0, 1, None, "yes"):
        with pytest.raises(InvalidParameterError, match="weighs must be true or false"):
            Counted(Moments(), 1.0, weighs=wrong)


def test_parameters():
    with pytest.raises(InvalidParameterError, match="weight must be 0"):
        Counted(ClassMoments((0, 1)), 1.0)
    for wrong in (FrechetMean(), Counted(TangentMean(), 1.0, True), Counted(Moments(), 1.0)):
        with pytest.raises(InvalidParameterError, match="sum over the records"):
            Counted(wrong, 1.0)
    assert RefinedMean(rounds=1).counted(CAP) == FrechetMean().counted(DISC)
    for statistic, ball in PAIRS:
        form = statistic.counted(ball)
        assert decode(encode(form), "statistic") == form
        assert form.counted(ball) is form
        assert form.title == f"counted {statistic.name}"
        weighted = form_of(statistic, ball, True)
        assert decode(encode(weighted), "statistic") == weighted
        assert weighted.title == f"weighted {statistic.name}"
        assert form.proofs()["counted"] == "docs/proofs/neighbours.md"
    with pytest.raises(UnsupportedError, match="do not say how many"):
        Moments().count_form(2)


# Releases with private weights, and of people who count for their records.


def test_the_error_with_weights_is_that_of_the_formula():
    n, sigma, draws = 500, 1.0, 4000
    rng = np.random.default_rng(3)
    points, weights = rng.uniform(0.8, 1.0, size=(n, 1)), rng.uniform(size=n)
    form, records = TangentMean().weighted(1), Records(points, weights=weights)
    values = [value[0] for value in simulated(form, SEGMENT, records, sigma, draws)]
    total, mean = weights.sum(), float(weights @ points[:, 0] / weights.sum())
    rms = math.sqrt(np.mean((np.array(values) - mean) ** 2))
    law = 2.0 * sigma * math.sqrt(1.0 + mean**2 / 3.0) / total
    assert rms == pytest.approx(law, rel=0.06)
    assert abs(rms / (2.0 * sigma / total) - 1.0) > 0.06  # the control: public weights
    stated = form.noise_in_value(SEGMENT) * sigma * math.sqrt(math.pi / 2.0) / total
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
    form = inner.weighted(2)
    assert found.statistic == (form if adjacency == "replace-one" else form.counted(CAP))
    assert found.proven
    assert (found.n, found.count) == ((n, n) if adjacency == "replace-one" else (None, None))
    read = Release.from_json(found.to_json())
    assert verify(read).passed
    mean = weights @ CAP.coordinates(points) / weights.sum()
    assert np.linalg.norm(CAP.coordinates(found.value[None])[0] - mean) < 0.05
    # honest: by the sum of weights that was released, not by the number of records
    factor = found.statistic.noise_in_value(CAP) * found.mechanism.expected_distance()
    assert found.expected_distance == pytest.approx(factor / weights.sum(), rel=0.1)
    assert found.expected_distance > 1.5 * factor / n
    tampered = replace(read, statistic=replace(found.statistic, weight=1.9))
    assert not verify(tampered).passed


def test_the_noise_of_a_weighted_mean_is_that_of_one_sum_and_another():
    """In units of the longest row: r sqrt(1 + weight^2) of the sums themselves is r here."""
    options = {"weights": np.full(800, 0.25), "private_weights": True}
    found = private_mean(np.full((800, 1), 0.5), SEGMENT, GDP(1.0), **options)
    assert found.sensitivity == pytest.approx(1.0)  # half of 2 r, as rows are
    noise = 2.0 * math.sqrt((1.0 + 1.0 / 3.0) / 2.0) * math.sqrt(math.pi / 2.0)
    assert found.expected_distance == pytest.approx(noise / 200.0, rel=0.1)
    found = private_mean(
        np.full((800, 1), 0.5), SEGMENT, GDP(1.0), adjacency="add-remove", **options
    )
    assert found.statistic.weight == 1.0
    noise = math.sqrt(2.0) * math.sqrt(math.pi / 2.0)
    assert found.expected_distance == pytest.approx(noise / 200.0, rel=0.1)


@pytest.mark.parametrize("inner", [Moments(), ClassMoments((0, 1)), Recentred(Moments())], ids=str)
def test_statistics_with_private_weights(inner):
    rng, n = np.random.default_rng(4), 3000
    points, weights = CAP.point(rng.uniform(-0.4, 0.5, size=(n, 2))), rng.uniform(size=n)
    records = Records(points, weights=weights, **inner.typical_extras(n, rng))
    form = inner.weighted(2)
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
    return exactly(statistic.ask(SEGMENT, statistic.start(SEGMENT), 0), SEGMENT, units)


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
        found[weight] = largest(form) / form._scale(SEGMENT, 0)
        stated = relation.sensitivity(form, SEGMENT, 2, "coordinates")
        assert largest(form) <= stated
    assert found[ROOT_3] == pytest.approx(2.0, rel=1e-6)
    assert found[1.74] > 2.001  # the control: it is not free


def test_people_count_for_their_records_up_to_a_bound():
    relation = ReplaceUser(contribution=3)
    form = Counted(TangentMean(), 1.0, weighs=True)
    found = of_people(relation, form, [0.5], [0.1, 0.3], [-0.2] * 9)
    total = (0.5 + 2 * 0.2 - 3 * 0.2) / 3.0
    unit = form._scale(SEGMENT, 0)
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
    form = ClassMoments((0, 1)).weighted(2)
    records = Records(np.zeros((4, 2)), labels=[0, 1, 0, 1], users=[0, 0, 1, 1])
    relation = AddRemoveUser(contribution=2)
    with pytest.raises(UnsupportedError, match="leave out contribution, and release it without"):
        private_statistic(form, records, DISC, GDP(1.0), neighbours=relation)
    plain = form.statistic
    private_statistic(plain, records, DISC, GDP(1.0), neighbours=AddRemoveUser())
