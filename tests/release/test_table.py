from dataclasses import dataclass

import pytest

from riemdp.release._table import Table


@dataclass(frozen=True)
class Made(Table):
    cells: tuple[tuple[str, ...], ...]

    def _table(self):
        return "<title>", [["name", "x"], *map(list, self.cells)], ["<a> note"]

    def _records(self):
        return [{"name": name, "x": x} for name, x in self.cells]


def test_columns_are_as_wide_as_their_longest_cell():
    assert (
        str(Made((("longest", "1"), ("b", "")))) == "<title>\nname     x\nlongest  1\nb\n<a> note"
    )


def test_it_may_be_filled_from_the_left():
    class Right(Made):
        _justify = staticmethod(str.rjust)

    assert str(Right((("longest", "10"),))) == "<title>\n   name   x\nlongest  10\n<a> note"


def test_titles_cells_and_notes_are_no_markup():
    page = Made((("<b>", "1"),))._repr_html_()
    assert not {"<title>", "<b>", "<a>"} & {
        page[i : i + n] for n in (3, 7) for i in range(len(page))
    }
    assert page.endswith("<p>&lt;a&gt; note</p>")


def test_it_is_a_data_frame_of_its_records():
    pandas = pytest.importorskip("pandas")
    expected = pandas.DataFrame([{"name": "a", "x": "1"}])
    assert Made((("a", "1"),)).to_frame().equals(expected)
