from __future__ import annotations

import numpy as np
import pytest

from riemdp_papers._experiment import Settings
from riemdp_papers._he_loss import (
    counter_example,
    log_density,
    neighbours,
    published_law,
    trapezoid,
    true_loss,
)

GRID = np.linspace(-1.0, 1.0, 20_001)


def test_true_loss_of_the_published_algorithm():
    data, other = neighbours(20)
    assert np.count_nonzero(data != other) == 1
    first, second = (log_density(published_law(x), float(x.mean()), GRID) for x in (data, other))
    loss, delta = true_loss(first, second, 0.1, GRID)
    assert loss == pytest.approx(2.015, abs=5e-4)
    assert delta == pytest.approx(0.589, abs=5e-4)
    # negative control: with everything but the footpoint held fixed the claim is true
    fixed = log_density(published_law(data), float(other.mean()), GRID)
    assert true_loss(first, fixed, 0.1, GRID)[0] < 0.1
    assert true_loss(first, fixed, 0.1, GRID)[1] == 0.0


def test_densities_are_normalised_and_agree_with_the_mechanism():
    data, _ = neighbours(20)
    law = published_law(data)
    log_p = log_density(law, float(data.mean()), GRID)
    assert trapezoid(np.exp(log_p), GRID) == pytest.approx(1.0)
    some = np.arange(0, len(GRID), 1000)
    foot = np.broadcast_to(data.mean(), (len(some), 1))
    weight = law.log_weight(GRID[some, None], foot)
    np.testing.assert_allclose(weight - weight[0], log_p[some] - log_p[some[0]], atol=0.01)


def test_loss_of_two_laplace_laws():
    grid = np.linspace(-30.0, 30.0, 60_001)
    first, second = (-np.abs(grid - shift) - np.log(2.0) for shift in (0.0, 1.0))
    loss, delta = true_loss(first, second, 0.5, grid)
    assert loss == pytest.approx(1.0)
    assert delta == pytest.approx(1.0 - np.exp(-0.25), abs=1e-5)


def test_rows():
    seen = []
    outcome = counter_example(Settings(quick=True), seen.append)
    assert seen == [0.5, 1.0]
    assert outcome.rows[0].reproduced == "2.015, δ = 0.589"
    assert float(outcome.rows[1].reproduced) < 0.1
    assert outcome.rows[2].reproduced == outcome.rows[2].exact
    assert outcome.rows[-1].reproduced.startswith("∞")
    (panel,) = outcome.panels
    assert [max(map(abs, line.y)) > 1.5 for line in panel.lines] == [True, True]
