import numpy as np
import pytest

import riemdp
from riemdp import GDP
from riemdp._described import Described, digits, few_digits, frame, table, value_rows
from riemdp.privacy import GaussianCurve


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


def test_what_it_holds_steers_no_terminal_and_makes_no_lines():
    held = Named("a\x1b[2J", [("b\n  verified", "one\x9b31m\u202e\ntwo")])
    expected = "a\\x1b[2J\n  b\\n  verified  one\\x9b31m\\u202e\n                 two"
    assert str(held) == expected
    assert not {"\x1b", "\x9b", "\u202e"} & set(held._repr_html_())


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


def test_long_numbers_of_a_text_have_four_digits():
    assert few_digits("GDP(mu=0.14433756729740643), k=3") == "GDP(mu=0.1443), k=3"
    assert few_digits("x=1.0000000000000002e-06") == "x=1e-06"
    assert few_digits("x=1.25, n=1234567, y=1e-06") == "x=1.25, n=1234567, y=1e-06"


def test_values_have_a_row_for_each_name():
    assert value_rows(np.array([1.0, 0.123456])) == [("value", "[1 0.1235]")]
    assert value_rows({"a": 1.0, "b": "text"}) == [("a", "1"), ("b", "text")]


@pytest.mark.parametrize(
    "name",
    [
        "AuditResult",
        "Ball",
        "Combination",
        "Accountant",
        "Denoised",
        "PlanRow",
        "PrivateBall",
        "PrivateMeans",
        "RayleighTest",
        "Release",
    ],
)
def test_what_is_handed_back_has_a_text_for_people(name):
    assert issubclass(getattr(riemdp, name), Described)


@pytest.mark.parametrize("name", ["BallAdvice", "Plan", "PlanGrid"])
def test_tables_have_their_own(name):
    kind = getattr(riemdp, name)
    assert kind.__str__ is not object.__str__
    assert hasattr(kind, "_repr_html_")
    assert hasattr(kind, "to_frame")


@pytest.mark.parametrize("name", ["AuditResult", "BallAdvice", "Plan", "PlanGrid", "Release"])
def test_what_has_a_picture(name):
    assert "Axes" in getattr(riemdp, name).plot.__doc__


def test_budgets_and_curves_have_four_digits_in_text_and_all_in_repr():
    third = 1.0 / 3.0
    for share in (GDP(third), GDP(third).under("add-remove"), GaussianCurve(third)):
        assert "0.3333" in str(share)
        assert "0.33333" not in str(share)
        assert "0.3333333333333333" in repr(share)
    assert str(GDP(1.0)) == repr(GDP(1.0)) == "GDP(mu=1.0)"
