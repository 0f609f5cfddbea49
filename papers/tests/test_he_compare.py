from __future__ import annotations

import numpy as np
import pytest

from riemdp.mechanisms import TangentGaussian
from riemdp.privacy import ApproxDP, PureDP
from riemdp.release import private_mean
from riemdp.spaces import Ball, Euclidean
from riemdp_papers import _he
from riemdp_papers import _he_compare as module
from riemdp_papers._experiment import Settings
from riemdp_papers._he_compare import (
    GAUSSIAN,
    LAPLACE,
    NAMES,
    PRIOR,
    PUBLIC,
    PUBLISHED,
    SMALLER,
    TRUNCATED,
    Errors,
    clustered,
    compare,
    least,
    panels,
    parents_and_children,
    row,
    utility,
)


@pytest.fixture(scope="module")
def errors():
    rng = np.random.default_rng(0)
    points, parents = parents_and_children(3, 1, 0.1, 300, rng)
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    return compare(points, parents, ball, 0.5, draws=(400, 20), generator=rng)


@pytest.mark.slow
def test_plain_laplace_has_its_exact_error_and_beats_the_conformal_ones(errors):
    assert tuple(errors.found) == NAMES
    assert {name: len(values) for name, values in errors.found.items()} == {
        name: 20 if name == PUBLISHED else 400 for name in NAMES
    }
    assert set(errors.exact) == {LAPLACE, GAUSSIAN}
    # 3 sigma with sigma = (2 / 300) / .5
    assert errors.exact[LAPLACE] == pytest.approx(0.04)
    # classical: sigma = (2 / 300) / .5 sqrt(2 log(1.25e9)), and the mean of a chi law
    sigma = 2 / 300 / 0.5 * np.sqrt(2 * np.log(1.25e9))
    assert errors.exact[GAUSSIAN] == pytest.approx(sigma * np.sqrt(8 / np.pi), rel=1e-6)
    means = {name: values.mean() for name, values in errors.found.items()}
    assert means[LAPLACE] == pytest.approx(0.04, rel=0.15)
    assert means[GAUSSIAN] == pytest.approx(errors.exact[GAUSSIAN], rel=0.15)
    for name in (TRUNCATED, PUBLIC, PRIOR):
        assert 1.3 * means[LAPLACE] < means[name] < 3.0 * means[LAPLACE]
    # too few records for a search: the law is the plain one
    assert means[SMALLER] == pytest.approx(means[LAPLACE], rel=0.15)
    assert means[PUBLISHED] > 3.0 * means[LAPLACE]


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.78), (0.9, 0.85)])
def test_the_analytic_gaussian_has_less_noise_by_the_shares_of_the_note(epsilon, share):
    budget, space = ApproxDP(epsilon, 1e-9), Euclidean(3)
    analytic = TangentGaussian.calibrate(space, 1.0, budget).sigma
    classical = TangentGaussian.calibrate(space, 1.0, budget, method="classical").sigma
    assert analytic / classical == pytest.approx(share, abs=5e-3)
    assert str(share) in _he._NOTE


def test_the_private_ball_and_the_release_on_it_share_the_whole_budget(monkeypatch):
    seen = []

    def release(points, ball, budget, *, method, generator):
        seen.append((budget, method))
        return private_mean(points, ball, budget, method=method, generator=generator)

    monkeypatch.setattr(module, "private_mean", release)
    rng = np.random.default_rng(1)
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    points = rng.normal(0.0, 0.1, (50, 2))
    compare(points, np.zeros((1, 2)), ball, 0.7, draws=(2, 1), generator=rng)
    assert seen == 2 * [(PureDP(0.7), "adaptive")]


def test_the_published_algorithm_is_left_out_where_there_are_too_many_records(monkeypatch):
    monkeypatch.setattr(module, "MOST", 40)
    settings = Settings(quick=True)
    monkeypatch.setattr(module, "QUICK_DRAWS", (3, 2))
    few, many = (clustered(settings, 2, 1, 0.1, 0.5, n=n) for n in (40, 41))
    assert tuple(few.found) == NAMES
    assert tuple(many.found) == NAMES[:-1]
    assert row("q", few, "p").reproduced.count("±") == 7
    assert row("q", many, "p").reproduced.endswith(" / —")


