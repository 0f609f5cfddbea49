"""The list of the library's own parts, held against the classes that are registered."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import riemdp
from riemdp import InvalidParameterError, Part, _part, register
from riemdp._own_parts import OWN_PARTS, Place
from riemdp._part import borrowed, catalogue, lookup, registered

SOURCES = Path(riemdp.__file__).parents[1]


def registered_in(source, module):
    """Names of the classes that a module registers."""
    for node in ast.parse(source).body:
        decorators = getattr(node, "decorator_list", ())
        if any(getattr(each, "id", "") == "register" for each in decorators):
            yield module, node.name


def test_it_names_what_is_registered_and_nothing_else():
    found = set()
    for path in (SOURCES / "riemdp").rglob("_*.py"):
        source = path.read_text(encoding="utf-8")
        if "@register\n" in source:
            module = ".".join(path.relative_to(SOURCES).with_suffix("").parts)
            found.update(registered_in(source, module))
    assert sorted(found) == sorted((place.module, place.kind) for place in OWN_PARTS.values())
    control = "@register\n@final\nclass A:\n    pass\n@final\nclass B:\n    pass\n"
    assert list(registered_in(control, "m")) == [("m", "A")]


@pytest.mark.parametrize("name", OWN_PARTS)
def test_names_sorts_and_classes_are_those_of_the_parts(name):
    part, place = lookup(name), OWN_PARTS[name]
    assert place == Place(part.sort, part.__module__, part.__qualname__)
    assert part.name == name
    assert registered(place.sort)[name] is part


def test_parts_are_listed_in_its_order():
    assert [part.name for part in catalogue() if "." not in part.name] == list(OWN_PARTS)
    definitions = [name for name, place in OWN_PARTS.items() if place.sort == "definition"]
    assert list(registered("definition")) == definitions


def test_a_name_in_it_is_that_of_one_class(registry):
    """Also where the class has not been registered in this copy of the registry."""
    _part._registry.clear()
    for module in ("riemdp.spaces._sphere", "riemdp.elsewhere"):
        liar = type("Sphere", (Part,), {"__module__": module, "proof": "a paper"})
        with pytest.raises(InvalidParameterError, match="another part of the name"):
            register(liar)
        assert borrowed(liar()) == {"Sphere": None}
    assert lookup("Sphere") is riemdp.Sphere
    assert register(riemdp.Sphere) is riemdp.Sphere
    free = type("Free", (Part,), {"__module__": "riemdp.elsewhere"})
    assert register(free) is lookup("Free") is free
