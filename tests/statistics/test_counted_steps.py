"""Answers in turn over a private number of records: no record moves one farther than is said."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

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
    private_huber,
    private_median,
    private_moments,
    private_statistic,
    private_variance,
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    ClassMoments,
    CountedMean,
    CountedRecentred,
    CountedSteps,
    CountedVariance,
    GeometricMedian,
    HuberMean,
    Moments,
    Prepared,
    Recentred,
    Records,
    RefinedMean,
    TangentRegression,
    Variance,
    answer,
)
from riemdp.testing import check_part

BALLS = [
    Ball(Euclidean(2), [0.3, 0.0], 1.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 2.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 2.0),
]
STEPS = [
    RefinedMean(rounds=3),
    GeometricMedian(rounds=3),
    HuberMean(rounds=3),
    Recentred(Moments()),
    Recentred(Moments("matrix"), share=0.4),
    Recentred(ClassMoments((0, 1), "matrix")),
    Recentred(ClassMoments((0, 1))),
    Recentred(TangentRegression(-1.0, 3.0)),
]
CASES = list(itertools.product(STEPS, BALLS))


@pytest.mark.fast(2)
@pytest.mark.parametrize(("statistic", "ball"), CASES, ids=str)
def test_the_checks_of_any_statistic_hold(statistic, ball):
    check_part(statistic.counted(ball), ball=ball)


def spread_out(statistic, ball, n=40, seed=2):
    rng = np.random.default_rng(seed)
    rows = 0.3 + 0.2 * rng.normal(size=(n, ball.manifold.dim))
    return Records(ball.point(ball.reach * rows), **statistic.typical_extras(n, rng))


def walked(form, ball, records, noise, change=lambda sums, step: sums):
    """Value of answers without noise, however long it is said to be."""
    point = form.begin(ball, lambda: noise)
    for step in range(form.steps):
        question = form.ask(ball, point, step)
        found = answer(question, ball, Prepared(ball, records), 0.0)
        sums = np.array([float(x) for x in found])
        point = form.move(ball, point, change(sums, step), step)
    return form.value_at(ball, point)


@pytest.mark.fast(6)
@pytest.mark.parametrize(("statistic", "ball"), CASES, ids=str)
def test_without_noise_values_are_those_of_a_public_number(statistic, ball):
    form, records = statistic.counted(ball), spread_out(statistic, ball)
    found = walked(form, ball, records, 0.0)
    wanted = walked(statistic, ball, records, 0.0)
    if isinstance(form, CountedRecentred):
        assert found[-1] == pytest.approx(40.0, rel=1e-12)
        found = found[:-1]
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9)


def test_the_length_of_noise_follows_the_number_that_was_released():
    """As the inner statistic is told it of a public number, of its own coordinates alone."""
    ball, statistic = BALLS[1], RefinedMean()
    form, records, dim = statistic.counted(ball), spread_out(RefinedMean(), BALLS[1]), 2
    sd = 1.5
    in_a_mean = sd * math.sqrt(dim + 1.5) * form._factor(ball, 0) / 40.0
    part = math.sqrt((dim + 0.5) / (dim + 1.5))
    place = form.move(ball, form.begin(ball, lambda: sd * math.sqrt(dim + 1.5)), zeros(form), 0)
    assert place.number == 1.0  # of no noise, and no records
    question = form.ask(ball, form.start(ball), 0)
    sums = np.array([float(x) for x in answer(question, ball, records, 0.0)])
    place = form.move(ball, form.begin(ball, lambda: sd * math.sqrt(dim + 1.5)), sums, 0)
    assert place.number == pytest.approx(40.0)
    inner = statistic
    mean = answer(inner.ask(ball, inner.start(ball), 0), ball, records, 0.0)
    there = inner.begin(ball, lambda: in_a_mean * part)
    wanted = inner.move(ball, there, np.array([float(x) for x in mean]), 0)
    assert place.inner.unit == pytest.approx(wanted.unit, rel=1e-10)
    assert place.inner.unit > form.move(ball, form.start(ball), sums, 0).inner.unit * 1.0001


def zeros(form):
    return np.zeros(form.answers(BALLS[1]).manifold.dim)


@pytest.mark.parametrize("statistic", STEPS, ids=str)
def test_no_records_at_all(statistic):
    ball = BALLS[1]
    form = statistic.counted(ball)
    nobody = Records(np.zeros((0, 3)), **statistic.typical_extras(0, np.random.default_rng(0)))
    found = walked(form, ball, nobody, 0.1)
    assert np.isfinite(found).all()
    noise = walked(form, ball, nobody, 0.1, lambda sums, step: sums - 0.3)
    assert np.isfinite(noise).all()


RELEASES = {
    "median": lambda x, ball: private_median(x, ball, GDP(1.0), neighbours=AddRemove()),
    "huber": lambda x, ball: private_huber(x, ball, GDP(1.0), neighbours=AddRemove()),
    "moments": lambda x, ball: private_moments(
        x, ball, GDP(1.0), base="recentred", second="matrix", neighbours=AddRemove()
    ),
    "variance": lambda x, ball: private_variance(x, ball, GDP(1.0), neighbours=AddRemove()),
    "variance about the centre": lambda x, ball: private_variance(
        x, ball, GDP(1.0), base="public", neighbours=AddRemove()
    ),
    "refined": lambda x, ball: private_statistic(
        RefinedMean(), x, ball, GDP(1.0), neighbours=AddRemove()
    ),
    "one round": lambda x, ball: private_statistic(
        RefinedMean(rounds=1), x, ball, GDP(1.0), neighbours=AddRemove()
    ),
}


@pytest.mark.fast(3)
@pytest.mark.parametrize("name", RELEASES)
def test_releases_from_end_to_end(name):
    ball = BALLS[1]
    points = np.asarray(spread_out(RefinedMean(), ball, 150).points)
    release = RELEASES[name](points, ball)
    assert verify(release).passed
    assert (release.n, release.proven) == (None, True)
    assert release.guarantee.adjacency == "add-remove"
    again = Release.from_json(release.to_json())
    assert verify(again).passed
    assert again.count == release.count
    assert abs(release.count - 150) < 40.0
    assert 0.0 < release.expected_distance < 1.0


def test_releases_for_people():
    ball = BALLS[1]
    points = np.asarray(spread_out(RefinedMean(), ball, 90).points)
    records = Records(points, users=np.arange(90) // 3)
    release = private_statistic(RefinedMean(), records, ball, GDP(1.0), neighbours=AddRemoveUser())
    assert verify(release).passed
    assert abs(release.count - 30) < 30.0


def simulated(statistic, ball, records, sd, draws):
    """Values of a counted form with Gaussian noise in every answer."""
    form = statistic.counted(ball)
    rng = np.random.default_rng(4)
    length = sd * math.sqrt(form.answers(ball).manifold.dim - 0.5)
    data = Prepared(ball, records)
    for _ in range(draws):
        point = form.begin(ball, lambda: length)
        for step in range(form.steps):
            exact = answer(form.ask(ball, point, step), ball, data, 0.0)
            noise = sd * rng.normal(size=len(exact))
            point = form.move(ball, point, np.array([float(x) for x in exact]) + noise, step)
        yield form.value_at(ball, point)


def test_noise_of_a_refined_mean_is_no_longer_than_said():
    ball = BALLS[0]
    rng = np.random.default_rng(0)
    points = [1.1, 0.1] + 0.05 * rng.normal(size=(500, 2))
    statistic, sd = RefinedMean(), 0.5
    ends = np.array(list(simulated(statistic, ball, Records(points), sd, 300)))
    found = np.mean(np.linalg.norm(ends - points.mean(axis=0), axis=-1))
    form = statistic.counted(ball)
    stated = form.noise_in_value(ball) * sd * math.sqrt(form.answers(ball).manifold.dim) / 500
    assert found < stated  # which is were they spread over the whole ball
    assert found > 0.05 * stated


@pytest.mark.parametrize("base", ["recentred", "public"])
def test_a_variance_comes_out_right_on_average(base):
    ball = BALLS[0]
    rng = np.random.default_rng(0)
    points = [0.3, 0.0] + 0.25 * rng.normal(size=(600, 2))
    exact = float(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=-1)))
    form = Variance(base, alpha=4.0).counted(ball)
    assert isinstance(form, CountedVariance)
    found = np.array(list(simulated(Variance(base, alpha=4.0), ball, Records(points), 2.0, 300)))
    assert found.shape == (300, 1)
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    assert found.mean() == pytest.approx(exact, abs=5.0 * found.std() / 300**0.5 + 0.01 * exact)


def test_standard_deviations_of_recentred_moments():
    """Those that are stated after the second round, given the first."""
    ball = BALLS[0]
    rng = np.random.default_rng(0)
    points = [0.5, 0.1] + 0.1 * rng.normal(size=(800, 2))
    statistic = Recentred(Moments())
    form, sd = statistic.counted(ball), 1.0
    parts = [
        form.present(ball, raw, lambda: sd)
        for raw in simulated(statistic, ball, Records(points), sd, 400)
    ]
    means = np.array([part.mean for part in parts])
    found = np.sqrt(np.mean(np.var(means, axis=0)))
    assert found == pytest.approx(np.mean([part.mean_sd for part in parts]), rel=0.12)
    counts = np.array([part["count"] for part in parts])
    assert counts.std() == pytest.approx(parts[0].count_sd, rel=0.12)


def test_what_has_no_counted_form_is_refused():
    ball = BALLS[1]
    for inner in (ClassMoments((0, 1), sizes=(3, 4)), TangentRegression(0, 1, design=(0.1, 0.9))):
        with pytest.raises(UnsupportedNeighboursError, match="leave"):
            Recentred(inner).counted(ball)
        with pytest.raises(UnsupportedNeighboursError):
            CountedRecentred(Recentred(inner), 1.0).add_remove(ball, "coordinates")
    form = Recentred(Moments("matrix")).counted(ball)
    value = walked(form, ball, spread_out(form, ball), 0.1)
    with pytest.raises(UnsupportedError, match="public number of records"):
        form.released_moments(ball, value, 1.0, 40)


def test_parameters():
    ball = BALLS[1]
    assert isinstance(RefinedMean(rounds=1).counted(ball), CountedMean)
    for weight in (0.0, 5.0, math.nan):
        with pytest.raises(InvalidParameterError, match="weight"):
            CountedSteps(GeometricMedian(), weight)
    for wrong in (Moments(), RefinedMean(rounds=1)):
        with pytest.raises(InvalidParameterError, match="several answers"):
            CountedSteps(wrong, 1.0)
    with pytest.raises(InvalidParameterError, match="Recentred"):
        CountedRecentred(GeometricMedian(), 1.0)
    for wrong in (Moments(), Variance()):
        with pytest.raises(InvalidParameterError, match="private number"):
            CountedVariance(wrong)
    for statistic in [*STEPS, Variance(), Variance("public")]:
        form = statistic.counted(ball)
        assert decode(encode(form), "statistic") == form
        assert form.counted(ball) is form
        assert form.proofs()[form.name] == "docs/proofs/neighbours.md"


def test_vectors_are_scaled_down_to_the_weight_of_their_answer():
    """Never beyond it by the last bit, which the nearest float is in half of the cases."""
    beyond = 0
    for weight in np.random.default_rng(0).uniform(0.1, 2.0, size=60).tolist():
        form = CountedSteps(GeometricMedian(rounds=3), weight)
        square = Fraction(form.statistic.answer_norm(2, 0)) ** 2 + Fraction(weight) ** 2
        allowed = Fraction(form.answer_weight(0)) ** 2
        found = form._scale(BALLS[0], 0)
        assert Fraction(found) ** 2 * square <= allowed
        assert Fraction(found) ** 2 * square >= allowed * (1 - Fraction(1, 10**15))
        nearest = float(form.answer_weight(0) / math.sqrt(square))
        beyond += Fraction(nearest) ** 2 * square > allowed
    assert beyond > 5  # the control
