"""Parquet: numbers, lists of numbers, ids; what is missing is named by its row."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.io import _parquet

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TENSORS = np.arange(18.0).reshape(3, 6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.parquet"


def write(path, **columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def read(path, points, most=1000, **fields):
    named = {field: (name,) for field, name in fields.items()}
    return _parquet.read_parquet(path, {"points": points, **named}, most, "")


def test_columns_by_name(path, monkeypatch):
    monkeypatch.setattr(_parquet, "_BATCH", 2)  # three rows in two batches
    write(
        path, b=[1, 2, 3], a=pyarrow.array([0.5, 1.5, -2.0], pyarrow.float32()),
        person=["007", "7", "é"], site=pyarrow.array(["x", "y", "x"]).dictionary_encode(),
        age=[30, 40, 50],
    )  # fmt: skip
    found = read(path, ("a", "b"), users="person", labels="site", covariates="age")
    np.testing.assert_array_equal(found["points"], [[0.5, 1.0], [1.5, 2.0], [-2.0, 3.0]])
    assert found["users"] == ["007", "7", "é"]
    assert found["labels"] == ["x", "y", "x"]
    np.testing.assert_array_equal(found["covariates"], [[30], [40], [50]])
    assert read(path, ("a",), users="age")["users"] == [30, 40, 50]


@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_lists_of_numbers(path, monkeypatch, kind):
    monkeypatch.setattr(_parquet, "_BATCH", 2)
    of = {
        "list": pyarrow.list_(pyarrow.float64()),
        "large": pyarrow.large_list(pyarrow.float64()),
        "fixed": pyarrow.list_(pyarrow.float64(), 6),
    }[kind]
    write(path, d=pyarrow.array(TENSORS.tolist(), of))
    np.testing.assert_array_equal(read(path, ("d",))["points"], TENSORS)
    with pytest.raises(InvalidParameterError, match="more than 17 numbers"):
        read(path, ("d",), most=17)


def test_no_records(path):
    write(path, a=pyarrow.array([], pyarrow.float64()))
    assert read(path, ("a",))["points"].shape == (0, 1)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1.0, 2.0, None]}, "row 2 of t.parquet: column 'a' has no value"),
        ({"a": [[1.0], [2.0], [1.0, 2.0]]}, "row 2 of t.parquet: column 'a' has a list"),
        ({"a": [[1.0, 2.0], [2.0, 1.0], [1.0]]}, "row 2 of t.parquet: column 'a' has a list"),
        ({"a": [[1.0, 2.0], [3.0, None]]}, "row 1 of t.parquet: column 'a' has no value in"),
        ({"a": [[1.0, 2.0], None]}, "row 1 of t.parquet: column 'a' has no value"),
        ({"a": ["SECRET"]}, "column 'a' of t.parquet must hold numbers"),
        ({"a": [["SECRET"]]}, "column 'a' of t.parquet must hold numbers"),
        ({"SECRET": [1.0]}, "t.parquet has no column of the name 'a'"),
        ({"a": [True]}, "column 'a' of t.parquet must hold numbers"),
    ],
)
@pytest.mark.parametrize("batch", [1, 2, 100])
@pytest.mark.fast(9)
def test_errors_show_no_data(path, monkeypatch, columns, said, batch):
    monkeypatch.setattr(_parquet, "_BATCH", batch)
    write(path, **columns)
    with pytest.raises(InvalidParameterError, match=said) as caught:
        read(path, ("a",))
    assert "SECRET" not in str(caught.value)


def test_users_that_are_numbers(path):
    write(path, a=[1.0], who=[0.5])
    with pytest.raises(InvalidParameterError, match="integers or texts"):
        read(path, ("a",), users="who")
    write(path, a=[1.0, 2.0], who=["x", None])
    with pytest.raises(InvalidParameterError, match=r"row 1 .* 'who' has no value"):
        read(path, ("a",), users="who")


def test_damage(path):
    write(path, a=list(range(1000)))
    with pytest.raises(InvalidParameterError, match="more than 999 numbers"):
        read(path, ("a",), most=999)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InvalidParameterError, match="cannot be read"):
        read(path, ("a",))
    with pytest.raises(FileNotFoundError):
        read(path.with_name("absent.parquet"), ("a",))


def test_texts_whose_starts_are_repeated(path):
    """A text may be as long as the file there, and stand in every row."""
    texts = [f"{'x' * 1000}{i:03}" for i in range(500)]
    table = pyarrow.table({"a": np.zeros(500), "who": texts})
    options = {"use_dictionary": False, "column_encoding": {"who": "DELTA_BYTE_ARRAY"}}
    parquet.write_table(table, path, **options)
    with pytest.raises(InvalidParameterError, match="encoding that may take any amount"):
        read(path, ("a",), users="who")
    assert len(read(path, ("a",))["points"]) == 500  # where nobody asks for them
    for options in ({}, {"use_dictionary": False}):  # the way out
        parquet.write_table(table, path, **options)
        assert read(path, ("a",), most=500 + 500 + 10**5, users="who")["users"] == texts


def test_equal_texts_are_in_memory_once(path, monkeypatch):
    monkeypatch.setattr(_parquet, "_BATCH", 7)
    write(path, a=np.zeros(100), who=["one person", "another"] * 50)
    users = read(path, ("a",), users="who")["users"]
    assert users == ["one person", "another"] * 50
    assert len(set(map(id, users))) == 2


def test_what_columns_declare_is_counted_before_they_are_decoded(path, monkeypatch):
    def decoded(*arguments, **options):
        raise AssertionError

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "iter_batches", decoded)
    zeros = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(np.zeros(6000)), 6)
    write(path, d=zeros, who=["x" * 1000 + str(i) for i in range(1000)], other=np.zeros(1000))
    with pytest.raises(InvalidParameterError, match="more than 5999 numbers"):
        read(path, ("d",), most=5999)
    with pytest.raises(InvalidParameterError, match="more than 50000 numbers"):
        read(path, ("d",), most=50000, users="who")  # a megabyte of texts
    with pytest.raises(InvalidParameterError, match="must hold numbers"):
        read(path, ("who",), most=10)
    with pytest.raises(InvalidParameterError, match="cannot be read"):  # control: it is asked for
        read(path, ("d",), most=6000)
