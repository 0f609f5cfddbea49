from __future__ import annotations

import os

import numpy as np
import pytest

from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp.cli._io import check_output, read_array, read_point, write_array

SECRET = "271828"


def test_npy(tmp_path):
    array = np.random.default_rng(0).random((3, 4))
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(read_array(tmp_path / "a.npy"), array)


def test_npz_with_one_array_and_with_several(tmp_path):
    one, two = np.arange(3.0), np.arange(4)
    np.savez(tmp_path / "one.npz", x=one)
    np.savez(tmp_path / "two.npz", x=one, y=two)
    np.testing.assert_array_equal(read_array(tmp_path / "one.npz"), one)
    np.testing.assert_array_equal(read_array(tmp_path / "two.npz", "y"), two)
    for key in (None, "z"):
        with pytest.raises(InvalidParameterError, match=r"--key: x, y$"):
            read_array(tmp_path / "two.npz", key)


def test_csv(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,3\n4,5,6e-1\n")
    np.testing.assert_array_equal(read_array(tmp_path / "a.csv"), [[1, 2, 3], [4, 5, 0.6]])
    (tmp_path / "b.CSV").write_text("1\n")
    np.testing.assert_array_equal(read_array(tmp_path / "b.CSV"), [[1]])


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", f"x,y\n{SECRET},2\n", f"1,2\n{SECRET}\n", f"1,{SECRET}x\n", f"1;{SECRET}\n"],
)
def test_csv_that_is_none(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InvalidParameterError, match="rows of equally many numbers") as error:
        read_array(tmp_path / "a.csv")
    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None


def test_pickles_are_refused_and_not_run(tmp_path):
    class Payload:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "owned"),)

    objects = np.array([Payload()], dtype=object)
    np.save(tmp_path / "a.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "a.npz", x=objects)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(InvalidParameterError, match="plain numbers"):
            read_array(tmp_path / name)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04garbage", b"\x93NUMPY"])
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_garbage(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidParameterError, match="plain numbers"):
        read_array(tmp_path / name)


def test_one_format_under_the_name_of_the_other(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(InvalidParameterError, match="plain numbers"):
        read_array(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.zeros(3))
    (tmp_path / "b.npy").rename(tmp_path / "b.npz")
    with pytest.raises(InvalidParameterError, match="plain numbers"):
        read_array(tmp_path / "b.npz")


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([True]), np.array([1j])])
def test_not_real_numbers(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(InvalidParameterError, match="real numbers"):
        read_array(tmp_path / "a.npy")


def test_other_suffix_key_without_archive_and_missing_file(tmp_path):
    with pytest.raises(InvalidParameterError, match=r"\.npy, \.npz or \.csv, got a\.txt"):
        read_array(tmp_path / "a.txt")
    with pytest.raises(InvalidParameterError, match="--key is for"):
        read_array(tmp_path / "a.npy", "x")
    with pytest.raises(FileNotFoundError):
        read_array(tmp_path / "a.npy")


def test_point_in_its_shape_or_flat(tmp_path):
    point = np.arange(4.0).reshape(2, 2)
    np.save(tmp_path / "a.npy", point)
    (tmp_path / "a.csv").write_text("0,1,2,3\n")
    (tmp_path / "b.csv").write_text("0,1\n2,3\n")
    for name in ("a.npy", "a.csv", "b.csv"):
        np.testing.assert_array_equal(read_point(tmp_path / name, (2, 2)), point)
    with pytest.raises(NotOnManifoldError, match=r"shape \(3,\), the array in a.npy has \(2, 2\)"):
        read_point(tmp_path / "a.npy", (3,))


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_written_points_read_back_to_the_last_bit(tmp_path, suffix):
    point = np.random.default_rng(1).normal(size=(3, 3))
    with open(tmp_path / f"a{suffix}", "wb") as opened:
        write_array(opened, point, suffix)
    np.testing.assert_array_equal(read_point(tmp_path / f"a{suffix}", (3, 3)), point)


def test_output_is_checked_beforehand(tmp_path):
    check_output(None, (".npy",))
    check_output(tmp_path / "new.npy", (".npy", ".csv"))
    with pytest.raises(InvalidParameterError, match=r"a\.txt must end in \.npy or \.csv"):
        check_output(tmp_path / "a.txt", (".npy", ".csv"))
    with pytest.raises(InvalidParameterError, match="does not exist; create it"):
        check_output(tmp_path / "none" / "a.npy", (".npy",))
    (tmp_path / "b.npy").mkdir()
    with pytest.raises(InvalidParameterError, match="is a folder"):
        check_output(tmp_path / "b.npy", (".npy",))
    with pytest.raises(InvalidParameterError, match=r"new\.npy is an input"):
        check_output(tmp_path / "b.npy" / ".." / "new.npy", (".npy",), (tmp_path / "new.npy",))


def test_output_that_may_not_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write everywhere
    with pytest.raises(InvalidParameterError, match="may not be written"):
        check_output(tmp_path / "new.npy", (".npy",))
