from __future__ import annotations

import math

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Euclidean,
    InsufficientSamplesError,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    RaoDP,
    RiemannianLaplace,
    SPDLogEuclidean,
    Sphere,
    TangentGaussian,
)
from riemdp.auditing import (
    DistanceScore,
    FrequencyScore,
    NearestNeighbourScore,
    audit,
    footpoint_pair,
    neighbouring_datasets,
    neighbouring_users,
)
from riemdp.statistics import Records

LINE = TangentGaussian(Euclidean(1), 1.0)


def gaussian_audit(mu, seed, claim=None, samples=4000, **options):
    claim = GDP(max(mu, 0.1)) if claim is None else claim
    return audit(
        LINE, [mu], [0.0], claim, samples=samples, generator=np.random.default_rng(seed), **options
    )


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "least"), [(0.0, 0.0), (0.5, 0.33), (1.0, 0.83), (2.0, 1.80)])
def test_coverage_and_mean_of_the_bound(mu, least):
    """200 runs at 95 %: the bounds exceed the truth no more often, and are not far below."""
    identity = (lambda outputs: outputs[:, 0]) if mu == 0.0 else None
    results = [gaussian_audit(mu, seed, score=identity) for seed in range(200)]
    bounds = np.array([result.mu_lower for result in results])
    assert np.mean(bounds > mu) <= 0.05
    assert bounds.mean() >= least
    assert np.mean([result.verdict == "violated" for result in results]) <= 0.05
    above = [result.epsilon_lower(1e-2) > LINE_EPSILON[mu] for result in results]
    assert np.mean(above) <= 0.05
    if mu == 0.0:
        assert np.mean(bounds == 0.0) >= 0.95
        assert np.mean([result.pure_epsilon_lower == 0.0 for result in results]) >= 0.95


LINE_EPSILON = {0.0: 0.0} | {mu: GDP(mu).epsilon_at(1e-2) for mu in (0.5, 1.0, 2.0)}


@pytest.mark.slow
@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 1e-2), RaoDP(1.0, distance="angle")])
def test_other_claims_keep_the_coverage(claim):
    results = [gaussian_audit(1.0, seed, claim) for seed in range(100)]
    assert np.mean([result.mu_lower > 1.0 for result in results]) <= 0.05
    assert np.mean([result.mu_lower for result in results]) >= 0.7


@pytest.mark.slow
def test_a_learned_score_keeps_the_coverage_on_null_data():
    """A score that learns noise shows nothing on the other half."""
    results = [
        audit(
            lambda data, generator: generator.normal(size=2),
            [0.0],
            [1.0],
            GDP(0.1),
            samples=600,
            score=NearestNeighbourScore(neighbours=1),
            generator=np.random.default_rng(seed),
        )
        for seed in range(100)
    ]
    assert np.mean([result.mu_lower == 0.0 for result in results]) >= 0.95


@pytest.mark.slow
def test_confidence_is_what_is_missed():
    """At confidence 50 % the bounds are larger, and miss more often."""
    loose = [gaussian_audit(1.0, seed, samples=600, confidence=0.5).mu_lower for seed in range(100)]
    tight = [gaussian_audit(1.0, seed, samples=600).mu_lower for seed in range(100)]
    assert np.mean(loose) > np.mean(tight) + 0.05
    assert np.mean(np.array(loose) > 1.0) <= 0.5


def test_the_seed_decides():
    first, second, other = (gaussian_audit(1.0, seed) for seed in (0, 0, 1))
    assert first == second
    assert first != other


def test_callables_and_their_default_scores():
    rng = np.random.default_rng(0)
    scalar = audit(
        lambda data, generator: data.sum() + generator.normal(),
        np.array([0.0, 2.0]),
        np.array([0.0, 0.0]),
        GDP(1.0),
        samples=2000,
        generator=rng,
    )
    assert scalar.score == "IdentityScore"
    assert 1.5 < scalar.mu_lower <= 2.0
    falling = audit(
        lambda data, generator: generator.normal() - data,
        2.0,
        0.0,
        GDP(1.0),
        samples=2000,
        generator=rng,
    )
    assert 1.5 < falling.mu_lower <= 2.0
    array = audit(
        lambda data, generator: data[0] * np.eye(2) + generator.normal(size=(2, 2)),
        [2.0],
        [0.0],
        GDP(1.0),
        samples=2000,
        generator=rng,
    )
    assert array.score == "LinearScore"
    assert 2.3 < array.mu_lower <= 2.0 * math.sqrt(2.0)


