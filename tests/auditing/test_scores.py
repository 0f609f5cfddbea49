from __future__ import annotations

import sys

import numpy as np
import pytest

from riemdp import (
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    RiemannianLaplace,
    Sphere,
    TangentGaussian,
)
from riemdp.auditing import (
    ClassifierScore,
    DistanceScore,
    FrequencyScore,
    IdentityScore,
    LearnedScore,
    LinearScore,
    LogLikelihoodRatio,
    NearestNeighbourScore,
)
from riemdp.auditing._scores import evaluate, flat


def test_log_likelihood_ratio(rng):
    mechanism = TangentGaussian(Euclidean(1), 2.0)
    x = rng.normal(size=(20, 1))
    score = LogLikelihoodRatio(mechanism, [1.0], [0.0])
    np.testing.assert_allclose(score(x), (x[:, 0] - 0.5) / 4.0, atol=1e-14)


def test_log_likelihood_ratio_of_impossible_outputs():
    class Uniform:
        def log_density(self, point, footpoint):
            return np.where(np.abs(point - footpoint)[:, 0] <= 1.0, -np.log(2.0), -np.inf)

    score = LogLikelihoodRatio(Uniform(), np.array([0.0]), np.array([1.0]))
    values = score(np.array([[-0.5], [0.5], [1.5], [9.0]]))
    assert np.array_equal(values, [np.inf, 0.0, -np.inf, 0.0])


def test_distance_score_orders_like_the_ratio_on_flat_space(rng):
    score = DistanceScore(Euclidean(1), [1.0], [0.0])
    x = rng.uniform(0.0, 1.0, (20, 1))
    np.testing.assert_allclose(score(x), 2.0 * x[:, 0] - 1.0)
    with pytest.raises(NotOnManifoldError, match="row 1"):
        DistanceScore(Sphere(2), [0, 0, 1], [0, 1, 0])(np.array([[0, 0, 1.0], [0, 0, 2.0]]))


@pytest.mark.parametrize(
    "score", [LinearScore(), NearestNeighbourScore(), ClassifierScore()], ids=str
)
def test_learned_scores_separate(score, rng):
    if isinstance(score, ClassifierScore):
        pytest.importorskip("sklearn")
    assert isinstance(score, LearnedScore)
    shift = np.array([3.0, 0.0, -1.0])
    first, second = rng.normal(size=(2, 400, 3))
    learned = score.fit(first + shift, second)
    test_first, test_second = rng.normal(size=(2, 400, 3))
    wins = learned(test_first + shift)[:, None] > learned(test_second)[None]
    assert wins.mean() > 0.95


def test_linear_score_survives_degenerate_outputs():
    constant = np.ones((50, 2))
    assert np.all(LinearScore().fit(constant, constant)(constant) == 0.0)
    assert np.all(LinearScore().fit(2.0 * constant, constant)(constant) > 0.0)


def test_nearest_neighbours_find_atoms(rng):
    first = np.concatenate([np.zeros((100, 2)), rng.normal(size=(100, 2))])
    second = rng.normal(size=(200, 2))
    score = NearestNeighbourScore(neighbours=5).fit(first, second)
    assert score(np.zeros((1, 2))) == np.inf
    assert np.isfinite(score(np.ones((1, 2)))).all()
    both = NearestNeighbourScore().fit(np.zeros((9, 2)), np.zeros((9, 2)))
    assert both(np.zeros((1, 2))) == 0.0
    with pytest.raises(InvalidParameterError, match="neighbours"):
        NearestNeighbourScore(neighbours=0).fit(first, second)
    with pytest.raises(NotOnManifoldError):
        NearestNeighbourScore(manifold=Sphere(1)).fit(first, second)


def test_classifier_with_a_decision_function(rng):
    svm = pytest.importorskip("sklearn.svm")
    first, second = rng.normal(size=(2, 100, 2))
    model = svm.LinearSVC(dual=True)
    score = ClassifierScore(model).fit(first + 3.0, second)
    assert score(np.full((1, 2), 3.0)) > score(np.zeros((1, 2)))
    assert not hasattr(model, "coef_")  # a clone was trained


def test_classifier_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(InvalidParameterError, match="scikit-learn"):
        ClassifierScore().fit(np.zeros((4, 1)), np.ones((4, 1)))


def test_frequency_score():
    score = FrequencyScore().fit(["a"] * 9 + ["b"], ["b"] * 9 + ["a"])
    values = score(["a", "b", "never seen"])
    assert values[0] == pytest.approx(np.log(9.5 / 1.5))
    assert values[1] == -values[0]
    assert values[2] == 0.0
    arrays = FrequencyScore().fit(np.zeros((4, 2)), np.ones((4, 2)))
    assert arrays(np.zeros((1, 2))) > 0.0


def test_identity_and_flat():
    assert np.array_equal(IdentityScore()(np.array([[1], [2]])), [1.0, 2.0])
    assert flat(np.zeros((3, 2, 2))).shape == (3, 4)
    assert flat(np.array([True, False])).dtype == np.float64
    for outputs in (["a", "b"], np.array([None, 1], dtype=object)):
        with pytest.raises(InvalidParameterError, match="real numbers"):
            flat(outputs)


def test_evaluate_checks_what_a_score_returns():
    outputs = np.zeros(3)
    assert np.array_equal(evaluate(lambda x: x - np.inf, outputs, 3), [-np.inf] * 3)
    for score, match in [
        (lambda x: x[:2], "one real number per output"),
        (lambda x: x[:, None], "one real number per output"),
        (lambda x: ["a", "b", "c"], "one real number per output"),
        (lambda x: x * np.nan, "NaN"),
    ]:
        with pytest.raises(InvalidParameterError, match=match):
            evaluate(score, outputs, 3)


def test_exact_score_beats_the_others(rng):
    """In area under the curve, up to sampling error."""
    sphere = Sphere(2)
    mechanism = RiemannianLaplace(sphere, 0.3)
    x, y = sphere.exp(sphere.origin, sphere.tangent_vector(sphere.origin, [[0.2, 0], [-0.2, 0]]))
    first, second = (mechanism.sample(p, size=2000, generator=rng) for p in (x, y))
    exact = LogLikelihoodRatio(mechanism, x, y)
    linear = LinearScore().fit(first[:1000], second[:1000])

    def area(score):
        return (score(first[1000:])[:, None] > score(second[1000:])[None]).mean()

    assert 0.5 < area(linear) < area(exact) + 0.02


def test_a_pole_makes_nothing_impossible_and_an_empty_support_does():
    class Law:
        def log_density(self, point, footpoint):
            return np.select([point == footpoint, point > 5.0 + footpoint], [np.inf, -np.inf], 0.0)

    scores = LogLikelihoodRatio(Law(), 0.0, 1.0)(np.array([0.0, 1.0, 2.0, 5.5, 7.0]))
    assert np.isfinite(scores[:3]).all()
    assert scores[0] > 1e300
    assert scores[1] < -1e300
    assert np.array_equal(scores[2:], [0.0, -np.inf, 0.0])
