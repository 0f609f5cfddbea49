"""Releases of directions, rotations and shapes, with no ball."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import riemdp
from riemdp import (
    GDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Ball,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Release,
    Sphere,
    private_directional_summary,
    private_procrustes_mean,
    private_rotation_mean,
    private_statistic,
    verify,
)
from riemdp._errors import BudgetExceededError
from riemdp.mechanisms import TangentGaussian
from riemdp.release import offer
from riemdp.release._offer import with_draw
from riemdp.release._run import drawn
from riemdp.statistics import DirectionalMoments, Groups, MeanRotation, ProcrustesMean


def seeded(seed=0):
    return np.random.default_rng(seed)


def directions(n, dim, seed=0, towards=0.0):
    found = np.random.default_rng(seed).normal(size=(n, dim))
    found[:, 0] += towards
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def rotations(n, seed=0, spread=0.5):
    vectors = spread * np.random.default_rng(seed).normal(size=(n, 3))
    return Rotation.from_rotvec(vectors).as_matrix()


def configurations(n, k=4, seed=0):
    rng = np.random.default_rng(seed)
    return np.arange(k) ** 2 + rng.normal(size=(n, k)) + 1j * rng.normal(size=(n, k))


RELEASES = {
    "resultant": lambda **o: private_directional_summary(directions(50, 3), GDP(1.0), **o),
    "scatter": lambda **o: private_directional_summary(directions(50, 3), GDP(1.0), order=2, **o),
    "both": lambda **o: private_directional_summary(directions(50, 2), GDP(1.0), order=(1, 2), **o),
    "rotation": lambda **o: private_rotation_mean(rotations(50), GDP(1.0), **o),
    "shape": lambda **o: private_procrustes_mean(configurations(50), GDP(1.0), **o),
}


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


@pytest.mark.parametrize("name", RELEASES)
def test_releases_are_exact_and_written_and_verified(name):
    release = RELEASES[name]()
    assert release.private
    assert release.tol == 0.0
    assert not release.projected
    assert release.proofs[release.statistic.name] == "docs/proofs/joint-sensitivities.md"
    again = Release.from_json(release.to_json())
    assert again.raw.tobytes() == release.raw.tobytes()
    assert again.statistic == release.statistic
    assert again.value == release.value
    assert failed(again) == set()
    assert again.ball.is_whole
    # negative control: a guarantee twice as good
    assert "guarantee" in failed(replace(release, guarantee=GDP(0.5)))
    assert "sensitivity" in failed(replace(release, n=51))


@pytest.mark.parametrize("name", RELEASES)
def test_the_noise_is_that_of_the_sensitivity(name):
    release = RELEASES[name](generator=seeded())
    assert not release.private
    wanted = 2.0 / 50 if name in ("resultant", "both") else math.sqrt(2.0) / 50
    assert release.sensitivity == pytest.approx(wanted, rel=1e-12)
    assert release.sigma == pytest.approx(wanted, rel=1e-9)
    sd = "resultant_sd" if name in ("resultant", "both") else "scatter_sd"
    assert release.value[sd] == pytest.approx(wanted, rel=1e-6)


def test_many_records_are_summarised_as_they_are():
    points = directions(200_000, 3, towards=1.0)
    found = private_directional_summary(points, GDP(1.0), order=(1, 2)).value
    mean, scatter = points.mean(axis=0), points.T @ points / len(points)
    assert np.allclose(found.resultant, mean, atol=1e-4)
    assert np.allclose(found.scatter, scatter, atol=1e-4)
    assert found.direction @ mean / np.linalg.norm(mean) > 1.0 - 1e-6
    assert found.direction_significant
    assert found.axis_significant
    turns = rotations(100_000)
    turn = private_rotation_mean(turns, GDP(1.0)).value
    assert np.allclose(turn.rotation, np.eye(3), atol=0.02)
    shape = private_procrustes_mean(configurations(100_000), GDP(1.0)).value.shape
    wanted = np.arange(4) ** 2 - 3.5
    assert abs(np.vdot(shape, wanted)) / np.linalg.norm(wanted) > 0.999


def test_one_record_says_next_to_nothing():
    found = private_directional_summary(directions(1, 3), GDP(0.01), order=(1, 2)).value
    assert found.corrected_length >= 0.0
    for release in (
        private_rotation_mean(rotations(1), GDP(0.1)),
        private_procrustes_mean(configurations(1), GDP(0.1)),
    ):
        assert np.isfinite(release.raw).all()


@pytest.mark.parametrize("dim", [2, 3, 20])
def test_every_dimension(dim):
    found = private_directional_summary(directions(500, dim, towards=3.0), GDP(1.0)).value
    assert found.direction.shape == (dim,)
    assert np.linalg.norm(found.direction) == pytest.approx(1.0)


@pytest.mark.parametrize("budget", [ApproxDP(1.0, 1e-6), ZCDP(0.5), PureDP(1.0)], ids=str)
def test_other_budgets(budget):
    for order in (1, 2, (1, 2)):
        release = private_directional_summary(directions(100, 3), budget, order=order)
        assert failed(release) == set()
        assert release.guarantee == budget


def test_axes_are_released_as_scatter():
    points = directions(60, 3)
    signs = np.where(np.arange(60) % 2, -1.0, 1.0)[:, None]
    one, other = (
        private_directional_summary(rows, GDP(1.0), axial=True, generator=seeded())
        for rows in (points, signs * points)
    )
    assert one.statistic == DirectionalMoments(2)
    assert one.raw.tobytes() == other.raw.tobytes()
    same = private_directional_summary(points, GDP(1.0), order=2, axial=True, generator=seeded())
    assert same.raw.tobytes() == one.raw.tobytes()
    with pytest.raises(InvalidParameterError, match="axes have no resultant"):
        private_directional_summary(points, GDP(1.0), order=(1, 2), axial=True)
    with pytest.raises(InvalidParameterError, match="axial must be True or False"):
        private_directional_summary(points, GDP(1.0), axial="yes")


def test_groups_of_records_and_named_mechanisms():
    points = directions(60, 3)
    release = private_directional_summary(
        points, GDP(1.0), adjacency=Groups(3), mechanism="tangent-gaussian"
    )
    assert release.sensitivity == pytest.approx(3 * 2.0 / 60)
    assert release.mechanism.name == "tangent-gaussian"
    assert failed(release) == set()


def test_accounts_are_charged_once_and_before_anything_is_drawn():
    account = Accountant(GDP(1.0))
    private_rotation_mean(rotations(20), GDP(0.6), accountant=account)
    with pytest.raises(BudgetExceededError):
        private_procrustes_mean(configurations(20), GDP(0.9), accountant=account)
    private_directional_summary(directions(20, 3), GDP(0.8), accountant=account)
    labels = [entry.label for entry in account.ledger]
    assert [label.split(",")[0] for label in labels] == [
        "private_rotation_mean",
        "private_directional_summary",
    ]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((3, 1)), "shape"),
        (np.zeros(3), "shape"),
        (np.zeros((2, 2, 3)), "shape"),
        (np.zeros((0, 3)), "at least one"),
        (np.eye(3) * [1.0, 2.0, 1.0], "row 1 does not have norm"),
        (np.eye(3) * [1.0, 0.0, 1.0], "row 1 does not have norm"),
        (np.eye(3) * [1.0, np.nan, 1.0], "row 0 has entries that are NaN"),
        (np.eye(3) + 0j, "real numbers"),
    ],
)
def test_what_is_no_direction_is_refused(points, message):
    with pytest.raises(NotOnManifoldError, match=message):
        private_directional_summary(points, GDP(1.0))


def test_empty_data_are_refused():
    for call, shape in ((private_rotation_mean, (0, 3, 3)), (private_procrustes_mean, (0, 4, 2))):
        with pytest.raises(NotOnManifoldError):
            call(np.zeros(shape), GDP(1.0))


def test_the_general_call_does_the_same():
    points = directions(30, 3)
    one = private_directional_summary(points, GDP(1.0), order=2, generator=seeded())
    other = private_statistic(
        DirectionalMoments(2), points, Ball.whole(Sphere(2)), GDP(1.0), generator=seeded()
    )
    assert one.raw.tobytes() == other.raw.tobytes()
    rows = riemdp.plan(Sphere(2), math.inf, 30, GDP(1.0), statistic=DirectionalMoments(2)).rows
    (row,) = [row for row in rows if row.mechanism == one.mechanism.name]
    assert row.sigma == one.sigma


#: A pair of data sets of one record that attains the sensitivity, for each statistic.
WORST = {
    "resultant": (DirectionalMoments(1), [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]),
    "scatter": (DirectionalMoments(2), [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
    "both": (DirectionalMoments((1, 2)), [0.0, 1.0], [0.0, -1.0]),
    "rotation": (MeanRotation(), [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]),
    "shape": (ProcrustesMean(), [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]),
}


def draws_of(name, sigma_factor=1.0):
    """Draw noisy answers for one of the worst pair's records, along the line between them."""
    statistic, one, other = WORST[name]
    ball = Ball.whole(Sphere(len(one) - 1))
    made = offer(statistic, TangentGaussian, ball, 1, GDP(1.0))
    if sigma_factor != 1.0:
        weak = TangentGaussian(made.answers.manifold, made.mechanism.sigma * sigma_factor)
        made = with_draw(replace(made, asked=(replace(made.last, mechanism=weak),)))
    query = made.last.query
    ends = [
        np.array([float(x) for x in riemdp.statistics.answer(query, ball, np.array([row]), 0.0)])
        for row in (one, other)
    ]

    def draw(data, generator):
        value, _ = drawn(made, data, generator, limit=GDP(1e6))
        return value.raw @ (ends[1] - ends[0])

    return draw, np.array([one]), np.array([other])


