"""What a release says of its noise follows from public numbers, and from what it released."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    PureDP,
    Release,
    Sphere,
    UnsupportedError,
    plan,
    private_mean,
    private_statistic,
    verify,
)
from riemdp.release._least_error import least_error
from riemdp.release._offer import Terms, deviation_of, noise_law
from riemdp.statistics import (
    AddRemove,
    Answer,
    GeometricMedian,
    HuberMean,
    Moments,
    Prepared,
    Recentred,
    RefinedMean,
    ReplaceOne,
    TangentMean,
    Variance,
    answer,
    through,
)

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
CAP = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
DRAWS = 100


def mean(ball=PLANE, **options):
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (50, 2)))
    return private_mean(points, ball, GDP(1.0), generator=np.random.default_rng(1), **options)


def noise(mechanism, answers, generator):
    """Noise of an answer in float64: normal, or as long as a gamma law says."""
    law, vector = mechanism.added_noise(answers), generator.standard_normal(answers.manifold.dim)
    if law.kind == "gaussian":
        return law.sigma * vector
    assert law.kind == "laplace"
    return vector / np.linalg.norm(vector) * generator.gamma(len(vector), law.sigma)


def measured(statistic, ball, budget, relation, spread):
    """Errors against the value without noise; expected ones, quantiles, noise of the answer."""
    generator, dim, n = np.random.default_rng(5), ball.manifold.dim, 2000
    records = generator.normal(0.0, spread / np.sqrt(dim), (n, dim)) + 0.3 * np.eye(dim)[0]
    public = n if relation.size_is_public else None
    terms = Terms(ball, public, budget, relation, draws=False)
    offer, _ = least_error(lambda *_: statistic, terms, allow_unproven=False)
    kept = Prepared(ball, ball.point(records))

    def value(is_noisy):
        left = iter(offer.asked)

        def answered(query):
            asked = next(left)
            point = np.array(answer(query, ball, kept, asked.tol), dtype=float)
            if not is_noisy:
                return Answer(asked.answers.point(point), 0.0)
            point += noise(asked.mechanism, asked.answers, generator)
            deviation = deviation_of(asked.mechanism, asked.answers)
            return Answer(asked.answers.point(point), deviation)

        return through(offer.statistic, ball, answered)

    exact, found = value(False), []
    whole = offer.mechanism.expected_distance()
    for _ in range(DRAWS):
        noisy = value(True)
        law = noise_law(offer.mechanism, offer.answers, noisy)
        law = offer.mechanism.factor_law(offer.answers, 0) if law is None else law
        far = float(exact.ball.manifold.dist(noisy.raw, exact.raw))
        found.append((far, noisy.gain * law.mean(), noisy.gain * law.quantile(0.95), whole))
    return np.array(found).T


@pytest.mark.fast(
    *("refined-mean-ball1-PureDP-add-remove-0.1", "variance-ball5-GDP-replace-one-0.1")
)
@pytest.mark.parametrize(
    ("statistic", "ball", "budget", "relation", "spread"),
    [
        (RefinedMean(), PLANE, GDP(1.0), ReplaceOne(), 0.1),
        (RefinedMean(rounds=3), PLANE, PureDP(1.0), AddRemove(), 0.1),
        (RefinedMean(), CAP, GDP(1.0), AddRemove(), 0.1),
        (GeometricMedian(), PLANE, GDP(1.0), ReplaceOne(), 0.1),
        (HuberMean(), PLANE, GDP(1.0), AddRemove(), 0.1),
        (Variance(alpha=4.0), PLANE, GDP(1.0), ReplaceOne(), 0.1),
        (Variance(alpha=4.0), PLANE, PureDP(1.0), AddRemove(), 0.3),
        (Variance(base="public"), PLANE, GDP(1.0), ReplaceOne(), 0.1),
        (TangentMean(), PLANE, PureDP(1.0), AddRemove(), 0.1),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_errors_are_as_long_as_a_release_says(statistic, ball, budget, relation, spread):
    error, stated, quantile, noise = measured(statistic, ball, budget, relation, spread=spread)
    ratio = error.mean() / stated.mean()
    assert 0.65 < ratio < 1.3
    assert np.count_nonzero(error > quantile) < 19  # of 100: p < 1e-4 at 7 %
    # the controls: noise of the public radius, and of all features
    if isinstance(statistic, RefinedMean | HuberMean | GeometricMedian):
        assert error.mean() / noise.mean() < 0.5
    if isinstance(statistic, Variance):
        others = 2.1 * 4.0 * spread if statistic.base == "recentred" else 2.1
        assert error.mean() / (others * noise.mean()) < 0.6


def test_a_variance_has_one_coordinate_of_the_noise():
    """Of a quantile that is taken for all of them, fewer errors stay under it than it says."""
    release = private_statistic(
        Variance(),
        PLANE.point(np.random.default_rng(0).normal(0.0, 0.1, (500, 2))),
        PLANE,
        GDP(1.0),
    )
    ratio = release.error_quantile(0.95) / release.expected_distance
    assert ratio == pytest.approx(1.959964 / np.sqrt(2.0 / np.pi), rel=1e-6)
    whole = release.mechanism.error_quantile(0.95) / release.mechanism.expected_distance()
    assert ratio > 1.3 * whole
    square = release.mean_square_bound / release.expected_distance**2
    assert square == pytest.approx(np.pi / 2.0, rel=1e-6)
    assert release.noise_per_mean**2 == pytest.approx(release.mean_square_bound, rel=1e-12)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    "statistic",
    [RefinedMean(rounds=3), GeometricMedian(), HuberMean(), Recentred(Moments())],
    ids=lambda statistic: statistic.name,
)
def test_plans_for_a_spread_are_what_is_released(statistic, adjacency):
    """For records spread over the ball they state far more, and say that it is an upper end."""
    options = {"statistic": statistic, "adjacency": adjacency}
    guess, end = (
        plan(Euclidean(2), 1.0, 2000, GDP(1.0), spread=spread, **options).best
        for spread in (0.1, None)
    )
    points = PLANE.point(np.random.default_rng(0).normal(0.0, 0.1 / np.sqrt(2.0), (2000, 2)))
    stated = [
        private_statistic(
            statistic,
            points,
            PLANE,
            GDP(1.0),
            adjacency=adjacency,
            generator=np.random.default_rng(seed),
        ).expected_distance
        for seed in range(3)
    ]
    assert guess.expected_distance == pytest.approx(np.mean(stated), rel=0.3)
    assert end.expected_distance > 3.0 * guess.expected_distance
    assert "upper end" in end.caveat
    assert "upper end" not in guess.caveat


def test_a_plan_that_follows_no_spread_names_no_upper_end():
    for statistic in (TangentMean(), Moments(), Variance(base="public")):
        found = plan(Euclidean(2), 1.0, 2000, GDP(1.0), statistic=statistic)
        assert "upper end" not in found.best.caveat


@pytest.mark.parametrize("ball", [PLANE, CAP], ids=str)
def test_of_one_answer_it_is_that_of_the_mechanism(ball):
    release = mean(ball)
    assert release.expected_distance == release.mechanism.expected_distance()
    assert release.error_quantile(0.9) == release.mechanism.error_quantile(0.9)
    assert release.count == 50.0


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_of_several_answers_it_is_as_long_as_what_was_clipped_to(spread):
    """Twice the spread that was released: about ``2 sqrt(2) spread`` in the plane."""
    points = np.random.default_rng(0).normal(0.0, spread, (5000, 2))
    release = private_mean(points, PLANE, GDP(1.0), method="refined")
    length = release.expected_distance / release.mechanism.expected_distance()
    assert length == pytest.approx(min(1.0, max(2.0 * np.sqrt(2.0) * spread, 0.125)), rel=0.1)
    assert release.error_quantile(0.9) == length * release.mechanism.error_quantile(0.9)
    assert release.offer.value.gain == 1.0  # what is planned is for records as far as the radius
    values = [
        private_mean(points, PLANE, GDP(1.0), method="refined").value - np.mean(points, axis=0)
        for _ in range(100)
    ]
    assert np.mean(np.linalg.norm(values, axis=1)) < 1.5 * release.expected_distance


@pytest.mark.parametrize(
    "options", [{}, {"adjacency": "add-remove"}, {"method": "refined"}], ids=str
)
def test_a_mean_square_is_that_of_the_same_noise(options):
    """Of a Gaussian it is over the square of the mean length, and little more."""
    release = mean(mechanism="tangent-gaussian", **options)
    assert 1.0 < release.mean_square_bound / release.expected_distance**2 < 1.3


def test_a_private_number_is_what_was_released():
    release = mean(adjacency="add-remove")
    assert release.n is None
    assert abs(release.count - 50.0) < 25.0
    assert release.count != 50.0
    other = replace(release, rounded=())
    assert other.count is None
    with pytest.raises(UnsupportedError, match="what was released, which is not known"):
        _ = other.expected_distance


@pytest.mark.parametrize("options", [{}, {"method": "refined"}, {"adjacency": "add-remove"}])
@pytest.mark.parametrize("rounded", [(), (1,), (1,) * 9])
def test_of_integers_that_are_none_of_its_answers_nothing_is_known(options, rounded):
    """As a document may state them: what is shown is what was given."""
    release = mean(**options)
    other = replace(release, rounded=rounded)
    np.testing.assert_array_equal(other.value, release.value)
    for unknown in (
        lambda: other.expected_distance,
        lambda: other.error_quantile(0.9),
        lambda: other.mean_square_bound,
    ):
        with pytest.raises(UnsupportedError, match="its integers are not those of its answers"):
            unknown()
    assert other.warnings == release.warnings[:1]  # that the noise was seeded
    assert "noise  " not in str(other)
    assert other.group(2) == release.group(2)
    assert json.loads(other.to_json())["value"] == json.loads(release.to_json())["value"]
    again = Release.from_json(other.to_json())
    assert again.rounded == rounded
    assert not verify(again).passed
