from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.signal

from riemdp.privacy import ZCDP, ApproxDP, MeanCDP, PureDP, gaussian_delta
from riemdp_papers._experiment import Settings
from riemdp_papers._soto_releases import (
    DELTA,
    RELEASES,
    laplace,
    laplace_divergence,
    releases,
    shown,
)


@pytest.fixture(scope="module")
def outcome():
    seen = []
    found = releases(Settings(quick=True), seen.append)
    assert seen == [0.5, 1.0]
    return found


@pytest.mark.slow
def test_every_definition_is_in_every_panel_of_parameters(outcome):
    first, fourth = outcome.panels[0], outcome.panels[3]
    labels = {line.label for line in first.lines}
    assert len(labels) == 8
    assert {"pure", "Rao, angle", "Rao, length", "Kullback-Leibler"} <= labels
    assert len(fourth.lines) == 8


@pytest.mark.parametrize("panel", [1, 2, 4, 5])
def test_no_definition_promises_more_than_is_true(outcome, panel):
    lines = {line.label: line for line in outcome.panels[panel].lines}
    exact = dict(zip(lines["exact"].x, lines["exact"].y, strict=True))
    compared = 0
    for line in lines.values():
        for k, value in zip(line.x, line.y, strict=True):
            if k in exact:
                assert value >= exact[k] * (1 - 1e-4), (line.label, k)
                compared += 1
    assert compared > 20


def test_the_approximate_releases_use_the_whole_delta(outcome):
    (line,) = [line for line in outcome.panels[4].lines if line.label.startswith("approximate")]
    mu, delta = 0.1, 1e-6
    for k, value in zip(line.x, line.y, strict=True):
        each = scipy.optimize.brentq(lambda e, d=delta / k: gaussian_delta(mu, e) - d, 0.0, 9.0)
        assert value == pytest.approx(k * each, rel=1e-4)


def test_the_exact_values_by_a_convolution_of_their_own(outcome):
    """Losses of the Laplace mechanism on a grid, rounded up and down, 64 times."""
    ratio, steps, k = 0.1, 1000, 64
    grid = np.arange(-steps, steps + 1) * ratio / steps
    below = 0.5 * np.exp(-0.5 * (ratio - grid))
    below[-1] = 1.0  # half of the losses are ratio
    up = np.diff(below, prepend=0.0)
    down = np.diff(np.append(below[1:-1], [0.5, 1.0]), prepend=0.0)
    found = []
    for law in (down, up):
        composed = law
        for _ in range(6):
            composed = np.maximum(scipy.signal.fftconvolve(composed, composed), 0.0)
        losses = np.linspace(-k * ratio, k * ratio, len(composed))
        found.append(
            [float(np.sum(composed * np.maximum(-np.expm1(e - losses), 0.0))) for e in (1.0, 3.609)]
        )
    (line,) = [line for line in outcome.panels[2].lines if line.label == "exact"]
    at_one = dict(zip(line.x, line.y, strict=True))[k]
    assert found[0][0] * (1 - 1e-3) < at_one < found[1][0] * (1 + 1e-3)
    assert at_one == pytest.approx(0.0594, abs=5e-5)
    (line,) = [line for line in outcome.panels[1].lines if line.label == "exact"]
    assert dict(zip(line.x, line.y, strict=True))[k] == pytest.approx(3.6086, abs=5e-4)
    assert found[0][1] < DELTA * 1.01
    assert found[1][1] == pytest.approx(DELTA, rel=0.02)


def test_composition_of_lengths_is_a_root_and_of_pure_a_sum(outcome):
    lines = {line.label: line for line in outcome.panels[0].lines}
    for line, power in ((lines["pure"], 1.0), (lines["Rao, length"], 0.5)):
        assert line.y == pytest.approx([0.1 * k**power for k in RELEASES], rel=1e-9)


def test_exact_curve_of_one_release_is_the_laplace_mechanism(outcome):
    (exact,) = [line for line in outcome.panels[1].lines if line.label == "exact"]
    assert exact.y[0] == pytest.approx(0.1 + 2 * math.log1p(-DELTA), abs=1e-9)
    assert laplace(0.1).privacy(1.0).pure_epsilon() == pytest.approx(0.1)


def test_divergence_of_two_laplace_laws():
    value, _ = scipy.integrate.quad(
        lambda x: 0.5 * math.exp(-8.0 * abs(x) + 7.0 * abs(x - 0.4)), -200, 200, points=[0, 0.4]
    )
    assert laplace_divergence(0.4, 8.0) == pytest.approx(math.log(value) / 7.0, rel=1e-8)
    assert laplace_divergence(0.4, 8.0) < 0.4


def test_parameters_are_shown_in_four_digits():
    assert shown(PureDP(0.123456)) == "0.1235"
    assert shown(ZCDP(0.1)) == "0.1"
    assert shown(ApproxDP(0.5, 1e-6)) == "(0.5, 1e-06)"
    assert shown(MeanCDP(0.1, 0.3)) == "(0.1, 0.3)"
