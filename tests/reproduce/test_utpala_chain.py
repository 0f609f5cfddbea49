from __future__ import annotations

import numpy as np
import pytest

from riemdp.noise import RadialLaw
from riemdp.reproduce import _utpala_chain
from riemdp.reproduce._experiment import Settings
from riemdp.reproduce._utpala_chain import Chain, figure_4


def test_the_chain_draws_the_laplace_law():
    start = np.full((4000, 3), 3.0)
    dist, accepted = Chain(3, 0.5).run(start, (3, 400), np.random.default_rng(0))
    law = RadialLaw(kind="laplace", dim=3, curvature=0.0, sigma=0.5)
    error = np.sqrt((law.mean_square() - law.mean() ** 2) / 4000)
    assert dist[1].mean() == pytest.approx(law.mean(), abs=4.5 * error)
    # negative control: a few steps are not enough
    assert abs(dist[0].mean() - law.mean()) > 6 * error
    assert 0.5 < accepted[1].mean() < 0.7


def test_too_short_a_chain_from_afar_has_another_law():
    start = np.full((500, 3), 20.0)
    dist, _ = Chain(3, 0.5).run(start, (10,), np.random.default_rng(0))
    assert dist.mean() > 10 * 1.5


def test_in_high_dimension_a_chain_that_starts_at_the_mean_stays_there():
    stuck, accepted = Chain(465, 1.0).run(np.zeros((5, 465)), (300,), np.random.default_rng(0))
    assert np.all(stuck == 0.0)
    assert np.all(accepted == 0.0)
    far = np.zeros((5, 465))
    far[:, 0] = 465.0
    moved, accepted = Chain(465, 1.0).run(far, (300,), np.random.default_rng(0))
    assert np.all(moved > 300.0)
    assert 0.5 < accepted.mean() < 0.7


def test_figure_4(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    monkeypatch.setattr(_utpala_chain, "SIZES", (2, 30))
    monkeypatch.setattr(_utpala_chain, "QUICK_SIZES", (2, 30))
    monkeypatch.setattr(_utpala_chain, "BURN_INS", (1500, 3000, 4000))
    seen = []
    outcome = figure_4(Settings(quick=True), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    times, burn_in, ratio = outcome.panels
    # exact draws take a small part of the time
    *chains, laplace, gaussian = times.lines
    assert all(min(chain.y) > 20 * max(laplace.y[0], gaussian.y[0]) for chain in chains)
    assert len(burn_in.lines) == 6
    assert all(value > 1.0 for line in ratio.lines for value in line.y)
    (stuck,) = [row for row in outcome.rows if "starts at the mean" in row.quantity]
    assert float(stuck.reproduced) == 0.0
    assert [row.paper for row in outcome.rows[:4]] == ["14", "36", "73", "1.3e-6"]
