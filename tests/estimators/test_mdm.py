"""The nearest mean, as pyRiemann has it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from riemdp import GDP, Ball, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp.estimators import PrivateMDM
from riemdp.statistics import ReplacePoint


def test_without_noise_it_is_pyriemanns(cone):
    """A budget so large that nothing is left of the noise."""
    classification = pytest.importorskip("pyriemann.classification")
    points, labels, ball = cone
    ours = PrivateMDM(ball, GDP(1e6), [3, 7], base="public").fit(points, labels)
    theirs = classification.MDM(metric="logeuclid").fit(points, labels)
    np.testing.assert_allclose(ours.covmeans_, theirs.covmeans_, atol=1e-3)
    np.testing.assert_array_equal(ours.predict(points), theirs.predict(points))
    np.testing.assert_allclose(ours.transform(points), theirs.transform(points), atol=1e-3)
    np.testing.assert_allclose(
        ours.predict_proba(points), softmax(-(theirs.transform(points) ** 2), axis=1), atol=1e-2
    )
    # negative control: noise is seen
    noisy = PrivateMDM(ball, GDP(0.5), [3, 7], base="public", random_state=0)
    noisy.fit(points, labels)
    assert np.abs(noisy.covmeans_ - theirs.covmeans_).max() > 1e-2


def test_predictions_are_of_the_nearest_mean(cone, budget):
    points, labels, ball = cone
    mdm = PrivateMDM(ball, budget, [3, 7], random_state=0).fit(points, labels)
    distances = np.array([ball.manifold.dist(points, mean) for mean in mdm.means_]).T
    np.testing.assert_allclose(mdm.transform(points), distances, rtol=1e-12)
    np.testing.assert_array_equal(mdm.predict(points), mdm.classes_[distances.argmin(axis=1)])
    probabilities = mdm.predict_proba(points)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), distances.argmin(axis=1))
    np.testing.assert_array_equal(mdm.covmeans_, mdm.means_)
    framed = mdm.set_output(transform="pandas")
    assert framed.transform(points).columns.tolist() == ["privatemdm0", "privatemdm1"]
    np.testing.assert_array_equal(framed.predict(points), mdm.classes_[distances.argmin(axis=1)])


@pytest.mark.parametrize(
    "ball",
    [
        Ball(Sphere(2), [0.0, 0.0, 1.0], 1.4),
        Ball(Hyperbolic(2), [1.0, 0.0, 0.0], 1.5),
        Ball(SPDAffineInvariant(2), np.eye(2), 2.0),
    ],
    ids=["sphere", "hyperbolic", "cone"],
)
def test_every_manifold(ball):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat([0, 1], 200))
    centres = np.eye(ball.manifold.dim)[:2] * [[0.6], [-0.6]]
    points = ball.point(centres[labels] + rng.normal(0.0, 0.1, (400, ball.manifold.dim)))
    for base in ("recentred", "public"):
        mdm = PrivateMDM(ball, GDP(2.0), [0, 1], base=base, random_state=0).fit(points, labels)
        assert ball.contains(mdm.means_).all()
        assert mdm.score(points, labels) > 0.95


def accuracies(model, points, labels, repeats=12):
    """Mean accuracy on three tenths of records, trained on the others, of several divisions."""
    found = []
    for i in range(repeats):
        order = np.random.default_rng(i).permutation(len(labels))
        train, test = np.split(order, [int(0.7 * len(labels))])
        fitted = model.set_params(random_state=i).fit(points[train], labels[train])
        found.append(fitted.score(points[test], labels[test]))
    return np.mean(found)


BALL = Ball(SPDLogEuclidean(8), np.eye(8), 12.0)


@pytest.mark.slow
@pytest.mark.fast(3)
@pytest.mark.parametrize(
    ("mu", "public_labels", "private_labels", "recentred"),
    [(0.5, 0.565, 0.580, 0.615), (1.0, 0.617, 0.697, 0.752), (2.0, 0.728, 0.720, 0.778)],
)
def test_accuracy_on_fists_and_feet(eeg, mu, public_labels, private_labels, recentred):
    points, labels = (values[eeg[1] >= 3] for values in eeg)
    mdm = PrivateMDM(BALL, GDP(mu), [3, 4])
    assert accuracies(mdm, points, labels) > recentred - 0.03
    mdm.set_params(base="public")
    assert accuracies(mdm, points, labels) > private_labels - 0.05
    found = []
    for i in range(12):
        order = np.random.default_rng(i).permutation(len(labels))
        train, test = np.split(order, [int(0.7 * len(labels))])
        sizes = np.bincount(labels[train])[3:].tolist()
        mdm.set_params(sizes=sizes, adjacency=ReplacePoint(), random_state=i)
        found.append(mdm.fit(points[train], labels[train]).score(points[test], labels[test]))
    assert np.mean(found) > public_labels - 0.05


@pytest.mark.slow
@pytest.mark.fast(2)
@pytest.mark.parametrize(("mu", "accuracy"), [(0.5, 0.604), (1.0, 0.610)])
def test_accuracy_on_rest_and_movement(eeg, mu, accuracy):
    points, labels = eeg[0], (eeg[1] > 0).astype(int)
    mdm = PrivateMDM(BALL, GDP(mu), [0, 1])
    assert accuracies(mdm, points, labels) == pytest.approx(accuracy, abs=0.03)
