"""Principal components of a second moment that is released."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from riemdp import GDP, Ball, Euclidean, InvalidParameterError, SPDLogEuclidean, Sphere
from riemdp.estimators import PrivateTangentPCA
from riemdp.estimators._tangent_pca import checked_components, principal, with_signs

SPACE = Ball(Euclidean(3), np.zeros(3), 3.0)


def records(n=4000):
    """Points about (1, 0, 0), far more spread along one direction than along the others."""
    rng = np.random.default_rng(6)
    along = np.array([0.0, 0.6, -0.8])
    return [1.0, 0.0, 0.0] + rng.normal(0, 0.5, (n, 1)) * along + rng.normal(0, 0.05, (n, 3))


@pytest.mark.parametrize("base", ["recentred", "public"])
def test_components_are_found(base):
    points = records()
    pca = PrivateTangentPCA(SPACE, GDP(2.0), base=base, random_state=1).fit(points)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(3), atol=1e-12)
    assert np.all(np.diff(pca.explained_variance_) <= 0.0)
    np.testing.assert_allclose(np.abs(pca.components_[0]), [0.0, 0.6, 0.8], atol=0.05)
    assert pca.explained_variance_[0] == pytest.approx(0.25, rel=0.1)
    np.testing.assert_allclose(pca.mean_, [1.0, 0.0, 0.0], atol=0.02)
    value = pca.release_.value
    rebuilt = (pca.components_.T * pca.explained_variance_) @ pca.components_
    np.testing.assert_allclose(rebuilt, value.covariance, atol=1e-12)
    assert PrivateTangentPCA(SPACE, GDP(2.0), base=base).plan(4000).best.summary == (
        "recentred" if base == "recentred" else "moments"
    )


def test_scores_and_back():
    points = records()
    one = PrivateTangentPCA(SPACE, GDP(2.0), n_components=1, random_state=1).fit(points)
    scores = one.transform(points)
    assert scores.shape == (4000, 1)
    near = one.inverse_transform(scores)
    assert np.sqrt(np.mean(np.sum((near - points) ** 2, axis=1))) < 0.1  # of 0.5
    np.testing.assert_allclose(one.inverse_transform([[0.0]])[0], one.mean_, atol=1e-9)
    whole = PrivateTangentPCA(SPACE, GDP(2.0), random_state=1).fit(points)
    np.testing.assert_allclose(whole.inverse_transform(whole.transform(points)), points, atol=1e-9)
    assert one.get_feature_names_out().tolist() == ["privatetangentpca0"]


def test_curved_spaces():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.2)
    rng = np.random.default_rng(3)
    points = ball.point(rng.normal(0.0, [0.4, 0.03], (3000, 2)))
    pca = PrivateTangentPCA(ball, GDP(3.0), random_state=0).fit(points)
    near = pca.inverse_transform(pca.transform(points))
    assert np.max(ball.manifold.dist(near, points)) < 1e-6
    assert pca.explained_variance_[0] > 10.0 * pca.explained_variance_[1]


def test_variances_are_not_negative(budget):
    few = PrivateTangentPCA(SPACE, budget, base="public", random_state=0).fit(records(20))
    assert np.all(few.explained_variance_ >= 0.0)
    assert few.explained_variance_[-1] < 1e-12


def test_signs():
    rows = np.array([[0.6, -0.8], [-0.8, -0.6], [0.0, 1.0]])
    np.testing.assert_array_equal(with_signs(rows), [[-0.6, 0.8], [0.8, 0.6], [0.0, 1.0]])
    values, vectors = principal(np.diag([1.0, 3.0, -2.0]))
    np.testing.assert_array_equal(values, [3.0, 1.0, 0.0])
    np.testing.assert_array_equal(vectors, np.eye(3)[[1, 0, 2]])


def test_numbers_of_components(budget):
    assert (checked_components(None, 4), checked_components(2, 4)) == (4, 2)
    for wrong in (0, 5, 1.5):
        with pytest.raises(InvalidParameterError, match="n_components"):
            PrivateTangentPCA(SPACE, budget, n_components=wrong).fit(records(10))


def share(ball, points, directions):
    """Share of the variance of points that lies in these directions."""
    covariance = np.cov(ball.manifold.coordinates(ball.center, points).T)
    return np.trace(directions @ covariance @ directions.T) / np.trace(covariance)


def shares(ball, points, mu, kept, base):
    found = [
        PrivateTangentPCA(ball, GDP(mu), n_components=kept, base=base, random_state=i)
        for i in range(10)
    ]
    return np.mean([share(ball, points, pca.fit(points).components_) for pca in found])


@pytest.mark.slow
def test_recentring_finds_the_directions_of_a_recording(eeg):
    points, _ = eeg
    ball = Ball(SPDLogEuclidean(8), 10.0 * np.eye(8), 12.0)
    direct, recentred = (shares(ball, points, 1.0, 5, base) for base in ("public", "recentred"))
    assert direct == pytest.approx(0.175, abs=0.03)
    assert recentred == pytest.approx(0.426, abs=0.03)


@pytest.mark.slow
def test_directions_of_diffusion_tensors():
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / "dti_dipy.npz").exists():
        pytest.skip("RIEMDP_DATA names no folder with dti_dipy.npz")
    with np.load(path) as file:
        points = file["tensors"]
    ball = Ball(SPDLogEuclidean(3), np.eye(3), 6.0)
    direct, recentred = (shares(ball, points, 1.0, 2, base) for base in ("public", "recentred"))
    assert direct > 0.70
    assert recentred > 0.745
