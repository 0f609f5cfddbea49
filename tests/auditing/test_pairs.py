from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    frechet_mean,
    frechet_mean_sensitivity,
)
from riemdp.auditing import (
    extreme_directions,
    footpoint_pair,
    neighbouring_datasets,
    neighbouring_users,
)
from riemdp.auditing._neighbours import check_neighbours
from riemdp.spaces import Product

MANIFOLDS = [
    Euclidean(1),
    Euclidean(3),
    Sphere(1),
    Sphere(3, curvature=0.5),
    Hyperbolic(2),
    SPDLogEuclidean(2),
    SPDAffineInvariant(1),
    SPDAffineInvariant(3),
]


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
def test_directions_are_unit(manifold):
    directions = extreme_directions(manifold, manifold.origin)
    assert directions.shape[1] == manifold.dim
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0)


@pytest.mark.parametrize("space", [SPDLogEuclidean(3), SPDAffineInvariant(3)], ids=str)
def test_directions_on_matrices_are_trace_and_traceless(space, rng, random_points):
    for base in (np.eye(3), random_points(space, rng)):
        trace, *others = extreme_directions(space, base)
        ends = space.exp(base, space.tangent_vector(base, np.stack([trace, *others])))
        np.testing.assert_allclose(ends[0], base * (ends[0][0, 0] / base[0, 0]), atol=1e-12)
        # determinants multiply by e^trace
        np.testing.assert_allclose(np.linalg.det(ends[1:]), np.linalg.det(base))
        assert len(others) == 2


def test_directions_on_products_are_those_of_the_factors():
    space = Product(Sphere(2), SPDAffineInvariant(2))
    found = space.split_coordinates(extreme_directions(space, space.origin))
    assert [np.count_nonzero(np.any(part != 0.0, axis=1)) for part in found] == [2, 3]
    for factor, part in zip(space.spaces, found, strict=True):
        own = part[np.any(part != 0.0, axis=1)]
        np.testing.assert_array_equal(own, extreme_directions(factor, factor.origin))


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
def test_footpoints_have_their_distance(manifold, rng, random_points):
    base = random_points(manifold, rng)
    direction = rng.normal(size=manifold.dim)
    first, second = footpoint_pair(manifold, 0.7, base=base, direction=direction)
    assert manifold.dist(first, second) == pytest.approx(0.7)
    assert manifold.dist(first, base) == pytest.approx(0.35)
    assert manifold.dist(*footpoint_pair(manifold, 0.01)) == pytest.approx(0.01)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
@pytest.mark.parametrize("row", [0, 60, 200])
def test_neighbours_reach_the_sensitivity(manifold, row):
    ball, n = Ball(manifold, manifold.origin, 0.6), 201
    bound = frechet_mean_sensitivity(ball, n)
    for direction in extreme_directions(manifold, ball.center):
        first, second = neighbouring_datasets(ball, n, row=row, direction=direction)
        check_neighbours(first, second)
        assert np.any(first[row] != second[row])
        assert ball.contains(first).all()
        assert ball.contains(second).all()
        means = [frechet_mean(manifold, points, ball=ball).value for points in (first, second)]
        moved = manifold.dist(*means)
        assert moved <= bound + 2e-10
        assert moved > 0.995 * bound


def test_neighbours_of_few_records():
    ball = Ball(Sphere(2), [0, 0, 1.0], 0.5)
    for n in (1, 2, 3, 4):
        first, second = neighbouring_datasets(ball, n)
        assert first.shape == (n, 3)
        assert Sphere(2).dist(first[0], second[0]) == pytest.approx(1.0)


def test_bad_input():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    with pytest.raises(InvalidParameterError, match="injectivity radius"):
        footpoint_pair(Sphere(2), 4.0)
    with pytest.raises(InvalidParameterError, match="distance"):
        footpoint_pair(Sphere(2), 0.0)
    with pytest.raises(InvalidParameterError, match="direction"):
        footpoint_pair(Sphere(2), 1.0, direction=[0.0, 0.0])
    with pytest.raises(InvalidParameterError, match="direction"):
        neighbouring_datasets(ball, 3, direction=[1.0, 0.0, 0.0])
    with pytest.raises(InvalidParameterError, match="row"):
        neighbouring_datasets(ball, 3, row=3)
    with pytest.raises(InvalidParameterError, match="number of records"):
        neighbouring_datasets(ball, 0)


@pytest.mark.parametrize("manifold", [Euclidean(3), Sphere(2)], ids=str)
@pytest.mark.parametrize("row", [0, 3, 6])
def test_neighbours_with_a_record_less(manifold, row):
    ball = Ball(manifold, manifold.origin, 0.6)
    first, second = neighbouring_datasets(ball, 7, row=row, adjacency="add-remove")
    assert (len(first), len(second)) == (7, 6)
    check_neighbours(first, second, "add-remove")
    np.testing.assert_array_equal(np.delete(first, row, axis=0), second)
    assert manifold.dist(first[row], ball.center) == pytest.approx(0.6)
    assert ball.contains(first).all()
    alone, nobody = neighbouring_datasets(ball, 1, adjacency="add-remove")
    assert (len(alone), len(nobody)) == (1, 0)


@pytest.mark.parametrize("person", [0, 2, 4])
def test_neighbours_that_differ_in_a_person(person):
    ball = Ball(Sphere(2), [0, 0, 1.0], 0.6)
    for adjacency, left in (("replace-user", 5), ("add-remove-user", 4)):
        (first, users), (second, others) = neighbouring_users(
            ball, 5, 3, person=person, adjacency=adjacency
        )
        assert (first.shape, users.shape) == ((15, 3), (15,))
        assert (second.shape, others.shape) == ((3 * left, 3), (3 * left,))
        check_neighbours(first, second, adjacency, users, others)
        theirs = first[users == person]
        np.testing.assert_allclose(ball.manifold.dist(theirs, ball.center), 0.6, atol=1e-12)
        if adjacency == "replace-user":
            moved = ball.manifold.dist(theirs, second[others == person])
            np.testing.assert_allclose(moved, 1.2, atol=1e-12)
        else:
            assert person not in others
    for bad in ({"person": 5}, {"adjacency": "replace-one"}, {"records": 0}, {"people": 0}):
        with pytest.raises(InvalidParameterError):
            neighbouring_users(**{"ball": ball, "people": 5, "records": 2} | bad)
