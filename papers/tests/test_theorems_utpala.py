from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from riemdp_papers import _log_gaussian as lg
from riemdp_papers import _theorems_utpala
from riemdp_papers._theorems_utpala import ROWS, printed_condition

NUMBERS = {row.name: row.number for row in ROWS}


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("Section 2 (conditions)", ("0.255 printed", "δ = 0.500")),
        ("Table 1", ("14.92", "3.88")),
        ("Table 2", ("under 1e-10",)),
        ("Definition 1", ("1.000000 with",)),
        ("Lemma A.5 (proof)", ("2.303 > |ln λmax| = 0.693",)),
        ("Lemma A.6 (proof)", ("0.50",)),
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


def random_laws(epsilon, count=2000):
    """Condition and delta of random pairs on three outcomes, some of probability 0."""
    generator = np.random.default_rng(0)
    pairs = generator.dirichlet(np.full(3, 0.4), (count, 2)).round(2)
    pairs[..., 2] = 1.0 - pairs[..., 0] - pairs[..., 1]
    found = np.array([printed_condition(*np.abs(pair), epsilon) for pair in pairs])
    return found[found[:, 1] > 1e-3].T


def test_at_epsilon_zero_the_printed_condition_is_enough():
    """The two orders sum to twice the total variation, ties included."""
    delta, printed = random_laws(0.0)
    assert np.all(delta <= printed + 1e-12)
    # one order alone is not: .2 where delta is .5, and .8 in the other
    assert printed_condition((0.6, 0.4), (0.1, 0.9), 0.0) == pytest.approx((0.5, 0.8))


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_beyond_it_the_printed_condition_may_state_half_of_delta(epsilon):
    delta, printed = random_laws(epsilon)
    assert 1.5 < np.max(delta / printed) <= 2.0 + 1e-9


def test_delta_is_that_of_the_worst_event():
    p, q = (0.6, 0.3, 0.1), (0.1, 0.5, 0.4)
    for epsilon in (0.0, 0.3, 1.0):
        worst = 0.0
        for one, two in ((p, q), (q, p)):
            for event in itertools.product((0.0, 1.0), repeat=3):
                worst = max(worst, np.dot(event, one) - math.exp(epsilon) * np.dot(event, two))
        assert printed_condition(p, q, epsilon)[0] == pytest.approx(worst)
