from __future__ import annotations

import pytest

from riemdp_papers import _theorems_jiang as jiang

NUMBERS = {row.name: row.number for row in jiang.ROWS}

#: Of the paper, in its order.
STATEMENTS = (
    "Definition 2.2, Definition 3.1, Definition 3.3, Theorem 3.1, Theorem 3.1 (proof), "
    "Theorem 3.2, Section 3 (flat space), Corollary 3.2.1, Algorithm 1, Definition 4.1, "
    "Proposition 4.1, Theorem 4.1, Algorithm 2, Section 4.1, Section 5, Section 5.1, "
    "Appendix A.1, Theorem A.1, Theorem A.2, Definition A.5"
)


def test_every_statement_has_a_row():
    assert ", ".join(row.name for row in jiang.ROWS) == STATEMENTS


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("Definition 2.2, Definition 3.1", ("0.98317 by tests, 0.98317",)),
        ("Definition 3.3", ("6.2832", "4.5573", "8.8636")),
        ("Theorem 3.1", ("0.98317", "0.82248", "1.16122")),
        ("Theorem 3.1 (proof)", ("0.882", "0.276")),
        ("Section 4.1", ("0.0063, 1.6e-05", "from its antipode")),
        ("Corollary 3.2.1", ("h = 0.0021", "corrected 0.0474, summed 0.0474")),
        ("Algorithm 1", ("0.98151 as printed, 0.98317",)),
        ("Definition 4.1, Proposition 4.1", ("1.4462 and 1.4462", "1.909")),
        ("Theorem 4.1", ("0.0206, 0.0929, 0.2534",)),
        ("Section 5", ("1.23204",)),
        ("Section 5.1", ("1.215/n printed, 0.828/n",)),
        ("Theorem A.1", ("δ(2.7) = 0,", "0.98317", "0.7864")),
        ("Theorem A.2", ("0.979, 0.919, 0.708, 0.442",)),
        ("Definition A.5", ("0.4402", "0.4800")),
    ],
)
def test_the_figures_of_the_text(name, figures):
    number = NUMBERS[name]()
    assert all(figure in number for figure in figures), number


@pytest.mark.slow
def test_all_numbers():
    assert all(row.cells()[3] for row in jiang.ROWS)
    assert " 0 of 8" not in NUMBERS["Algorithm 2"]()


def test_a_broken_constant_shows_in_the_number(monkeypatch):
    printed = jiang.circle_delta
    monkeypatch.setattr(
        jiang, "circle_delta", lambda *given, as_printed: printed(*given, as_printed=True)
    )
    assert "corrected 0.0474" not in NUMBERS["Corollary 3.2.1"]()
