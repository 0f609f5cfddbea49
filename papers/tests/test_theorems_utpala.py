from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp_papers import _log_gaussian as lg
from riemdp_papers import _theorems_utpala
from riemdp_papers._theorems_utpala import ROWS, two_outcomes

NUMBERS = {row.name: row.number for row in ROWS}


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("Section 2 (conditions)", ("0.20 printed, δ = 0.50",)),
        ("Table 1", ("14.92", "3.88")),
        ("Table 2", ("under 1e-10",)),
        ("Definition 1", ("1.000000 with",)),
        ("Definition 1 (general Σ)", ("μ = 1.0000", "0.4629", "0.4375")),
        ("Definition 2, Algorithm 1, Corollary A.3", ("differ by under", "by under 1e-10")),
        ("Theorem 2 (classical)", ("0.306", "4.28")),
        ("Theorem 2 (analytic)", ("4.2247", "5.2988", "1.000000")),
        ("Theorem 3", ("3.000000, 2r = 3",)),
        ("Section 6.1 (extrinsic)", ("0.01173", "0.02148")),
    ],
)
def test_the_figures_of_the_text(name, figures):
    number = NUMBERS[name]()
    assert all(figure in number for figure in figures), number


def test_a_broken_operation_shows_in_the_number(monkeypatch):
    monkeypatch.setattr(lg, "plus", lambda x, y: x + y)
    assert "under" not in NUMBERS["Table 2"]()
    monkeypatch.setattr(_theorems_utpala, "gaussian_delta", lambda mu, epsilon: 0.0)
    assert "0.306" not in NUMBERS["Theorem 2 (classical)"]()


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_the_printed_condition_is_no_bound_on_delta(epsilon):
    generator = np.random.default_rng(0)
    found = np.array([two_outcomes(p, q, epsilon) for p, q in generator.uniform(0, 1, (500, 2))])
    delta, printed = found.T
    assert np.max(delta - printed) > 0.2
    p, q = 0.6, 0.1
    events = [p - math.exp(epsilon) * q, (1 - p) - math.exp(epsilon) * (1 - q), 0.0]
    assert two_outcomes(p, q, epsilon)[0] == pytest.approx(max(*events, sum(events)))
