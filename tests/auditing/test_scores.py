from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    RiemannianLaplace,
    Sphere,
    TangentGaussian,
    research,
)
from riemdp.auditing import DistanceScore, IdentityScore, LinearScore, LogLikelihoodRatio
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
    first, second = (research.sample(mechanism, p, size=2000, generator=rng) for p in (x, y))
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
