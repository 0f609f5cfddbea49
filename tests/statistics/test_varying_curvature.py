"""The sensitivity of the Fréchet mean where curvature varies, on means found in other ways.

docs/proofs/frechet-mean-sensitivity.md, "Curvature that varies".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Sphere,
    UnsupportedBallError,
    UnsupportedManifoldError,
    frechet_mean,
    frechet_mean_sensitivity,
)
from riemdp.spaces import Manifold


@dataclass(frozen=True)
class Pair(Manifold):
    """Product of a sphere with another space; its curvature lies between 0 and the largest."""

    first: Sphere
    second: Sphere | Euclidean

    constant_curvature = None

    @property
    def dim(self):
        return self.first.dim + self.second.dim

    @property
    def point_shape(self):
        return (self.cut + self.second.point_shape[0],)

    @property
    def cut(self):
        return self.first.point_shape[0]

    @property
    def curvature_bound(self):
        return max(self.first.curvature_bound, self.second.curvature_bound)

    @property
    def injectivity_radius(self):
        return min(self.first.injectivity_radius, self.second.injectivity_radius)

    @property
    def origin(self):
        return np.concatenate([self.first.origin, self.second.origin])

    def split(self, points):
        points = np.asarray(points, dtype=float)
        return points[..., : self.cut], points[..., self.cut :]

    def _each(self, name, *arguments):
        parts = zip(*(self.split(argument) for argument in arguments), strict=True)
        spaces = (self.first, self.second)
        return [getattr(space, name)(*part) for space, part in zip(spaces, parts, strict=True)]

    def exp(self, base, tangent):
        return np.concatenate(self._each("exp", base, tangent), axis=-1)

    def log(self, base, point):
        return np.concatenate(self._each("log", base, point), axis=-1)

    def dist(self, a, b):
        return np.hypot(*self._each("dist", a, b))

    def validate(self, points):
        return np.concatenate(self._each("validate", points), axis=-1)

    def tangent_vector(self, base, coordinates):
        d = self.first.dim
        first, second = self.split(base)
        u, v = np.asarray(coordinates)[..., :d], np.asarray(coordinates)[..., d:]
        return np.concatenate(
            [self.first.tangent_vector(first, u), self.second.tangent_vector(second, v)],
            axis=-1,
        )

    def tangent_coordinates(self, base, tangent):
        return np.concatenate(self._each("tangent_coordinates", base, tangent), axis=-1)

    def mean(self, ball, points):
        """Means of the factors, which are that of the product."""
        found = []
        spaces, centers = (self.first, self.second), self.split(ball.center)
        for space, center, part in zip(spaces, centers, self.split(points), strict=True):
            inside = Ball(space, center, ball.radius * (1.0 + 1e-12))
            found.append(frechet_mean(space, part, ball=inside, tol=1e-11).value)
        return np.concatenate(found)


class ComplexPlane(Manifold):
    """Complex projective plane: unit vectors of C^3 up to a phase; curvature from 1 to 4."""

    dim = 4
    point_shape = (3,)
    curvature_bound = 4.0
    constant_curvature = None
    injectivity_radius = 0.5 * math.pi
    origin = np.array([1.0, 0.0, 0.0])

    def validate(self, points):
        return np.asarray(points)

    def dist(self, a, b):
        first, second = np.asarray(a), np.asarray(b)
        aligned = self._aligned(first, second)
        return 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(first - aligned, axis=-1), 1.0))

    def _aligned(self, base, point):
        product = (np.conj(point) * base).sum(axis=-1, keepdims=True)
        return point * product / np.maximum(np.abs(product), 1e-300)

    def log(self, base, point):
        aligned = self._aligned(base, point)
        along = (np.conj(base) * aligned).sum(axis=-1, keepdims=True)
        across = aligned - along * base
        length = np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-300)
        return across / length * np.expand_dims(self.dist(base, point), -1)

    def exp(self, base, tangent):
        length = np.linalg.norm(tangent, axis=-1, keepdims=True)
        return np.cos(length) * base + np.sinc(length / np.pi) * tangent

    def tangent_vector(self, base, coordinates):
        """At the origin alone."""
        x, y, z, w = np.moveaxis(np.asarray(coordinates), -1, 0)
        return np.stack([0.0 * x, x + 1j * y, z + 1j * w], axis=-1)

    def tangent_coordinates(self, base, tangent):
        raise NotImplementedError

    def mean(self, ball, points):
        point = ball.center.astype(complex)
        for _ in range(2000):
            step = self.log(point, points).mean(axis=0)
            if np.linalg.norm(step) < 1e-13:
                break
            point = self.exp(point, 0.9 * step)
            point /= np.linalg.norm(point)
        return point


SPACES = [
    (Pair(Sphere(2), Euclidean(1)), (0, 1)),
    (Pair(Sphere(2, 4.0), Sphere(2)), (0, 1)),
    (ComplexPlane(), (0, 1)),  # a complex line has the largest curvature
]


def vectors(dim, radius, n, seed):
    """Coordinates of records, most of them on the boundary and many at one place."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(n, dim))
    if seed % 2:
        found[: n // 2] = found[0]
    lengths = rng.choice([1.0, 0.7, 0.0], p=[0.8, 0.15, 0.05], size=(n, 1))
    return found * lengths * radius / np.linalg.norm(found, axis=1, keepdims=True)


def hardest(dim, radius, n, plane):
    """Half of the records at each end of a diameter, and one that moves across it."""
    found = np.zeros((n + 1, dim))
    found[: n // 2, plane[0]], found[n // 2 : n - 1, plane[0]] = radius, -radius
    found[n - 1, plane[1]], found[n, plane[1]] = radius, -radius
    return found


def moves(manifold, radius, n, plane, seeds=12):
    ball = Ball(manifold, manifold.origin, radius)
    cases = [hardest(manifold.dim, radius, n, plane)]
    cases += [vectors(manifold.dim, radius, n + 1, seed) for seed in range(seeds)]
    for case in cases:
        points = manifold.exp(ball.center, manifold.tangent_vector(ball.center, case))
        first = manifold.mean(ball, points[:n])
        second = manifold.mean(ball, np.concatenate([points[: n - 1], points[n:]]))
        yield float(manifold.dist(first, second))


@pytest.mark.parametrize(("manifold", "plane"), SPACES, ids=["line", "spheres", "complex"])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.9])
def test_no_pair_exceeds_it_and_some_nearly_attain_it(manifold, plane, share):
    k, n = math.sqrt(manifold.curvature_bound), 401
    radius = share * math.pi / (2.0 * k)
    claimed = frechet_mean_sensitivity(Ball(manifold, manifold.origin, radius), n)
    assert claimed == pytest.approx(min(2.0 * radius, 2.0 * math.tan(k * radius) / (k * n)))
    found = list(moves(manifold, radius, n, plane, 4))
    assert max(found) <= claimed * (1.0 + 1e-7)
    # negative controls: nine tenths of it, and the constant of flat spaces, are exceeded
    assert max(found) > 0.9 * claimed
    assert max(found) > 2.0 * radius / n


