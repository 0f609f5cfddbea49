"""Parts: names, proofs that are not inherited, documents, and those of other packages."""

from __future__ import annotations

import functools
import math
import sys
import types
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from riemdp import (
    InvalidParameterError,
    Part,
    Sphere,
    _part,
    register,
)
from riemdp._part import is_own_code, is_own_throughout, lookup, registered
from riemdp._part_document import decode
from riemdp.statistics import PointStatistic, RefinedMean, TangentRegression
from riemdp.statistics._records import record_coordinates
from riemdp.statistics._seen import _vectors

ROOT = Path(__file__).resolve().parents[1]
SORTS = ("manifold", "mechanism", "definition", "statistic", "neighbours")


class Warped(Sphere):
    """Another space than the sphere, whatever it inherits."""


@dataclass(frozen=True)
class Pair(Part, sort="pair"):
    name = "tests.Pair"
    proof = "https://example.org/pair"

    first: Part
    second: Part
    weight: float = math.inf


def test_a_subclass_makes_claims_of_its_own():
    assert Sphere.proof is not None
    assert Warped.proof is None
    assert Warped(2).proofs() == {"Warped": None}
    assert (Warped.name, Warped.sort) == ("Warped", "manifold")


@pytest.mark.parametrize("sort", SORTS)
def test_every_proof_is_a_note_that_is_there(sort):
    parts = registered(sort)
    assert len(parts) >= 2
    missing = [name for name, part in parts.items() if not _resolves(part.proof)]
    assert set(missing) <= {"point-statistic"}  # its caller says where, or nobody


def _resolves(proof):
    return proof is not None and (ROOT / proof).is_file()


def test_a_missing_note_is_noticed():
    assert not _resolves("docs/proofs/wishes.md")
    assert not _resolves(None)


def test_names_of_other_packages_have_a_prefix(registry):
    with pytest.raises(InvalidParameterError, match="that of its package, a dot"):
        register(Warped)
    with pytest.raises(InvalidParameterError, match=r"no riemdp\.Part"):
        register(int)
    register(Pair)
    assert register(Pair) is Pair
    other = type("Other", (Pair,), {"name": "tests.Pair"})
    with pytest.raises(InvalidParameterError, match="another part of the name"):
        register(other)
    assert lookup("tests.Pair") is Pair
    assert "tests.Pair" not in registered("pair")


SPACE = """
from dataclasses import dataclass
import riemdp
from riemdp.spaces import FlatManifold

@dataclass(frozen=True)
class Line(FlatManifold):
    name = "{name}"
    scale: float
    dim = 1
    point_shape = (1,)
"""


@pytest.mark.parametrize(
    ("entry", "name", "said"),
    [
        ("lines.Line", "lines.Line", "'lines.Line' cannot be made of the fields scale: Can't"),
        ("lines.Line", "Line", "Line.name is 'Line'"),
        ("Line", "Line", "unknown manifold"),
    ],
)
@pytest.mark.usefixtures("registry")
def test_entry_points(monkeypatch, tmp_path, entry, name, said):
    """The class is found and built; that this one is abstract is Python's to say."""
    (tmp_path / "lines.py").write_text(SPACE.format(name=name))
    info = tmp_path / "lines-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lines\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[riemdp.parts]\n{entry} = lines:Line\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    _part._installed.cache_clear()
    try:
        with pytest.raises(InvalidParameterError) as error:
            decode({"type": "lines.Line", "scale": 2.0}, "manifold")
        assert str(error.value).startswith(said)
        assert ("lines" in sys.modules) == (entry == "lines.Line")
    finally:
        sys.modules.pop("lines", None)
        monkeypatch.undo()
        _part._installed.cache_clear()


