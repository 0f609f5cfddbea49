from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp_papers import _reimherr as module
from riemdp_papers._experiment import Settings
from riemdp_papers._reimherr_data import SPD, SPHERE


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(module, "QUICK_SIZES", (20, 200))


@pytest.mark.parametrize("ball", [SPD, SPHERE], ids=["spd", "sphere"])
def test_no_random_move_exceeds_the_exact_bound(ball, small):
    outcome = module.sensitivity(ball, Settings(quick=True), lambda share: None)
    lines = {line.label: line.y for line in outcome.panels[0].lines}
    bound = next(y for label, y in lines.items() if "exact" in label)
    largest = next(y for label, y in lines.items() if label.startswith("largest"))
    assert all(0.3 * b < move <= b for b, move in zip(bound, largest, strict=True))
    assert all(m < most for m, most in zip(lines["their mean"], largest, strict=True))


def test_all_bounds_on_the_sphere_are_shown(small):
    outcome = module.sensitivity(SPHERE, Settings(quick=True), lambda share: None)
    assert [row.reproduced for row in outcome.rows[:3]] == ["1.21460", "1.02645", "0.82843"]
    assert {row.exact for row in outcome.rows[:3]} == {"0.82843"}
    worst = outcome.rows[-1]
    assert (worst.quantity[-7:], worst.reproduced) == ("n = 201", "0.82820")
    assert "of the exact bound" in worst.remark
    # the red line of the script, against that of the caption
    assert "tan(2r)/n, 1.00000 here" in outcome.rows[0].remark


def test_a_full_run_has_the_sizes_of_the_authors_scripts(monkeypatch):
    monkeypatch.setattr(module, "draw_data", lambda ball, n, generator: np.zeros(n))
    monkeypatch.setattr(module, "fixed_mean", lambda ball, points: ball.center)
    outcome = module.sensitivity(SPHERE, Settings(quick=False), lambda share: None)
    for line in outcome.panels[0].lines:
        assert line.x == tuple(float(n) for n in range(20, 501, 10))


@pytest.mark.parametrize("radius", [0.1, math.pi / 8, 0.7])
def test_a_grid_stays_below_the_closed_form_and_comes_near(radius):
    grid, exact = module.grid_diameter(radius, 400), module.exact_diameter(radius)
    assert grid <= exact * (1 + 1e-9)
    assert grid > 0.999 * exact
    h = 2 * radius / math.tan(2 * radius)
    assert 2 * radius < exact < 2 * radius * (2 - h)


def test_no_foot_inside_the_ball_sees_a_larger_diameter():
    """The figure puts the footpoint on the boundary, which is the worst place."""
    radius, sphere = 0.6, SPHERE.manifold
    angles = 2 * math.pi * np.arange(200) / 200
    rim = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    boundary = sphere.exp(SPHERE.center, sphere.tangent_vector(SPHERE.center, radius * rim))
    sizes = []
    for share in (0.0, 0.4, 0.8, 1.0):
        direction = sphere.tangent_vector(SPHERE.center, share * radius * rim[0])
        logs = sphere.log(sphere.exp(SPHERE.center, direction), boundary)
        sizes.append(np.max(np.linalg.norm(logs[:, None] - logs, axis=-1)))
    assert sizes == sorted(sizes)
    assert sizes[-1] <= module.exact_diameter(radius) * (1 + 1e-9)


def test_figure_2_is_ordered_as_the_paper_says():
    outcome = module.figure_2(Settings(quick=True), lambda share: None)
    assert (outcome.rows[0].paper[:3], outcome.rows[0].reproduced) == ("yes", "yes")
    assert outcome.rows[0].exact == "yes"
    assert outcome.rows[1].exact == "0.80617"
    flat, theorem, grid, closed = (line.y for line in outcome.panels[0].lines)
    x = np.array(outcome.panels[0].lines[0].x)
    np.testing.assert_allclose(theorem, 4 * x * (1 - x / np.tan(2 * x)))
    assert all(f < g <= c * (1 + 1e-9) for f, g, c in zip(flat, grid, closed, strict=True))
    assert all(c < t for c, t in zip(closed, theorem, strict=True))
