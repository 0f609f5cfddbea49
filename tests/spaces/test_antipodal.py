"""Opposite points: which of the two is nearer, in float64 and in ball arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import Ball, ProjectiveSpace, Rotations
from riemdp._working_precision import working_precision
from riemdp.spaces._quotient import dot, signed

flint = pytest.importorskip("flint")
SPACES = [Rotations(), ProjectiveSpace(1), ProjectiveSpace(2), ProjectiveSpace(4)]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_the_nearest_is_the_nearer_of_both(space):
    random = np.random.default_rng(0)
    base, points = random.normal(size=(2, 200, space.cover.dim + 1))
    found = space.nearest(base, points)
    both = space.orbit(points)
    gaps = np.linalg.norm(both - base, axis=-1)
    np.testing.assert_array_equal(np.linalg.norm(found - base, axis=1), gaps.min(axis=0))
    np.testing.assert_array_equal(np.sum(both, axis=0), np.zeros_like(points))
    # whatever lies beside it
    alone = np.stack([space.nearest(b, p) for b, p in zip(base, points, strict=True)])
    assert alone.tobytes() == found.tobytes()


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_folding_chooses_the_nearest(space):
    """Both representatives fold to the coordinates that float64 has of their class."""
    random, cover = np.random.default_rng(1), space.cover
    center = space.point(space.origin, 0.4 * np.ones(space.dim) / math.sqrt(space.dim))
    above = Ball(cover, space.lift(center), math.inf)
    coordinates = random.normal(size=(100, space.dim))
    coordinates *= random.uniform(0.0, cover.diameter, size=(100, 1)) / np.linalg.norm(
        coordinates, axis=1, keepdims=True
    )
    points = above.point(coordinates)
    wanted = space.coordinates(center, space.push(points))
    moved = 0
    for representative in (points, -points):
        for row, want in zip(above.coordinates(representative), wanted, strict=True):
            found = space.folded([flint.arb(x) for x in row.tolist()])
            np.testing.assert_allclose([float(x) for x in found], want, atol=1e-12)
            moved += not np.allclose(row, want)
    assert moved == 100  # of two opposite points one is folded


def test_a_tie_is_left_open():
    space, half = ProjectiveSpace(2), 0.5 * math.pi
    below, above = math.nextafter(half, 0.0), math.nextafter(half, 2.0)
    for end, wanted in ((below, below), (above, -half)):
        ends = [flint.arb(end), flint.arb(0)]
        with working_precision(53):  # earlier draws leave another one
            assert space.folded(ends) is None
        with working_precision(128):
            assert float(space.folded(ends)[0]) == pytest.approx(wanted, rel=1e-15)
    assert space.folded([flint.arb(half, 1e-10), flint.arb(0)]) is None
    assert space.folded([flint.arb(0), flint.arb(0)])[0] == 0
    # half a turn of space lies at pi: radius two
    assert Rotations().folded([flint.arb(3), flint.arb(0), flint.arb(0)])[0] == 3
    assert space.folded([flint.arb(3), flint.arb(0)])[0] < 0


def test_signs_and_products():
    points = np.array([[0.0, -2.0, 1.0], [1.0, -5.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(signed(points), [[0.0, 2.0, -1.0], [1.0, -5.0, 0.0], [0, 0, 0]])
    np.testing.assert_array_equal(dot(points, points), [5.0, 26.0, 0.0])
