"""The auditor's guide: short, and about files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "kernel.md").read_text(encoding="utf-8")


def test_the_page_is_short():
    assert len(PAGE.split()) <= 2500


def test_every_file_of_the_kernel_is_named():
    for path in (ROOT / "src/riemdp/kernel").glob("_[a-z]*.py"):
        assert f"`{path.name}`" in PAGE or f"kernel/{path.name}`" in PAGE, path.name


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:[a-z_]+/)+[a-z_]*\.py)`", PAGE))))
def test_what_is_named_exists(name):
    assert (ROOT / name).exists() or (ROOT / "src" / "riemdp" / name).exists()
