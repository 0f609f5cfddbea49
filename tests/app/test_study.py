import math
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import riemdp
from riemdp import (
    GDP,
    Ball,
    InvalidParameterError,
    Power,
    ProductBall,
    SPDLogEuclidean,
    UnsupportedError,
    plan,
)
from riemdp.app import SPACES, Study
from riemdp.app._study import BUDGETS

TENSORS = Study("SPDLogEuclidean", 3, 1.0, 500, 1, "GDP", 1.0, 0.3)


def test_noise_is_that_of_the_plan():
    space = SPDLogEuclidean(3)
    expected = plan(space, Ball(space, space.origin, 1.0), 500, GDP(1.0)).best
    found = TENSORS.verdict()
    assert found.noise == expected.expected_distance
    assert found.mechanism == expected.mechanism
    assert found.share == found.noise / 0.3


def test_noise_of_many_means_is_that_of_one():
    many = Power(SPDLogEuclidean(3), 400)
    ball = ProductBall(many, many.origin, rms_radius=1.0)
    expected = plan(many, ball, 500, GDP(1.0)).best.noise_per_mean
    assert replace(TENSORS, means=400).verdict().noise == expected
    # 2 rho sqrt(K d) / (n mu)
    assert expected == pytest.approx(2.0 * math.sqrt(400 * 6) / 500, rel=1e-9)


@pytest.mark.parametrize(
    ("effect", "level"), [(0.029, "useful"), (0.027, "borderline"), (0.0093, "hopeless")]
)
def test_levels_are_a_third_and_the_whole_of_the_effect(effect, level):
    found = replace(TENSORS, effect=effect).verdict()  # the noise is .0094
    assert found.level == level


def test_the_number_that_is_needed_brings_the_noise_down_to_a_third():
    study = replace(TENSORS, effect=0.01, means=3)
    needed = study.verdict().needed_n
    assert replace(study, n=needed).verdict().level == "useful"
    assert replace(study, n=needed - 1).verdict().level == "borderline"
    assert f"n = {needed:,}" in study.verdict().sentences[0]


def test_noise_larger_than_the_ball_is_said():
    said = " ".join(replace(TENSORS, n=2).verdict().sentences)
    assert "larger than the ball" in said
    assert "larger than the ball" not in " ".join(TENSORS.verdict().sentences)


def test_pure_noise_on_many_means_is_warned_of():
    study = replace(TENSORS, means=50, budget="PureDP")
    assert any("Gaussian noise" in each for each in study.verdict().sentences)
    assert not any("Gaussian noise" in each for each in replace(study, means=1).verdict().sentences)


def test_the_curve_falls_with_n():
    noise = TENSORS.curve((50, 500, 5000))
    assert noise[1] == TENSORS.verdict().noise
    assert noise[0] > noise[1] > noise[2]


@pytest.mark.parametrize("means", [1, 4])
@pytest.mark.parametrize("budget", BUDGETS)
def test_its_code_makes_the_release_that_was_planned(means, budget, tmp_path, monkeypatch):
    study = replace(TENSORS, budget=budget, means=means)
    monkeypatch.chdir(tmp_path)
    shape = (500, 3, 3) if means == 1 else (500, means, 3, 3)
    names = {"points": np.broadcast_to(np.eye(3), shape)}
    exec(study.code, names)
    release = names["release"]
    assert (release.n, release.guarantee) == (500, study.definition)
    assert release.ball.radius == study.ball.radius
    assert (tmp_path / "release.json").exists()


def test_what_it_shows_has_the_budget_that_was_planned_for_to_the_last_digit():
    study = replace(TENSORS, parameter=0.123456749, radius=1.23456789, budget="PureDP")
    assert "PureDP(0.123456749)" in study.code
    assert "--radius 1.23456789 --epsilon 0.123456749 " in study.command
    assert f"{study.parameter:g}" == "0.123457"  # which is more than was planned for
    assert "PureDP(1)" in replace(TENSORS, budget="PureDP").code


@pytest.mark.parametrize("space", SPACES)
def test_its_command_runs(space, tmp_path, monkeypatch):
    size = SPACES[space].sizes[1]
    study = Study(space, size, 0.5, 30, 1, "PureDP", 1.0, 0.3)
    monkeypatch.chdir(tmp_path)
    manifold = study.ball.manifold
    np.save("records.npy", np.broadcast_to(manifold.origin, (30, *manifold.point_shape)))
    arguments = study.command.split()
    assert arguments[0] == "riemdp"
    from riemdp.cli._app import app

    result = CliRunner().invoke(app, arguments[1:])
    assert result.exit_code == 0, result.output
    assert riemdp.verify(tmp_path / "release.json").passed


def test_several_means_have_no_command():
    assert replace(TENSORS, means=2).command is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"space": "Circle"}, "space must be one of"),
        ({"budget": "DP"}, "budget must be one of"),
        ({"n": 0}, "n"),
        ({"n": None}, "n"),
        ({"means": 1.5}, "means"),
        ({"radius": -1.0}, "radius"),
        ({"parameter": None}, "mu is empty"),
        ({"parameter": -1.0}, "mu must"),
        ({"delta": None}, "delta is empty"),
        ({"size": 65}, "k must lie from 1 to 64"),
        ({"size": 10**5}, "k must lie"),
        ({"means": 10**6}, "numbers together"),
        ({"effect": math.nan}, "effect"),
    ],
)
def test_bad_numbers_are_refused(change, message):
    with pytest.raises(InvalidParameterError, match=message):
        replace(TENSORS, **change)


def test_a_ball_that_is_too_large_is_refused():
    with pytest.raises(UnsupportedError):
        Study("ProjectiveSpace", 2, 2.0, 50, 1, "GDP", 1.0, 0.3).verdict()
