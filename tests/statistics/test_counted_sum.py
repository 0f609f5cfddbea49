"""Sums over a private number of records: no record moves them farther than is said."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    Release,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    UnsupportedNeighboursError,
    private_statistic,
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.kernel import Vector
from riemdp.statistics import (
    AddRemove,
    ClassMoments,
    CountedSum,
    DirectionalMoments,
    DirectVariance,
    FrechetMean,
    MeanRotation,
    Moments,
    PointStatistic,
    Prepared,
    ProcrustesMean,
    Records,
    SumStatistic,
    TangentRegression,
    answer,
)
from riemdp.statistics._sums import count_weight
from riemdp.testing import check_part, part_checks

BALLS = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 2.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
]
SUMS = [
    Moments(),
    Moments("matrix"),
    ClassMoments((0, 1, 2)),
    ClassMoments(("a", "b"), "scalar"),
    ClassMoments((0, 1), "matrix"),
    TangentRegression(-1.0, 3.0),
]
WHOLE = [
    (DirectionalMoments(1), Ball.whole(Sphere(2))),
    (DirectionalMoments(2), Ball.whole(Sphere(2))),
    (DirectionalMoments((1, 2)), Ball.whole(Sphere(3))),
    (MeanRotation(), Ball.whole(Sphere(3))),
    (ProcrustesMean(), Ball.whole(Sphere(5))),
]
CASES = [*itertools.product(SUMS, BALLS), *WHOLE]


def extras(statistic, size, seed=0):
    return statistic.typical_extras(size, np.random.default_rng(seed))


@dataclass(frozen=True)
class Understated(SumStatistic):
    """The vectors themselves; a norm that is too small is noticed."""

    name = "tests.Understated"
    share: float = 1.0

    def shape(self, dim):
        return Vector(dim)

    def rows(self, ball, records):
        return np.rint(super().rows(ball, records) / self.share).astype(np.int64)

    def parts(self, view, features, deviation):
        return {"mean": features}


def test_a_norm_that_is_too_small_is_noticed():
    ball = BALLS[1]
    check = "features_are_as_short_as_is_stated"
    dict(part_checks(Understated(), ball=ball))[check]()
    with pytest.raises(AssertionError, match=r"no longer than those of their shape, 1;"):
        dict(part_checks(Understated(0.99), ball=ball))[check]()
    form = CountedSum(Understated(0.99), 1.0)
    far = ball.point(ball.reach * np.eye(ball.manifold.dim)[:1])
    assert total(form, ball, Records(far)).tolist() == [0] * ball.manifold.dim + [2**40]


@pytest.mark.fast(2)
@pytest.mark.parametrize(("statistic", "ball"), CASES, ids=str)
def test_the_checks_of_any_statistic_hold(statistic, ball):
    if not ball.is_whole:
        check_part(statistic.counted(ball), ball=ball)
    else:
        small = Ball(ball.manifold, ball.center, 1.0)
        check_part(statistic.counted(small), ball=small)


def total(form, ball, records):
    return np.array(Prepared(ball, records).summary(form).total, dtype=object)


class Batched(Understated):
    """What an array does whose results depend on its length, far more than any does."""

    name = "tests.Batched"

    def rows(self, ball, records):
        found = super().rows(ball, records)
        return found - (found >> 30) * len(found)


def test_what_the_length_of_an_array_does_is_undone():
    """A control: in one array of all records the sums would tell how many there are."""
    ball = BALLS[1]
    form = CountedSum(Batched(), 1.0)
    points = ball.point(0.5 * np.random.default_rng(0).uniform(-1, 1, size=(41, 2)))
    alone = sum(total(form, ball, Records(points[i : i + 1])) for i in range(41))
    assert (total(form, ball, Records(points)) == alone).all()
    together = form.summarise(ball, Records(points))
    assert (np.array(together.total, dtype=object) != alone).any()


@pytest.mark.fast(9)
@pytest.mark.parametrize(("statistic", "ball"), CASES, ids=str)
def test_without_noise_parts_are_those_of_a_public_number(statistic, ball):
    form, n = statistic.counted(ball), 37
    rng = np.random.default_rng(3)
    points = ball.point(0.5 * min(ball.reach, 3.0) * rng.uniform(-1, 1, (n, ball.manifold.dim)))
    records = Records(points, **extras(statistic, n))
    sums = np.array([float(x) for x in answer(form, ball, records, 0.0)])
    means = np.array([float(x) for x in answer(statistic, ball, records, 0.0)])
    found = form.present(ball, form.move(ball, form.start(ball), sums, 0), lambda: 0.0)
    wanted = statistic.present(ball, means, lambda: 0.0)
    assert found.count == pytest.approx(n, rel=1e-9)
    assert found.count_sd == 0.0
    for name, value in wanted.items():
        if np.asarray(value).dtype.kind in "fc":
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("statistic", SUMS, ids=str)
def test_no_records_and_fewer_than_none(statistic):
    ball = BALLS[1]
    form = statistic.counted(ball)
    nobody = Records(np.zeros((0, 3)), **extras(statistic, 0))
    empty = answer(form, ball, Prepared(ball, nobody), 0.0)
    assert empty == (0,) * form.answers(ball).manifold.dim
    noise = np.full(len(empty), -0.3)
    found = form.present(ball, noise, lambda: 1.0)
    assert found.count < 0.0  # as it was drawn; divided by one
    for value in found.values():
        assert np.asarray(value).dtype.kind not in "fc" or np.isfinite(value).all()


def test_the_number_is_that_of_the_integers_and_divides_from_one_on():
    ball = BALLS[0]
    form = CountedSum(Moments(), 0.7)
    exact = answer(form, ball, Records([[0.4], [0.9], [0.1]]), 0.0)
    sums = np.array([float(x) for x in exact])
    assert abs(form.released_count(ball, [sums]) - 3.0) < 1e-14  # of the grid, to the last bits
    few = sums.copy()
    few[-1] /= 6.0
    one = sums.copy()
    one[-1] /= 3.0
    found, wanted = (form.present(ball, value, lambda: 0.1) for value in (few, one))
    assert found.count == pytest.approx(0.5)
    np.testing.assert_allclose(found.coordinates, wanted.coordinates, rtol=1e-9)
    assert found.mean_sd == pytest.approx(wanted.mean_sd)


def draws_of(form, ball, records, sd, *, seed, size=1500):
    """Parts of many draws with noise of that standard deviation, in units of the form."""
    exact = np.array([float(x) for x in answer(form, ball, records, 0.0)])
    rng = np.random.default_rng(seed)
    noise = sd * rng.normal(size=(size, len(exact)))
    return [form.present(ball, exact + each, lambda: sd) for each in noise]


def rms(values):
    return math.sqrt(np.mean(np.square(values)))


@pytest.mark.parametrize("second", ["scalar", "matrix"])
def test_standard_deviations_of_moments_have_both_noises_in_them(second):
    """At the boundary of the ball, where the number of records matters most."""
    ball, n = BALLS[1], 400
    rows = np.tile(0.75 * np.eye(2)[0], (n, 1)) + 0.02 * np.eye(2)[np.arange(n) % 2]
    form = Moments(second).counted(ball)
    draws = draws_of(form, ball, Records(ball.point(rows)), 2.0, seed=5)
    parts = [np.array([draw.coordinates for draw in draws]).std(axis=0)]
    parts.append(np.array([np.diag(np.atleast_2d(d.second_moment)) for d in draws]).std(axis=0))
    for spread, name in zip(parts, ("mean_sd", "second_moment_sd"), strict=True):
        stated = np.mean([draw[name] for draw in draws])
        assert rms(spread) == pytest.approx(stated, rel=0.08), name
    assert np.std([d.count for d in draws]) == pytest.approx(draws[0].count_sd, rel=0.08)
    # the noise of the sums alone is less than that
    alone = 2.0 / n
    assert parts[0][0] > 1.1 * alone


@pytest.mark.parametrize("middle", [0.0, 50.0])
def test_standard_deviations_of_a_line_have_both_noises_in_them(middle):
    ball, n = BALLS[1], 600
    scaled = np.linspace(-1.0, 1.0, n)
    ages = middle + 30.0 * scaled
    rows = np.stack([0.7 + 0.05 * scaled, -0.1 * scaled], axis=-1)
    line = TangentRegression(middle - 30.0, middle + 30.0)
    form = line.counted(ball)
    draws = draws_of(form, ball, Records(ball.point(rows), covariates=ages), 1.0, seed=6)
    found = np.array([draw.coefficients for draw in draws]).std(axis=0)
    stated = np.mean([draw.coefficients_sd for draw in draws], axis=0)
    np.testing.assert_allclose(found, stated, rtol=0.09)
    sums_alone = line.present(ball, draws[0].raw[:-1] / draws[0].count, lambda: 1.0 / n)
    if middle == 0.0:
        assert found[0, 0] > 1.1 * sums_alone.coefficients_sd[0, 0]


@pytest.mark.parametrize("statistic", [Moments(), ClassMoments((0, 1)), DirectionalMoments(1)])
def test_expected_noise_is_that_of_features_at_the_boundary(statistic):
    ball, n, sd = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8), 500, 1.0
    rows = np.tile(ball.reach * np.eye(2)[0], (n, 1))
    form = statistic.counted(ball)
    labels = {"labels": np.zeros(n, dtype=int)} if statistic.takes else {}
    records = Records(ball.point(rows), **labels)
    exact = np.array([float(x) for x in answer(form, ball, records, 0.0)])
    rng = np.random.default_rng(8)
    noisy = exact + sd * rng.normal(size=(4000, len(exact)))
    size = statistic.shape(form.dim(ball)).size
    counts = np.array([form.released_count(ball, [row]) for row in noisy])
    error = noisy[:, :size] / counts[:, None] - exact[:size] / n
    found = math.sqrt(np.mean(np.sum(error**2, axis=-1)))
    stated = form.noise_in_value(ball) * sd * math.sqrt(len(exact)) / n
    assert found <= stated * 1.03
    if not form.weight:  # of class sizes the noise of the count is in the features too
        assert found > 0.7 * stated
    else:
        assert found == pytest.approx(stated, rel=0.05)


def test_the_weight_is_the_best_one():
    for statistic, dim in ((Moments(), 6), (Moments("matrix"), 3), (TangentRegression(0, 1), 2)):
        best = count_weight(statistic, dim)
        shape = statistic.shape(dim)
        a, size = float(shape.norm) ** 0.5, shape.size

        def error(w, a=a, size=size):
            return (a * a + w * w) * (size + a * a / (w * w))

        assert error(best) <= min(error(1.02 * best), error(0.98 * best))
        assert error(best) == pytest.approx((a * (1.0 + math.sqrt(size))) ** 2)
    assert count_weight(ClassMoments((0, 1)), 3) == 0.0


PAIRS = [(s, BALLS[k % 4]) for k, s in enumerate(SUMS)] + WHOLE


@pytest.mark.fast(5)
@pytest.mark.parametrize(("statistic", "ball"), PAIRS, ids=str)
def test_releases_from_end_to_end(statistic, ball):
    n = 60
    rng = np.random.default_rng(3)
    points = ball.point(0.5 * min(ball.reach, 3.0) * rng.uniform(-1, 1, (n, ball.manifold.dim)))
    records = Records(points, **extras(statistic, n))
    release = private_statistic(statistic, records, ball, GDP(1.0), neighbours=AddRemove())
    assert verify(release).passed
    assert release.n is None
    assert release.proven
    assert release.guarantee.adjacency == "add-remove"
    assert set(release.statistic.proofs()) == {"counted-sum", statistic.name}
    assert release.count == pytest.approx(release.value.count, rel=1e-12)
    assert abs(release.count - n) < 9.0 * release.value.count_sd
    again = Release.from_json(release.to_json())
    assert verify(again).passed
    assert again.statistic == release.statistic
    assert again.count == release.count
    with pytest.raises(UnsupportedError, match="public number of records"):
        release.statistic.released_moments(ball, release.raw, 1.0, n)


def test_what_is_no_sum_of_private_records_is_refused():
    ball = BALLS[1]
    for statistic, match in (
        (ClassMoments((0, 1), sizes=(3, 4)), "leave sizes out"),
        (TangentRegression(0.0, 1.0, design=(0.1, 0.9)), "leave it out"),
        (DirectVariance(), "release Variance"),
        (FrechetMean(), "no function of sums"),
        (PointStatistic(1.0, 5), "no function of sums"),
    ):
        with pytest.raises(UnsupportedNeighboursError, match=match):
            statistic.counted(ball)


def test_parameters():
    for weight in (0.0, -1.0, 4.5, math.nan, math.inf, 1e-9):
        with pytest.raises(InvalidParameterError, match="weight"):
            CountedSum(Moments(), weight)
    with pytest.raises(InvalidParameterError, match="weight must be 0"):
        CountedSum(ClassMoments((0, 1)), 1.0)
    with pytest.raises(InvalidParameterError, match="sum over the records"):
        CountedSum(FrechetMean(), 1.0)
    for statistic, ball in PAIRS:
        form = statistic.counted(ball)
        assert decode(encode(form), "statistic") == form
        assert form.counted(ball) is form
    with pytest.raises(UnsupportedError, match="do not say how many"):
        Moments().count_form(2)