def test_clustered_data_are_the_same_for_every_epsilon_and_the_noise_is_not(monkeypatch):
    seen = []

    def spy(points, landmarks, ball, epsilon, *, draws, generator):
        seen.append((points, landmarks, epsilon, draws, generator.random()))
        return Errors({}, {})

    monkeypatch.setattr(module, "compare", spy)
    for quick, epsilon in ((True, 0.1), (True, 0.9), (False, 0.9)):
        clustered(Settings(quick=quick), 3, 2, 0.1, epsilon, n=30)
    clustered(Settings(quick=True), 3, 3, 0.1, 0.1, n=30)
    one, two, full, other = seen
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])
    assert one[4] != two[4] == full[4]
    assert (one[3], full[3]) == (module.QUICK_DRAWS, module.DRAWS)
    assert full[2] == 0.9
    assert other[1].shape == (3, 3)


def test_data_are_children_about_parents_in_the_ball():
    points, parents = parents_and_children(4, 7, 0.1, 5000, np.random.default_rng(1))
    assert points.shape == (5000, 4)
    assert np.linalg.norm(parents, axis=1).max() <= 1.0
    gap = np.min(np.linalg.norm(points[:, None] - parents, axis=2), axis=1)
    assert np.mean(gap**2) == pytest.approx(4 * 0.1**2, rel=0.1)


def test_parents_are_uniform_in_the_ball_and_children_keep_to_the_shares():
    rng = np.random.default_rng(2)
    _, parents = parents_and_children(3, 20_000, 0.1, 1, rng)
    assert np.mean(np.linalg.norm(parents, axis=1) ** 3) == pytest.approx(0.5, abs=0.01)
    points, parents = parents_and_children(3, 2, 1e-6, 4000, rng, shares=np.array([0.2, 0.8]))
    near = np.linalg.norm(points - parents[0], axis=1) < 1e-4
    assert np.mean(near) == pytest.approx(0.2, abs=0.03)


def test_utility_moves_with_the_worst_mechanism():
    near, far = np.full(5, 0.1), np.full(5, 10.0)
    alone = utility(Errors({"a": near, "b": near}, {}))
    beside = utility(Errors({"a": near, "b": far}, {}))
    assert alone["a"] == pytest.approx(0.5)
    assert beside["a"] == pytest.approx(1 / 1.01)
    assert beside["b"] == pytest.approx(0.5)


def test_panels_have_means_standard_errors_and_utilities():
    values = np.array([1.0, 2.0, 3.0, 6.0])
    found = [Errors({"a": values, "b": 0.5 * values}, {})] * 2
    distances, paper = panels("title", "x", (1, 2), found)
    assert [line.y for line in distances.lines] == [(3.0, 3.0), (1.5, 1.5)]
    assert distances.lines[0].spread == pytest.approx((np.sqrt(14 / 3 / 4),) * 2)
    assert paper.lines[0].y == pytest.approx((1 / 1.5,) * 2)


def test_a_row_names_the_least_private_one_and_those_not_told_apart():
    pairs = {LAPLACE: (1.0, 0.1), GAUSSIAN: (1.25, 0.1), PRIOR: (1.5, 0.1), PUBLISHED: (0.1, 0.1)}
    assert least(pairs) == [LAPLACE, GAUSSIAN]
    assert least({**pairs, GAUSSIAN: (1.3, 0.1)}) == [LAPLACE]
    found = {name: np.array([mean - 0.01, mean + 0.01]) for name, (mean, _) in pairs.items()}
    shown = row("q", Errors(found, {LAPLACE: 1.0}), "p")
    assert shown.reproduced.split(" / ") == [
        "1 ± 0.01",
        "—",
        "1.25 ± 0.01",
        "—",
        "1.5 ± 0.01",
        "—",
        "0.1 ± 0.01",
    ]
    assert shown.exact.split(" / ") == ["1", *["—"] * 6]
    assert shown.remark == f"Least of the private ones: {LAPLACE}."


def test_the_conformal_law_is_left_out_where_its_sampler_would_stall(monkeypatch):
    monkeypatch.setattr(module, "MOST", 100)  # the published one is not what this is about
    rng, dim = np.random.default_rng(0), 45
    ball = Ball(Euclidean(dim), np.zeros(dim), 1.0)
    points = ball.point(0.1 * rng.normal(size=(178, dim)) / np.sqrt(dim))
    landmarks = np.zeros((1, dim))
    few, many = (
        compare(points, landmarks, ball, epsilon, draws=(3, 2), generator=rng)
        for epsilon in (0.1, 0.9)
    )
    names = NAMES[:-1]
    assert tuple(few.found) == names
    assert tuple(many.found) == tuple(name for name in names if name != PUBLIC)
    shown = row("q", many, "p")
    assert shown.reproduced.split(" / ")[NAMES.index(PUBLIC)] == "—"
    distances, utilities = panels("t", "ε", (0.1, 0.9), (few, many))
    for panel in (distances, utilities):
        assert [line.x for line in panel.lines] == [
            (0.1,) if name == PUBLIC else (0.1, 0.9) for name in names
        ]
