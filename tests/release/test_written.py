"""Documents of releases: every key is there, once, and of its type."""

import copy
import hashlib
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    PureDP,
    Release,
    RiemannianLaplace,
    RiemdpError,
    Sphere,
    private_mean,
)


def make(manifold, budget, radius=0.7, **options):
    ball = Ball(manifold, manifold.origin, radius)
    points = np.broadcast_to(manifold.origin, (40, *manifold.point_shape))
    return private_mean(points, ball, budget, **options)


@pytest.mark.fast(25)
@pytest.mark.parametrize(
    "change",
    [
        {"format": "riemdp-release/99"},
        {"manifold": {"type": "Torus", "dim": 2}},
        {"manifold": {"type": "Sphere", "dim": 2, "colour": 1}},
        {"guarantee": {"type": "PureDP"}},
        {"guarantee": {"type": "PureDP", "epsilon": -1.0}},
        {"mechanism": {"type": "magic"}},
        {"mechanism": {"type": "tangent-gaussian", "options": ["ball"]}},
        {"ball": {}},
        {"n": "many"},
        {"n": None},
        {"value": [0.0, 0.0, 7.0]},
        {"value": [0.0, 0.0, True]},
        {"value": ["0", "0", "1"]},
        {"value": "001"},
        {"extra": 1},
        {"proofs": ["docs"]},
        {"proofs": {"Sphere": 1}},
        {"proofs": None},
        {"private": 0},
        {"statistic": "frechet-mean"},
        {"statistic": {"type": "mean"}},
        {"statistic": {"type": "frechet-mean", "steps": 2}},
        {"statistic": {"type": "replace-one"}},
        {"neighbours": {"type": "frechet-mean"}},
        {"neighbours": "replace-one"},
        {"n": True},
        {"n": 40.0},
        {"n": "40"},
        {"n": 0},
        {"n": 10**400},
        {"tol": "1e-9"},
        {"sensitivity": True},
        {"sensitivity": 10**400},
        {"reason": ["none"]},
        {"rounded": None},
        {"rounded": [1.5, 2]},
        {"rounded": [True, 1]},
        {"rounded": "12"},
        {"grid": None},
        {"grid": 48.0},
        {"grid": 5000},
        {"guarantee": {"type": "PureDP", "epsilon": True}},
        {"guarantee": {"type": "PureDP", "epsilon": "1.0"}},
        {"guarantee": {"type": "PureDP", "epsilon": 1.0, "delta": 0.0}},
        {"guarantee": {"type": ["PureDP"], "epsilon": 1.0}},
        {"guarantee": {"type": "ZCDP", "rho": 1.0}},
        {"manifold": {"type": "Sphere", "dim": 2.0, "curvature": 1.0}},
        {"manifold": {"type": "Sphere", "dim": 2}},
        {"manifold": "Sphere"},
        {"ball": {"center": [0.0, 0.0, 1.0], "radius": "0.7"}},
        {"ball": {"center": [0.0, 0.0, 1.0], "radius": 0.7, "unit": 1.0}},
        {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0}},
        {"sigma": True},
        {"mechanism": {"type": "riemannian-laplace", "options": ["base"]}},
        {"mechanism": {"type": "riemannian-laplace", "options": "ball"}},
        {"mechanism": {"type": "riemannian-laplace", "options": [["ball"]]}},
        {"mechanism": {"type": "riemannian-laplace", "ball": 1.0}},
        {"mechanism": {"type": "riemannian-laplace", "sampler": "fast"}},
        {"mechanism": {"type": "riemannian-laplace", "colour": 1}},
        {"mechanism": {"type": "tangent-laplace"}},
        {"mechanism": {"type": "tangent-laplace", "base": [0.0, 0.0, 1.0]}},
        {"mechanism": {"name": "riemannian-laplace"}},
    ],
)
def test_malformed_documents_are_refused(change):
    document = json.loads(make(Sphere(2), PureDP(1.0)).to_json())
    header = document["header"]
    for key, value in change.items():
        places = [place for place in (document, header, header["queries"][0]) if key in place]
        (place,) = places or [header]
        place[key] = value
    with pytest.raises(RiemdpError):
        Release.from_json(json.dumps(document))


