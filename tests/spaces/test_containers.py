"""What container numbers come in makes no difference: every method on every space."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Grassmann,
    Hyperbolic,
    NotOnManifoldError,
    Power,
    Product,
    ProjectiveSpace,
    Rotations,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
)
from riemdp.spaces import VALIDATION_TOLERANCE, FlatManifold

MANIFOLDS = [
    Euclidean(1),
    Euclidean(3),
    Sphere(1),
    Sphere(2, curvature=4.0),
    Hyperbolic(2),
    Hyperbolic(3, curvature=-0.5),
    SPDLogEuclidean(2),
    SPDLogEuclidean(3),
    SPDLogCholesky(2),
    SPDPower(2),
    SPDAffineInvariant(1),
    SPDAffineInvariant(2),
    SPDAffineInvariant(3),
]
every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)


def calls(manifold, random_points):
    """Arguments of every public method of a space, as plain arrays with one leading axis."""
    rng = np.random.default_rng(0)
    base, point = (random_points(manifold, rng, 4, 0.8) for _ in range(2))
    first, second = 0.3 * rng.normal(size=(2, 4, manifold.dim))
    u, v = manifold.tangent_vector(base, first), manifold.tangent_vector(base, second)
    found = {
        "exp": (base, u),
        "log": (base, point),
        "dist": (base, point),
        "inner": (base, u, v),
        "norm": (base, u),
        "tangent_vector": (base, first),
        "tangent_coordinates": (base, u),
        "validate": (base,),
        "read": (base,),
        "present": (base,),
    }
    if isinstance(manifold, FlatManifold):
        found |= {"to_chart": (base,), "from_chart": (first,)}
    if isinstance(manifold, Sphere):
        found |= {"log_or_antipode": (base, point), "unit_vectors": (base,)}
    if isinstance(manifold, SPDLogEuclidean):
        found |= {"validate_symmetric": (base,)}
    return found


def ball_calls(ball, random_points):
    rng = np.random.default_rng(1)
    points = random_points(ball.manifold, rng, 4, 0.9)
    coordinates = 0.2 * rng.normal(size=(4, ball.manifold.dim))
    return {
        "contains": (points,),
        "point": (coordinates,),
        "project": (points,),
        "coordinates": (points,),
        "unit_coordinates": (points,),
        "shorten": (4.0 * coordinates,),
    }


def subjects(manifold, random_points):
    """Every method of a space and of a ball in it, with its arguments."""
    center = random_points(manifold, np.random.default_rng(2), (), 0.1)
    ball = Ball(manifold, center, 0.5)
    for name, arguments in calls(manifold, random_points).items():
        yield getattr(manifold, name), arguments
    for name, arguments in ball_calls(ball, random_points).items():
        yield getattr(ball, name), arguments


def parts_of(result):
    return result if isinstance(result, tuple) else (result,)


def public_methods(thing):
    fields = {field.name for field in dataclasses.fields(thing)}
    names = {name for name in dir(type(thing)) if not name.startswith("_")} - fields
    names = {name for name in names if callable(getattr(thing, name))}
    # A ball asks these of its space: they are tried through it.
    asked = {"coordinates", "unit_coordinates", "point", "clip", "check_ball", "rounding", "proofs"}
    asked |= {"extreme_directions", "room"}  # and these an audit, a check or a law
    asked |= {"in_units", "unit", "draw"}  # of a number; draw: tests/spaces/test_pictures.py
    asked |= {"coincide"}  # of points that the library computed
    if not isinstance(thing, Sphere):
        asked |= {"unit_vectors"}  # refused elsewhere
    return names - {"whole"} if isinstance(thing, Ball) else names - asked


@every_manifold
def test_the_tables_name_every_public_method(manifold, random_points):
    ball = Ball(manifold, manifold.origin, 0.5)
    assert public_methods(manifold) == calls(manifold, random_points).keys()
    assert public_methods(ball) == ball_calls(ball, random_points).keys()


@every_manifold
def test_the_container_makes_no_difference(manifold, container, random_points):
    for method, arguments in subjects(manifold, random_points):
        expected = parts_of(method(*arguments))
        for result in (
            method(*map(container, arguments)),
            *(  # one of them in a container, the others plain
                method(*(container(x) if i == j else x for j, x in enumerate(arguments)))
                for i in range(len(arguments))
            ),
        ):
            for found, wanted in zip(parts_of(result), expected, strict=True):
                assert type(found) is np.ndarray, method
                assert found.dtype == wanted.dtype, method
                np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@every_manifold
def test_single_precision_is_computed_in_double(manifold, random_points):
    for method, arguments in subjects(manifold, random_points):
        rounded = [x.astype(np.float32) for x in arguments]
        for found, wanted in zip(
            parts_of(method(*rounded)),
            parts_of(method(*(x.astype(np.float64) for x in rounded))),
            strict=True,
        ):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


def rows_of_kinds(row):
    """One row, whose entries are float32 numbers, as rows of several types of numbers."""
    plain = row.astype(np.float32)
    wider = plain.astype(np.float64)
    return [plain, wider, plain.astype(np.longdouble), wider.tolist(), list(map(np.float32, plain))]


def verdict(validate, rows, which):
    """As what one of several rows passes, None if it does not."""
    try:
        return validate(rows)[which].tobytes()
    except NotOnManifoldError:
        return None


def verdicts(validate, row, good):
    """What is said of a row, in whatever type, alone and beside others in whatever type."""
    found = {verdict(validate, [each], 0) for each in rows_of_kinds(row)}
    for each in rows_of_kinds(row):
        for other in rows_of_kinds(good):
            found.add(verdict(validate, [other, each], 1))
            found.add(verdict(validate, [other, each, good, other], 1))
            found.add(verdict(validate, [each, other], 0))
    return found


def by_the_type_of_all(manifold):
    """Validate as before: the tolerance was that of the type that all rows have together."""

    def validate(rows):
        array = np.asarray(rows)
        tolerance = 1e-4 if array.dtype == np.float32 else 1e-6
        off = np.abs(manifold.norm_of(array.astype(float)) - 1.0) > tolerance
        if off.any():
            raise NotOnManifoldError(f"row {np.flatnonzero(off)[0]}")
        return manifold.validate(array)

    return validate


WITH_TOLERANCE = [
    Sphere(2),
    Sphere(1),
    Hyperbolic(2),
    SPDLogEuclidean(3),
    SPDAffineInvariant(2),
    SPDLogCholesky(2),
    SPDPower(2),
    Grassmann(2, 4),
    Rotations(),
    ProjectiveSpace(2),
    Product(Sphere(2), Euclidean(2)),
    Power(Sphere(2), 2),
]


def off_by(manifold, point, share):
    """Point that is off the manifold by this share, in float32 numbers."""
    moved = np.array(point, dtype=float)
    if moved.ndim == 2 and moved.shape[0] == moved.shape[1] and not isinstance(manifold, Rotations):
        moved[0, -1] += share * np.sqrt(moved[0, 0] * moved[-1, -1])
    elif isinstance(manifold, Hyperbolic):
        moved[0] *= 1.0 + 0.5 * share
    else:
        moved *= 1.0 + (0.5 if moved.ndim == 2 and moved.shape == (4, 2) else 1.0) * share
    return moved.astype(np.float32)


@pytest.mark.parametrize("manifold", WITH_TOLERANCE, ids=str)
@pytest.mark.parametrize("share", [0.0, 3e-7, 3e-5, 3e-4])
@pytest.mark.fast(16)
def test_what_is_said_of_a_row_depends_on_that_row_alone(manifold, share):
    rng = np.random.default_rng(5)
    ball = Ball(manifold, manifold.origin, 0.5)
    row, good = ball.point(0.3 * rng.normal(size=(2, manifold.dim)) / manifold.dim)
    found = verdicts(manifold.validate, off_by(manifold, row, share), good.astype(np.float32))
    (only,) = found
    assert (only is None) == (share > VALIDATION_TOLERANCE)


def test_by_the_type_of_all_rows_it_would_not():
    class Norms:
        norm_of = staticmethod(lambda rows: np.linalg.norm(rows, axis=-1))
        validate = staticmethod(Sphere(2).validate)

    row, good = np.float32([0.6, 0.0, 0.8]), np.float32([0.0, 0.0, 1.0])
    found = verdicts(by_the_type_of_all(Norms), off_by(Sphere(2), row, 3e-5), good)
    assert len(found) > 1
    assert None in found


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
def test_integers_are_numbers(kind):
    first, second = np.array([1, 0, 2], dtype=kind), np.array([0, 3, 2], dtype=kind)
    space = Euclidean(3)
    np.testing.assert_array_equal(space.log(first, second), [-1.0, 3.0, 0.0])
    np.testing.assert_array_equal(space.exp(first, second), [1.0, 3.0, 4.0])
    assert Sphere(2).dist(np.array([1, 0, 0], dtype=kind), [0, 1, 0]) == pytest.approx(np.pi / 2)
    matrix = np.array([[2, 0], [0, 1]], dtype=kind)
    for space in (SPDLogEuclidean(2), SPDAffineInvariant(2)):
        assert space.dist(np.eye(2, dtype=kind), matrix) == pytest.approx(np.log(2.0))


@every_manifold
def test_what_is_no_array_of_reals_is_refused(manifold, refused, random_points):
    for method, arguments in subjects(manifold, random_points):
        for i in range(len(arguments)):
            wrong = [refused(x) if i == j else x for j, x in enumerate(arguments)]
            unused = (
                method.__name__ in ("inner", "norm") and i == 0 and isinstance(manifold, Sphere)
            )
            if unused:  # the ambient inner product does not look at the base
                continue
            with pytest.raises(NotOnManifoldError, match=r"masked|real numbers"):
                method(*wrong)


@every_manifold
def test_balls_refuse_centres_that_are_no_reals(manifold, refused):
    with pytest.raises(NotOnManifoldError, match=r"masked|real numbers"):
        Ball(manifold, refused(manifold.origin), 0.5)


def test_the_stand_in_aligns_rows_where_nothing_converts_it(container):
    # negative control: arithmetic on the containers themselves goes wrong for some of them
    first, second = np.arange(6.0).reshape(3, 2), np.eye(3, 2)
    if type(container(first)).__name__ != "_Labelled":
        return
    other = container(second)
    other.labels = np.array([1, 2, 0])
    raw = np.subtract(container(first), other)
    assert not np.array_equal(np.asarray(raw), first - second)
    np.testing.assert_array_equal(Euclidean(2).log(other, container(first)), first - second)


def test_data_frames_with_different_indices_are_rows_in_order():
    pandas = pytest.importorskip("pandas")
    first = pandas.DataFrame([[0.0, 0.0], [1.0, 0.0]], index=[0, 1])
    second = pandas.DataFrame([[0.0, 1.0], [1.0, 2.0]], index=[1, 0])
    np.testing.assert_array_equal(Euclidean(2).dist(first, second), [1.0, 2.0])
    axes = pandas.DataFrame(np.eye(3))
    np.testing.assert_array_equal(Sphere(2).inner(axes, axes, axes), [1.0, 1.0, 1.0])


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrices_of_numpy_are_arrays():
    rows = np.matrix([[3.0, 0.0], [0.0, 4.0]])
    np.testing.assert_array_equal(Euclidean(2).dist(rows, np.zeros(2)), [3.0, 4.0])
    np.testing.assert_array_equal(Euclidean(2).norm(rows, rows), [3.0, 4.0])
    np.testing.assert_array_equal(Sphere(1).inner(rows, rows, rows), [9.0, 16.0])
    dist = SPDAffineInvariant(2).dist(np.matrix(np.eye(2)), rows)
    assert dist == pytest.approx(np.hypot(np.log(3.0), np.log(4.0)))


@every_manifold
def test_no_points_at_all_are_a_batch_of_length_zero(manifold, random_points):
    for method, arguments in subjects(manifold, random_points):
        for result, wanted in zip(
            parts_of(method(*(x[:0] for x in arguments))),
            parts_of(method(*arguments)),
            strict=True,
        ):
            assert result.shape == (0, *wanted.shape[1:])
