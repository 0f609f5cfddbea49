"""Quotients: rotations of space by another package, and the circle as a quotient of the line."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import riemdp
from riemdp import (
    ApproxDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Release,
    Sphere,
    UnsupportedBallError,
    frechet_mean,
    frechet_mean_sensitivity,
    plan,
    private_mean,
    register,
    tangent_mean,
    verify,
)
from riemdp.spaces import DiscreteQuotient, check_points


@dataclass(frozen=True)
class Ring(DiscreteQuotient):
    """Angles: the line, turn by turn."""

    dim = 1
    point_shape = (1,)
    injectivity_radius = math.pi
    diameter = math.pi
    cover = Euclidean(1)

    def lift(self, points):
        return np.asarray(points, dtype=float)

    def push(self, points):
        return np.mod(points, 2.0 * math.pi)

    def nearest(self, base, points):
        gap = np.asarray(points) - base
        return base + gap - 2.0 * math.pi * np.round(gap / (2.0 * math.pi))

    def validate(self, points):
        return check_points(points, self.point_shape)


@pytest.fixture(scope="module")
def turns():
    return Rotation.random(200, random_state=0)


def test_geometry_of_rotations(rotations, turns):
    space = rotations.SO3()
    points = space.validate(turns.as_matrix())
    first, second = points[:100], points[100:]
    angles = (turns[:100].inv() * turns[100:]).magnitude()
    np.testing.assert_allclose(space.dist(first, second), angles, atol=1e-12)
    tangent = space.log(first, second)
    assert tangent.shape == (100, *space.tangent_shape)
    np.testing.assert_allclose(space.exp(first, tangent), second, atol=1e-12)
    np.testing.assert_allclose(space.norm(first, tangent), angles, atol=1e-12)
    coordinates = space.tangent_coordinates(first, tangent)
    np.testing.assert_allclose(space.tangent_vector(first, coordinates), tangent, atol=1e-12)
    assert (space.curvature_bound, space.constant_curvature) == (0.25, 0.25)
    assert Sphere(3, 0.25).validate(space.lift(points)).shape == (200, 4)
    np.testing.assert_allclose(space.push(-space.lift(points)), points, atol=1e-12)


def test_balls_of_rotations(rotations, turns):
    space = rotations.SO3()
    ball = Ball(space, np.eye(3), 1.0)
    points = turns.as_matrix()
    inside = ball.contains(points)
    np.testing.assert_array_equal(inside, turns.magnitude() <= 1.0)
    assert 0 < inside.sum() < len(points)
    clipped = ball.project(points)
    np.testing.assert_array_equal(clipped[inside], points[inside])
    np.testing.assert_allclose(space.dist(np.eye(3), clipped[~inside]), 1.0, atol=1e-12)
    # along the same axis
    axes = turns.as_rotvec() / turns.magnitude()[:, None]
    wanted = Rotation.from_rotvec(axes * np.minimum(turns.magnitude(), 1.0)[:, None])
    np.testing.assert_allclose(clipped, wanted.as_matrix(), atol=1e-10)
    np.testing.assert_allclose(ball.point(ball.coordinates(points)), clipped, atol=1e-10)
    Ball(space, np.eye(3), 0.999 * math.pi)
    with pytest.raises(UnsupportedBallError, match="injectivity radius"):
        Ball(space, np.eye(3), 1.001 * math.pi)
    whole = Ball.whole(space)
    assert np.all(whole.contains(points))
    np.testing.assert_array_equal(whole.project(points), points)


def test_what_is_no_rotation_is_refused(rotations):
    space = rotations.SO3()
    for bad, reason in [
        (np.diag([1.0, 1.0, -1.0]), "reflection"),
        (np.diag([1.0, 1.0, 1.1]), "not orthogonal"),
        (np.full((3, 3), np.nan), "NaN"),
        (np.eye(2), "shape"),
    ]:
        with pytest.raises(NotOnManifoldError, match=reason):
            space.validate(bad)


def test_the_mean_of_rotations_is_the_minimiser(rotations):
    space, generator = rotations.SO3(), np.random.default_rng(1)
    center = Rotation.from_rotvec([2.0, -1.0, 2.0])  # far from the identity: signs matter
    ball = Ball(space, center.as_matrix(), 1.5)
    spread = Rotation.from_rotvec(generator.normal(size=(30, 3)) * 0.6)
    points = ball.project((center * spread).as_matrix())
    found = frechet_mean(space, points, ball=ball)
    assert found.error_bound <= 1e-10

    def cost(vector):
        middle = center * Rotation.from_rotvec(vector)
        return np.sum((middle.inv() * Rotation.from_matrix(points)).magnitude() ** 2)

    starts = [np.zeros(3), *(2.0 * generator.normal(size=(2, 3)))]
    best = min((minimize(cost, start, tol=1e-12) for start in starts), key=lambda r: r.fun)
    brute = (center * Rotation.from_rotvec(best.x)).as_matrix()
    assert space.dist(found.value, brute) < 1e-5
    # the chordal mean is another one, of third order near
    chordal = Rotation.from_matrix(points).mean().as_matrix()
    assert 1e-4 < space.dist(found.value, chordal) < 0.1
    moved = generator.normal(size=(20, 3)) * 1e-3
    at = center.inv() * Rotation.from_matrix(np.array(found.value))
    assert all(
        cost(at.as_rotvec()) <= cost((at * Rotation.from_rotvec(v)).as_rotvec()) for v in moved
    )


def test_means_need_a_ball_that_lifts(rotations):
    space = rotations.SO3()
    points = np.tile(np.eye(3), (4, 1, 1))
    with pytest.raises(UnsupportedBallError, match="pass ball="):
        frechet_mean(space, points)
    wide = Ball(space, np.eye(3), 0.501 * math.pi)
    with pytest.raises(UnsupportedBallError, match=r"must stay under 1\.5708 .* to be unique"):
        frechet_mean(space, points, ball=wide)
    with pytest.raises(UnsupportedBallError, match=r"1\.5708, half the injectivity radius"):
        space.lifted(wide)
    half = Ball(space, np.eye(3), 0.2)
    with pytest.raises(UnsupportedBallError, match="lies outside"):
        frechet_mean(space, Rotation.from_rotvec(np.eye(3)).as_matrix(), ball=half)
    assert tangent_mean(Ball(space, np.eye(3), 3.0), points).shape == (4,)


def test_the_lift_of_a_ball_is_isometric_up_to_its_limit(rotations):
    space, generator = rotations.SO3(), np.random.default_rng(2)
    vectors = generator.normal(size=(2000, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def gap(radius):
        ball = Ball(space, np.eye(3), radius)
        above = space.lift_near(ball, ball.point(radius * vectors))
        below = space.dist(*np.split(ball.point(radius * vectors), 2))
        return np.max(np.abs(space.cover.dist(*np.split(above, 2)) - below))

    assert gap(0.499 * math.pi) < 1e-12
    assert gap(0.52 * math.pi) > 0.01  # the control: beyond it is not


def test_sensitivity_of_the_mean_of_rotations(rotations):
    space, radius, n = rotations.SO3(), 1.2, 20
    ball = Ball(space, np.eye(3), radius)
    sensitivity = frechet_mean_sensitivity(ball, n)
    assert sensitivity == pytest.approx(4.0 * math.tan(0.5 * radius) / n, rel=1e-12)
    generator = np.random.default_rng(3)
    for _ in range(20):
        data = ball.project(ball.point(generator.normal(size=(n, 3)) * 2.0))
        other = np.concatenate([ball.point(generator.normal(size=(1, 3)) * 2.0), data[1:]])
        means = [frechet_mean(space, ball.project(x), ball=ball).value for x in (data, other)]
        assert space.dist(*means) <= sensitivity


def test_everything_works_with_rotations_and_says_unproven(rotations, registry):
    register(rotations.SO3)
    space = rotations.SO3()
    ball = Ball(space, np.eye(3), 1.0)
    points = Rotation.from_rotvec(np.random.default_rng(4).normal(size=(50, 3)) * 0.4).as_matrix()
    table = plan(space, 1.0, 50, ApproxDP(1.0, 1e-6))
    missing = {row.mechanism: row.problem for row in table.rows if row.problem is not None}
    assert set(missing) == {"riemannian-laplace", "riemannian-gaussian"}
    assert all("give it raised(coordinates) and folded(ends)" in why for why in missing.values())
    for mechanism in ("auto", "wrapped-laplace", "tangent-laplace"):
        release = private_mean(
            points, ball, PureDP(1.0), mechanism=mechanism, allow_unproven=True,
            generator=np.random.default_rng(5),
        )  # fmt: skip
        assert np.all(ball.contains(release.value))
        assert not release.proven
        assert release.proofs["rotations.SO3"] is None
        assert "Sphere" in release.proofs
        again = Release.from_json(release.to_json())
        np.testing.assert_array_equal(again.value, release.value)
        checks = {check.name: check.passed for check in verify(again).checks}
        assert not checks.pop("proof")
        assert all(checks.values())


RELEASE = """
import sys
sys.path[:0] = {paths}
import numpy as np, riemdp
from rotations import SO3
space = SO3()
ball = riemdp.Ball(space, np.eye(3), 1.0)
points = ball.point(np.random.default_rng(0).normal(size=(30, 3)) * 0.3)
release = riemdp.private_mean(points, ball, riemdp.PureDP(1.0), allow_unproven=True)
print(release.to_json())
"""
VERIFY = """
import sys
sys.path[:0] = {paths}
import riemdp
release = riemdp.Release.from_json(sys.stdin.read())
checks = {{check.name: check.passed for check in riemdp.verify(release).checks}}
print(release.ball.manifold, checks.pop("proof"), all(checks.values()), "rotations" in sys.modules)
"""


@pytest.mark.slow
def test_an_installed_package_is_found_by_its_entry_point(tmp_path):
    plugins, source = Path(__file__).parents[1] / "plugins", Path(riemdp.__file__).parents[1]
    info = tmp_path / "rotations-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rotations\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[riemdp.parts]\nrotations.SO3 = rotations:SO3\n")
    paths = [str(tmp_path), str(plugins), str(source)]

    def run(code, given=""):
        return subprocess.run(
            [sys.executable, "-c", code.format(paths=paths)],
            input=given, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    assert run(VERIFY, run(RELEASE)).split() == ["SO3()", "False", "True", "True"]


def test_a_ring_is_a_circle():
    ring, circle = Ring(), Sphere(1)
    generator = np.random.default_rng(6)
    angles = generator.uniform(0.0, 2.0 * math.pi, size=(40, 1))

    def on_circle(values):
        return np.concatenate([np.cos(values), np.sin(values)], axis=-1)

    np.testing.assert_allclose(
        ring.dist(angles[:20], angles[20:]),
        circle.dist(on_circle(angles[:20]), on_circle(angles[20:])),
        atol=1e-12,
    )
    ball = Ball(ring, [6.0], 1.2)
    near = ring.push(6.0 + generator.uniform(-1.2, 1.2, size=(30, 1)))
    value = frechet_mean(ring, near, ball=ball).value
    other = frechet_mean(
        circle, on_circle(near), ball=Ball(circle, on_circle(np.array([6.0])), 1.3)
    )
    np.testing.assert_allclose(on_circle(value), other.value, atol=1e-12)
    assert frechet_mean_sensitivity(ball, 10) == pytest.approx(0.24, rel=1e-12)
    release = private_mean(near, ball, PureDP(1.0), allow_unproven=True)
    assert ball.contains(release.value)


def test_wholes():
    assert Ball.whole(Ring()).reach == math.pi
    ball = Ball.whole(Sphere(2))
    assert (ball.is_whole, ball.radius, ball.reach) == (True, math.inf, math.pi)
    points = np.array([[0.0, 0.0, -1.0], [0.0, 0.6, -0.8]])
    assert np.all(ball.contains(points))
    np.testing.assert_array_equal(ball.project(points), points)
    assert np.linalg.norm(ball.coordinates(points), axis=1)[0] == pytest.approx(math.pi)
    np.testing.assert_allclose(ball.point(ball.coordinates(points)), points, atol=1e-12)
    assert not Ball(Sphere(2), [0, 0, 1], 1.0).is_whole
    with pytest.raises(UnsupportedBallError, match="not compact"):
        Ball.whole(Euclidean(2))
    with pytest.raises(UnsupportedBallError, match="positive and finite"):
        Ball(Euclidean(2), [0, 0], math.inf)
    with pytest.raises(InvalidParameterError, match="manifold"):
        Ball.whole("sphere")
    with pytest.raises(UnsupportedBallError, match="radius"):
        frechet_mean_sensitivity(ball, 10)


def test_a_box_is_space_folded(periodic):
    space, rng = periodic.Box(2, 5.0), np.random.default_rng(0)
    points = rng.uniform(0.0, 5.0, size=(2, 40, 2))
    images = 5.0 * np.stack(np.meshgrid([-1, 0, 1], [-1, 0, 1]), axis=-1).reshape(9, 1, 2)
    wanted = np.linalg.norm(points[1] + images - points[0], axis=-1).min(axis=0)
    np.testing.assert_allclose(space.dist(*points), wanted, rtol=1e-12)
    assert wanted.max() > space.injectivity_radius  # more than a ball
    assert np.all(wanted <= space.diameter)
    with pytest.raises(NotOnManifoldError, match="row 1 lies outside the box"):
        space.validate([[0.0, 1.0], [0.0, 5.0]])
    assert space.push([-1e-30, 7.0]).tolist() == [0.0, 2.0]


def test_a_box_folds_draws_in_ball_arithmetic(periodic):
    flint = pytest.importorskip("flint")
    space = periodic.Box(3, 0.1)
    ends = [flint.arb(7.03), flint.arb(-0.02), flint.arb(0.04)]
    found = [float(x.mid()) for x in space.folded(ends)]
    np.testing.assert_allclose(found, [0.03, -0.02, 0.04], atol=1e-12)
    moved = [end + turns * flint.arb(0.1) for end, turns in zip(ends, (3, -8, 1), strict=True)]
    again = [float(x.mid()) for x in space.folded(moved)]
    np.testing.assert_allclose(again, found, atol=1e-12)
    assert space.folded([flint.arb(0.05, 1e-3), *ends[1:]]) is None  # which way is open
