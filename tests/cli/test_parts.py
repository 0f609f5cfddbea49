from __future__ import annotations

import json
from importlib.metadata import EntryPoint

import pytest

from riemdp import Sphere, _part


@pytest.fixture
def installed(monkeypatch):
    """Two parts of other packages: one that nobody proved, one that is not there."""
    monkeypatch.setattr(_part, "_registry", dict(_part._registry))
    points = [
        EntryPoint("tests_flat.Flat", "tests_flat:Flat", _part.GROUP),
        EntryPoint("no_module.Gone", "no_module:Gone", _part.GROUP),
    ]
    monkeypatch.setattr(_part, "_installed", lambda: {point.name: (point,) for point in points})
    module = type("module", (), {"Flat": type("Flat", (Sphere,), {"name": "tests_flat.Flat"})})
    module.Flat.__module__ = "tests_flat"
    monkeypatch.setitem(__import__("sys").modules, "tests_flat", module)


def test_every_part_is_listed(riemdp, installed):
    lines = [line.split(maxsplit=3) for line in riemdp("parts").stdout.splitlines()]
    assert lines[0] == ["name", "sort", "package", "proof"]
    rows = {line[0]: line[1:] for line in lines[1:]}
    assert rows["Sphere"] == ["manifold", "riemdp", "docs/proofs/spaces.md"]
    assert rows["PureDP"][0] == "definition"
    assert rows["tangent-laplace"][0] == "mechanism"
    assert rows["tests_flat.Flat"] == ["manifold", "tests_flat", "not proved"]
    assert rows["no_module.Gone"] == ["?", "no_module", "cannot be loaded: ModuleNotFoundError"]


def test_as_json(riemdp, installed):
    found = {part["name"]: part for part in json.loads(riemdp("parts", "--json").stdout)}
    assert found["tests_flat.Flat"] == {
        "name": "tests_flat.Flat",
        "sort": "manifold",
        "package": "tests_flat",
        "proof": None,
        "problem": None,
    }
    assert found["no_module.Gone"]["problem"] == "ModuleNotFoundError"
    assert len(found) >= 20
