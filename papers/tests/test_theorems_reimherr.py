from __future__ import annotations

import pytest

from riemdp_papers import _reimherr_theory as theory
from riemdp_papers._theorems_reimherr import ROWS

NUMBERS = {row.name: row.number for row in ROWS}


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("Definition 3", ("σ < 1,", "σ < 0.5")),
        ("Theorem 1", ("1.490", "riemdp claims 2.", "1.9999 Δ/σ")),
        ("Example 1", ("±0.4488", "2.6928")),
        ("Theorem 2", ("1.2146/n printed, 0.8284/n exact, 0.8282/n attained",)),
        ("Theorem 2 (proof)", ("0.5 printed, 1.0000",)),
        ("Theorem 3", ("n^-2.000", "2, 6, 12, 30, 4160")),
        ("Theorem 3 (proof)", ("0.8016", "0.00243")),
        ("Theorem 4", ("σ² × 22", "3.667")),
        ("Section 5.2 (maps)", ("0.15 far", "1.3181")),
        ("Supplement A.2.2 (sensitivity)", ("6.9634", "13.3452", "0.7804", "0.8282")),
        ("Lemma 1", ("0.9539 printed, 0.8724", "0.8062 exact")),
    ],
)
def test_the_figures_of_the_text(name, figures):
    number = NUMBERS[name]()
    assert all(figure in number for figure in figures), number


def test_a_broken_constant_shows_in_the_number(monkeypatch):
    monkeypatch.setattr(theory, "interval_loss", lambda sensitivity, sigma: sensitivity / sigma)
    assert "1.490" not in NUMBERS["Theorem 1"]()
