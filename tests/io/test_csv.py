"""Tables of numbers: what is read, and errors that show none of it."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.io import read_csv


def test_rows_of_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2.5\n-3,4e1\n")
    np.testing.assert_array_equal(read_csv(path), [[1.0, 2.5], [-3.0, 40.0]])
    path.write_text("7\n")
    np.testing.assert_array_equal(read_csv(path), [[7.0]])


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "1,2\n3\n", "1;2\n", "secret\n", "\xff"])
def test_other_files_are_refused_without_their_text(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(InvalidParameterError, match=r"a\.csv must have rows") as caught:
        read_csv(path)
    assert "secret" not in str(caught.value)


def test_too_many_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n3,4\n")
    assert read_csv(path, most=4).shape == (2, 2)
    with pytest.raises(InvalidParameterError, match=r"numbers.*read fewer"):
        read_csv(path, most=3, advice="read fewer")


def test_no_row_is_taken_for_a_comment(tmp_path):
    path = tmp_path / "rows.csv"
    for text in ("1,2\n#3,4\n5,6\n", "1,2 # half\n3,4\n"):
        path.write_text(text)
        with pytest.raises(InvalidParameterError, match="rows of equally many numbers"):
            read_csv(path)