def test_discrete_outputs():
    """Randomised response and its truth, by labels and by numbers."""
    epsilon = 1.0
    keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))

    def respond(data, generator):
        return bool(data[0]) if generator.random() < keep else not data[0]

    for score, make in [(None, respond), (FrequencyScore(), lambda d, g: str(respond(d, g)))]:
        result = audit(
            make,
            [True],
            [False],
            PureDP(epsilon),
            samples=4000,
            score=score,
            generator=np.random.default_rng(1),
        )
        assert result.verdict == "consistent"
        assert 0.85 < result.pure_epsilon_lower <= epsilon


def test_labels_need_a_score():
    with pytest.raises(InvalidParameterError, match="FrequencyScore"):
        audit(lambda data, generator: "a", [0], [1], GDP(1.0), samples=100)
    with pytest.raises(InvalidParameterError, match="one shape"):
        audit(
            lambda data, generator: np.zeros(generator.integers(1, 9)),
            [0],
            [1],
            GDP(1.0),
            samples=100,
        )


def test_too_few_samples_say_how_many_are_needed():
    with pytest.raises(InsufficientSamplesError, match="at least 23 are needed"):
        gaussian_audit(1.0, 0, GDP(1.0), samples=22)
    gaussian_audit(1.0, 0, GDP(1.0), samples=23)
    with pytest.raises(InsufficientSamplesError):
        gaussian_audit(1.0, 0, PureDP(8.0))
    with pytest.raises(InsufficientSamplesError, match="at least 2"):
        gaussian_audit(1.0, 0, samples=1)


def test_bad_input():
    def mechanism(data, generator):
        raise AssertionError("nothing is drawn before the input is checked")

    with pytest.raises(InvalidParameterError, match="not neighbours"):
        audit(mechanism, np.zeros(3), np.ones(3), GDP(1.0), samples=100)
    with pytest.raises(InvalidParameterError, match="claim"):
        audit(mechanism, [0], [1], 1.0, samples=100)
    with pytest.raises(InvalidParameterError, match="samples"):
        audit(mechanism, [0], [1], GDP(1.0), samples=100.0)
    for confidence in (0.4, 1.0, math.nan):
        with pytest.raises(InvalidParameterError, match="confidence"):
            audit(mechanism, [0], [1], GDP(1.0), samples=100, confidence=confidence)
    with pytest.raises(InvalidParameterError, match="score"):
        audit(mechanism, [0], [1], GDP(1.0), samples=100, score="distance")
    with pytest.raises(InvalidParameterError, match="generator"):
        audit(mechanism, [0], [1], GDP(1.0), samples=100, generator=0)
    with pytest.raises(InvalidParameterError, match="mechanism"):
        audit(3, [0], [1], GDP(1.0), samples=100)
    with pytest.raises(InvalidParameterError, match="NaN"):
        audit(lambda d, g: math.nan, [0], [1], GDP(1.0), samples=100)


def test_a_density_that_its_own_draws_contradict_shows_nothing_infinite():
    class TooNarrow:
        def sample(self, footpoint, size, generator):
            return generator.uniform(-1.0, 1.0, size=size) + 0.0 * footpoint

        def log_density(self, point, footpoint):
            return np.where(np.abs(point - footpoint) <= 0.5, 0.0, -np.inf)

    class Pole(TooNarrow):
        def log_density(self, point, footpoint):
            return np.where((point < 0.0) & (footpoint == 0.0), np.inf, 0.0)

    for mechanism in (TooNarrow(), Pole()):
        result = audit(
            mechanism, 0.0, 0.3, PureDP(0.5), samples=400, generator=np.random.default_rng(0)
        )
        assert result.verdict == "consistent"
        assert result.pure_epsilon_lower < 0.5


