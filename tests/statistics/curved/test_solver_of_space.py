"""Solvers by class of space: inherited where that is right, and never proved by inheritance."""

from __future__ import annotations

import types

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp.spaces import FlatManifold
from riemdp.statistics import (
    FrechetMean,
    TangentMean,
    _records,
    register_solver,
)
from riemdp.statistics.curved import _solver_of_space
from riemdp.statistics.curved._solver_of_space import (
    Average,
    FlatAverage,
    average,
    is_solved,
    mean_solver,
    space_solver,
)
from riemdp.statistics.curved._solvers import SphereSolver


class Dented(Sphere):
    """Another space, whatever it inherits."""


class Scaled(FlatManifold):
    """The plane in other units: all that it has of its own is a chart."""

    dim = 2
    point_shape = (2,)
    origin = np.zeros(2)

    def exp(self, base, tangent):
        return np.asarray(base) + tangent

    def log(self, base, point):
        return np.asarray(point) - base

    def dist(self, a, b):
        return 3.0 * np.linalg.norm(np.asarray(a) - b, axis=-1)

    def tangent_vector(self, base, coordinates):
        return np.asarray(coordinates) / 3.0

    def tangent_coordinates(self, base, tangent):
        return 3.0 * np.asarray(tangent)

    def validate(self, points):
        return np.asarray(points, dtype=float)

    def to_chart(self, points):
        return 3.0 * np.asarray(points)

    def from_chart(self, coordinates):
        return np.asarray(coordinates) / 3.0


class Alien(Scaled.__mro__[2]):
    """A manifold of no known class."""

    dim = 2
    exp = log = dist = tangent_vector = tangent_coordinates = validate = None
    point_shape = origin = curvature_bound = constant_curvature = injectivity_radius = None


@pytest.fixture
def table(monkeypatch):
    """Solvers that a test may add to."""
    monkeypatch.setattr(_solver_of_space, "_solvers", dict(_solver_of_space._solvers))
    monkeypatch.setattr(
        _solver_of_space, "_with_subclasses", set(_solver_of_space._with_subclasses)
    )


OURS = [Euclidean(2), SPDLogEuclidean(2), Sphere(2), Hyperbolic(3), SPDAffineInvariant(2)]


@pytest.mark.parametrize("manifold", OURS, ids=str)
def test_our_spaces_are_solved(manifold):
    assert is_solved(manifold)
    assert mean_solver(manifold) is space_solver(manifold)
    assert mean_solver(manifold).isometric == isinstance(manifold, FlatManifold)
    assert average(manifold).isometric == isinstance(manifold, FlatManifold)


@pytest.mark.parametrize("manifold", [Sphere(1), Hyperbolic(1), SPDAffineInvariant(1)], ids=str)
def test_in_dimension_one_every_mean_is_an_average(manifold):
    assert type(mean_solver(manifold)) is Average
    assert type(space_solver(manifold)) is not Average
    assert is_solved(manifold)


def test_a_subclass_gets_the_solver_and_no_proof():
    assert isinstance(mean_solver(Dented(2)), SphereSolver)
    assert not is_solved(Dented(2))
    ball = Ball(Dented(2), [0.0, 0.0, 1.0], 0.5)
    assert FrechetMean().proofs_on(ball)["frechet-mean"] is None
    assert TangentMean().proofs_on(ball)["tangent-mean"] is not None


def test_a_chart_is_all_that_a_flat_space_needs():
    assert type(mean_solver(Scaled())) is FlatAverage
    assert is_solved(Scaled())
    points = np.random.default_rng(0).uniform(size=(9, 2))
    found = riemdp.frechet_mean(Scaled(), points)
    np.testing.assert_allclose(found.value, points.mean(axis=0), rtol=1e-14)
    ball = Ball(Scaled(), [0.5, 0.5], 3.0)
    query = next(FrechetMean().queries(ball))
    assert query.replace_one(ball, 10, "coordinates") == pytest.approx(0.6)


def test_a_space_of_no_known_class_is_refused_by_name():
    for find in (mean_solver, space_solver):
        with pytest.raises(riemdp.UnsupportedManifoldError, match="Alien"):
            find(Alien())
    assert type(average(Alien())) is Average


class Proved(SphereSolver):
    """Of another package, whose author names a proof."""

    proof = "https://example.org/proved"


class Copied(SphereSolver):
    """Of another package, whose author names none."""


def test_a_package_can_register_a_solver_of_its_own(table):
    solver = register_solver(Dented, Proved())
    assert mean_solver(Dented(2)) is solver
    assert is_solved(Dented(2))
    more = type("More", (Dented,), {})
    assert not is_solved(more(2))
    register_solver(Dented, solver, subclasses=True)
    assert is_solved(more(2))


def test_a_solver_without_a_proof_proves_nothing(table):
    assert Copied.proof is None
    register_solver(Dented, Copied())
    assert not is_solved(Dented(2))


def test_no_package_replaces_a_solver(table):
    with pytest.raises(riemdp.InvalidParameterError, match="Sphere has a solver"):
        register_solver(Sphere, Proved())


def test_a_solver_is_proved_where_those_that_it_uses_are(table):
    class Using(SphereSolver):
        proof = "https://example.org/using"

        def __init__(self, *spaces):
            self.spaces = spaces

        def parts(self, manifold):
            return self.spaces

    for spaces, proved in [((), True), ((Euclidean(2),), True), ((Euclidean(2), Alien()), False)]:
        _solver_of_space._solvers.pop(Dented, None)
        register_solver(Dented, Using(*spaces))
        assert is_solved(Dented(2)) == proved


def test_a_record_beyond_float64_counts_as_the_center():
    coordinates = np.array([[np.nan, 0.3], [0.1, 0.2], [np.inf, -np.inf]])
    ball = types.SimpleNamespace(coordinates=lambda data: data)
    found = _records.record_coordinates(ball, coordinates)
    np.testing.assert_array_equal(found, [[0.0, 0.0], [0.1, 0.2], [0.0, 0.0]])
