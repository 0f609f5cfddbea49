"""Linear discriminant analysis of released moments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from riemdp import GDP, Ball, Euclidean, InvalidParameterError, PureDP, SPDLogEuclidean
from riemdp.estimators import PrivateTangentLDA
from riemdp.estimators._tangent_lda import floored_shares, noise_floor

BALL = Ball(Euclidean(3), np.zeros(3), 4.0)


@pytest.fixture
def groups():
    """Three elongated groups that only the covariance tells apart."""
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat([0, 1, 2], [300, 200, 500]))
    means = np.array([[0.0, 0.0, 0.0], [0.4, -0.4, 0.0], [0.0, 0.4, 0.4]])
    mix = np.array([[1.0, 0.9, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.8]])
    return means[labels] + rng.normal(0.0, 0.5, (1000, 3)) @ mix, labels


@pytest.mark.fast("public")
@pytest.mark.parametrize("base", ["recentred", "public"])
def test_without_noise_it_is_scikit_learns(groups, base):
    points, labels = groups
    ours = PrivateTangentLDA(BALL, GDP(1e6), [0, 1, 2], base=base, priors="released", alpha=20.0)
    ours.fit(points, labels)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(points, labels)
    found, expected = (each.decision_function(points) for each in (ours, theirs))
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=0.05)
    assert np.mean(ours.predict(points) == theirs.predict(points)) > 0.99
    np.testing.assert_allclose(ours.predict_proba(points), theirs.predict_proba(points), atol=0.01)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, atol=0.01)
    # negative controls: the nearest mean is another one, and so is the likeliest class a priori
    plain = [np.square(points - points[labels == k].mean(axis=0)).sum(axis=1) for k in range(3)]
    assert np.mean(np.argmin(plain, axis=0) == theirs.predict(points)) < 0.9
    even = PrivateTangentLDA(BALL, GDP(1e6), [0, 1, 2], base=base, alpha=20.0).fit(points, labels)
    assert np.mean(even.predict(points) == theirs.predict(points)) < 0.95


def test_two_classes(groups):
    points, labels = (values[groups[1] < 2] for values in groups)
    lda = PrivateTangentLDA(BALL, GDP(3.0), [0, 1], random_state=0).fit(points, labels)
    scores = lda.decision_function(points)
    assert scores.shape == (500,)
    np.testing.assert_array_equal(lda.predict(points), (scores > 0.0).astype(int))
    probabilities = lda.predict_proba(points)
    np.testing.assert_allclose(probabilities[:, 1], 1.0 / (1.0 + np.exp(-scores)))
    np.testing.assert_allclose(np.exp(lda.predict_log_proba(points)), probabilities)


def test_directions_that_noise_hides_count_alike(groups):
    points, labels = groups
    lda = PrivateTangentLDA(BALL, GDP(0.05), [0, 1, 2], random_state=0).fit(points, labels)
    value = lda.release_.value
    floor = value.second_moment_sd * math.sqrt(3.0 / 2.0)
    values = np.linalg.eigvalsh(lda.covariance_)
    assert values.min() == pytest.approx(floor)
    assert np.linalg.eigvalsh(value.covariance).min() < 0.9 * floor
    assert noise_floor(value.second_moment_sd, 3, value.clip) == pytest.approx(floor)
    assert 0.0 < noise_floor(math.nan, 3, 2.0) < 1e-6


def test_priors(groups):
    points, labels = groups
    lda = PrivateTangentLDA(BALL, GDP(2.0), [0, 1, 2], random_state=0)
    assert lda.fit(points, labels).priors_.tolist() == [1.0 / 3.0] * 3
    lda.set_params(priors="released").fit(points, labels)
    np.testing.assert_allclose(lda.priors_, [0.3, 0.2, 0.5], atol=0.05)
    before = lda.predict(points)
    lda.set_params(priors=[0.1, 0.1, 0.8]).fit(points, labels)
    np.testing.assert_allclose(lda.priors_, [0.1, 0.1, 0.8])
    assert (lda.predict(points) == 2).sum() > (before == 2).sum()
    for wrong in ("even", [0.5, 0.5], [0.5, 0.6, 0.1], [0.0, 0.5, 0.5], [math.nan, 0.5, 0.5]):
        with pytest.raises(InvalidParameterError, match="priors"):
            lda.set_params(priors=wrong).fit(points, labels)


def test_shares_below_zero():
    np.testing.assert_allclose(floored_shares(np.array([-0.1, 0.95])), np.array([0.05, 0.95]))


def test_pure_budgets(groups):
    points, labels = groups
    lda = PrivateTangentLDA(BALL, PureDP(20.0), [0, 1, 2], random_state=0).fit(points, labels)
    assert lda.score(points, labels) > 0.5
    assert np.isfinite(lda.covariance_).all()


def accuracies(model, points, labels, repeats=12):
    """Mean accuracy on three tenths of records, trained on the others, of several divisions."""
    found = []
    for i in range(repeats):
        order = np.random.default_rng(i).permutation(len(labels))
        train, test = np.split(order, [int(0.7 * len(labels))])
        fitted = model.set_params(random_state=i).fit(points[train], labels[train])
        found.append(fitted.score(points[test], labels[test]))
    return np.mean(found)


CONE = Ball(SPDLogEuclidean(8), np.eye(8), 12.0)


@pytest.mark.slow
@pytest.mark.fast(3)
@pytest.mark.parametrize(("mu", "accuracy"), [(0.5, 0.649), (1.0, 0.789), (2.0, 0.794)])
def test_accuracy_on_fists_and_feet(eeg, mu, accuracy):
    points, labels = (values[eeg[1] >= 3] for values in eeg)
    lda = PrivateTangentLDA(CONE, GDP(mu), [3, 4])
    assert accuracies(lda, points, labels) > accuracy - 0.03


@pytest.mark.slow
@pytest.mark.fast(2)
@pytest.mark.parametrize(("mu", "accuracy"), [(0.5, 0.615), (1.0, 0.628)])
def test_accuracy_on_rest_and_movement(eeg, mu, accuracy):
    points, labels = eeg[0], (eeg[1] > 0).astype(int)
    lda = PrivateTangentLDA(CONE, GDP(mu), [0, 1])
    assert accuracies(lda, points, labels) == pytest.approx(accuracy, abs=0.03)
