"""Versions that releases state."""

from __future__ import annotations

import json
from importlib import metadata

import numpy as np
import pytest
import scipy

import riemdp
from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    Release,
    _versions,
    private_mean,
    verify,
)

BALL = Ball(Euclidean(2), [0.0, 0.0], 1.0)


@pytest.fixture(scope="module")
def release():
    return private_mean(np.zeros((5, 2)), BALL, GDP(1.0))


def test_a_release_states_what_it_was_made_with(release):
    assert list(release.versions) == ["riemdp", "numpy", "scipy", "python-flint", "randomgen"]
    assert release.versions["riemdp"] == riemdp.__version__
    assert release.versions["numpy"] == np.__version__
    assert release.versions["scipy"] == scipy.__version__
    document = json.loads(release.to_json())
    assert document["header"]["versions"] == release.versions
    assert Release.from_json(release.to_json()).to_json() == release.to_json()


def test_what_was_stated_is_kept_and_says_nothing_of_the_guarantee(release):
    document = json.loads(release.to_json())
    document["header"]["versions"] = {"riemdp": "0.0.9", "numpy": "1.26.0"}
    read = Release.from_json(json.dumps(document))
    assert read.versions == document["header"]["versions"]
    assert json.loads(read.to_json()) == document
    assert verify(read).passed


@pytest.mark.parametrize("versions", [None, ["riemdp"], {"numpy": 2}, {"numpy": None}, "2.0"])
def test_what_is_no_version_is_refused(release, versions):
    document = json.loads(release.to_json())
    document["header"]["versions"] = versions
    with pytest.raises(InvalidParameterError):
        Release.from_json(json.dumps(document))


def test_what_is_not_installed_is_left_out(monkeypatch):
    def version(name):
        if name == "randomgen":
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", version)
    found = dict(_versions.installed_versions.__wrapped__())
    assert found == dict.fromkeys(("riemdp", "numpy", "scipy", "python-flint"), "1")
