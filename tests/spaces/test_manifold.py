"""Laws that hold on every manifold, and what ``validate`` refuses on every manifold."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import (
    Euclidean,
    Hyperbolic,
    NotOnManifoldError,
    RiemdpError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp.spaces import Manifold

MANIFOLDS = [
    Euclidean(1),
    Euclidean(5),
    Sphere(1),
    Sphere(1, curvature=4.0),
    Sphere(2),
    Sphere(3, curvature=0.25),
    Sphere(6, curvature=9.0),
    Hyperbolic(1),
    Hyperbolic(2),
    Hyperbolic(3, curvature=-4.0),
    Hyperbolic(6, curvature=-0.25),
    SPDLogEuclidean(1),
    SPDLogEuclidean(2),
    SPDLogEuclidean(3),
    SPDLogEuclidean(5),
    SPDAffineInvariant(1),
    SPDAffineInvariant(2),
    SPDAffineInvariant(3),
    SPDAffineInvariant(5),
]
every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
seeds = st.integers(0, 2**32 - 1)
TOL = 1e-11


@pytest.mark.fast(8)
@every_manifold
@given(seed=seeds, spread=st.sampled_from([1e-8, 1e-3, 1.0, 3.0]))
def test_exp_inverts_log_and_dist_is_the_length_of_log(manifold, seed, spread, random_points):
    rng = np.random.default_rng(seed)
    p, q = random_points(manifold, rng, (2, 7), spread)
    v = manifold.log(p, q)
    dist = manifold.dist(p, q)
    np.testing.assert_allclose(manifold.exp(p, v), q, rtol=TOL, atol=TOL * np.abs(q).max())
    assert manifold.dist(manifold.exp(p, v), q).max() <= TOL
    np.testing.assert_allclose(manifold.norm(p, v), dist, rtol=1e-9, atol=TOL)
    np.testing.assert_allclose(np.sqrt(manifold.inner(p, v, v)), dist, rtol=1e-9, atol=TOL)


@pytest.mark.fast(8)
@every_manifold
@given(seed=seeds, length=st.floats(0.0, 0.95))
def test_log_inverts_exp_within_the_injectivity_radius(manifold, seed, length, random_points):
    rng = np.random.default_rng(seed)
    reach = length * min(manifold.injectivity_radius, 3.0)
    p = random_points(manifold, rng, 5)
    coordinates = rng.normal(size=(5, manifold.dim))
    coordinates *= reach / np.linalg.norm(coordinates, axis=-1, keepdims=True)
    v = manifold.tangent_vector(p, coordinates)
    q = manifold.exp(p, v)
    np.testing.assert_allclose(manifold.dist(p, q), reach, rtol=1e-10, atol=1e-10)
    back = manifold.tangent_coordinates(p, manifold.log(p, q))
    np.testing.assert_allclose(back, coordinates, rtol=0, atol=1e-10)
    manifold.validate(q)


@pytest.mark.fast(8)
@every_manifold
@given(seed=seeds)
def test_geodesics_have_constant_speed(manifold, seed, random_points):
    rng = np.random.default_rng(seed)
    p = random_points(manifold, rng)
    direction = rng.normal(size=manifold.dim)
    v = manifold.tangent_vector(p, direction / np.linalg.norm(direction))
    reach = 0.45 * min(manifold.injectivity_radius, 4.0)
    s, t = rng.uniform(-reach, reach, size=(2, 6))
    shape = (6, *(1 for _ in manifold.point_shape))
    a, b = manifold.exp(p, s.reshape(shape) * v), manifold.exp(p, t.reshape(shape) * v)
    np.testing.assert_allclose(manifold.dist(a, b), np.abs(t - s), rtol=1e-9, atol=1e-10)


@pytest.mark.fast(8)
@every_manifold
@given(seed=seeds, spread=st.sampled_from([1e-6, 1.0, 3.0]))
def test_dist_is_a_metric(manifold, seed, spread, random_points):
    rng = np.random.default_rng(seed)
    a, b, c = random_points(manifold, rng, (3, 9), spread)
    np.testing.assert_allclose(manifold.dist(a, b), manifold.dist(b, a), rtol=1e-10, atol=1e-12)
    assert (manifold.dist(a, c) <= manifold.dist(a, b) + manifold.dist(b, c) + 1e-11).all()
    assert (manifold.dist(a, a) <= 1e-12).all()
    assert (manifold.dist(a, b) > 0.0).all()
    assert (manifold.dist(a, b) <= manifold.injectivity_radius * (1 + 1e-15)).all()


@pytest.mark.fast(8)
@every_manifold
@given(seed=seeds)
def test_tangent_coordinates_are_a_linear_isometry(manifold, seed, random_points):
    rng = np.random.default_rng(seed)
    p = random_points(manifold, rng, 4, 2.0)
    a, b = rng.normal(size=(2, 4, manifold.dim))
    u, v = manifold.tangent_vector(p, a), manifold.tangent_vector(p, b)
    assert u.shape == p.shape
    tolerance = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(manifold.tangent_coordinates(p, u), a, **tolerance)
    np.testing.assert_allclose(manifold.norm(p, u), np.linalg.norm(a, axis=-1), **tolerance)
    np.testing.assert_allclose(manifold.inner(p, u, v), (a * b).sum(axis=-1), **tolerance)
    np.testing.assert_allclose(
        manifold.tangent_vector(p, 2.0 * a - 3.0 * b), 2.0 * u - 3.0 * v, **tolerance
    )


@every_manifold
def test_a_short_step_has_the_length_the_metric_says(manifold, random_points):
    # Ties inner() to dist() without exp(): straight ambient steps, moved back by validate().
    rng = np.random.default_rng(0)
    p = random_points(manifold, rng, 6)
    v = manifold.tangent_vector(p, rng.normal(size=(6, manifold.dim)))
    step = 1e-5
    q = manifold.validate(p + step * v)
    np.testing.assert_allclose(manifold.dist(p, q) / step, manifold.norm(p, v), rtol=1e-4)


@pytest.mark.fast(8)
@every_manifold
def test_all_operations_broadcast_over_leading_axes(manifold, random_points):
    rng = np.random.default_rng(1)
    shape = manifold.point_shape
    base = random_points(manifold, rng, (4, 1))
    points = random_points(manifold, rng, 3)
    coordinates = rng.normal(size=(3, manifold.dim))
    logs = manifold.log(base, points)
    vectors = manifold.tangent_vector(base, coordinates)
    assert manifold.dist(base, points).shape == (4, 3)
    assert logs.shape == vectors.shape == manifold.exp(base, vectors).shape == (4, 3, *shape)
    assert manifold.inner(base, logs, vectors).shape == manifold.norm(base, logs).shape == (4, 3)
    assert manifold.tangent_coordinates(base, logs).shape == (4, 3, manifold.dim)
    assert manifold.dist(points[0], points[1]).shape == ()
    assert manifold.dist(points[0], points).shape == (3,)
    assert manifold.tangent_vector(points[0], coordinates).shape == (3, *shape)
    assert manifold.tangent_vector(points, coordinates[0]).shape == (3, *shape)
    for i in range(4):
        for j in range(3):
            one = base[i, 0], points[j]
            np.testing.assert_allclose(logs[i, j], manifold.log(*one), atol=1e-13)
            np.testing.assert_allclose(
                manifold.exp(base, vectors)[i, j],
                manifold.exp(base[i, 0], vectors[i, j]),
                rtol=1e-12,
                atol=1e-12,
            )
    nothing = np.empty((0, *shape))
    assert manifold.dist(nothing, points[0]).shape == (0,)
    assert manifold.log(points[0], nothing).shape == (0, *shape)
    assert manifold.exp(points[0], nothing).shape == (0, *shape)
    assert manifold.validate(nothing).shape == (0, *shape)


@every_manifold
def test_operations_leave_their_input_alone(manifold, random_points):
    rng = np.random.default_rng(2)
    p, q = random_points(manifold, rng, (2, 3))
    kept = p.copy(), q.copy()
    v = manifold.log(p, q)
    step = v.copy()
    manifold.exp(p, v)
    manifold.dist(p, q)
    manifold.inner(p, v, v)
    manifold.tangent_coordinates(p, v)
    manifold.validate(p)
    for before, after in zip((*kept, step), (p, q, v), strict=True):
        np.testing.assert_array_equal(before, after)


@every_manifold
def test_validate_keeps_good_points(manifold, random_points):
    rng = np.random.default_rng(3)
    points = random_points(manifold, rng, (2, 5))
    valid = manifold.validate(points)
    assert valid.dtype == np.float64
    np.testing.assert_allclose(valid, points, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(manifold.validate(valid), valid)
    assert manifold.validate(points[0, 0].tolist()).shape == manifold.point_shape


@every_manifold
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_validate_names_the_row_that_is_not_finite(manifold, value, random_points):
    points = random_points(manifold, np.random.default_rng(4), 6)
    points.reshape(6, -1)[4, 0] = value
    with pytest.raises(NotOnManifoldError, match=r"row 4 .*(NaN|infinite)"):
        manifold.validate(points)
    both = points.copy()
    both.reshape(6, -1)[5, 0] = -value
    with pytest.raises(NotOnManifoldError, match=r"row 4 .*(NaN|infinite)"):
        manifold.validate(both)


@every_manifold
def test_validate_refuses_wrong_shapes(manifold, random_points):
    point = random_points(manifold, np.random.default_rng(5))
    longer = np.concatenate([point, point[..., -1:]], axis=-1)
    for bad in (longer, point[..., :-1], 1.0, np.empty(0)):
        with pytest.raises(NotOnManifoldError, match="shape"):
            manifold.validate(bad)


@every_manifold
def test_validate_refuses_what_is_not_an_array_of_reals(manifold, random_points):
    point = random_points(manifold, np.random.default_rng(6))
    ragged = [point.tolist(), []]
    for bad in (point + 0j, point.astype(str), point.astype(object), None, "point", ragged):
        with pytest.raises(NotOnManifoldError, match="real numbers"):
            manifold.validate(bad)


@every_manifold
def test_validate_refuses_masked_arrays(manifold, random_points):
    points = np.ma.masked_array(random_points(manifold, np.random.default_rng(0), 3))
    for masked in (points, list(points), points[0]):
        with pytest.raises(NotOnManifoldError, match="fill or drop"):
            manifold.validate(masked)


@every_manifold
def test_constants_of_the_space(manifold):
    assert isinstance(manifold, Manifold)
    if isinstance(manifold, (Sphere, Hyperbolic)):
        assert manifold.point_shape == (manifold.dim + 1,)
        curved = manifold.curvature if manifold.dim > 1 else 0.0
        assert manifold.curvature_bound == manifold.constant_curvature == curved
    elif isinstance(manifold, Euclidean):
        assert manifold.point_shape == (manifold.dim,)
    else:
        assert manifold.point_shape == (manifold.k, manifold.k)
        assert manifold.dim == manifold.k * (manifold.k + 1) // 2
    if isinstance(manifold, Sphere):
        assert manifold.injectivity_radius == pytest.approx(math.pi / manifold.curvature**0.5)
    else:
        assert manifold.injectivity_radius == math.inf
    if isinstance(manifold, SPDAffineInvariant):
        assert manifold.curvature_bound == 0.0
        assert manifold.constant_curvature is None
    if isinstance(manifold, (Euclidean, SPDLogEuclidean)):
        assert manifold.curvature_bound == manifold.constant_curvature == 0.0


@every_manifold
def test_manifolds_are_frozen_values(manifold):
    copy = dataclasses.replace(manifold)
    assert copy == manifold
    assert hash(copy) == hash(manifold)
    name = dataclasses.fields(manifold)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(manifold, name, 3)


@pytest.mark.parametrize(
    "kind", [Euclidean, Sphere, Hyperbolic, SPDLogEuclidean, SPDAffineInvariant]
)
@pytest.mark.parametrize("size", [0, -1, 1.5, 2.0, True, "2", None, math.nan])
def test_sizes_that_are_no_positive_integers_are_refused(kind, size):
    with pytest.raises(InvalidParameterError, match="positive integer") as caught:
        kind(size)
    assert isinstance(caught.value, RiemdpError)


def test_numpy_integers_are_sizes():
    assert Sphere(np.int64(2)) == Sphere(2)
    assert type(SPDAffineInvariant(np.int32(3)).k) is int


@every_manifold
def test_the_scale_axis_is_a_flat_factor_and_the_same_everywhere(manifold, random_points):
    axis = manifold.scale_axis
    if axis is None:
        assert not hasattr(manifold, "k")
        return
    rng = np.random.default_rng(0)
    center, other = random_points(manifold, rng, (2,), 0.5)
    moved = manifold.point(center, 0.7 * axis)
    assert np.linalg.norm(axis) == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(moved, center * math.exp(0.7 / math.sqrt(manifold.k)), rtol=1e-12)
    # the product with coordinates moves by what the centre moves by, and no other one does
    before, after = (manifold.coordinates(c, other) for c in (center, moved))
    np.testing.assert_allclose(before @ axis - after @ axis, 0.7, atol=1e-11)
    flat = np.log(np.linalg.det(other) / np.linalg.det(center)) / math.sqrt(manifold.k)
    assert before @ axis == pytest.approx(flat, abs=1e-10)
    assert abs(flat) <= manifold.dist(center, other) * (1.0 + 1e-12)


@pytest.mark.parametrize("manifold", [m for m in MANIFOLDS if "Sphere" not in str(m)], ids=str)
def test_points_of_other_spaces_are_no_directions(manifold):
    with pytest.raises(UnsupportedManifoldError, match="are no directions"):
        manifold.unit_vectors(manifold.origin)
