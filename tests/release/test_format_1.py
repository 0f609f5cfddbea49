"""Documents of the first format, written by version 0.1: they are read and verified for ever."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riemdp import InvalidParameterError, Release, verify

DOCUMENTS = sorted((Path(__file__).resolve().parents[1] / "data" / "release-1").glob("*.json"))
#: Draws of a chain, that nobody proved.
UNPROVEN = "metropolis"


def test_there_are_documents_of_every_kind():
    stored = [json.loads(path.read_text()) for path in DOCUMENTS]
    assert len({document["manifold"]["type"] for document in stored}) == 5
    assert len({document["mechanism"]["name"] for document in stored}) == 4
    assert len({document["guarantee"]["type"] for document in stored}) == 8
    assert {document["summary"] for document in stored} == {"frechet-mean", "tangent-mean"}
    assert {document["format"] for document in stored} == {"riemdp-release/1"}


@pytest.mark.fast(17)
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_document_is_read_and_verifies(path):
    document = json.loads(path.read_text())
    release = Release.from_json(path.read_text())
    assert np.array_equal(release.value, document["value"])
    for name in ("n", "sensitivity", "tol", "reason", "proven", "private", "reproducible"):
        assert getattr(release, name) == document[name], name
    assert release.mechanism.name == document["mechanism"]["name"]
    assert release.sigma == document["mechanism"]["sigma"]
    assert release.expected_distance == pytest.approx(document["expected_distance"], rel=1e-9)
    failed = {check.name for check in verify(release).checks if not check.passed}
    assert failed == ({"proof"} if UNPROVEN in path.stem else set())


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({"sensitivity": 0.01}, {"sensitivity"}),
        ({"n": 30}, {"sensitivity", "guarantee"}),
        ({"proven": False}, {"proof"}),
    ],
    ids=lambda value: ",".join(sorted(value)),
)
def test_a_changed_document_fails(change, failing):
    document = json.loads(DOCUMENTS[0].read_text()) | change
    checks = verify(Release.from_json(json.dumps(document))).checks
    assert {check.name for check in checks if not check.passed} == failing


MALFORMED = [
    {"extra": 1},
    {"summary": 3},
    {"summary": "median"},
    {"adjacency": "add-remove"},
    {"numerical_delta": 0.0},
    {"proven": 1},
    {"proven": "false"},
    {"reproducible": None},
    {"mechanism": {"name": "magic", "sigma": 1.0}},
    {"mechanism": {"name": "tangent-gaussian", "sigma": 1.0, "restricted_to_ball": True}},
    {"mechanism": {"name": "riemannian-laplace", "sigma": 1.0, "restricted_to_ball": False}},
    {"mechanism": {"name": "riemannian-laplace", "sigma": 1.0, "restricted_to_ball": 1}},
    {"mechanism": {"name": "riemannian-laplace", "sigma": 1.0, "base": "ball-center"}},
    {"mechanism": {"name": "tangent-laplace", "sigma": 1.0, "base": "elsewhere"}},
    {"mechanism": {"name": "tangent-laplace", "sigma": 1.0, "base": True}},
    {"mechanism": {"name": "tangent-laplace", "sigma": 1.0, "base": None}},
    {"mechanism": {"name": "riemannian-laplace", "sigma": 1.0, "sampler": "exact"}},
    {"mechanism": {"name": "riemannian-laplace", "sigma": 1.0, "colour": 1}},
    {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0}},
]


@pytest.mark.parametrize("change", MALFORMED, ids=str)
def test_what_was_refused_is_refused(change):
    document = json.loads(DOCUMENTS[0].read_text()) | change
    with pytest.raises(InvalidParameterError):
        Release.from_json(json.dumps(document))


@pytest.mark.fast(17)
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_what_is_read_is_written_in_the_format_of_today(path):
    release = Release.from_json(path.read_text())
    again = Release.from_json(release.to_json())
    assert json.loads(release.to_json())["format"] == "riemdp-release/2"
    assert np.array_equal(again.value, release.value)
    assert again.mechanism == release.mechanism
    assert again.statistic.name == json.loads(path.read_text())["summary"]
    assert again.proofs == release.proofs


def test_a_summary_that_does_not_go_with_the_mechanism_fails():
    path = next(path for path in DOCUMENTS if path.stem.startswith("14-Sphere-tangent"))
    document = json.loads(path.read_text()) | {"summary": "frechet-mean"}
    checks = verify(Release.from_json(json.dumps(document))).checks
    assert {check.name for check in checks if not check.passed} == {"sensitivity", "guarantee"}


def test_an_error_that_was_not_known_then_is_none():
    null = {"expected_distance": None, "error_quantile_95": None}
    document = json.loads(DOCUMENTS[0].read_text()) | null
    assert verify(Release.from_json(json.dumps(document))).passed
