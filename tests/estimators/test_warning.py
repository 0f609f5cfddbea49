"""A fit that is not private says so, whoever set its seed."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier

import riemdp
from riemdp import GDP
from riemdp.estimators import NotPrivateWarning, PrivateMDM


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
