from __future__ import annotations

import numpy as np
import pytest

from riemdp.manifolds import Ball, Euclidean
from riemdp.reproduce import _he
from riemdp.reproduce._experiment import Settings
from riemdp.reproduce._he import (
    GAUSSIAN,
    LAPLACE,
    PAPER,
    PRIOR,
    PUBLIC,
    PUBLISHED,
    Errors,
    compare,
    parents_and_children,
    utility,
)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    monkeypatch.setattr(_he, "QUICK_RECORDS", 60)
    monkeypatch.setattr(_he, "QUICK_REPEATS", 2)
    monkeypatch.setattr(_he, "LIMIT", 60)


@pytest.mark.parametrize(
    "name", [experiment.name for experiment in PAPER.experiments if experiment.name != "plane"]
)
def test_experiments_run(name):
    (experiment,) = [found for found in PAPER.experiments if found.name == name]
    seen = []
    outcome = experiment.run(Settings(quick=True), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    assert outcome.rows
    assert outcome.panels
    for panel in outcome.panels:
        assert all(np.all(np.isfinite(line.y)) for line in panel.lines)
    if name != "counter-example":
        labels = [line.label for panel in outcome.panels for line in panel.lines]
        assert any("NOT private" in label for label in labels)
        assert any("NOT private" in note for note in outcome.notes)


def test_plain_laplace_has_its_exact_error_and_beats_the_conformal_ones():
    rng = np.random.default_rng(0)
    points, parents = parents_and_children(3, 1, 0.1, 300, rng)
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    errors = compare(points, parents, ball, 0.5, repeats=400, generator=rng)
    assert set(errors.found) == {LAPLACE, GAUSSIAN, PUBLIC, PRIOR, PUBLISHED}
    assert set(errors.exact) == {LAPLACE, GAUSSIAN}
    # 3 sigma with sigma = (2 / 300) / .5
    assert errors.exact[LAPLACE] == pytest.approx(0.04)
    means = {name: values.mean() for name, values in errors.found.items()}
    assert means[LAPLACE] == pytest.approx(0.04, rel=0.15)
    assert means[GAUSSIAN] == pytest.approx(errors.exact[GAUSSIAN], rel=0.15)
    for name in (PUBLIC, PRIOR):
        assert means[name] > 1.3 * means[LAPLACE]


def test_data_are_children_about_parents_in_the_ball():
    points, parents = parents_and_children(4, 7, 0.1, 5000, np.random.default_rng(1))
    assert points.shape == (5000, 4)
    assert np.linalg.norm(parents, axis=1).max() <= 1.0
    gap = np.min(np.linalg.norm(points[:, None] - parents, axis=2), axis=1)
    assert np.mean(gap**2) == pytest.approx(4 * 0.1**2, rel=0.1)


def test_utility_moves_with_the_worst_mechanism():
    near, far = np.full(5, 0.1), np.full(5, 10.0)
    alone = utility(Errors({"a": near, "b": near}, {}))
    beside = utility(Errors({"a": near, "b": far}, {}))
    assert alone["a"] == pytest.approx(0.5)
    assert beside["a"] == pytest.approx(1 / 1.01)
    assert beside["b"] == pytest.approx(0.5)