@pytest.mark.parametrize(("manifold", "plane"), SPACES, ids=["line", "spheres", "complex"])
@pytest.mark.parametrize("n", [2, 3, 8])
def test_no_pair_of_small_data_exceeds_it(manifold, plane, n):
    for share in (0.4, 0.8):
        radius = share * math.pi / (2.0 * math.sqrt(manifold.curvature_bound))
        claimed = frechet_mean_sensitivity(Ball(manifold, manifold.origin, radius), n)
        assert max(moves(manifold, radius, n, plane)) <= claimed * (1.0 + 1e-9)


def test_a_smaller_curvature_would_not_do():
    """The least curvature of the complex plane is 1, the largest 4."""
    manifold, n = ComplexPlane(), 401
    radius = 0.9 * math.pi / 4.0
    assert max(moves(manifold, radius, n, (0, 1), 0)) > 2.0 * math.tan(radius) / n


@pytest.mark.parametrize("share", [0.4, 0.9])
def test_nor_in_coordinates_about_the_centre(share):
    """docs/proofs/wrapped-noise.md."""
    manifold, n = ComplexPlane(), 401
    radius = share * math.pi / 4.0
    ball = Ball(manifold, manifold.origin, radius)
    claimed = frechet_mean_sensitivity(ball, n)
    found = []
    for case in [hardest(4, radius, n, (0, 1)), *(vectors(4, radius, n + 1, s) for s in range(3))]:
        points = manifold.exp(ball.center, manifold.tangent_vector(ball.center, case))
        first = manifold.mean(ball, points[:n])
        second = manifold.mean(ball, np.concatenate([points[: n - 1], points[n:]]))
        logs = manifold.log(ball.center, np.stack([first, second]))
        found.append(float(np.linalg.norm(logs[0] - logs[1])))
        assert found[-1] >= float(manifold.dist(first, second)) * (1.0 - 1e-7)
    assert max(found) <= claimed * (1.0 + 1e-7)
    # negative controls: nine tenths of it, and the constant of flat spaces, are exceeded
    assert max(found) > 0.9 * claimed
    assert max(found) > 2.0 * radius / n


