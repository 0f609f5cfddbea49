"""Directions of public data, and a map of one record at a time."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    SPDLogEuclidean,
    frechet_mean,
    private_ball,
)
from riemdp.estimators import PrivateTangentLDA, PublicProjection, make_private_pipeline
from riemdp.estimators._public_projection import public_directions, shrunk_covariance


def test_vectors_are_no_longer_than_the_records(cone):
    points, labels, ball = cone
    for public_labels in (None, labels):
        few = PublicProjection(points, ball, 2, public_labels=public_labels).fit()
        np.testing.assert_allclose(few.components_ @ few.components_.T, np.eye(2), atol=1e-12)
        vectors = few.transform(points)
        before = np.linalg.norm(ball.coordinates(points), axis=1)
        assert np.all(np.linalg.norm(vectors, axis=1) <= before * (1.0 + 1e-12))
        far = few.transform(np.array([np.diag([1e9, 1.0, 1.0])]))
        assert np.linalg.norm(far) <= ball.radius
        assert few.ball_.contains(vectors).all()
        assert few.ball_ == Ball(Euclidean(2), np.zeros(2), ball.radius)
        # one at a time
        alone = np.concatenate([few.transform(points[i : i + 1]) for i in range(5)])
        np.testing.assert_allclose(alone, vectors[:5], atol=1e-12)


def test_a_fit_sees_public_points_alone(cone):
    points, labels, ball = cone
    few = PublicProjection(points[::2], ball, 3)
    one = few.fit(points[1::2], labels[1::2]).components_
    two = clone(few).fit(points[:7]).components_
    three = clone(few).fit().components_
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)
    # negative control: of other public points there are others
    other = clone(few).set_params(public_points=points[:20]).fit().components_
    assert np.abs(other - one).max() > 1e-3


def test_directions():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(500, 4)) * [3.0, 1.0, 0.3, 2.0]
    found = public_directions(vectors, None)
    np.testing.assert_allclose(np.abs(found), np.eye(4)[[0, 3, 1, 2]], atol=0.1)
    labels = np.arange(500) % 2
    vectors[:, 2] += labels  # apart along the narrowest direction
    vectors[:, 0] += vectors[:, 2]  # of which another one has a part
    with_labels = public_directions(vectors, labels)
    np.testing.assert_allclose(with_labels @ with_labels.T, np.eye(4), atol=1e-12)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(vectors, labels)
    first = lda.coef_[0] / np.linalg.norm(lda.coef_[0])
    assert abs(first @ with_labels[0]) > 0.99
    assert abs(first @ public_directions(vectors, None)[0]) < 0.5  # negative control
    # more classes than dimensions, and a single class
    many = public_directions(vectors, np.arange(500) % 9)
    np.testing.assert_allclose(many @ many.T, np.eye(4), atol=1e-12)
    np.testing.assert_array_equal(
        public_directions(vectors, np.zeros(500)), public_directions(vectors, None)
    )


def test_few_public_points():
    rng = np.random.default_rng(1)
    for labels in (None, np.array([0, 1, 0, 1])):
        found = public_directions(rng.normal(size=(4, 10)), labels)
        np.testing.assert_allclose(found @ found.T, np.eye(10), atol=1e-10)
    assert np.linalg.eigvalsh(shrunk_covariance(rng.normal(size=(3, 10))))[0] > 0.0
    assert np.isfinite(np.linalg.inv(shrunk_covariance(np.zeros((3, 10))))).all()


def test_parameters_are_checked_by_fit(cone):
    points, labels, ball = cone
    for wrong in (
        PublicProjection(points, ball, 7),
        PublicProjection(points, ball, 0),
        PublicProjection(points[:1], ball, 2),
        PublicProjection(points[0], ball, 2),
        PublicProjection(points, "ball", 2),
        PublicProjection(points, ball, 2, public_labels=labels[:-1]),
        PublicProjection(-points, ball, 2),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong.fit(points)
        dir(wrong)
    with pytest.raises(AttributeError, match="ball_"):
        _ = PublicProjection(points, ball, 7).ball_
    with pytest.raises(InvalidParameterError):
        PublicProjection(points, ball, 1.5).fit()


def test_a_ball_that_was_found_is_shared_by_clones(cone):
    points, _, ball = cone
    found = private_ball(points, ball, GDP(1.0))
    few = PublicProjection(points[::4], found, 2).fit()
    assert clone(few).ball is found
    np.testing.assert_array_equal(clone(few).fit().components_, few.components_)
    again = pickle.loads(pickle.dumps(few))
    assert again.ball == found.ball  # the public one, with nothing left to spend
    np.testing.assert_array_equal(again.transform(points), few.transform(points))
    # negative control: what is left cannot be copied
    with pytest.raises(TypeError):
        copy.deepcopy(found)


def test_public_labels_have_an_order(cone):
    points, labels, ball = cone
    mixed = labels.astype(object)
    mixed[3] = "three"
    for wrong in (mixed, np.where(labels == 3, np.nan, 1.0), np.where(mixed == 3, None, "a")):
        with pytest.raises(InvalidParameterError, match="all integers or all texts"):
            PublicProjection(points, ball, 2, public_labels=wrong).fit()
    PublicProjection(points, ball, 2, public_labels=labels.astype(object)).fit()


def test_in_a_pipeline(cone, budget):
    points, labels, ball = cone
    few = PublicProjection(points[::4], ball, 2)
    rest = np.arange(120) % 4 > 0
    model = make_private_pipeline(few, PrivateTangentLDA(few.ball_, budget, [3, 7]))
    model.set_params(privatetangentlda__random_state=0).fit(points[rest], labels[rest])
    assert model.score(points[::4], labels[::4]) > 0.8
    assert model[-1].release_.ball == few.ball_
    named = few.set_output(transform="pandas").fit(points).transform(points)
    assert named.columns.tolist() == ["publicprojection0", "publicprojection1"]


@pytest.mark.slow
def test_few_records_in_fewer_dimensions(eeg):
    """Fifty records a class at epsilon 1, and a hundred public ones without labels."""
    points, labels = (values[eeg[1] >= 3] for values in eeg)
    space, budget = SPDLogEuclidean(8), ApproxDP(1.0, 1e-6)
    whole, few = [], []
    for i in range(12):
        order = np.random.default_rng(i).permutation(len(labels))
        public, private, test = np.split(order, [100, 200])
        centre = frechet_mean(space, points[public]).value
        radius = float(np.quantile(space.dist(centre, points[public]), 0.95))
        ball = Ball(space, centre, radius)
        directions = PublicProjection(points[public], ball, 5)
        for accuracies, steps, end in (
            (whole, [], ball),
            (few, [directions], directions.ball_),
        ):
            lda = PrivateTangentLDA(end, budget, [3, 4], base="public")
            model = make_private_pipeline(*steps, lda).set_params(privatetangentlda__random_state=i)
            model.fit(points[private], labels[private])
            accuracies.append(model.score(points[test], labels[test]))
    assert np.mean(whole) < 0.65
    assert np.mean(few) > np.mean(whole) + 0.1
