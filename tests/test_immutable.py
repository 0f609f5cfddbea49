"""What a guarantee rests on cannot be changed after it was checked."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

PACKAGES = ("privacy", "statistics", "mechanisms", "release", "noise")
#: Work space of a solver.
MUTABLE = {"_Pass", "Dense", "Pass"}


def classes():
    for package in PACKAGES:
        paths = importlib.import_module(f"riemdp.{package}").__path__
        for found in pkgutil.iter_modules(paths):
            module = importlib.import_module(f"riemdp.{package}.{found.name}")
            for kind in vars(module).values():
                own = isinstance(kind, type) and kind.__module__ == module.__name__
                if own and dataclasses.is_dataclass(kind):
                    yield pytest.param(kind, id=f"{package}.{kind.__qualname__}")


@pytest.mark.parametrize("kind", list(classes()))
def test_dataclasses_are_frozen(kind):
    assert kind.__dataclass_params__.frozen != (kind.__name__ in MUTABLE)


def test_the_ones_that_matter_are_dataclasses():
    names = {case.id.rpartition(".")[2] for case in classes()}
    assert names >= {"PureDP", "ZCDP", "Mechanism", "TangentGaussian", "Release"}
    assert names >= {"IsotropicCurve", "LaplaceCurve", "RDP", "RaoDP", "Offer", "_Table"}