@pytest.mark.slow
@pytest.mark.parametrize("name", WORST)
def test_audits_on_the_worst_pair(name):
    options = {"samples": 3000, "generator": seeded(1)}
    draw, one, other = draws_of(name)
    found = riemdp.audit(draw, one, other, GDP(1.0), **options)
    assert found.verdict == "consistent"
    assert found.mu_lower > 0.7  # next to attained, for so many samples
    # negative control: three fifths of the noise
    draw, one, other = draws_of(name, 0.6)
    assert riemdp.audit(draw, one, other, GDP(1.0), **options).verdict == "violated"


def recorded(name):
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / name).exists():
        pytest.skip(f"RIEMDP_DATA names no folder with {name}")
    return np.load(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint", "degrees"), [("Wrist", 0.92), ("Shoulder", 2.23), ("Elbow", 1.43)]
)
def test_errors_of_rotations_of_joints(joint, degrees):
    """Mean angle to the mean rotation of the records, at mu = 1, over all of SO(3)."""
    with recorded("rotations_drill_nickel.npz") as file:
        quaternions = file["drill_quat_wxyz"][file["drill_joint"] == joint]
    turns = Rotation.from_quat(quaternions[:, [1, 2, 3, 0]])
    exact = turns.mean()
    errors = []
    for seed in range(200):
        found = private_rotation_mean(turns.as_matrix(), GDP(1.0), generator=seeded(seed)).value
        assert found.rotation_significant
        errors.append((exact.inv() * Rotation.from_matrix(found.rotation)).magnitude())
    assert np.degrees(np.mean(errors)) == pytest.approx(degrees, rel=0.1)
    assert np.mean(np.array(errors) <= found.rotation_bound) >= 0.95


@pytest.mark.slow
def test_errors_of_the_mean_epicentre():
    with recorded("sphere_earthquakes.npz") as file:
        points = file["xyz"]
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    points = points[np.random.default_rng(1).choice(len(points), 2000, replace=False)]
    exact = points.mean(axis=0) / np.linalg.norm(points.mean(axis=0))
    errors = []
    for seed in range(200):
        found = private_directional_summary(points, GDP(0.1), generator=seeded(seed)).value
        errors.append(math.acos(min(1.0, found.direction @ exact)))
    assert np.degrees(np.mean(errors)) == pytest.approx(1.57, rel=0.1)