def reflections(share):
    """Distances from points of the ball to a point outside, and to its mirror image inside."""
    manifold, radius = ComplexPlane(), 0.95 * math.pi / 4.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        inside = vectors(4, radius, 500, seed)
        towards = rng.normal(size=4)
        towards /= np.linalg.norm(towards)
        inside[:100] = radius * towards + 0.05 * rng.normal(size=(100, 4))
        lengths = np.linalg.norm(inside, axis=1, keepdims=True)
        inside *= np.minimum(1.0, radius / np.maximum(lengths, 1e-300))
        s = radius * rng.uniform(1.01, 1.6)
        ends = [s * towards, (2.0 * share * radius - s) * towards]
        x, q, mirror = (
            manifold.exp(manifold.origin, manifold.tangent_vector(manifold.origin, v))
            for v in (inside, *ends)
        )
        yield manifold.dist(q, x), manifold.dist(mirror, x)


def test_a_point_outside_is_farther_than_its_mirror_image():
    assert all((far >= near - 1e-12).all() for far, near in reflections(1.0))
    # negative control: reflected in a smaller sphere it is not
    assert not all((far >= near - 1e-12).all() for far, near in reflections(0.9))


def test_both_radii_limit_the_ball():
    manifold = ComplexPlane()
    with pytest.raises(UnsupportedBallError, match="to be unique"):
        frechet_mean_sensitivity(Ball(manifold, manifold.origin, 0.79), 10)
    wide = type("Wide", (ComplexPlane,), {"injectivity_radius": 9.0})()
    with pytest.raises(UnsupportedBallError, match="to be unique"):
        frechet_mean_sensitivity(Ball(wide, wide.origin, 0.79), 10)
    flat = type("Tube", (ComplexPlane,), {"curvature_bound": 0.0, "injectivity_radius": 1.0})()
    assert frechet_mean_sensitivity(Ball(flat, flat.origin, 0.49), 10) == pytest.approx(0.098)
    with pytest.raises(UnsupportedBallError, match="to be unique"):
        frechet_mean_sensitivity(Ball(flat, flat.origin, 0.51), 10)


@pytest.mark.parametrize("bound", ["theorem", "tight"])
def test_older_bounds_are_for_constant_curvature(bound):
    ball = Ball(ComplexPlane(), ComplexPlane.origin, 0.3)
    with pytest.raises(UnsupportedManifoldError, match="constant curvature"):
        frechet_mean_sensitivity(ball, 10, bound)
