"""Shapes of landmarks in three dimensions: distances, canonical configurations, slices."""

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
    UnsupportedBallError,
    frechet_mean_sensitivity,
    private_mean,
)
from riemdp.privacy import GDP
from riemdp.spaces import Aligned

SPACE = KendallShapes(6)


@pytest.fixture(scope="module")
def raw():
    return np.random.default_rng(0).normal(size=(40, 6, 3))


@pytest.fixture(scope="module")
def shapes(raw):
    return SPACE.validate(raw)


def moved(landmarks, seed=1):
    """The same shapes elsewhere, larger, and turned."""
    generator = np.random.default_rng(seed)
    turns = Rotation.random(len(landmarks), random_state=seed).as_matrix()
    size = np.exp(generator.normal(size=(len(landmarks), 1, 1)))
    return size * np.einsum("nij,nkj->nki", turns, landmarks) + generator.normal(
        size=(len(landmarks), 1, 3)
    )


def test_shapes_have_no_place_size_or_rotation(raw, shapes):
    again = SPACE.validate(moved(raw))
    np.testing.assert_allclose(again, shapes, atol=1e-13)
    np.testing.assert_array_equal(SPACE.validate(shapes), shapes)
    np.testing.assert_allclose(shapes.mean(axis=-2), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.square(shapes).sum(axis=(-1, -2)), 1.0, rtol=1e-14)
    np.testing.assert_allclose(SPACE.dist(shapes, again), 0.0, atol=1e-14)
    np.testing.assert_allclose(SPACE.push(SPACE.lift(raw)), shapes, atol=1e-14)
    origin = SPACE.origin
    np.testing.assert_array_equal(SPACE.validate(origin), origin)
    np.testing.assert_allclose(origin.T @ origin, np.eye(3) / 3.0, atol=1e-15)
    # the control: mirror images are other shapes
    mirrored = raw * [1.0, 1.0, -1.0]
    assert np.all(SPACE.dist(raw, mirrored) > 0.05)


def test_distances_are_the_least_over_all_rotations(raw, shapes):
    found = SPACE.dist(raw[:20], raw[20:])
    wanted = []
    for a, b in zip(shapes[:20], shapes[20:], strict=True):
        _, gap = Rotation.align_vectors(a, b)  # |a - R b|, least
        wanted.append(2.0 * math.asin(0.5 * gap))
    np.testing.assert_allclose(found, wanted, atol=1e-7)
    # the signed sum of singular values, and not the sum
    a, b = (shapes[part] for part in (slice(0, 20), slice(20, None)))
    product = np.swapaxes(a, -1, -2) @ b
    singular = np.linalg.svd(product, compute_uv=False)
    sign = np.sign(np.linalg.det(product))
    np.testing.assert_allclose(
        np.cos(found), singular[:, 0] + singular[:, 1] + sign * singular[:, 2], atol=1e-14
    )
    assert np.any(np.abs(np.cos(found) - singular.sum(axis=-1)) > 0.01)


def test_short_distances_keep_their_digits(shapes):
    step = np.random.default_rng(2).normal(size=shapes.shape)
    coarse, fine = (SPACE.dist(shapes, moved(shapes + size * step)) / size for size in (1e-5, 1e-9))
    np.testing.assert_allclose(fine, coarse, rtol=1e-4)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_geodesics_and_frames(m):
    space = KendallShapes(m + 2, m)
    points = space.validate(np.random.default_rng(m).normal(size=(20, m + 2, m)))
    bases, points = points[:10], points[10:]
    assert space.dim == m * (m + 1) - 1 - m * (m - 1) // 2
    tangent = space.log(bases, points)
    np.testing.assert_allclose(space.exp(bases, tangent), points, atol=1e-12)
    np.testing.assert_allclose(space.norm(bases, tangent), space.dist(bases, points), atol=1e-13)
    coordinates = space.tangent_coordinates(bases, tangent)
    assert coordinates.shape == (10, space.dim)
    np.testing.assert_allclose(space.tangent_vector(bases, coordinates), tangent, atol=1e-13)
    np.testing.assert_allclose(space.coordinates(bases[0], points[0]), coordinates[0], atol=1e-13)
    # tangent vectors are orthogonal to what rotations do, the derivative of one by differences
    turn = np.eye(m)
    turn[:2, :2] = [[math.cos(1e-5), -math.sin(1e-5)], [math.sin(1e-5), math.cos(1e-5)]]
    rows = space.lift(bases).reshape(10, m, m + 1)
    along = ((turn - turn.T) @ rows).reshape(10, -1) / 2e-5
    assert np.abs(np.sum(along * tangent, axis=-1)).max() < 1e-9
    assert np.linalg.norm(along, axis=-1).min() > 0.1


def test_the_plane_is_that_of_planar_shapes():
    plane, space = PlanarShapes(5), KendallShapes(5, 2)
    raw = np.random.default_rng(3).normal(size=(9, 5, 2))
    np.testing.assert_allclose(space.dist(raw[:4], raw[4:8]), plane.dist(raw[:4], raw[4:8]))
    one, other = (QuotientBall(each, raw[8], 0.7, mean="aligned") for each in (plane, space))
    assert one.manifold.dim == other.manifold.dim == plane.dim
    lengths = [np.linalg.norm(ball.coordinates(raw), axis=-1) for ball in (one, other)]
    np.testing.assert_allclose(*lengths, atol=1e-13)
    assert other.manifold.injectivity_radius == pytest.approx(0.5 * math.pi, rel=1e-7)


