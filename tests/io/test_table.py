"""CSV with headers: columns by name, ids as texts; errors that show none of it."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.io._table import read_table

TEXT = 'person,b,a,note\r\n007,1,2.5,x\r\n7,-3,4e1,"y,z"\r\n'
WANTED = {"points": ("a", "b"), "users": ("person",)}


def table(tmp_path, text, wanted=WANTED, most=100):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return read_table(path, wanted, most, "")


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_columns_by_name(tmp_path, start):
    found = table(tmp_path, start + TEXT)
    np.testing.assert_array_equal(found["points"], [[2.5, 1.0], [40.0, -3.0]])
    assert found["users"] == ["007", "7"]  # two people, not one


def test_no_records(tmp_path):
    found = table(tmp_path, "person,a,b\n")
    assert found["points"].shape == (0, 2)
    assert found["users"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("person,a,b\nSECRET,1,2\nSECRET,1\n", "row 1 of t.csv: it has not as many cells"),
        ("person,a,b\nSECRET,1,2\n\n", "row 1 of t.csv: it has not as many cells"),
        ("person,a,b\nSECRET,1,SECRET\n", "row 0 of t.csv: column 'b' holds no number"),
        ("person,a,b\nSECRET,1,1_0\n", "row 0 of t.csv: column 'b' holds no number"),
        ("person,a,b\nSECRET,1,\n", "row 0 of t.csv: column 'b' holds no number"),
        ("person,a,b\n ,1,1\n", "row 0 of t.csv: column 'person' is empty"),
        ('person,a,b\n"SECRET,1,2\n', "row 0 of t.csv: it is no row"),
        ("person,a,SECRET\n", "no column of the name 'b'"),
        ("1,2,SECRET\n", "no column of the name 'a'"),
        ("person,a,b,a\n", "more than one column of the name 'a'"),
        ("", "no column of the name 'a'"),
    ],
)
def test_errors_show_no_data(tmp_path, text, said):
    with pytest.raises(InvalidParameterError, match=said) as caught:
        table(tmp_path, text)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"person,a,b\n\xff,1,2\n")
    with pytest.raises(InvalidParameterError, match=r"t\.csv: it is no row"):
        read_table(path, WANTED, 100, "")


def test_too_many_numbers(tmp_path):
    with pytest.raises(InvalidParameterError, match="more than 8 numbers"):
        table(tmp_path, TEXT, most=8)
