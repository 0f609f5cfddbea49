"""Parts in documents and in texts: what is written is read, and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from riemdp import (
    GDP,
    RDP,
    Euclidean,
    InvalidParameterError,
    Part,
    PureDP,
    RaoDP,
    Sphere,
    register,
)
from riemdp._part import is_registered
from riemdp._part_document import decode, encode, from_text
from riemdp.statistics import FrechetMean, Groups


class Warped(Sphere):
    """Another space than the sphere, whatever it inherits."""


@dataclass(frozen=True)
class Pair(Part, sort="pair"):
    name = "tests.Pair"
    proof = "https://example.org/pair"

    first: Part
    second: Part
    weight: float = math.inf


@pytest.mark.parametrize("part", [Euclidean(3), Sphere(2, 0.3), PureDP(1 / 3), RDP(math.inf, 1.0)])
def test_documents_give_back_the_part(part):
    assert encode(part)["type"] == type(part).__name__
    assert decode(encode(part), part.sort) == part


def test_parts_inside_parts(registry):
    register(Pair)
    pair = Pair(Sphere(2), PureDP(0.1))
    document = encode(pair)
    assert document == {
        "type": "tests.Pair",
        "first": {"type": "Sphere", "dim": 2, "curvature": 1.0},
        "second": {"type": "PureDP", "epsilon": 0.1},
        "weight": "infinity",
    }
    assert decode(document, "pair") == pair


def test_what_is_not_registered_cannot_be_written():
    assert not is_registered(Warped(2))
    with pytest.raises(InvalidParameterError, match=r"Warped cannot be written.*riemdp.parts"):
        encode(Warped(2))


@pytest.mark.parametrize(
    "document",
    [
        None,
        "Sphere",
        {"dim": 2},
        {"type": 3},
        {"type": "Klein"},
        {"type": "PureDP", "epsilon": 1.0},
        {"type": "Sphere", "dim": 2},
        {"type": "Sphere", "dim": 2, "curvature": 1.0, "color": 1},
        {"type": "Sphere", "dim": 2, "curvature": None},
        {"type": "Sphere", "dim": 2, "curvature": True},
        {"type": "Sphere", "dim": 2, "curvature": {"type": "Euclidean", "dim": 1}},
        {"type": "Sphere", "dim": 2, "curvature": [1.0]},
        {"type": "Sphere", "dim": "two", "curvature": 1.0},
        {"type": "os.path", "dim": 2},
    ],
)
def test_other_documents_are_refused(document):
    with pytest.raises(InvalidParameterError):
        decode(document, "manifold")


@pytest.mark.parametrize(
    ("text", "sort", "part"),
    [
        ("Sphere:dim=2", "manifold", Sphere(2)),
        ("Sphere:dim=2,curvature=0.5", "manifold", Sphere(2, 0.5)),
        ("GDP:mu=1", "definition", GDP(1.0)),
        ("RDP:order=infinity, epsilon=1", "definition", RDP(math.inf, 1.0)),
        ("RaoDP:theta=0.4,distance=angle", "definition", RaoDP(0.4, distance="angle")),
        ("groups:records=3", "neighbours", Groups(3)),
        ("frechet-mean", "statistic", FrechetMean()),
    ],
)
def test_a_text_names_a_part(text, sort, part):
    assert from_text(text, sort) == part


@pytest.mark.parametrize(
    "text",
    ["", "Klein", "Sphere", "Sphere:", "Sphere:dim", "Sphere:dim=2,dim=3", "Sphere:dim=two",
     "Sphere:dim=2,color=1", "GDP:mu=1", "Sphere:dim=2;curvature=1", "Sphere:dim=2,"],
)  # fmt: skip
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidParameterError):
        from_text(text, "manifold")


@pytest.mark.parametrize("text", ["Product:spaces=3", "Product:spaces=flat"])
def test_fields_of_another_sort_are_refused(text):
    with pytest.raises(InvalidParameterError, match=r"spaces|product needs"):
        from_text(text, "manifold")