@pytest.mark.parametrize("k", [5, 8])
def test_slices_are_aligned_as_far_as_is_said(k):
    space = KendallShapes(k)
    generator = np.random.default_rng(k)
    template = space.validate(generator.normal(size=(k, 3)))
    aligned = Aligned(space, template)
    rows = space.lift(template).reshape(3, k - 1)
    values, vectors = np.linalg.eigh(rows @ rows.T)
    reach = math.asin(math.sqrt(values[0] + values[1]))
    assert aligned.injectivity_radius == pytest.approx(reach, rel=1e-12)
    # in every direction this far, and in one of them no farther
    directions = generator.normal(size=(300, aligned.dim))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    ends = aligned.point(template, 0.999 * reach * directions)
    np.testing.assert_allclose(space.dist(template, ends), 0.999 * reach, atol=1e-12)
    plane = vectors[:, :2] @ vectors[:, :2].T @ rows
    across = plane - np.sum(plane * rows) * rows
    worst = -(across / np.linalg.norm(across)).reshape(-1)
    cover = space.cover
    for share, is_aligned in ((0.999, True), (1.02, False)):
        end = cover.exp(space.lift(template), share * reach * worst)
        gap = share * reach - float(space.dist(template, space.push(end)))
        assert gap < 1e-12 if is_aligned else gap > 1e-4


@pytest.mark.parametrize(
    "record",
    [
        np.outer(np.arange(6.0), [1.0, 2.0, 3.0]),  # on one line
        np.eye(6, 3),
        np.concatenate([np.zeros((5, 3)), [[0.0, 0.0, 1e-200]]]),
        1e300 * np.eye(6, 3)[::-1],
    ],
)
def test_alignment_is_total_and_by_a_fixed_rule(record):
    generator = np.random.default_rng(5)
    templates = SPACE.validate(generator.normal(size=(3, 6, 3)))
    rows = SPACE.lift(templates)
    # a template whose product with the record vanishes: every rotation is as near
    lifted = SPACE.lift(record).reshape(3, 5)
    free = np.linalg.svd(lifted)[2][3:]
    blind = np.zeros((3, 5))
    blind[:2] = free[:2] / math.sqrt(2.0)
    for base in (*rows, blind.reshape(-1)):
        alone = SPACE.nearest(base, SPACE.lift(record))
        among = SPACE.nearest(base, SPACE.lift(np.stack([templates[0], record, templates[1]])))
        assert np.all(np.isfinite(alone))
        assert alone.tobytes() == among[1].tobytes()
        assert SPACE.cover.dist(base, alone) <= 0.5 * math.pi + 1e-12
    assert SPACE.cover.dist(blind.reshape(-1), alone) == pytest.approx(0.5 * math.pi)
    ball = QuotientBall(SPACE, SPACE.push(blind.reshape(-1)), 0.8, mean="aligned")
    assert np.linalg.norm(ball.coordinates(record)) == pytest.approx(0.8)
    assert np.all(ball.contains(ball.project(SPACE.validate(record))))


def test_what_has_no_shape_is_refused():
    points = np.random.default_rng(6).normal(size=(4, 6, 3))
    for bad, message in (
        (np.full((6, 3), np.nan), "row 2 .*NaN"),
        (np.full((6, 3), 3.7), "row 2 has all its landmarks at one place"),
        (np.zeros((6, 3)), "row 2 has all its landmarks at one place"),
    ):
        wrong = points.copy()
        wrong[2] = bad
        with pytest.raises(NotOnManifoldError, match=message):
            SPACE.validate(wrong)
    with pytest.raises(NotOnManifoldError, match="shape"):
        SPACE.validate(points[:, :5])
    for arguments in ((3, 3), (4, 1), (2.5, 2)):
        with pytest.raises(InvalidParameterError):
            KendallShapes(*arguments)


def test_balls_and_intrinsic_means_are_refused():
    center = SPACE.origin
    for make in (lambda: Ball(SPACE, center, 0.3), lambda: QuotientBall(SPACE, center, 0.3)):
        with pytest.raises(UnsupportedBallError, match='mean="aligned"'):
            make()
    whole = Ball.whole(SPACE)
    with pytest.raises(UnsupportedBallError, match='mean="aligned"'):
        frechet_mean_sensitivity(whole, 10)
    line = np.outer(np.arange(6.0), [1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedBallError, match="less than 2 dimensions"):
        QuotientBall(SPACE, line, 0.3, mean="aligned")
    # next to one line geodesics are shortest no farther than to it: there is no radius for all
    thin = line + 0.01 * np.random.default_rng(6).normal(size=(6, 3))
    assert SPACE.convexity_radius == SPACE.injectivity_radius == 0.0
    assert 0.0 < Aligned(SPACE, thin).injectivity_radius < 0.01
    flat = np.random.default_rng(7).normal(size=(6, 3)) * [1.0, 1.0, 0.0]
    assert QuotientBall(SPACE, flat, 0.3, mean="aligned").manifold.dim == SPACE.dim
    # all of the space is a ball for the tangent mean, which is of aligned records
    release = private_mean(np.random.default_rng(8).normal(size=(50, 6, 3)), whole, GDP(1.0))
    assert release.statistic.name == "tangent-mean"
    assert release.sensitivity == pytest.approx(math.pi / 50)
