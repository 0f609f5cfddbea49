"""For all tests: what they draw from secure generators is the same every time."""

from __future__ import annotations

from keyed_tests import pytest_addoption, pytest_runtest_protocol

__all__ = ["pytest_addoption", "pytest_runtest_protocol"]
