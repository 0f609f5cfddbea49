"""Fits say what is to be known of their releases, and whether a seed was set."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline

import riemdp
from riemdp import GDP, Ball, PublicWarning, SPDLogEuclidean, estimators
from riemdp.estimators import NotPrivateWarning, PrivateMDM, PrivateTangentLDA


@pytest.mark.parametrize("source", [3, np.random.RandomState(3), np.random.default_rng(3)])
def test_a_seeded_fit_warns_every_time(make, fit, plane, budget, source):
    estimator = make(plane, budget, random_state=source)
    for _ in range(2):
        with pytest.warns(NotPrivateWarning, match="this fit is not private") as caught:
            fit(estimator)
        assert not estimator.private_
        (one,) = (each for each in caught if each.category is NotPrivateWarning)
        assert Path(one.filename).name == "conftest.py"  # where fit was called


def test_a_private_fit_does_not(make, fit, plane, budget):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", riemdp.PublicWarning)
        for source in (None, riemdp.secure_generator()):
            assert fit(make(plane, budget, random_state=source)).private_


def test_an_ensemble_sets_seeds_and_is_told(plane, blobs):
    points, labels = blobs
    numbers = (labels == "b").astype(int)
    mdm = PrivateMDM(plane, GDP(1.0), [0, 1])
    with pytest.warns(NotPrivateWarning, match="BaggingClassifier") as caught:
        model = BaggingClassifier(mdm, n_estimators=3).fit(points, numbers)
    assert len([each for each in caught if each.category is NotPrivateWarning]) == 3
    assert not any(each.private_ for each in model.estimators_)
    assert mdm.random_state is None


def test_every_fit_issues_the_warnings_of_its_release_once(make, fit, plane, budget):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = fit(make(plane, budget, random_state=3)).release_
    issued = [each for each in caught if each.category is PublicWarning]
    assert sorted(str(each.message) for each in issued) == sorted(release.warnings)
    assert {Path(each.filename).name for each in issued} == {"conftest.py"}  # where fit was called


def test_a_pipeline_points_at_its_caller_too(plane, blobs):
    points, labels = blobs
    points = points + 9.0  # at the boundary
    with pytest.warns(PublicWarning) as caught:
        make_pipeline(PrivateMDM(plane, GDP(1.0), ["a", "b"])).fit(points, labels)
    assert {each.filename for each in caught} == {__file__}


def test_every_private_estimator_is_tried(makers, plane, budget):
    names = {name for name in estimators.__all__ if name.startswith("Private")}
    assert {type(maker(plane, budget)).__name__ for maker in makers.values()} == names


@pytest.mark.parametrize("base", ["recentred", "public"])
@pytest.mark.parametrize("kind", [PrivateMDM, PrivateTangentLDA])
@pytest.mark.fast(4)
def test_classifiers_of_covariances_in_volts_say_so(kind, base):
    """The unit of MNE, in a ball of microvolts squared: all records are clipped to its boundary."""
    space = SPDLogEuclidean(4)
    ball = Ball(space, 10.0 * np.eye(4), 12.0)
    rng, labels = np.random.default_rng(0), np.resize([0, 1], 400)
    vectors = rng.normal(size=(400, 10)) + np.where(labels == 0, -1.0, 1.0)[:, None]
    microvolts = space.point(ball.center, vectors)
    told = {}
    for scale in (1e-12, 1.0):
        model = kind(ball, GDP(1.0), [0, 1], base=base)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(scale * microvolts, labels)
        told[scale] = " ".join(str(each.message) for each in caught)
    assert "check the centre, the radius and the units" in told[1e-12]
    assert "all entries smaller alike, as in another unit" in told[1e-12]
    assert "boundary" not in told[1.0]
