"""The attacks on low bits, which no part of the library knows."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def attacks():
    """What ``bit_attacks.py``, beside this file, defines."""
    path = Path(__file__).with_name("bit_attacks.py")
    spec = importlib.util.spec_from_file_location("bit_attacks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
