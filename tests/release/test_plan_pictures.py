import numpy as np
import pytest
from matplotlib.colors import to_hex

import riemdp
from riemdp import GDP, PureDP, Sphere, plan, plan_grid
from riemdp._plots import BLUE

figure = pytest.importorskip("matplotlib.figure")


def new():
    return figure.Figure().add_subplot()


@pytest.fixture(scope="module")
def grid():
    return plan_grid(
        Sphere(2), 0.5, [400, 50], [GDP(0.5), GDP(1.0)], target_error=0.02,
        mechanisms=["tangent-gaussian"],
    )  # fmt: skip


def test_bars_are_the_expected_distances():
    found = plan(Sphere(2), 0.5, 100, PureDP(1.0))
    ax = found.plot(new())
    known = [row for row in found if row.expected_distance is not None]
    assert [bar.get_width() for bar in ax.patches] == [row.expected_distance for row in known]
    assert len(known) < len(found)
    assert sum(text.get_text() == "not available" for text in ax.texts) == len(found) - len(known)
    (dark,) = [k for k, bar in enumerate(ax.patches) if to_hex(bar.get_facecolor()) == BLUE.lower()]
    assert known[dark] is found.best
    (marks,) = ax.lines
    assert list(marks.get_xdata()) == [row.quantile_95 for row in known]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [label.endswith("taken") for label in labels] == [row is found.best for row in found]


def test_a_target_is_a_line(grid):
    ax = grid.plans[0][0].plot(new())
    (line,) = [one for one in ax.lines if one.get_label().startswith("target")]
    assert list(line.get_xdata()) == [0.02, 0.02]
    assert not any(
        one.get_label().startswith("target")
        for one in plan(Sphere(2), 0.5, 100, GDP(1.0)).plot(new()).lines
    )


def test_curves_are_the_errors_by_n(grid):
    ax = grid.plot(new())
    for j, line in enumerate(ax.lines[:2]):
        assert list(line.get_xdata()) == [50, 400]
        assert list(line.get_ydata()) == grid.errors[::-1, j].tolist()
        assert f"needs n = {grid.required_n[j]}" in line.get_label()
    assert not np.array_equal(ax.lines[0].get_ydata(), ax.lines[1].get_ydata())
    named = {line.get_label(): line for line in ax.lines}
    assert list(named["target 0.02"].get_ydata()) == [0.02, 0.02]
    assert list(named["smallest n that meets it"].get_xdata()) == list(grid.required_n)
    plain = plan_grid(Sphere(2), 0.5, [50, 400], [GDP(1.0)]).plot(new())
    assert [line.get_label() for line in plain.lines] == ["GDP(mu=1.0)"]


def test_what_is_not_available_leaves_a_gap():
    empty = plan_grid(Sphere(2), 0.5, [50, 60], [PureDP(1.0)], mechanisms=["tangent-gaussian"])
    ax = empty.plot(new())
    assert np.isnan(ax.lines[0].get_ydata()).all()
    ax.figure.draw_without_rendering()
    for options in ({}, {"target_error": 0.1}):
        one = plan_grid(
            Sphere(2), 0.5, [10], [PureDP(1.0)], mechanisms=["tangent-gaussian"], **options
        )
        one.plot(new()).figure.draw_without_rendering()
    assert len(empty.plans[0][0].plot(new()).patches) == 0


def test_advice_shows_bias_noise_and_both():
    points = riemdp.Euclidean(2).validate(np.random.default_rng(0).normal(size=(40, 2)))
    advice = riemdp.advise_ball(points, 200, GDP(1.0), manifold=riemdp.Euclidean(2))
    ax = advice.plot(new())
    both, noise, bias, best, centre = (np.array(line.get_data()) for line in ax.lines)
    assert both[0].tolist() == [row.radius for row in advice.rows]
    np.testing.assert_allclose(both[1] ** 2, noise[1] ** 2 + bias[1] ** 2)
    assert noise[1].tolist() == [row.noise for row in advice.rows]
    assert best.ravel().tolist() == [advice.best.radius, advice.best.error]
    assert set(centre[1]) == {advice.shift}
    assert not np.array_equal(noise, bias)
