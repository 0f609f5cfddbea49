"""Zarr: arrays by name, sizes before they are read, chunks that nobody wrote."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.io._zarr import read_zarr

zarr = pytest.importorskip("zarr", minversion="3")

ROWS = np.arange(24.0).reshape(4, 6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("zarr") / "data.zarr"
    group = zarr.open_group(str(path), mode="w")
    group.create_array("d", data=ROWS, chunks=(3, 6))
    for i, name in enumerate("ab"):
        group.create_array(name, data=ROWS[:, i], chunks=(3,))
    group.create_array("who", data=np.array([7, 7, 8, 9]), chunks=(2,))
    group.create_array("flags", data=np.ones(4, dtype=bool), chunks=(2,))
    return path


def read(path, *points, most=1000, **fields):
    named = {field: (name,) for field, name in fields.items()}
    return read_zarr(path, {"points": points, **named}, most, "")


def test_arrays_by_name(folder):
    found = read(folder, "d", users="who", weights="a")
    np.testing.assert_array_equal(found["points"], ROWS)
    assert found["users"] == [7, 7, 8, 9]
    np.testing.assert_array_equal(found["weights"], ROWS[:, :1])
    np.testing.assert_array_equal(read(folder, "b", "a")["points"], ROWS[:, [1, 0]])


def test_one_array(folder):
    np.testing.assert_array_equal(read(folder / "d")["points"], ROWS)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ((), "name the arrays"),
        (("absent",), "no array 'absent'"),
        (("flags",), "real numbers"),
        (("d", "a"), "columns must have the shape"),
    ],
)
def test_arrays_that_are_none(folder, points, said):
    with pytest.raises(InvalidParameterError, match=said):
        read(folder, *points)


def test_too_many_numbers(folder):
    with pytest.raises(InvalidParameterError, match="more than 23 numbers"):
        read(folder, "d", most=23)


def test_shards(tmp_path):
    group = zarr.open_group(str(tmp_path / "s.zarr"), mode="w")
    array = group.create_array("d", shape=(95, 2), chunks=(10, 2), shards=(50, 2), dtype="f8")
    array[:50] = 1.0
    with pytest.raises(InvalidParameterError, match="nobody wrote"):
        read(tmp_path / "s.zarr", "d")
    array[50:] = 2.0
    np.testing.assert_array_equal(
        read(tmp_path / "s.zarr", "d")["points"][50:], np.full((45, 2), 2)
    )


def test_damage(folder, tmp_path):
    group = zarr.open_group(str(tmp_path / "b.zarr"), mode="w")
    group.create_array("d", shape=(4, 6), chunks=(3, 6), dtype="f8")[:3] = 1.0
    with pytest.raises(InvalidParameterError, match="nobody wrote"):
        read(tmp_path / "b.zarr", "d")
    group["d"][3:] = 1.0  # control
    assert np.all(read(tmp_path / "b.zarr", "d")["points"] == 1.0)
    chunk = next(path for path in (tmp_path / "b.zarr" / "d" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(b"secret")
    with pytest.raises(InvalidParameterError, match="cannot be read") as caught:
        read(tmp_path / "b.zarr", "d")
    assert "secret" not in str(caught.value)


def test_folders_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.zarr", "d")
    (tmp_path / "file.zarr").write_text("")
    with pytest.raises(InvalidParameterError, match="folder"):
        read(tmp_path / "file.zarr", "d")
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises((InvalidParameterError, FileNotFoundError)):
        read(tmp_path / "empty.zarr", "d")
