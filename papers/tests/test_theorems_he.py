from __future__ import annotations

import pytest

from riemdp_papers import _theorems_he as he

NUMBERS = {row.name: row.number for row in he.ROWS}

#: Of the paper, in its order.
STATEMENTS = (
    "Section II-C, Section III-A, Lemma III.1, Lemma III.2, Theorem III.3, Theorem III.4 (1), "
    "Theorem III.4 (2), Lemma III.5, Corollary III.6, Section III-C, Definition IV.1, "
    "Theorem IV.2, Definition IV.3, Equation (24), Theorem IV.4, Corollary IV.5, Theorem V.1, "
    "Appendix G, Table II, Algorithm 1"
)


def test_every_statement_has_a_row():
    assert ", ".join(row.name for row in he.ROWS) == STATEMENTS


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("Section II-C", ("2.000 times",)),
        ("Section III-A", ("0.1592",)),
        ("Lemma III.1", ("solved to 1e-9", "-0.1341 to 0.1513")),
        ("Lemma III.2", ("1 harmonic function",)),
        ("Theorem III.3", ("at least 1",)),
        (
            "Theorem III.4 (1)",
            ("1.2337, 1.3863, 1.5000", "0.6331, 0.9877, 1.0310, 1.1955 on S¹, S⁶, S⁷, S¹²"),
        ),
        ("Theorem III.4 (2)", ("-1 to 1", "to 1.2337, bounds -1 and 1")),
        ("Corollary III.6", ("0.6065 to 1.6487",)),
        ("Section III-C", ("19.7392, 2π² = 19.7392",)),
        ("Definition IV.1", ("1.215/n printed, 0.828/n",)),
        ("Theorem IV.2", ("14.1, 29.8, 61.3",)),
        ("Definition IV.3", ("1.490",)),
        ("Equation (24)", ("8.24", "3.03")),
        ("Theorem IV.4", ("loss 2.015, δ = 0.589", "held 0.0183")),
        ("Corollary IV.5", ("loss 1,",)),
        (
            "Theorem V.1",
            (
                "12.6, at worst 27.4, in R²",
                "146, at worst 1884, in R⁹",
                "1.92 in R ",
                "2.889",
                "25.8",
            ),
        ),
        ("Appendix G", ("0.8282/n, over 0.7854/n",)),
        ("Table II", ("1.353", "0.739")),
        ("Algorithm 1", ("0.200",)),
    ],
)
def test_the_figures_of_the_text(name, figures):
    number = NUMBERS[name]()
    assert all(figure in number for figure in figures), number


@pytest.mark.slow
def test_all_numbers():
    assert all(row.cells()[3] for row in he.ROWS)


def test_a_broken_constant_shows_in_the_number(monkeypatch):
    monkeypatch.setattr(he, "hemisphere_supremum", lambda dim: 1.0)
    assert "1.2337" not in NUMBERS["Theorem III.4 (1)"]()
