from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from riemdp_papers import _theorems_soto as soto

NUMBERS = {row.name: row.number for row in soto.ROWS}

#: Of the paper, in its order but for definitions that go with a later theorem.
STATEMENTS = (
    "Definition 2.1, Definition 2.2, Definition 2.3, Definition 2.6, Definition 2.7, "
    "Definition 2.4, Definition 2.5, Example 1, Definition 3.1, Lemma 3.2, Table 1, Theorem 3.3, "
    "Definition 4.1, Definition 4.3, Theorem 4.2, Theorem 4.4, Corollary 4.5, Section 4.1, "
    "Theorem 4.6, Definition 4.7, Theorem 4.8, Corollary 4.9, Section 4.2, Theorem 4.10, "
    "Definition 4.11, Theorem 4.12, Section 5, Definition C.1, Section C.1"
)


def test_every_statement_has_a_row():
    assert ", ".join(row.name for row in soto.ROWS) == STATEMENTS


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("Definition 2.1", ("ratio 1 of", "1.0000 of the event")),
        ("Definition 2.2", ("δ = 0.1269", "0.3085", "mixture 0.1269")),
        ("Definition 2.3, Definition 2.6, Definition 2.7", ("0.3712 under f₂ (exact 0.3712)",)),
        ("Definition 2.4, Definition 2.5", ("0.1054",)),
        ("Example 1", ("1.96052 printed, 0.98026, path 0.98026", "1 printed, 0.98026")),
        ("Lemma 3.2", ("1.4142", "1.1915, not 1.2106")),
        ("Table 1", ("(1, 0.19)",)),
        ("Theorem 3.3", ("0.8560 → 0.6843",)),
        ("Theorem 4.4", ("has 1,", "has 1.01")),
        ("Corollary 4.5", ("0.8560", "0.9608")),
        ("Corollary 4.9", ("0.0010 at ε = .9, 0.3543 at ε = 12", "0.7 at")),
        ("Section 4.2", ("0.00250 at ε = 50, sin²(θ/2) = 0.00250",)),
        ("Theorem 4.10, Definition 4.11", ("0.8707 by the formula, 0.8707", "1.3822")),
        ("Theorem 4.12", ("1.034, 0.924, 1.000, 1.414, 2.014", "1.414, 1.000, 1.171")),
        ("Section 5", ("KL = 0.005", "θ = 1")),
        ("Definition C.1, Section C.1", ("θ = 0.9793", "0.2216", "1.0301, 1.0000, 0.9005")),
    ],
)
def test_the_figures_of_the_text(name, figures):
    number = NUMBERS[name]()
    assert all(figure in number for figure in figures), number


@pytest.mark.slow
def test_all_numbers():
    assert all(row.cells()[3] for row in soto.ROWS)
    number = NUMBERS["Section 4.1"]()
    assert "ε = 2 at δ = 0, δ = 0.1446 at ε = √2; θ = 1.4142 alone leaves δ = 0.483" in number


@pytest.mark.parametrize("power", [0.6, 0.75, 1.0, 1.9, 2.1, 4.0])
def test_no_spread_is_under_that_of_the_normal_law(power):
    """The bound of Cramér and Rao, attained at N = 2 alone."""
    assert soto.spread(2.0)[1] == pytest.approx(1.0, rel=1e-12)
    assert soto.spread(power, theta=0.5)[1] > 2.0 + 1e-4


def test_the_scale_does_not_grow_below_three_quarters():
    scales = [soto.spread(power)[0] for power in np.linspace(0.55, 0.74, 9)]
    assert scales == sorted(scales, reverse=True)
    scales = [soto.spread(power)[0] for power in np.linspace(0.75, 8.0, 9)]
    assert scales == sorted(scales)


def test_a_broken_constant_shows_in_the_number(monkeypatch):
    monkeypatch.setattr(soto, "normal_fisher_rao_distance", lambda *given: 2.0 * math.sqrt(2.0))
    assert "printed, 0.98026" not in NUMBERS["Example 1"]()


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 2.0])
def test_delta_is_the_weight_of_a_mixture_and_not_a_probability_of_the_loss(epsilon):
    delta = soto.gaussian(1.0).privacy(1.0).delta_at(epsilon)
    assert soto.mixture_weight(epsilon) == pytest.approx(delta, abs=1e-7)
    assert delta < 0.7 * scipy.special.ndtr(0.5 - epsilon)


def test_neither_the_length_nor_mu_is_always_the_larger():
    """For the Laplace law; for the Gaussian they agree at every sensitivity."""
    ratio = [soto.laplace(1.0).privacy(x).mu() / x for x in (0.1, 1.0, 1.19, 1.2, 4.0)]
    assert min(ratio[:3]) > 1.0 > max(ratio[3:])
    for apart in (0.1, 1.0, 4.0):
        assert soto.gaussian(1.0).privacy(apart).mu() == pytest.approx(apart, rel=1e-9)


def test_kl_privacy_is_asked_for_in_both_orders():
    """Adjacency is symmetric, so "for all D ~ D'" is enough: one order refutes nothing."""
    status = {row.name: row.status for row in soto.ROWS}
    assert status["Definition 2.4, Definition 2.5"] == "true"
    assert status["Table 1"] == "true, sharper here"
