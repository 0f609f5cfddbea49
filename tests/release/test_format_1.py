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
        ({"expected_distance": 1.0}, {"error"}),
        ({"reproducible": True}, {"randomness"}),
    ],
    ids=str,
)
def test_a_changed_document_fails(change, failing):
    document = json.loads(DOCUMENTS[0].read_text()) | change
    checks = verify(Release.from_json(json.dumps(document))).checks
    assert {check.name for check in checks if not check.passed} == failing


@pytest.mark.parametrize(
    "change", [{"summary": 3}, {"extra": 1}, {"numerical_delta": 0.0}, {"proven": 1}], ids=str
)
def test_what_was_refused_is_refused(change):
    document = json.loads(DOCUMENTS[0].read_text()) | change
    with pytest.raises(InvalidParameterError):
        Release.from_json(json.dumps(document))
