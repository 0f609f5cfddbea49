"""Formats: this library's by extension, others by entry point; errors that show no data."""

from __future__ import annotations

import logging
import sys
import warnings
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from riemdp import InvalidParameterError, NotOnManifoldError, io
from riemdp.io import _read

ROWS = np.arange(6.0).reshape(3, 2)


def read_rows(path):
    return ROWS * float(path.read_text())


def read_badly(path):
    raise ValueError(f"no number: {path.read_text()}")


def read_sentence(path):
    return ["three", "words", "here"]


def read_nothing(path):
    return path.with_name("absent").read_text()


def read_aloud(path):
    logging.getLogger("another").critical("secret")
    warnings.warn("secret", stacklevel=1)
    print("secret", file=sys.stderr)
    return ROWS


def refuse(path):
    raise NotOnManifoldError("row 2 is no image")


@pytest.fixture
def installed(monkeypatch):
    """Formats of another package."""
    points = {
        f".{name}": EntryPoint(f".{name}", f"{__name__}:{function}", io._read.GROUP)
        for name, function in {
            "scaled": "read_rows",
            "bad": "read_badly",
            "words": "read_sentence",
            "nothing": "read_nothing",
            "refused": "refuse",
            "aloud": "read_aloud",
            "gone": "no_such_function",
            "npy": "read_badly",
        }.items()
    }
    monkeypatch.setattr(_read, "_installed", lambda: points)


def test_own_formats(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savez(tmp_path / "b.npz", one=ROWS, two=2.0 * ROWS)
    np.savetxt(tmp_path / "c.CSV", ROWS, delimiter=",")
    for name, key, factor in (("a.npy", None, 1.0), ("b.npz", "two", 2.0), ("c.CSV", None, 1.0)):
        np.testing.assert_array_equal(io.read(tmp_path / name, key), factor * ROWS)
    with pytest.raises(InvalidParameterError, match="--key is for"):
        io.read(tmp_path / "a.npy", "one")
    with pytest.raises(InvalidParameterError, match="numbers"):
        io.read(tmp_path / "a.npy", most=5)


def test_another_packages_format(tmp_path, installed):
    path = tmp_path / "data.Scaled"
    path.write_text("3")
    np.testing.assert_array_equal(io.read(path), 3.0 * ROWS)
    with pytest.raises(InvalidParameterError, match="numbers"):
        io.read(path, most=5)
    assert io.extensions()[:3] == [".npy", ".npz", ".csv"]
    assert ".scaled" in io.extensions()


def test_own_formats_come_first(tmp_path, installed):
    np.save(tmp_path / "a.npy", ROWS)
    np.testing.assert_array_equal(io.read(tmp_path / "a.npy"), ROWS)
    assert io.extensions().count(".npy") == 1


@pytest.mark.parametrize("suffix", ["bad", "words", "gone"])
def test_errors_of_another_package_show_no_data(tmp_path, suffix, installed):
    path = tmp_path / f"data.{suffix}"
    path.write_text("secret")
    with pytest.raises(InvalidParameterError) as caught:
        io.read(path)
    assert "secret" not in str(caught.value)
    assert "three" not in str(caught.value)
    assert f"data.{suffix}" in str(caught.value)
    assert caught.value.__cause__ is None


def test_errors_that_say_what_they_may_are_passed_on(tmp_path, installed):
    for suffix, error in (("refused", NotOnManifoldError), ("nothing", FileNotFoundError)):
        path = tmp_path / f"data.{suffix}"
        path.write_text("1")
        with pytest.raises(error):
            io.read(path)


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match=r"\.npy, \.npz or \.csv.*riemdp\.io"):
        io.read(tmp_path / "data.txt")


def test_what_another_package_says_while_it_reads_is_dropped(tmp_path, installed, capfd, caplog):
    (tmp_path / "a.aloud").write_text("")
    np.testing.assert_array_equal(io.read(tmp_path / "a.aloud"), ROWS)
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""
    with pytest.warns(UserWarning, match="secret"):  # control
        read_aloud(tmp_path)
    assert "secret" in caplog.text
    assert "secret" in capfd.readouterr().err
