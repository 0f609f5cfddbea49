"""Documents of releases: every key is there, once, and of its type."""

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
        {"mechanism": {"type": "magic", "sigma": 1.0}},
        {"mechanism": {"type": "tangent-gaussian", "sigma": 1.0, "options": ["ball"]}},
        {"ball": {}},
        {"n": "many"},
        {"n": None},
        {"expected_distance": "small"},
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
        {"error_quantile_95": None},
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
        {"mechanism": {"type": "riemannian-laplace", "sigma": True}},
        {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0, "options": ["base"]}},
        {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0, "options": "ball"}},
        {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0, "options": [["ball"]]}},
        {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0, "ball": 1.0}},
        {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0, "sampler": "fast"}},
        {"mechanism": {"type": "riemannian-laplace", "sigma": 1.0, "colour": 1}},
        {"mechanism": {"type": "tangent-laplace", "sigma": 1.0}},
        {"mechanism": {"type": "tangent-laplace", "sigma": 1.0, "base": [0.0, 0.0, 1.0]}},
        {"mechanism": {"name": "riemannian-laplace", "sigma": 1.0}},
    ],
)
def test_malformed_documents_are_refused(change):
    document = json.loads(make(Sphere(2), PureDP(1.0)).to_json()) | change
    with pytest.raises(RiemdpError):
        Release.from_json(json.dumps(document))


def accepted(document):
    try:
        Release.from_json(json.dumps(document))
    except InvalidParameterError:
        return False
    return True


def test_every_key_is_needed_but_versions_which_earlier_documents_lack():
    document = json.loads(make(Sphere(2), PureDP(1.0)).to_json())
    assert accepted(document)
    without = [key for key in document if accepted({k: document[k] for k in document if k != key})]
    assert without == ["versions"]


def test_a_document_holds_what_a_reader_needs():
    document = json.loads(make(Hyperbolic(2), PureDP(1.0)).to_json())
    assert document["format"] == "riemdp-release/2"
    assert document["statistic"] == {"type": "frechet-mean"}
    assert document["neighbours"] == {"type": "replace-one"}
    assert document["mechanism"] == {
        "type": "riemannian-laplace",
        "sigma": document["sensitivity"],
    }
    assert set(document) >= {
        "value", "guarantee", "manifold", "ball", "n", "sensitivity", "tol", "proofs", "private",
    }  # fmt: skip
    tangent = json.loads(make(Sphere(2), PureDP(1.0), mechanism="tangent-laplace").to_json())
    assert tangent["mechanism"]["options"] == ["base"]


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
    with pytest.raises(InvalidParameterError, match=r"are error_quantile_95; use a mechanism"):
        release.to_json()
    with pytest.raises(InvalidParameterError, match=r"are .*sensitivity, error_quantile_95"):
        replace(release, sensitivity=math.nan).to_json()
