"""Libraries that may be missing, and what they say about damaged files."""

from __future__ import annotations

from pathlib import Path

import pytest

from riemdp import InvalidParameterError, UnsupportedError
from riemdp.io import read_records
from riemdp.io._optional import library, said_plainly


def test_what_is_missing_is_named():
    assert library("json", Path("a.b")).loads("1") == 1
    with pytest.raises(UnsupportedError, match=r'a\.b needs nothing: pip install "riemdp\[io\]"'):
        library("nothing.at.all", Path("a.b"))


@pytest.mark.parametrize("name", ["a.parquet", "a.zarr", "a.nii", "a.nii.gz"])
def test_formats_that_need_a_library(monkeypatch, tmp_path, name):
    def absent(module):
        raise ImportError(module)

    monkeypatch.setattr("importlib.import_module", absent)
    (tmp_path / name).mkdir()
    with pytest.raises(UnsupportedError, match=r"riemdp\[io\]"):
        read_records(tmp_path / name, [] if "nii" in name else ["a"], unit="person")


def test_messages_of_libraries_are_not_shown():
    with pytest.raises(InvalidParameterError, match="KeyError") as caught, said_plainly(Path("a")):
        raise KeyError("secret")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(FileNotFoundError), said_plainly(Path("a")):
        raise FileNotFoundError("a")
