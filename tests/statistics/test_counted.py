"""Sums over a private number of records: no record moves them farther than is said."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
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
    SumStatistic,
    TangentMean,
    TangentRegression,
    Variance,
    WeightedMean,
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


def spread_out(statistic, ball, n=40, seed=2):
    rng = np.random.default_rng(seed)
    rows = 0.3 + 0.2 * rng.normal(size=(n, ball.manifold.dim))
    points = ball.point(min(ball.reach, 2.0) * rows)
    return Records(points, **statistic.typical_extras(n, rng))


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


def square(vector):
    return sum(x * x for x in vector)


def check_count(form, ball):
    """Sums are those of each record alone; they say how many there are, and divide to a mean."""
    records = spread_out(form.statistic, ball)
    question = form.ask(ball, form.start(ball), 0)
    total = exactly(question, ball, records)
    alone = [exactly(question, ball, taken(records, [i])) for i in range(len(records))]
    assert total == tuple(map(sum, zip(*alone, strict=True)))
    assert form.released_count(ball, [floats(total)]) == pytest.approx(40.0, rel=1e-12)
    one = square(form._count_form(ball)) * Fraction(form.add_remove(ball, "distance")) ** 2
    assert form.weight == 0.0 or one >= 1  # what a record adds to the count is within the move


def check_value(form, ball):
    """Without noise values are those of a public number of records."""
    records = spread_out(form.statistic, ball)
    found, wanted = walked(form, ball, records), walked(form.statistic, ball, records)
    if form.statistic.in_parts:
        assert found[-1] == pytest.approx(40.0, rel=1e-12)
        parts = form.present(ball, found, lambda: 0.0)
        assert (parts.count, parts.count_sd) == (found[-1], 0.0)
        for name, value in form.statistic.present(ball, wanted, lambda: 0.0).items():
            if np.asarray(value).dtype.kind in "fc":
                np.testing.assert_allclose(parts[name], value, rtol=1e-8, atol=1e-8, err_msg=name)
        found = found[:-1]
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.fast(9)
@over_cases
def test_sums_and_their_number_are_exact_and_values_those_of_a_public_number(statistic, ball):
    form = statistic.counted(ball)
    check_count(form, ball)
    check_value(form, ball)


@pytest.mark.parametrize("statistic", [Moments(), GeometricMedian(3), ClassMoments((0, 1))])
def test_a_form_that_is_wrong_is_seen(statistic, monkeypatch):
    """Controls: vectors, and what is divided by, that are one per cent off."""
    form = statistic.counted(CAP)
    for name, factor, check in (
        ("_count_form", 1.01, check_count),
        ("_count_form", 0.99, check_value),
        ("_factor", 1.01, check_value),
    ):
        right = getattr(Counted, name)
        with monkeypatch.context() as patch:
            patch.setattr(Counted, name, lambda *a, right=right, by=factor: by * right(*a))
            with pytest.raises(AssertionError):
                check(form, CAP)


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
@over_pairs
def test_the_checks_of_any_statistic_hold(statistic, ball):
    ball = ball if not ball.is_whole else Ball(ball.manifold, ball.center, 1.0)
    check_part(statistic.counted(ball), ball=ball)


# A number that is noisy, or none.


@over_pairs
def test_no_records_and_fewer_than_none(statistic, ball):
    form = statistic.counted(ball)
    points = np.zeros((0, *ball.manifold.point_shape))
    nobody = Records(points, **statistic.typical_extras(0, np.random.default_rng(0)))
    for below in (0.0, 0.3):  # as it was drawn; divided by one
        found = walked(form, ball, nobody, 0.1, lambda sums, step, below=below: sums - below)
        assert np.isfinite(found).all()
        if statistic.in_parts:
            assert (found[-1] < 0.0) == (below > 0.0)
            for value in form.present(ball, found, lambda: 1.0).values():
                assert np.asarray(value).dtype.kind not in "fc" or np.isfinite(value).all()
    exact = exactly(form.ask(ball, form.start(ball), 0), ball, nobody)
    assert exact == (0,) * form.answers(ball).manifold.dim


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
@pytest.mark.parametrize("name", SPREADS)
def test_standard_deviations_have_both_noises_in_them(name):
    """At the boundary of the ball, where the number of records matters most."""
    statistic, records, sd = SPREADS[name]
    form, n = statistic.counted(CAP), len(records)
    size = 400 if form.steps > 1 else 1500
    raw = list(simulated(form, CAP, records, sd, size))
    draws = [form.present(CAP, each, lambda: sd) for each in raw]
    assert np.std([d.count for d in draws]) == pytest.approx(draws[0].count_sd, rel=0.12)
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
        best, dim = statistic.count_weight(ball), ball.manifold.dim
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


def test_weights_of_one_are_a_count():
    """In units of the longest row."""
    points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(9, 2))
    form = Counted(TangentMean(), 0.7)
    counted = floats(exactly(form.ask(DISC, form.start(DISC), 0), DISC, Records(points)))
    records = Records(points, weights=np.ones(9)).validated(DISC.manifold)
    weighed = floats(answer(WeightedMean(0.7), DISC, records, 0.0))
    np.testing.assert_allclose(math.hypot(1.0, 0.7) * counted, weighed, atol=1e-9)


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
        with pytest.raises(UnsupportedNeighboursError):
            Counted(each, 1.0).add_remove(CAP, "coordinates")


@pytest.mark.parametrize("make", [WeightedMean, functools.partial(Counted, Moments())])
def test_weights_are_in_their_range(make):
    assert make(weight=4.0).weight == 4.0
    for wrong in (0.0, -1.0, 2.0**-21, 4.001, math.inf, math.nan):
        with pytest.raises(InvalidParameterError, match="weight"):
            make(weight=wrong)


def test_parameters():
    with pytest.raises(InvalidParameterError, match="weight must be 0"):
        Counted(ClassMoments((0, 1)), 1.0)
    for wrong in (FrechetMean(), WeightedMean(), Counted(Moments(), 1.0)):
        with pytest.raises(InvalidParameterError, match="sum over the records"):
            Counted(wrong, 1.0)
    assert RefinedMean(rounds=1).counted(CAP) == FrechetMean().counted(DISC)
    for statistic, ball in PAIRS:
        form = statistic.counted(ball)
        assert decode(encode(form), "statistic") == form
        assert form.counted(ball) is form
        assert form.title == f"counted {statistic.name}"
        assert form.proofs()["counted"] == "docs/proofs/neighbours.md"
    with pytest.raises(UnsupportedError, match="do not say how many"):
        Moments().count_form(2)
