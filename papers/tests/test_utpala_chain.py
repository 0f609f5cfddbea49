from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.linalg

from riemdp.noise import RadialLaw
from riemdp_papers import _utpala_chain
from riemdp_papers._experiment import Settings
from riemdp_papers._images import ImageSet
from riemdp_papers._utpala_chain import Chain, figure_4


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


@pytest.mark.slow
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
    for chain, row in zip(chains, outcome.rows, strict=False):
        assert float(row.reproduced) == pytest.approx(chain.y[-1], rel=5e-3)
    assert all(min(chain.y) > 20 * max(laplace.y[0], gaussian.y[0]) for chain in chains)
    assert len(burn_in.lines) == 6
    assert all(value > 1.0 for line in ratio.lines for value in line.y)
    (stuck,) = [row for row in outcome.rows if "starts at the mean" in row.quantity]
    assert float(stuck.reproduced) == 0.0
    assert [row.paper for row in outcome.rows[:4]] == ["14", "36", "73", "1.3e-6"]
    (accepted,) = [row for row in outcome.rows if "accepted" in row.quantity]
    assert "are 10; ± is one" in outcome.notes[0]
    shares = [int(share) for share in re.findall(r"\d+", accepted.reproduced)]
    assert len(shares) == 2
    assert all(50 < share < 70 for share in shares)
    assert outcome.rows[-1].exact == outcome.rows[-1].paper.split(" ")[0] == "41.4465"


def test_first_states_are_exponentials_of_symmetric_parts():
    entries = np.random.default_rng(0).uniform(-1, 1, (3, 4, 4))
    expected = [scipy.linalg.expm(0.5 * (matrix + matrix.T)) for matrix in entries]
    error = np.linalg.norm(_utpala_chain._exponential(entries) - expected, axis=(-2, -1))
    assert (error <= 1e-13 * np.linalg.norm(expected, axis=(-2, -1))).all()


def test_the_largest_norm_is_that_of_the_farthest_image():
    images = np.random.default_rng(0).uniform(size=(6, 8, 8))
    images[2] = 0.5  # flat: covariance nearly singular, far from the identity
    found = _utpala_chain._largest_norm(ImageSet("a", images, np.zeros(6)), 0, None)
    assert found == pytest.approx(
        _utpala_chain._largest_norm(ImageSet("b", images[2:3], np.zeros(1)), 0, None)
    )
    less = _utpala_chain._largest_norm(ImageSet("a", images, np.zeros(6)), 0, 2)
    assert less < found <= 3 * np.log(1e6)


def test_the_bound_follows_the_channels(tmp_path):
    """Images of one pixel reach it: all eigenvalues are eta."""
    for name, colour in (("octmnist", ()), ("pathmnist", (3,))):
        images = np.full((2, 1, 1, *colour), 7, np.uint8)
        np.savez(tmp_path / f"{name}.npz", x=images, y=np.zeros(2, int))
    rows, panel = _utpala_chain._radius_ratio(Settings(quick=True, data=tmp_path))
    assert [line.label for line in panel.lines] == ["OctMNIST", "PathMNIST"]
    assert [line.y for line in panel.lines] == [pytest.approx((1.0,)), pytest.approx((1.0,))]
    assert "all nine eigenvalues" in rows[0].remark
    assert "all eleven eigenvalues" in rows[1].remark
