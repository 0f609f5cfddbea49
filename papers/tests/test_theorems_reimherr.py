from __future__ import annotations

import math
import re

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
        ("Theorem 3 (proof)", ("E ρ²/σ² = 2, d (d - 1) = 0", "0.8016", "0.00243")),
        ("Theorem 4", ("= 22 σ²",)),
        ("Theorem 4 (text)", ("3.667", "D/d = 5")),
        ("Section 5.2 (maps)", ("0.15 far", "1.3181")),
        ("Supplement A.2.2 (sensitivity)", ("6.9634", "13.3452", "13.9268", "0.7804", "0.8282")),
        ("Lemma 1", ("0.9539 printed, 0.8724", "0.8062 exact")),
    ],
)
def test_the_figures_of_the_text(name, figures):
    number = NUMBERS[name]()
    assert all(figure in number for figure in figures), number


def test_a_broken_constant_shows_in_the_number(monkeypatch):
    monkeypatch.setattr(theory, "interval_loss", lambda sensitivity, sigma: sensitivity / sigma)
    assert "1.490" not in NUMBERS["Theorem 1"]()


def test_the_pair_lies_between_the_two_sensitivities_of_the_embedding():
    """It refutes 2 r_E / n, which the paper does not print, and not the 4 r_E / n of the script.

    Every move is at most 2 r e^r / n: eigenvalues in the ball are at most e^r.
    """
    radius = math.expm1(1.5)
    moved = float(re.search(r"n × ([\d.]+)", NUMBERS["Supplement A.2.2 (sensitivity)"]()).group(1))
    assert 2.0 * radius < moved < 3.0 * math.exp(1.5) < 4.0 * radius
    status = {row.name: row.status for row in ROWS}
    assert status["Supplement A.2.2 (sensitivity)"] == "true with a correction"
