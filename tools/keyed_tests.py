"""Hooks for pytest: each test draws from secure generators with keys of its own.

    from keyed_tests import pytest_addoption, pytest_runtest_protocol

in a ``conftest.py``; see :mod:`fixed_keys`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from fixed_keys import fixed_keys

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["pytest_addoption", "pytest_runtest_protocol"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--keys``."""
    with contextlib.suppress(ValueError):  # of another conftest it is there
        parser.addoption(
            "--keys",
            default="fixed",
            help="of secure generators: another text for other draws, or 'system' for new ones "
            "each time; a test that fails with few of them hangs on luck",
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Fix the keys while a test, and what it is set up with, runs."""
    keys = item.config.getoption("keys")
    if keys == "system" or item.get_closest_marker("system_keys"):
        return (yield)
    with fixed_keys(f"{keys} {item.nodeid}"):
        return (yield)
