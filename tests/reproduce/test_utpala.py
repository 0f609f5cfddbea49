from __future__ import annotations

import numpy as np
import pytest

from riemdp.manifolds import Euclidean
from riemdp.mechanisms import TangentGaussian
from riemdp.privacy import ApproxDP
from riemdp.reproduce import _utpala
from riemdp.reproduce._experiment import Settings
from riemdp.reproduce._utpala import PAPER, _mean_chi, extrinsic, figure_1, figures_2_3

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


def test_figure_1_agrees_with_the_exact_means():
    outcome = _run(figure_1)
    assert len(outcome.panels) == 5
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


def test_the_constant_of_theorem_4_is_that_of_the_appendix():
    (row,) = [row for row in _run(figure_1).rows if "Theorem 4" in row.quantity]
    assert "19.58 (4r²" in row.paper
    assert "39.17 (8r²" in row.paper
    assert _number(row.reproduced) == pytest.approx(39.17, rel=0.05)


def test_the_extrinsic_baseline_is_no_longer_positive_definite_and_under_noised():
    outcome = _run(extrinsic)
    rows = {row.quantity.split(",")[0]: row for row in outcome.rows}
    row = rows["extrinsic sensitivity"]
    assert _number(row.paper) < _number(row.reproduced) < float(row.exact.split(" ")[-1])
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
    for row in outcome.rows:
        laplace, gaussian = map(float, row.exact.split(" / "))
        assert laplace > gaussian
        if row.reproduced != "—":
            found = [float(x) for x in row.reproduced.split(" / ")]
            assert found == pytest.approx([laplace, gaussian], rel=0.25)


def test_the_paper_lists_its_experiments():
    assert PAPER.key == "utpala"
    names = [experiment.name for experiment in PAPER.experiments]
    assert names == ["figure-1", "extrinsic", "figures-2-3", "figure-4"]
