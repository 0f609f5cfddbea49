import numpy as np
import pytest

from riemdp._described import Described, digits, frame, table


class Named(Described):
    def __init__(self, title, rows):
        self._said = title, rows

    def _describe(self):
        return self._said


def test_text_has_a_line_for_each_name():
    text = str(Named("Title", [("a", "one"), ("longer", "two\nthree")]))
    assert text == "Title\n  a       one\n  longer  two\n          three"


def test_long_sentences_are_broken_and_rows_of_arrays_are_not():
    row = "[" + "1 " * 80 + "]"
    lines = str(Named("Title", [("a", "word " * 60), ("b", row)])).splitlines()
    assert all(len(line) <= 100 for line in lines[:-1])
    assert lines[-1].endswith(row)


def test_what_it_holds_is_no_markup():
    page = Named("<b>", [("<i>", "<script>alert(1)</script>")])._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;" in page
    assert "<i>" not in page
    assert "<th" in table("t", [["1"]], ["<n>"])
    assert "<n>" not in table("t", [["1"]], ["<n>"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.1235"),
        (np.array([1.0, 2.00004]), "[1 2]"),
        (np.arange(20.0), "[0, 1, 2, 3, ...], shape (20,)"),
        (np.array([0.123456 - 2j, 1j]), "[0.1235-2j 0+1j]"),
        (1j * np.arange(20.0), "[0+0j, 0+1j, 0+2j, 0+3j, ...], shape (20,)"),
        (np.eye(2), "[[1 0]\n [0 1]]"),
    ],
)
def test_numbers_have_four_digits(value, text):
    assert digits(value) == text


def test_frames_have_a_row_for_each_record():
    pandas = pytest.importorskip("pandas")
    found = frame([{"n": 1, "x": None}, {"n": 2, "x": 0.5}])
    assert isinstance(found, pandas.DataFrame)
    assert found["n"].tolist() == [1, 2]
