"""Scores that learn."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from riemdp import InvalidParameterError, NotOnManifoldError, Sphere
from riemdp.auditing import (
    ClassifierScore,
    FrequencyScore,
    LearnedScore,
    LinearScore,
    NearestNeighbourScore,
)


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