def test_a_part_that_cannot_be_loaded_is_one_clear_error(monkeypatch):
    point = EntryPoint("no_module.Gone", "no_module:Gone", _part.GROUP)
    monkeypatch.setattr(_part, "_installed", lambda: {point.name: (point,)})
    with pytest.raises(InvalidParameterError, match=r"'no_module.Gone' cannot be loaded: Mod"):
        decode({"type": "no_module.Gone"}, "manifold")


def test_a_package_that_exits_is_one_clear_error(monkeypatch, tmp_path):
    (tmp_path / "tests_exits.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("tests_exits.X", "tests_exits:X", _part.GROUP)
    monkeypatch.setattr(_part, "_installed", lambda: {point.name: (point,)})
    with pytest.raises(InvalidParameterError, match="cannot be loaded: SystemExit"):
        lookup("tests_exits.X")
    assert "tests_exits.X" not in _part.offered("mechanism")
    (listed,) = (part for part in _part.catalogue() if part.name == "tests_exits.X")
    assert listed.problem == "SystemExit"


def test_the_order_of_other_packages_does_not_count(registry):
    for name in ("tests.B", "tests.A"):
        register(type("Other", (Part,), {"name": name}, sort="other"))
    assert list(_part.offered("other")) == ["tests.A", "tests.B"]


NOTHING = ["", "  ", "\n", False, True, 1, b"a paper", ("a paper",)]


@pytest.mark.parametrize("stated", NOTHING)
def test_a_proof_says_where(stated):
    with pytest.raises(InvalidParameterError, match=r"the proof of Other must say where"):
        type("Other", (Part,), {"proof": stated})
    assert _part.both_proved({"Other": stated}) == {"Other": None}
    assert _part.both_proved({"Other": "a paper"}, {"Other": stated}) == {"Other": None}


def test_a_proof_may_be_a_field():
    @dataclass(frozen=True, slots=True)
    class Cited(Part):
        proof: str | None = None

    assert Cited("a paper").proofs() == {"Cited": "a paper"}
    assert _part.both_proved(Cited(" ").proofs()) == {"Cited": None}


PART = "from riemdp import Part\nclass X(Part, sort='other'):\n    name = {name!r}\n"


@pytest.fixture
def installed(monkeypatch, tmp_path, registry):
    """Install packages, each of one part: distribution, module, name of the part."""

    def install(*packages):
        for distribution, module, name in packages:
            folder = tmp_path / distribution
            info = folder / f"{distribution}-1.0.dist-info"
            info.mkdir(parents=True)
            (folder / f"{module}.py").write_text(PART.format(name=name))
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\n")
            (info / "entry_points.txt").write_text(f"[riemdp.parts]\n{name} = {module}:X\n")
            monkeypatch.syspath_prepend(str(folder))
        _part._installed.cache_clear()

    yield install
    for name in ("tests_lab", "tests_hijack"):
        sys.modules.pop(name, None)
    monkeypatch.undo()
    _part._installed.cache_clear()


def problems(name):
    return {part.package: part.problem for part in _part.catalogue() if part.name == name}


def test_a_distribution_may_have_another_name_than_its_module(installed):
    installed(("tests-dist", "tests_lab", "tests_lab.X"))
    assert lookup("tests_lab.X").__module__ == "tests_lab"
    assert problems("tests_lab.X") == {"tests-dist": None}


@pytest.mark.parametrize("order", [1, -1])
def test_no_package_takes_the_name_of_another_one(installed, order):
    both = [("lab", "tests_lab", "tests_lab.X"), ("hijack", "tests_hijack", "tests_lab.X")]
    installed(*both[::order])
    assert lookup("tests_lab.X").__module__ == "tests_lab"
    assert "tests_hijack" not in sys.modules
    found = problems("tests_lab.X")
    assert found["lab"] is None
    assert "'tests_hijack'" in found["hijack"]


def test_a_name_of_a_module_that_is_not_there_is_refused(installed):
    installed(("hijack", "tests_hijack", "tests_lab.X"))
    with pytest.raises(InvalidParameterError, match=r"of hijack is refused.*'tests_hijack'"):
        lookup("tests_lab.X")
    assert "tests_hijack" not in sys.modules
    assert _part.offered("other") == {}


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_that_two_packages_offer_is_of_neither(installed, order):
    both = [("lab", "tests_lab", "tests_lab.X"), ("other", "tests_lab", "tests_lab.X")]
    installed(*both[::order])
    with pytest.raises(InvalidParameterError, match=r"by several packages.*uninstall"):
        lookup("tests_lab.X")
    assert "tests_lab" not in sys.modules
    assert _part.offered("other") == {}
    found = problems("tests_lab.X")
    assert sorted(found) == ["lab", "other"]
    assert all("several packages" in problem for problem in found.values())


def test_the_prefix_of_this_library_is_its_own(installed):
    installed(("hijack", "tests_hijack", "riemdp.Sphere"))
    with pytest.raises(InvalidParameterError, match=r"riemdp\. are kept for this library"):
        lookup("riemdp.Sphere")
    assert "this library" in problems("riemdp.Sphere")["hijack"]
    with pytest.raises(InvalidParameterError, match="that of its package"):
        register(type("Sphere", (Part,), {"name": "riemdp.Sphere"}))


# Whose code sees several records at once.


def spy(ball, points):
    """A function of another package."""
    return record_coordinates(ball, points - points.mean(axis=0))


def renamed(function, module="riemdp.statistics._records", name="record_coordinates"):
    """Return a copy that says that it is of this library."""
    found = types.FunctionType(function.__code__, function.__globals__)
    found.__module__, found.__qualname__ = module, name
    return found


class Line(TangentRegression):
    """A statistic of another package with a method of this library."""

    name = "tests.Line"


OWN = {
    "function": record_coordinates,
    "partial": functools.partial(_vectors, np.zeros(2), 1.0),
    "method": TangentRegression(0.0, 1.0).beside,
    "none": None,
}
FOREIGN = {
    "function": spy,
    "lambda": lambda ball, points: points,
    "builtin": np.linalg.norm,
    "ufunc": np.add,
    "wraps": functools.wraps(record_coordinates)(lambda ball, points: spy(ball, points.copy())),
    "renamed": renamed(spy),
    "class of the same name": type("View", (), {"__module__": "riemdp.statistics._seen"})(),
    "partial": functools.partial(functools.partial(spy), np.zeros(2)),
    "argument": functools.partial(_vectors, spy),
    "argument in a tuple": functools.partial(_vectors, (0.0, (spy,))),
    "keyword": functools.partial(_vectors, unit=spy),
    "objects in an array": functools.partial(_vectors, np.array([spy])),
    "kind of array": functools.partial(_vectors, np.zeros(2).view(np.ma.MaskedArray)),
    "method of a foreign class": Line(0.0, 1.0).beside,
    "method of a part with a function": types.MethodType(
        record_coordinates, PointStatistic(1.0, 5, "x", spy)
    ),
    "function of this library, bound to another object": types.MethodType(record_coordinates, spy),
    "own part with a function": PointStatistic(1.0, 5, "x", spy),
}


@pytest.mark.parametrize("name", OWN)
def test_code_of_this_library_is_known(name):
    assert is_own_code(OWN[name])


@pytest.mark.parametrize("name", FOREIGN)
def test_code_of_other_packages_is_known_wherever_it_is(name):
    assert not is_own_code(FOREIGN[name])
    assert not is_own_code(*OWN.values(), FOREIGN[name])


def test_classes_are_known_by_what_modules_have_under_their_names():
    spoofed = type(
        "TangentRegression", (TangentRegression,), {"__module__": "riemdp.statistics._regression"}
    )
    assert is_own_throughout(TangentRegression(0.0, 1.0), RefinedMean(2))
    assert not is_own_throughout(Line(0.0, 1.0))
    assert not is_own_throughout(spoofed(0.0, 1.0))
