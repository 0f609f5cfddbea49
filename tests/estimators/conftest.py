"""Small labelled data, and the recording that the tables of the docs are about."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from riemdp import GDP, Ball, Euclidean, SPDLogEuclidean
from riemdp.estimators import (
    PrivateFrechetMean,
    PrivateMDM,
    PrivateMedian,
    PrivateTangentLDA,
    PrivateTangentPCA,
    PrivateTangentRegression,
    PrivateTangentSpace,
)

#: Every private estimator, in a ball and within a budget.
MAKERS = {
    "mean": PrivateFrechetMean,
    "median": PrivateMedian,
    "space": PrivateTangentSpace,
    "pca": PrivateTangentPCA,
    "mdm": lambda ball, budget, **options: PrivateMDM(ball, budget, ["a", "b"], **options),
    "lda": lambda ball, budget, **options: PrivateTangentLDA(ball, budget, ["a", "b"], **options),
    "regression": lambda ball, budget, **options: PrivateTangentRegression(
        ball, budget, -1.0, 1.0, **options
    ),
}


def pytest_collection_modifyitems(items):
    """Seeds are for tests, such as these; test_warning.py sees to the warning."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and item.path.name != "test_warning.py":
            item.add_marker(
                pytest.mark.filterwarnings("ignore::riemdp.estimators.NotPrivateWarning"),
                append=False,
            )


@pytest.fixture(params=list(MAKERS))
def make(request):
    """An estimator by name, to be given a ball and a budget."""
    maker = MAKERS[request.param]
    return lambda ball, budget=None, **options: maker(ball, budget, **options)


@pytest.fixture(scope="session")
def makers():
    """What makes every private estimator, by name."""
    return MAKERS


@pytest.fixture
def plane():
    return Ball(Euclidean(2), np.zeros(2), 2.0)


@pytest.fixture
def blobs():
    """Two groups of points in the plane, in no order, with their labels."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(["a", "b"], 120))
    points = rng.normal(0.0, 0.2, (240, 2)) + np.where(labels == "a", -0.5, 0.5)[:, None]
    return points, labels


@pytest.fixture
def fit(blobs):
    """Fit any of the estimators to the same data."""
    points, labels = blobs

    def fitted(estimator):
        if isinstance(estimator, PrivateTangentRegression):
            return estimator.fit(points[:, 0], points)
        return estimator.fit(points, labels)

    return fitted


@pytest.fixture
def cone():
    """Covariance matrices of two classes, their labels and a ball."""
    rng = np.random.default_rng(1)
    labels = np.repeat([3, 7], 60)
    signals = rng.normal(size=(120, 3, 30))
    signals[:60, 0] *= 2.5
    points = signals @ signals.transpose(0, 2, 1) / 30
    return points, labels, Ball(SPDLogEuclidean(3), np.eye(3), 3.0)


@pytest.fixture(scope="session")
def eeg():
    """Covariances of 8 channels, windows of one second, and what was done in each."""
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / "eeg_eegmmidb_s001.npz").exists():
        pytest.skip("RIEMDP_DATA names no folder with eeg_eegmmidb_s001.npz")
    with np.load(path) as file:
        points, labels = file["cov8_1s"].astype(float), file["label_1s"]
    return 0.5 * (points + points.transpose(0, 2, 1)), labels


@pytest.fixture
def budget():
    return GDP(1.0)
