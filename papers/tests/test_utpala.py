from __future__ import annotations

import numpy as np
import pytest

from riemdp.mechanisms import TangentGaussian
from riemdp.privacy import ApproxDP
from riemdp.spaces import Euclidean
from riemdp_papers import _utpala
from riemdp_papers._experiment import Settings
from riemdp_papers._utpala import PAPER, _mean_chi, extrinsic, figure_1, figures_2_3

SETTINGS = Settings(quick=True)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    monkeypatch.setattr(_utpala, "SIZES", (2, 5, 30))
    monkeypatch.setattr(_utpala, "QUICK_REPEATS", 60)


def _run(function):
    seen = []
    outcome = function(SETTINGS, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    return outcome


def _number(text):
    return float(text.split(" ")[0])


def test_a_full_run_has_more_draws_than_the_paper():
    assert _utpala._repeats(Settings(quick=False)) == 1000
    assert _utpala._repeats(SETTINGS) == 60


@pytest.mark.slow
def test_figure_1_agrees_with_the_exact_means():
    outcome = _run(figure_1)
    assert len(outcome.panels) == 8
    rows = [row for row in outcome.rows if row.quantity.startswith("mean ρ,")]
    exact = [25.47, 6.255, 4.286, 0.04243, 0.1196, 0.08193]
    assert [float(row.exact) for row in rows] == pytest.approx(exact, rel=1e-3)
    for row in rows:
        assert row.paper == "figure only"
        # the relative deviation of one distance is at most .6
        assert _number(row.reproduced) == pytest.approx(float(row.exact), rel=4.5 * 0.6 / 60**0.5)
    for panel in outcome.panels[:4]:
        laplace, classical, analytic = panel.lines
        assert laplace.y[-1] > classical.y[-1] > analytic.y[-1]
    other = {row.quantity.split(",")[0]: row.exact for row in outcome.rows}
    assert other["analytic Gaussian over Laplace"] == "1.93"
    assert other["δ = 1e-9 over δ = 1e-6"] == "1.383"
    for panel in outcome.panels[4:]:
        assert "middle" in panel.title
        ends = [line.y[-1] for line in panel.lines]
        assert len(ends) == 4
        assert ends == sorted(ends)


@pytest.mark.slow
def test_ten_times_the_utility_is_reached_at_no_epsilon():
    rows = [row for row in _run(figure_1).rows if row.quantity.startswith("Laplace over")]
    assert [row.exact for row in rows] == ["5.94, 5.68, 5.54, 5.43", "4.07, 4.07, 4.07, 4.07"]
    for row, square in zip(rows, (35.4, 16.6), strict=True):
        assert "for each ε" in row.paper
        found = [float(x) for x in row.reproduced.split(", ")]
        assert found == pytest.approx([float(x) for x in row.exact.split(", ")], rel=0.04)
        assert f"× {square}" in row.remark


@pytest.mark.slow
def test_the_constant_of_theorem_4_is_that_of_the_appendix():
    (row,) = [row for row in _run(figure_1).rows if "Theorem 4" in row.quantity]
    assert "19.58 (4r²" in row.paper
    assert "39.17 (8r²" in row.paper
    assert _number(row.reproduced) == pytest.approx(39.17, rel=0.05)


def test_the_extrinsic_baseline_is_no_longer_positive_definite_and_under_noised():
    outcome = _run(extrinsic)
    rows = {row.quantity.split(",")[0]: row for row in outcome.rows}
    assert outcome.notes == ("The means of 60 draws; ± is one standard error.",)
    row = rows["extrinsic sensitivity"]
    assert _number(row.paper) < _number(row.reproduced) < float(row.exact.split(" ")[-1])
    r = 30**0.5 / 4
    assert _number(row.reproduced) == pytest.approx(np.exp(r) - np.exp(r - r / 250), abs=1e-5)
    (row,) = [row for row in outcome.rows if "k = 30, ε = 0.1" in row.quantity and "/" in row.exact]
    # 36.305: multiple of the sensitivity at (0.1, 1e-6), as in Balle and Wang
    expected = 36.305 * (np.exp(r) - 1) / 250 * (465 - 0.5) ** 0.5
    assert _number(row.exact[4:]) == pytest.approx(expected, rel=1e-3)
    assert _number(row.reproduced.split(" / ")[1]) == pytest.approx(expected, rel=0.02)
    assert (
        float(rows["share of extrinsic releases that are not positive definite"].reproduced) > 0.9
    )
    for panel in outcome.panels:
        tangent, published, valid = panel.lines
        assert np.all(np.array(published.y[1:]) > tangent.y[1:])
        assert np.all(np.array(valid.y) > 0.9 * np.array(published.y))


def test_mean_norm_of_a_normal_vector():
    assert _mean_chi(1) == pytest.approx((2 / np.pi) ** 0.5)
    law = TangentGaussian.calibrate(Euclidean(45), 1.0, ApproxDP(0.5, 1e-6))
    assert law.sigma * _mean_chi(45) == pytest.approx(law.expected_distance(), rel=1e-9)


def test_images_compare_as_the_exact_means_do():
    outcome = _run(figures_2_3)
    assert len(outcome.panels) == 4
    assert "scikit-learn digits" in outcome.notes[0]
    assert outcome.panels[0].title.endswith("class 0, N = 178")
    for row in outcome.rows:
        laplace, gaussian = map(float, row.exact.split(" / "))
        assert laplace > gaussian
        if row.reproduced != "—":
            found = [_number(x) for x in row.reproduced.split(" / ")]
            assert found == pytest.approx([laplace, gaussian], rel=0.25)
            assert row.reproduced.count("±") == 2


def test_colour_images_are_compared_by_their_exact_means():
    """Laplace: dim times sigma = 2r / (N epsilon), with r = sqrt(k) |ln eta| (Theorem 5)."""
    outcome = _run(figures_2_3)
    rows = {row.quantity.split(": ")[0]: row for row in outcome.rows}
    for kind, k in (("grey", 9), ("colour", 11)):
        radius = k**0.5 * np.log(1e6)
        row = rows[f"mean ρ, N = 8,000 (Figure 2's least), {kind}, ε = 0.1"]
        expected = k * (k + 1) / 2 * 2 * radius / 800
        assert _number(row.exact) == pytest.approx(expected, rel=1e-3)
        row = rows[f"mean ρ, N = 46,276 (Figure 2's most), {kind}, ε = 0.9"]
        assert _number(row.exact) == pytest.approx(expected * 800 / (46_276 * 0.9), rel=1e-3)
    assert "PathMNIST and CIFAR10 are in colour" in outcome.notes[0]


def test_images_in_colour_run_in_their_dimension(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 2], 30)
    colour = rng.integers(0, 256, (60, 5, 5, 3), dtype=np.uint8)
    np.savez(tmp_path / "pathmnist.npz", train_images=colour, train_labels=labels[:, None])
    settings = Settings(quick=True, data=tmp_path)
    outcome = figures_2_3(settings, lambda share: None)
    assert "PathMNIST, all in colour: 11 × 11 descriptors." in outcome.notes[0]
    assert [panel.title for panel in outcome.panels] == [
        f"PathMNIST, class {label}, N = 30" for label in (1, 2)
    ]
    np.savez(tmp_path / "octmnist.npz", x=colour[..., 0], y=labels)
    outcome = figures_2_3(settings, lambda share: None)
    assert "OctMNIST, grey: 9 × 9 descriptors; PathMNIST, in colour: 11 × 11." in outcome.notes[0]
    rows = [row for row in outcome.rows if row.reproduced != "—"]
    assert len(rows) == 4
    for row, k in zip(rows, (9, 9, 11, 11), strict=True):
        laplace, gaussian = map(float, row.exact.split(" / "))
        # the mean distance of the Laplace law is dim times sigma
        sigma = 2 * k**0.5 * np.log(1e6) / 30 / 0.1
        assert laplace == pytest.approx(k * (k + 1) / 2 * sigma, rel=1e-3)
        found = [_number(x) for x in row.reproduced.split(" / ")]
        assert found == pytest.approx([laplace, gaussian], rel=0.25)


def test_the_paper_lists_its_experiments():
    assert PAPER.key == "utpala"
    names = [experiment.name for experiment in PAPER.experiments]
    assert names == ["figure-1", "extrinsic", "figures-2-3", "figure-4"]
