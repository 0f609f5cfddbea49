"""Means whose certificate is next to nothing but the allowance for rounding."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from riemdp import ConvergenceError, frechet_mean


def _closest_mean(manifold, data, ball=None):
    mean = frechet_mean(manifold, data, ball=ball, tol=1e-3)
    while True:
        try:
            mean = frechet_mean(manifold, data, ball=ball, tol=0.5 * mean.error_bound)
        except ConvergenceError:
            return mean


@pytest.fixture(scope="session")
def closest_mean():
    """``closest_mean(manifold, data, ball)``: certified as closely as rounding lets it be."""
    return _closest_mean


def _beside(name):
    """What a file beside this one defines."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def sums():
    """What ``sums.py``, beside this file, defines."""
    return _beside("sums")


@pytest.fixture(scope="session")
def subspaces():
    """What ``subspaces.py``, beside this file, defines."""
    return _beside("subspaces")


@pytest.fixture(scope="session")
def space_forms():
    """What ``space_forms.py``, beside this file, defines."""
    return _beside("space_forms")
