"""Checks of one part, by name, and a registry of parts with mistakes."""

from __future__ import annotations

import pytest

from riemdp import _part
from riemdp.testing import part_checks


@pytest.fixture
def failures(monkeypatch):
    """Names of the checks of a part that fail, after its class was registered."""
    monkeypatch.setattr(_part, "_registry", dict(_part._registry))

    def failed(part, ball=None, *, registered=True):
        if registered:
            _part._registry[part.name] = type(part)
        found = []
        for name, check in part_checks(part, ball=ball):
            try:
                check()
            except Exception:
                found.append(name)
        return found

    return failed