def accepted(document):
    try:
        Release.from_json(json.dumps(document))
    except InvalidParameterError:
        return False
    return True


def test_every_key_is_needed_and_no_other_is_read():
    document = json.loads(make(Sphere(2), PureDP(1.0)).to_json())
    assert accepted(document)
    for place in (document, document["header"], document["header"]["queries"][0]):
        for key in tuple(place):
            kept = place.pop(key)
            assert not accepted(document), key
            place[key] = kept
        place["more"] = 1.0
        assert not accepted(document)
        del place["more"]
    assert accepted(document)


def test_a_digest_is_that_of_the_canonical_document(tmp_path):
    release = make(Sphere(2), PureDP(1.0))
    document = json.loads(release.to_json())
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    assert release.digest == hashlib.sha256(text.encode()).hexdigest()
    assert release.header == document["header"]
    other = tmp_path / "other.json"  # the same document, laid out in another way
    other.write_text(json.dumps(dict(reversed(document.items())), indent=7))
    assert Release.load(other).digest == release.digest
    again = make(Sphere(2), PureDP(1.0))
    assert again.header_digest != release.header_digest  # by its nonce
    assert replace(again, nonce=release.nonce).header_digest == release.header_digest
    edited = copy.deepcopy(document)
    edited["header"]["reason"] = "another"
    changed = Release.from_json(json.dumps(edited))
    assert changed.header_digest != release.header_digest
    assert changed.digest != release.digest
    drawn = replace(release, rounded=(release.rounded[0] + 1, *release.rounded[1:]))
    assert drawn.header_digest == release.header_digest
    assert drawn.digest != release.digest


def test_a_document_holds_what_a_reader_needs():
    document = json.loads(make(Hyperbolic(2), PureDP(1.0)).to_json())
    assert document["format"] == "riemdp-release/3"
    assert document["header"]["statistic"] == {"type": "frechet-mean"}
    assert document["header"]["neighbours"] == {"type": "replace-one"}
    assert document["header"]["mechanism"] == {"type": "riemannian-laplace"}
    (query,) = document["header"]["queries"]
    assert query["sigma"] == query["sensitivity"]
    assert list(document) == ["format", "header", "rounded", "shrunk", "value"]
    tangent = json.loads(make(Sphere(2), PureDP(1.0), mechanism="tangent-laplace").to_json())
    assert tangent["header"]["mechanism"]["options"] == ["base"]


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(literal):
    text = make(Sphere(2), PureDP(1.0)).to_json()
    broken = re.sub('"tol": [^,]*', f'"tol": {literal}', text)
    assert broken != text
    with pytest.raises(InvalidParameterError):
        Release.from_json(broken)


def test_a_key_that_occurs_twice_is_refused():
    text = make(Sphere(2), PureDP(1.0)).to_json()
    broken = text.replace('"n": 40', '"n": 40, "n": 40')
    assert broken != text
    with pytest.raises(InvalidParameterError, match="twice"):
        Release.from_json(broken)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "not json", "[" * 100_000])
def test_other_text_is_refused(text):
    with pytest.raises(InvalidParameterError, match="not a release"):
        Release.from_json(text)


def test_numbers_that_json_has_no_name_for_are_named():
    line = Euclidean(1)
    ball = Ball(line, [0.0], 1.0)
    mechanism = RiemannianLaplace(line, 1e308)
    release = private_mean([[0.0]], ball, PureDP(1.0), mechanism=mechanism)
    release = replace(release, value=[0.5])  # a draw may be infinite
    with pytest.raises(InvalidParameterError, match=r"are queries; use a mechanism"):
        replace(release, sensitivity=math.nan).to_json()