def test_outputs_that_a_score_cannot_take():
    def outputs(value):
        return lambda data, generator: value

    for score in (None, NearestNeighbourScore()):
        for bad in (np.nan, np.inf):
            with pytest.raises(InvalidParameterError, match="NaN or infinite"):
                audit(outputs([bad, 0.0]), [0], [1], GDP(1.0), samples=100, score=score)
    with pytest.raises(InvalidParameterError, match="labels"):
        audit(outputs({}), [0], [1], GDP(1.0), samples=100, score=FrequencyScore())
    with pytest.raises(InvalidParameterError, match="2 entries on one data set and 1 on the other"):
        audit(
            lambda data, generator: np.zeros(1 if data[0] else 2), [0], [1], GDP(1.0), samples=100
        )
    with pytest.raises(InvalidParameterError, match="not its class"):
        audit(outputs(0.0), [0], [1], GDP(1.0), samples=100, score=FrequencyScore)


def test_nan_is_one_label():
    result = audit(
        lambda data, generator: float(np.nan) if data[0] else float(generator.integers(9)),
        [1],
        [0],
        PureDP(1.0),
        samples=400,
        score=FrequencyScore(),
        generator=np.random.default_rng(0),
    )
    assert result.verdict == "violated"


def test_footpoints_and_outputs_off_the_manifold():
    sphere = Sphere(2)
    mechanism = RiemannianLaplace(sphere, 0.1)
    with pytest.raises(NotOnManifoldError):
        audit(mechanism, [0, 0, 2.0], [0, 0, 1.0], PureDP(1.0), samples=100)
    with pytest.raises(InvalidParameterError, match="two footpoints of shape"):
        audit(mechanism, np.eye(3), np.eye(3), PureDP(1.0), samples=100)
    first, second = footpoint_pair(sphere, 0.1)
    with pytest.raises(NotOnManifoldError):
        audit(
            lambda data, generator: data[0] + 0.1 * generator.normal(size=3),
            first[None],
            second[None],
            PureDP(1.0),
            samples=100,
            score=DistanceScore(sphere, first, second),
        )


def test_matrices_and_the_secure_generator():
    space = SPDLogEuclidean(2)
    first, second = footpoint_pair(space, 2.0)
    claim = PureDP(2.0)
    result = audit(
        RiemannianLaplace(space, 1.0), first, second, claim, samples=4000, confidence=1 - 1e-12
    )
    assert result.verdict == "consistent"
    assert result.mu_lower > 0.3


def test_public_names():
    assert riemdp.audit is audit
    assert riemdp.AuditResult.__name__ == "AuditResult"


@pytest.mark.parametrize("manifold", [Euclidean(3), Sphere(2)], ids=str)
def test_a_hundred_thousand_draws_are_quick(manifold, effort):
    first, second = footpoint_pair(manifold, 0.2)
    mechanism = RiemannianLaplace(manifold, 0.2)
    results = []

    def audited():
        generator = np.random.default_rng(0)
        results.append(
            audit(mechanism, first, second, PureDP(1.0), samples=100_000, generator=generator)
        )

    assert effort(audited) <= 300.0  # about 30, and 0.15 seconds
    assert results[0].verdict == "consistent"


BALL = Ball(Euclidean(2), np.zeros(2), 1.0)
WEIGHT = 0.5


def counted(points, generator, mu=1.0):
    """Sum and number of records, with noise for mu between data sets of a record more or less."""
    answer = np.append(np.sum(points, axis=0), WEIGHT * len(points))
    return answer + np.hypot(1.0, WEIGHT) / mu * generator.standard_normal(3)


def relation_audit(pair, claim, mechanism=counted, **options):
    options = {"samples": 4000, "generator": np.random.default_rng(0)} | options
    return audit(mechanism, *pair, claim, **options)


