"""Log-Euclidean SPD matrices: similarity invariance and the derivative of the exponential."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from riemdp import (
    Ball,
    NotOnManifoldError,
    PureDP,
    Release,
    SPDLogEuclidean,
    UnsupportedBallError,
    _compiled,
    private_mean,
    verify,
)
from riemdp.statistics import Prepared, TangentMean

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)


def power(matrices, exponent):
    values, vectors = np.linalg.eigh(matrices)
    return (vectors * values[..., None, :] ** exponent) @ np.swapaxes(vectors, -1, -2)


@given(seed=seeds, k=sizes, scale=st.floats(0.01, 100.0))
def test_similarities_and_inversion_are_isometries(seed, k, scale, random_points, random_rotation):
    rng = np.random.default_rng(seed)
    space = SPDLogEuclidean(k)
    a, b = random_points(space, rng, (2, 6), 2.0)
    dist = space.dist(a, b)
    rotation = random_rotation(rng, k)
    moved = [scale * rotation @ x @ rotation.T for x in (a, b)]
    np.testing.assert_allclose(space.dist(*moved), dist, atol=1e-11)
    np.testing.assert_allclose(space.dist(np.linalg.inv(a), np.linalg.inv(b)), dist, atol=1e-11)


@given(seed=seeds, k=sizes, exponent=st.floats(-2.0, 2.0))
def test_powers_scale_distances(seed, k, exponent, random_points):
    space = SPDLogEuclidean(k)
    a, b = random_points(space, np.random.default_rng(seed), (2, 6), 1.0)
    scaled = space.dist(power(a, exponent), power(b, exponent))
    np.testing.assert_allclose(scaled, abs(exponent) * space.dist(a, b), atol=1e-11)


@given(seed=seeds, k=sizes)
def test_distance_is_the_frobenius_norm_between_logarithms(seed, k, random_points):
    space = SPDLogEuclidean(k)
    a, b = random_points(space, np.random.default_rng(seed), 2, 2.0)
    expected = np.linalg.norm(scipy.linalg.logm(a) - scipy.linalg.logm(b))
    assert space.dist(a, b) == pytest.approx(expected, rel=1e-10)


def test_commuting_matrices():
    space = SPDLogEuclidean(2)
    a, b = np.diag([1.0, np.e]), np.diag([np.e**3, np.e**5])
    assert space.dist(a, b) == pytest.approx(5.0, rel=1e-14)
    np.testing.assert_allclose(space.to_chart(b), [3.0, 5.0, 0.0], rtol=1e-14)


def test_chart_weighs_off_diagonal_entries_by_root_two():
    space = SPDLogEuclidean(2)
    matrix = scipy.linalg.expm(np.array([[0.1, 0.7], [0.7, -0.2]]))
    np.testing.assert_allclose(space.to_chart(matrix), [0.1, -0.2, 0.7 * 2**0.5], atol=1e-13)


@pytest.mark.parametrize("spread", [1e-9, 1.0, 4.0])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_tangent_vector_is_the_derivative_of_expm(k, spread, random_points):
    rng = np.random.default_rng(k)
    space = SPDLogEuclidean(k)
    base = random_points(space, rng, (), spread)
    coordinates = rng.normal(size=space.dim)
    vector = space.tangent_vector(base, coordinates)
    # Central differences in 40 digits: no rounding hides in the quotient.
    step = 1e-12
    with mpmath.workdps(40):
        inside = np.zeros((k, k))
        inside[np.diag_indices(k)] = coordinates[:k]
        inside[np.triu_indices(k, 1)] = coordinates[k:] / 2**0.5
        inside = mpmath.matrix((np.triu(inside) + np.triu(inside, 1).T).tolist())
        values, vectors = mpmath.eigsy(mpmath.matrix(base.tolist()))
        log = vectors * mpmath.diag([mpmath.log(x) for x in values]) * vectors.T
        up, down = mpmath.expm(log + step * inside), mpmath.expm(log - step * inside)
        quotient = (up - down) / (2 * step)
    np.testing.assert_allclose(
        vector,
        np.array(quotient.tolist(), dtype=float),
        rtol=1e-11,
        atol=1e-11 * np.abs(vector).max(),
    )


def test_tangent_vectors_are_velocities_of_matrix_curves(random_points):
    space = SPDLogEuclidean(3)
    rng = np.random.default_rng(7)
    p = random_points(space, rng, 4, 2.0)
    v = space.tangent_vector(p, rng.normal(size=(4, space.dim)))
    step = 1e-6
    quotient = (space.exp(p, step * v) - space.exp(p, -step * v)) / (2 * step)
    np.testing.assert_allclose(quotient, v, atol=1e-8)


def test_indefinite_bases_are_refused():
    with pytest.raises(NotOnManifoldError, match="positive definite"):
        SPDLogEuclidean(3).tangent_vector(np.diag([1.0, 1.0, -1.0]), np.ones(6))


def test_validate_symmetric_leaves_definiteness_to_the_caller():
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_array_equal(SPDLogEuclidean(2).validate_symmetric(indefinite), indefinite)
    with pytest.raises(NotOnManifoldError, match="not symmetric"):
        SPDLogEuclidean(2).validate_symmetric([[1.0, 0.5], [0.4, 1.0]])


def test_centres_whose_neighbours_float64_does_not_hold_are_refused():
    space = SPDLogEuclidean(2)
    for scale in (1e8, 1e12, 1e100):
        with pytest.raises(UnsupportedBallError, match="affine-invariant metric"):
            Ball(space, np.diag([scale, 1.0 / scale]), 1e-2)
    # what is accepted can be released, validated and read
    ball = Ball(space, np.diag([1e6, 1e-6]), 1e-2)
    points = np.tile(ball.center, (10, 1, 1))
    for seed in range(20):
        release = private_mean(points, ball, PureDP(1.0), generator=np.random.default_rng(seed))
        assert verify(Release.from_json(release.to_json())).passed


@pytest.mark.parametrize("radius", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("scale", [1e100, 1e-100])
def test_rounding_of_the_chart_follows_the_unit(scale, radius):
    """Logarithms of large entries are large, and their last digit with them."""
    space = SPDLogEuclidean(2)
    ball = Ball(space, scale * np.eye(2), radius)
    generator = np.random.default_rng(0)
    coordinates = generator.normal(size=(500, 3))
    coordinates *= radius / np.linalg.norm(coordinates, axis=1, keepdims=True)
    points = ball.point(coordinates)
    assert np.all(ball.contains(points))
    assert ball.rounding < 1e-12
    outside = ball.point((1.0 + 4.0 * ball.rounding / radius + 1e-3) * coordinates)
    assert not np.any(ball.contains(outside))


def awkward(k):
    """Records inside and outside a ball, at its boundary, next to the centre, and extreme ones."""
    rng = np.random.default_rng(k)
    factors = rng.normal(size=(60, k, k + 2))
    data = factors @ np.swapaxes(factors, -1, -2)
    data[::5] *= 1e3
    data[3], data[7] = np.eye(k), np.exp(1.5 / np.sqrt(k)) * np.eye(k)
    data[11] = np.diag([1e-150, *np.ones(k - 1)])  # of no class
    data[12] = 1e-200 * np.eye(k)
    data[13] = np.eye(k) * (1.0 + 2.0**-52)
    return 0.5 * (data + np.swapaxes(data, -1, -2))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_coordinates_in_units_are_no_longer_than_one(k):
    ball = Ball(SPDLogEuclidean(k), np.eye(k), 1.5)
    data = awkward(k)
    found = ball.unit_coordinates(data)
    squares = [sum(Fraction(x) ** 2 for x in row) for row in found.tolist()]
    assert max(squares) <= 1
    assert sum(square > 1 - 2**-40 for square in squares) > 10  # outside, and at the boundary
    assert not found[3].any()
    assert 0.0 < np.abs(found[13]).max() < 1e-15
    np.testing.assert_allclose(found, ball.coordinates(data) / 1.5, atol=1e-12)
    if k == 1:
        return
    # the control: without the margin some are
    norms = np.linalg.norm(ball.manifold.coordinates(np.eye(k), data), axis=1, keepdims=True)
    plain = ball.manifold.coordinates(np.eye(k), data) / np.maximum(norms, 1.5)
    assert max(sum(Fraction(x) ** 2 for x in row) for row in plain.tolist()) > 1


@pytest.mark.parametrize("k", [3, 4, 9])
def test_rows_are_the_same_in_any_lanes_order_and_company(k, lanes, monkeypatch):
    space = SPDLogEuclidean(k)
    ball, data = Ball(space, np.diag(np.arange(1.0, k + 1.0)), 2.0), awkward(k)
    found = ball.unit_coordinates(data)
    order = np.random.default_rng(0).permutation(len(data))
    for rows in (order, slice(5, 9), slice(12, 13), slice(None, None, -3)):
        assert ball.unit_coordinates(data[rows]).tobytes() == found[rows].tobytes()
    assert ball.unit_coordinates(np.asfortranarray(data)).tobytes() == found.tobytes()
    monkeypatch.setattr(_compiled, "widest", lambda: 0)
    assert ball.unit_coordinates(data).tobytes() == found.tobytes()
    query = next(TangentMean().queries(ball))
    together = Prepared(ball, data).summary(query)
    alone = [Prepared(ball, data[i : i + 1]).summary(query) for i in range(len(data))]
    assert together == sum(alone[1:], start=alone[0])
    # the control: what is added is not the same by any rounding
    other = Prepared(ball, data * (1.0 + 2.0**-30)).summary(query)
    assert other != together
