"""How things are called and shown: parameters have names, and arrays stay out of ``repr``."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

PACKAGES = ("privacy", "statistics", "mechanisms", "release", "noise", "spaces")


def modules():
    for package in PACKAGES:
        for found in pkgutil.iter_modules(importlib.import_module(f"riemdp.{package}").__path__):
            yield importlib.import_module(f"riemdp.{package}.{found.name}")


def functions():
    """Functions and methods that do not begin with an underscore, by name."""
    for module in modules():
        for item in vars(module).values():
            if getattr(item, "__module__", None) != module.__name__:
                continue
            for each in [item, *vars(item).values()] if isinstance(item, type) else [item]:
                function = getattr(each, "__func__", getattr(each, "fget", each))
                if inspect.isfunction(function) and not function.__name__.startswith("_"):
                    yield f"{module.__name__}.{function.__qualname__}", function


def test_every_parameter_can_be_given_by_name():
    found = dict(functions())
    assert {name.rpartition(".")[2] for name in found} >= {"private_mean", "calibrate", "private"}
    kinds = {
        name: {p.kind for p in inspect.signature(function).parameters.values()}
        for name, function in found.items()
    }
    positional = inspect.Parameter.POSITIONAL_ONLY
    assert [name for name, kind in kinds.items() if positional in kind] == []


def test_mechanisms_do_not_show_arrays_and_functions():
    shown = [
        f"{kind.__qualname__}.{field.name}"
        for module in modules()
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and kind.__module__.startswith("riemdp.mechanisms.")
        for field in dataclasses.fields(kind)
        if field.repr and any(word in str(field.type) for word in ("Array", "Callable"))
    ]
    assert shown == []


def test_a_release_shows_no_proofs_that_a_document_stated():
    from riemdp import Release

    assert {f.name for f in dataclasses.fields(Release) if not f.repr} >= {
        "stated_proofs",
        "stated_moves",
    }
