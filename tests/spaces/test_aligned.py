"""Aligned records: slices, ties, clipping, and balls of both means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from riemdp import (
    Ball,
    InvalidParameterError,
    KendallShapes,
    NotOnManifoldError,
    PlanarShapes,
    QuotientBall,
    Sphere,
    UnsupportedBallError,
    UnsupportedManifoldError,
    frechet_mean,
    frechet_mean_sensitivity,
    register,
)
from riemdp.spaces import Aligned, Quotient
from riemdp.testing import check_part


@pytest.fixture(scope="module")
def spaces(rotations):
    generator = np.random.default_rng(0)
    turn = Rotation.from_rotvec([0.3, -1.0, 0.4]).as_matrix()
    planar, solid = PlanarShapes(5), KendallShapes(6)
    return {
        "rotations": Aligned(rotations.SO3(), turn),
        "planar": Aligned(planar, generator.normal(size=(5, 2))),
        "solid": Aligned(solid, generator.normal(size=(6, 3))),
    }


def drawn(space, size, seed=1):
    """Points anywhere, in arbitrary form."""
    shape = (size, *space.point_shape)
    raw = np.random.default_rng(seed).normal(size=shape)
    return np.linalg.svd(raw)[0] * [1, 1, 1] if shape[1:] == (3, 3) else raw


def points_of(space, size, seed=1):
    raw = drawn(space, size, seed)
    if space.point_shape == (3, 3):
        raw *= np.linalg.det(raw)[:, None, None]
    return space.validate(raw)


@pytest.mark.parametrize("name", ["rotations", "planar", "solid"])
def test_aligned_spaces_pass_the_checks_of_parts(spaces, rotations, registry, name):
    register(rotations.SO3)
    check_part(spaces[name])


@pytest.mark.parametrize(("name", "dim"), [("rotations", 3), ("planar", 6), ("solid", 11)])
def test_the_slice_holds_the_nearest_representatives(spaces, name, dim):
    aligned = spaces[name]
    space = aligned.space
    assert (aligned.dim, aligned.slice.space.dim) == (dim, dim)
    points = points_of(aligned, 30)
    start = space.lift(aligned.template)
    near = space.nearest(start, space.lift(points))
    seen = aligned.aligned(points)
    # nothing lies beside the slice, and embedding is an isometry that keeps the template
    np.testing.assert_allclose(aligned.slice.embed(seen), near, atol=1e-14)
    np.testing.assert_allclose(aligned.slice.embed(aligned.aligned(aligned.template)), start)
    np.testing.assert_allclose(
        aligned.dist(points[:15], points[15:]), space.cover.dist(near[:15], near[15:]), atol=1e-14
    )
    # from the template distances are those of the quotient, others are no shorter
    np.testing.assert_allclose(
        aligned.dist(aligned.template, points), space.dist(aligned.template, points), atol=1e-14
    )
    gap = aligned.dist(points[:15], points[15:]) - space.dist(points[:15], points[15:])
    assert gap.min() > -1e-14
    assert gap.max() > 1e-3
    # a point of the slice stands for one no farther away (1-Lipschitz)
    coordinates = np.random.default_rng(2).normal(size=(40, dim))
    above = aligned.slice.space.point(aligned.aligned(aligned.template), coordinates)
    below = aligned.stood_for(above)
    assert np.all(
        space.dist(below[:20], below[20:])
        <= aligned.slice.space.dist(above[:20], above[20:]) + 1e-14
    )


def test_only_the_class_of_a_record_counts():
    generator = np.random.default_rng(3)
    raw = generator.normal(size=(20, 6, 3))
    ball = QuotientBall(KendallShapes(6), generator.normal(size=(6, 3)), 1.0, mean="aligned")
    turns = Rotation.random(20, random_state=4).as_matrix()
    other = 5.0 * np.einsum("nij,nkj->nki", turns, raw) - 3.0
    np.testing.assert_allclose(ball.coordinates(other), ball.coordinates(raw), atol=1e-13)
    planar = QuotientBall(PlanarShapes(6), raw[0, :, :2], 1.0, mean="aligned")
    numbers = raw[..., 0] + 1j * raw[..., 1]
    turned = numbers * np.exp(1j * generator.uniform(0.0, 6.0, size=(20, 1))) * 7.0 + 2.0
    np.testing.assert_allclose(
        planar.coordinates(turned), planar.coordinates(raw[..., :2]), atol=1e-13
    )
    # the control: a mirror image is another shape
    assert np.abs(ball.coordinates(-raw) - ball.coordinates(raw)).max() > 0.1


@pytest.mark.parametrize("name", ["rotations", "planar", "solid"])
def test_clipping_before_and_after_alignment_is_the_same(spaces, name):
    aligned = spaces[name]
    radius = 0.9 if name != "rotations" else 1.4
    ball = Ball(aligned, aligned.template, radius)
    points = points_of(aligned, 60)
    clipped = ball.project(points)
    far = aligned.space.dist(aligned.template, points)
    assert np.sum(far > radius) > 5
    np.testing.assert_array_equal(clipped[far <= radius], points[far <= radius])
    np.testing.assert_allclose(
        aligned.space.dist(aligned.template, clipped), np.minimum(far, radius), atol=1e-12
    )
    np.testing.assert_allclose(ball.coordinates(clipped), ball.coordinates(points), atol=1e-11)
    if name != "solid":  # a ball of the space itself moves records in the same way
        within = Ball(aligned.space, aligned.template, radius).project(points)
        np.testing.assert_allclose(clipped, within, atol=1e-11)


def test_at_the_cut_locus_a_fixed_rule_decides(rotations):
    half_turns = Rotation.from_rotvec(math.pi * np.eye(3)).as_matrix()
    ball = QuotientBall(rotations.SO3(), np.eye(3), 2.0, mean="aligned")
    found = ball.coordinates(half_turns)
    np.testing.assert_allclose(np.sort(np.abs(found)), [[0.0, 0.0, 2.0]] * 3, atol=1e-12)
    for i in range(3):
        assert ball.coordinates(half_turns[i]).tobytes() == found[i].tobytes()
    plane = PlanarShapes(4)
    template = plane.origin
    start = plane.lift(template)
    across = np.zeros((2, 6))
    across[0, 0], across[1, 1] = 1.0, 1.0
    x, y = start[:3], start[3:]
    for flat in across:  # less the complex multiple of the template
        a, b = flat[:3] @ x, -flat[:3] @ y
        flat[:3] -= a * x - b * y
        flat[3:] -= a * y + b * x
    records = plane.push(across / np.linalg.norm(across, axis=-1, keepdims=True))
    np.testing.assert_allclose(plane.dist(template, records), 0.5 * math.pi, atol=1e-12)
    ball = QuotientBall(plane, template, 1.2, mean="aligned")
    found = ball.coordinates(records)
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1.2, rtol=1e-12)
    assert ball.coordinates(records[1]).tobytes() == found[1].tobytes()
    np.testing.assert_allclose(plane.dist(template, ball.project(records)), 1.2, atol=1e-12)


def test_balls_of_both_means(rotations):
    space, center = rotations.SO3(), np.eye(3)
    assert QuotientBall(space, center, 1.5) == Ball(space, center, 1.5)
    with pytest.raises(UnsupportedBallError, match="must stay under"):
        frechet_mean_sensitivity(QuotientBall(space, center, 1.6), 10)
    wide = QuotientBall(space, center, 3.1, mean="aligned")
    assert wide.manifold == Aligned(space, center)
    assert hash(wide.manifold) == hash(Aligned(space, center))
    assert frechet_mean_sensitivity(wide, 1000) == pytest.approx(4.0 * math.tan(1.55) / 1000)
    plane = PlanarShapes(5)
    at = plane.origin
    assert frechet_mean_sensitivity(
        QuotientBall(plane, at, 0.7, mean="aligned"), 100
    ) == pytest.approx(0.0168458, rel=1e-5)
    assert frechet_mean_sensitivity(QuotientBall(plane, at, 0.7), 100) == pytest.approx(
        0.0579788, rel=1e-5
    )
    for radius in (1.58, 0.5 * math.pi, 7.0):
        with pytest.raises(UnsupportedBallError, match="must stay under"):
            QuotientBall(plane, at, radius, mean="aligned")
    with pytest.raises(UnsupportedBallError, match="away from the template"):
        Ball(Aligned(plane, at), plane.exp(at, plane.tangent_vector(at, 0.9 * np.eye(6)[0])), 0.7)
    for radius in (0.0, -1.0, math.nan):
        with pytest.raises(UnsupportedBallError):
            QuotientBall(plane, at, radius, mean="aligned")
    with pytest.raises(InvalidParameterError, match="aligned"):
        QuotientBall(plane, at, 0.5, mean="procrustes")
    for make in (QuotientBall, lambda *a: Aligned(*a[:2])):
        with pytest.raises(InvalidParameterError, match="must be a quotient"):
            make(Sphere(2), [0.0, 0.0, 1.0], 0.5)
    with pytest.raises(NotOnManifoldError, match="one point"):
        Aligned(plane, np.stack([at, at]))
    with pytest.raises(UnsupportedBallError, match="unique only inside a ball"):
        frechet_mean(Aligned(plane, at), at[None])


def test_balls_about_other_centres_hold_what_their_points_stand_for():
    space = KendallShapes(5)
    aligned = Aligned(space, np.random.default_rng(7).normal(size=(5, 3)))
    reach = aligned.injectivity_radius
    assert reach < 1.0
    generator = np.random.default_rng(8)
    directions = generator.normal(size=(500, 8))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    about = Ball(aligned, aligned.template, 1.5)
    assert np.all(about.contains(about.point(1.5 * directions)))
    center = aligned.point(aligned.template, 0.3 * directions[0])
    small = Ball(aligned, center, 0.99 * reach - 0.3)
    assert np.all(small.contains(small.point(small.radius * directions)))
    with pytest.raises(UnsupportedBallError, match=r"0\.3 away from the template"):
        Ball(aligned, center, reach - 0.29)
    # however near: the template is the one centre of a larger ball
    for away in (1e-9, 1e-3, 0.05):
        near = aligned.point(aligned.template, away * directions[0])
        with pytest.raises(UnsupportedBallError, match="away from the template"):
            Ball(aligned, near, reach)
    # the control: of a larger one points would stand for points outside
    seen = aligned.slice.space
    above = seen.point(aligned.aligned(center), 1.2 * directions)
    assert np.any(aligned.dist(center, aligned.stood_for(above)) > 1.2 + 1e-3)


class Turned(Quotient):
    """A quotient that says nothing of its slices."""

    dim, point_shape = 2, (3,)
    curvature_bound = constant_curvature = 1.0
    injectivity_radius = math.pi
    cover = Sphere(2)
    origin = np.array([0.0, 0.0, 1.0])

    def lift(self, points):
        return np.asarray(points, dtype=float)

    push = validate = lift

    def nearest(self, base, points):
        return np.broadcast_arrays(points, base)[0]

    exp = log = tangent_vector = tangent_coordinates = None


def test_a_quotient_has_to_know_its_slices():
    with pytest.raises(UnsupportedManifoldError, match="slice_at"):
        QuotientBall(Turned(), [0.0, 0.0, 1.0], 0.5, mean="aligned")
