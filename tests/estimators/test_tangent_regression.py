"""A line in a tangent space, of a release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from riemdp import GDP, Ball, Euclidean, InvalidParameterError, NotOnManifoldError, Sphere
from riemdp.estimators import PrivateTangentRegression
from riemdp.statistics import ReplacePoint

BALL = Ball(Euclidean(2), np.zeros(2), 3.0)


def line(n=400):
    """Points about (0.5, 0) + t (0.02, -0.01), t from 20 to 80."""
    rng = np.random.default_rng(0)
    covariate = rng.uniform(20.0, 80.0, n)
    middle = [0.5, 0.0] + covariate[:, None] * [0.02, -0.01]
    return covariate, middle + rng.normal(0.0, 0.05, (n, 2))


@pytest.mark.parametrize("base", ["recentred", "public"])
def test_without_noise_it_is_least_squares(base):
    covariate, points = line()
    model = PrivateTangentRegression(BALL, GDP(1e6), 20.0, 80.0, base=base, alpha=20.0)
    model.fit(covariate, points)
    design = np.stack([np.ones(400), covariate], axis=1)
    expected = design @ np.linalg.lstsq(design, points, rcond=None)[0]
    np.testing.assert_allclose(model.predict(covariate), expected, atol=1e-3)
    np.testing.assert_allclose(model.coef_, [0.02, -0.01], atol=1e-3)
    assert model.score(covariate, points) == pytest.approx(
        -np.mean(np.sum((points - expected) ** 2, axis=1)), abs=1e-4
    )
    # negative control: noise is seen
    noisy = PrivateTangentRegression(BALL, GDP(0.2), 20.0, 80.0, base=base, random_state=0)
    assert np.abs(noisy.fit(covariate, points).predict(covariate) - expected).max() > 1e-2


def test_forms_of_covariates(budget):
    covariate, points = line()
    models = [
        PrivateTangentRegression(BALL, budget, 20.0, 80.0, random_state=1).fit(X, y)
        for X, y in (
            (covariate, points),
            (covariate[:, None], points.tolist()),
            (pd.Series(covariate), pd.DataFrame(points)),
            (pd.DataFrame({"age": covariate}), points),
        )
    ]
    for model in models:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert model.n_features_in_ == 1
    assert models[-1].feature_names_in_.tolist() == ["age"]
    np.testing.assert_array_equal(models[0].predict([30]), models[0].predict([[30.0]]))
    for wrong in (np.zeros((400, 2)), np.zeros((4, 1, 1)), 3.0):
        with pytest.raises(InvalidParameterError, match="one real covariate a record"):
            models[0].fit(wrong, points)
    with pytest.raises(InvalidParameterError, match="real numbers"):
        models[0].fit(["a"] * 400, points)
    with pytest.raises(NotOnManifoldError, match="row 3: its covariate is not finite"):
        models[0].fit(np.where(np.arange(400) == 3, np.nan, covariate), points)
    with pytest.raises(NotOnManifoldError, match="y must have shape"):
        models[0].fit(covariate, None)
    with pytest.raises(InvalidParameterError, match="one for each point"):
        models[0].fit(covariate[:-1], points)


def test_predictions_stay_in_the_ball():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    angle = np.linspace(-0.8, 0.8, 2000)
    points = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    model = PrivateTangentRegression(ball, GDP(5.0), -1.0, 1.0, random_state=0)
    model.fit(angle, points)
    near = model.predict(angle)
    assert np.max(ball.manifold.dist(near, points)) < 0.1
    far = model.predict([3.0])
    assert ball.contains(far).all()
    assert ball.manifold.dist(ball.center, far[0]) == pytest.approx(1.0)


def test_public_designs(budget):
    covariate, points = line()
    options = {"design": covariate.tolist(), "adjacency": ReplacePoint(), "base": "public"}
    model = PrivateTangentRegression(BALL, budget, 20.0, 80.0, random_state=0, **options)
    model.fit(covariate, points)
    assert model.release_.neighbours == ReplacePoint()
    np.testing.assert_allclose(model.coef_, [0.02, -0.01], atol=5e-3)
    with pytest.raises(InvalidParameterError, match="design"):
        model.fit(covariate + 1e-3, points)


def test_ranges_are_checked(budget):
    covariate, points = line()
    for low, high in ((80.0, 20.0), (0.0, np.inf), ("a", 1.0)):
        with pytest.raises(InvalidParameterError):
            PrivateTangentRegression(BALL, budget, low, high).fit(covariate, points)