def test_what_add_remove_promises_about_a_record_that_is_replaced():
    """mu under add-remove is 2 mu / sqrt(1 + weight^2) under replace-one: neither mu nor 2 mu."""
    more = neighbouring_datasets(BALL, 6, adjacency="add-remove")
    result = relation_audit(more, GDP(1.0, adjacency="add-remove"))
    assert (result.verdict, result.claim.adjacency) == ("consistent", "add-remove")
    assert 0.75 < result.mu_lower <= 1.0
    assert relation_audit(more, GDP(0.5), adjacency="add-remove").verdict == "violated"
    replaced = neighbouring_datasets(BALL, 6)
    exact = 2.0 / np.hypot(1.0, WEIGHT)
    result = relation_audit(replaced, GDP(exact))
    assert (result.verdict, result.claim.adjacency) == ("consistent", "replace-one")
    assert 1.55 < result.mu_lower <= exact < 1.8
    assert relation_audit(replaced, GDP(1.0)).verdict == "violated"
    twice = relation_audit(replaced, GDP(2.0))
    assert (twice.verdict, twice.mu_lower < 1.8) == ("consistent", True)


def test_the_claim_says_which_pairs_are_neighbours():
    """A pair of the other relation is refused before anything is drawn, in all the ways to say."""
    more = neighbouring_datasets(BALL, 6, adjacency="add-remove")
    replaced = neighbouring_datasets(BALL, 6)

    def never(points, generator):
        raise AssertionError

    for claim, options in (
        (GDP(1.0, adjacency="add-remove"), {}),
        (GDP(1.0), {"adjacency": "add-remove"}),
        (riemdp.privacy.GaussianCurve(1.0).under("add-remove"), {}),
        (riemdp.privacy.GaussianCurve(1.0), {"adjacency": "add-remove"}),
    ):
        with pytest.raises(InvalidParameterError, match="exactly one record more"):
            relation_audit(replaced, claim, never, **options)
    for claim in (GDP(1.0), riemdp.privacy.GaussianCurve(1.0)):
        with pytest.raises(InvalidParameterError, match="same number of records"):
            relation_audit(more, claim, never)
    for adjacency in ("replace-one", "replace-user"):
        with pytest.raises(InvalidParameterError, match="the claim is about add-remove"):
            relation_audit(more, GDP(1.0, adjacency="add-remove"), never, adjacency=adjacency)
    with pytest.raises(InvalidParameterError, match="adjacency must name"):
        relation_audit(more, GDP(1.0), never, adjacency="")
    with pytest.raises(InvalidParameterError, match="leave users out"):
        relation_audit(replaced, GDP(1.0), never, users=np.arange(6), neighbour_users=np.arange(6))
    with pytest.raises(InvalidParameterError, match="leave users out"):
        audit(LINE, [0.0], [1.0], GDP(1.0), samples=100, users=[1])


def test_people_with_many_records():
    """A mean of all records is no mean of people: one who has four of ten moves it twice as far."""
    (first, users), (second, others) = neighbouring_users(BALL, 5, 2)

    def of_people(points, generator):
        means = [points[users == user].mean(axis=0) for user in np.unique(users)]
        return np.mean(means, axis=0) + 0.4 * generator.standard_normal(2)

    def of_records(points, generator):
        return points.mean(axis=0) + 0.2 * generator.standard_normal(2)

    names = {"users": users, "neighbour_users": others}
    claim = GDP(1.0, adjacency="replace-user")
    assert relation_audit((first, second), claim, of_people, **names).verdict == "consistent"
    # noise for one record of ten that is replaced
    assert relation_audit((first, second), claim, of_records, **names).verdict == "violated"
    with pytest.raises(InvalidParameterError, match="2 records"):
        relation_audit((first, second), GDP(1.0), of_records)
    with pytest.raises(InvalidParameterError, match="needs users"):
        relation_audit((first, second), claim, of_people)
    # people who come and go take their names with them: data sets that have users themselves
    (first, users), (second, others) = neighbouring_users(BALL, 5, 2, adjacency="add-remove-user")
    pair = (Records(first, users=users), Records(second, users=others))
    sums = lambda data, generator: counted(data.points[::2], generator)  # noqa: E731
    result = relation_audit(pair, GDP(1.0), sums, adjacency="add-remove-user")
    assert (result.verdict, result.mu_lower > 0.75) == ("consistent", True)
