"""Releases of rotations, axes and angles: exact, replayed, and of each record by itself."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from riemdp import (
    GDP,
    Ball,
    NotOnManifoldError,
    ProjectiveSpace,
    PureDP,
    Release,
    Rotations,
    Torus,
    UnsupportedBallError,
    UnsupportedManifoldError,
    frechet_mean,
    private_mean,
    tangent_mean,
    verify,
)
from riemdp.statistics import FrechetMean, Prepared, TangentMean, answer

SPACES = [Rotations(), ProjectiveSpace(1), ProjectiveSpace(2), Torus(1), Torus(3)]
each_space = pytest.mark.parametrize("space", SPACES, ids=str)
MECHANISMS = [
    ("auto", PureDP(1.0)),
    ("riemannian-laplace", PureDP(1.0)),
    ("riemannian-gaussian", GDP(1.0)),
    ("wrapped-laplace", PureDP(1.0)),
    ("wrapped-gaussian", GDP(1.0)),
    ("tangent-laplace", PureDP(1.0)),
    ("tangent-gaussian", GDP(1.0)),
]


def ball_of(space, radius=0.6):
    """About a point at which representatives change sign or turn."""
    return Ball(space, space.push(space.cover.origin + 0.0), radius)


def data(ball, n=50, spread=0.3, seed=0):
    return ball.point(np.random.default_rng(seed).normal(size=(n, ball.manifold.dim)) * spread)


@pytest.mark.parametrize(("mechanism", "budget"), MECHANISMS)
@each_space
def test_releases_are_exact_and_replayed(space, mechanism, budget):
    ball = ball_of(space)
    points = data(ball)
    release = private_mean(points, ball, budget, mechanism=mechanism)
    assert len(release.rounded) == space.dim
    assert release.proven
    again = Release.from_json(release.to_json())
    np.testing.assert_array_equal(again.value, release.value)
    assert again.ball == ball
    assert verify(again).passed
    assert ball.contains(release.value)
    # the value is that of the integers, and of no others
    values = np.array(release.rounded) * 2.0**-release.grid
    values *= min(1.0, ball.radius / np.linalg.norm(values))
    np.testing.assert_allclose(ball.coordinates(release.value), values, atol=1e-9)
    changed = release.to_json().replace(str(release.rounded[0]), str(release.rounded[0] + 2**30))
    assert not verify(Release.from_json(changed)).passed


@each_space
def test_seeded_integers_are_reproducible(space):
    ball = ball_of(space)
    seeds = (0, 0, 1)
    found = [
        private_mean(
            data(ball), ball, GDP(1.0), mechanism="riemannian-gaussian",
            generator=np.random.default_rng(seed),
        ).rounded
        for seed in seeds
    ]  # fmt: skip
    assert found[0] == found[1] != found[2]


@each_space
def test_a_draw_beyond_the_ball_is_one_of_the_space(space, projecting):
    """Not projected, a draw has the coordinates of its class, not of the cover."""
    projecting(False)
    ball = ball_of(space)
    for seed in range(6):
        release = private_mean(
            data(ball, 2), ball, GDP(0.1), mechanism="riemannian-gaussian",
            generator=np.random.default_rng(seed),
        )  # fmt: skip
        values = np.array(release.rounded) * 2.0**-release.grid
        assert np.linalg.norm(values) <= space.diameter * (1.0 + 1e-9)
        np.testing.assert_allclose(
            space.dist(ball.center, release.value), np.linalg.norm(values), atol=1e-9
        )
    assert release.mechanism.sigma > space.injectivity_radius  # wide enough to go round


@each_space
@pytest.mark.parametrize("statistic", [FrechetMean(), TangentMean()], ids=lambda s: s.name)
def test_the_order_of_records_does_not_count(space, statistic):
    ball = ball_of(space)
    points, exact = data(ball, 200), next(statistic.queries(ball))
    tol = exact.tolerance(ball, 1e-3)
    order = np.random.default_rng(1).permutation(len(points))
    first, second = (answer(exact, ball, rows, tol) for rows in (points, points[order]))
    if tol == 0.0:
        assert first == second
    gap = math.dist(map(float, first), map(float, second))
    assert gap <= 2.0 * tol * 1.2 + 1e-15
    seen = space.tangent_coordinates(ball.center, tangent_mean(ball, points))
    if statistic.name == "tangent-mean":
        np.testing.assert_allclose([float(x) for x in first], seen, atol=1e-9)


@each_space
def test_one_record_is_its_own_mean(space):
    ball = ball_of(space)
    point = data(ball, 1)
    exact = next(FrechetMean().queries(ball))
    found = answer(exact, ball, point, exact.tolerance(ball, 1e-3))
    np.testing.assert_allclose([float(x) for x in found], ball.coordinates(point)[0], atol=1e-8)
    assert private_mean(point, ball, PureDP(1.0), mechanism="riemannian-laplace").n == 1


@each_space
def test_what_becomes_of_a_record_rests_on_that_record_alone(space):
    ball = ball_of(space)
    points = data(ball, 30, spread=1.0)
    for statistic in (FrechetMean(), TangentMean()):
        query = next(statistic.queries(ball))
        whole = Prepared(ball, points).summary(query)
        alone = [Prepared(ball, row[None]).summary(query) for row in points]
        if hasattr(whole, "total"):
            assert whole.total == tuple(map(sum, zip(*(part.total for part in alone), strict=True)))
        else:
            assert np.concatenate(alone).tobytes() == whole.tobytes()


def test_quaternions_are_taken_where_rotations_are():
    rotations = Rotation.from_rotvec(0.2 * np.random.default_rng(3).normal(size=(40, 3)))
    center = Rotation.from_rotvec([0.1, 0.0, 0.1])
    found = []
    for points, middle in (
        (rotations.as_matrix(), center.as_matrix()),
        (-rotations.as_quat(), center.as_quat()),
    ):
        release = private_mean(
            points, Ball(Rotations(), middle, 1.0), PureDP(1.0), mechanism="tangent-laplace",
            generator=np.random.default_rng(0),
        )  # fmt: skip
        found.append(release.value)
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
    bad = rotations.as_quat() * np.where(np.arange(40) == 7, 2.0, 1.0)[:, None]
    with pytest.raises(NotOnManifoldError, match="row 7 is not a unit quaternion"):
        private_mean(bad, Ball(Rotations(), center.as_quat(), 1.0), PureDP(1.0))


@pytest.mark.parametrize(
    ("space", "limit"),
    [
        (Rotations(), 0.5 * math.pi),
        (ProjectiveSpace(2), 0.25 * math.pi),
        (ProjectiveSpace(1), 0.25 * math.pi),
        (Torus(2), 0.5 * math.pi),
    ],
    ids=str,
)
def test_balls_at_the_limit(space, limit):
    ball, shown = ball_of(space, limit), str(limit)[:5]
    points = data(ball, 20)
    for mechanism in ("riemannian-laplace", "wrapped-laplace"):
        with pytest.raises(
            UnsupportedBallError, match=rf"radius {shown}.*under {shown}.*a smaller"
        ):
            private_mean(points, ball, PureDP(1.0), mechanism=mechanism)
        under = ball_of(space, 0.997 * limit)
        assert private_mean(points, under, PureDP(1.0), mechanism=mechanism).proven
    # the way out: the tangent mean, up to twice that
    release = private_mean(points, ball_of(space, 1.999 * limit), PureDP(1.0))
    assert release.proven
    assert verify(release).passed
    whole = private_mean(points, Ball.whole(space), PureDP(1.0))
    assert whole.proven
    assert verify(whole).passed


def test_densities_are_sums_over_what_there_is():
    for space, known in ((Rotations(), True), (ProjectiveSpace(2), True), (Torus(2), False)):
        ball = ball_of(space)
        release = private_mean(data(ball), ball, GDP(1.0), mechanism="riemannian-gaussian")
        if known:
            assert np.isfinite(release.mechanism.log_density(release.value, ball.center))
        else:
            with pytest.raises(UnsupportedManifoldError, match="orbit"):
                release.mechanism.log_density(release.value, ball.center)


def recorded(name):
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / name).exists():
        pytest.skip(f"RIEMDP_DATA names no folder with {name}")
    return np.load(path)


def errors(points, ball, budget, mechanism, repeats=150):
    """Mean distance of releases from the mean of the clipped records, and what is expected."""
    space = ball.manifold
    exact = frechet_mean(space, ball.project(space.validate(points)), ball=ball).value
    found = []
    for seed in range(repeats):
        release = private_mean(
            points, ball, budget, mechanism=mechanism, generator=np.random.default_rng(seed)
        )
        found.append(float(space.dist(release.value, exact)))
    return np.mean(found), release.expected_distance


@pytest.mark.slow
def test_errors_of_the_wrist():
    with recorded("rotations_drill_nickel.npz") as file:
        quaternions = file["drill_quat_wxyz"][file["drill_joint"] == "Wrist"]
    points = quaternions[:, [1, 2, 3, 0]]
    ball = Ball(Rotations(), np.eye(3), math.pi / 3.0)
    found, expected = errors(points, ball, GDP(1.0), "riemannian-gaussian")
    assert found == pytest.approx(expected, rel=0.1)
    assert math.degrees(expected) == pytest.approx(0.96, abs=0.01)


@pytest.mark.slow
def test_errors_of_the_axis_of_epicentres():
    with recorded("sphere_earthquakes.npz") as file:
        points = file["xyz"][:5000]
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    ball = Ball(ProjectiveSpace(2), [-1.0, 0.0, 0.0], 0.78)
    found, expected = errors(points, ball, GDP(0.5), "riemannian-gaussian", 100)
    assert found == pytest.approx(expected, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["riemannian-laplace", "riemannian-gaussian"])
def test_errors_of_simulated_torsions(mechanism):
    """Two angles of a chain, next to those of a sheet, where one of them turns over."""
    random, n = np.random.default_rng(5), 400
    points = np.radians([-120.0, 170.0]) + random.normal(size=(n, 2)) * [0.3, 0.4]
    ball = Ball(Torus(2), np.radians([-120.0, 180.0]), 1.4)
    found, expected = errors(points, ball, GDP(1.0), mechanism)
    assert found == pytest.approx(expected, rel=0.12)
    # the control: without turns the average is another
    assert Torus(2).dist(ball.project(Torus(2).push(points)).mean(axis=0), points.mean(axis=0)) > 1
