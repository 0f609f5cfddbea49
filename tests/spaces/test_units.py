import itertools
import math
from fractions import Fraction as F  # noqa: N817

import numpy as np
import pytest

import riemdp
from riemdp import (
    Euclidean,
    ProjectiveSpace,
    Rotations,
    SPDAffineInvariant,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
)

FAR = "that far, eigenvalues differ"


@pytest.mark.parametrize(
    ("space", "distance", "said"),
    [
        (Sphere(2), np.pi / 6.0, "30 degrees"),
        (Sphere(2, 0.25), np.pi / 3.0, "30 degrees"),
        (Rotations(), np.pi / 6.0, "30 degrees"),
        (ProjectiveSpace(2), np.pi / 6.0, "30 degrees"),
        (SPDLogEuclidean(2), np.log(1.25), f"{FAR} by at most 25 %"),
        (
            SPDLogEuclidean(3),
            np.log(1.25),
            f"{FAR} by at most 25 %, fractional anisotropy by at most 0.182",
        ),
        (
            SPDAffineInvariant(3),
            1.0,
            f"{FAR} by a factor of at most 2.72, fractional anisotropy by at most 0.816",
        ),
        (
            SPDAffineInvariant(3),
            np.log(4.0),
            "that far, eigenvalues differ by a factor of at most 4",
        ),
        (SPDAffineInvariant(3), 1e4, ""),
        (SPDPower(3, 0.5), 0.1, ""),
        (Euclidean(3), 0.1, ""),
    ],
    ids=str,
)
def test_distances_are_said_in_units_of_the_records(space, distance, said):
    assert space.in_units(distance) == said


def test_degrees_are_those_between_rotations_and_axes():
    turn = np.deg2rad(50.0)
    rotation = np.array(
        [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    )
    assert Rotations().in_units(float(Rotations().dist(np.eye(3), rotation))) == "50 degrees"
    axes = np.array([1.0, 0.0, 0.0]), -rotation[0]
    assert ProjectiveSpace(2).in_units(float(ProjectiveSpace(2).dist(*axes))) == "50 degrees"


@pytest.mark.parametrize("space", [SPDLogEuclidean(3), SPDAffineInvariant(3)], ids=str)
def test_eigenvalues_never_differ_by_more(space):
    generator = np.random.default_rng(1)
    first, second = (space.point(np.eye(3), generator.normal(size=(500, 6))) for _ in range(2))
    far = space.dist(first, second)
    ratios = np.abs(np.log(np.linalg.eigvalsh(first) / np.linalg.eigvalsh(second))).max(axis=1)
    assert np.all(ratios <= far * (1.0 + 1e-9))
    closest = space.dist(np.eye(3), np.diag([2.0, 1.0, 1.0]))  # where it is attained
    assert closest == pytest.approx(np.log(2.0))


def anisotropy(logs):
    values = np.exp(logs)
    rest = values - values.mean(axis=-1, keepdims=True)
    return np.sqrt(1.5) * np.linalg.norm(rest, axis=-1) / np.linalg.norm(values, axis=-1)


def bound_of_the_gradient(square):
    """Coefficients in a, x, y of what is not negative where the gradient is at most its root."""
    a, x, y = (Polynomial({tuple(int(i == j) for j in range(3)): F(1)}) for i in range(3))
    values = a, a + x, a + x + y
    one, two, three, four = (sum((v**n for v in values), Polynomial({})) for n in range(1, 5))
    far = 2 * square * (3 * two + (-1) * one**2) * two**3
    return far + (-1) * one**2 * (two**3 + (-2) * one * two * three + one**2 * four)


class Polynomial:
    def __init__(self, terms):
        self.terms = terms

    def __add__(self, other):
        keys = self.terms.keys() | other.terms.keys()
        return Polynomial({k: self.terms.get(k, 0) + other.terms.get(k, 0) for k in keys})

    def __mul__(self, other):
        if not isinstance(other, Polynomial):
            return Polynomial({k: other * v for k, v in self.terms.items()})
        found = Polynomial({})
        for (i, v), (j, w) in itertools.product(self.terms.items(), other.terms.items()):
            found = found + Polynomial({tuple(map(sum, zip(i, j, strict=True))): v * w})
        return found

    __rmul__ = __mul__

    def __pow__(self, n):
        return math.prod([self] * (n - 1), start=self)

    def __call__(self, *at):
        return sum(v * math.prod(map(pow, at, k)) for k, v in self.terms.items())


def test_anisotropy_never_differs_by_more():
    """docs/proofs/anisotropy.md"""
    found = {k: v for k, v in bound_of_the_gradient(F(2, 3)).terms.items() if v != 0}
    assert len(found) == 41
    assert min(found.values()) == F(8, 3)
    assert bound_of_the_gradient(F(1, 2))(F(3, 4), 0, F(1, 4)) < 0

    rng = np.random.default_rng(4)
    for space in (SPDLogEuclidean(3), SPDAffineInvariant(3)):
        first, second = (space.point(np.eye(3), 0.5 * rng.normal(size=(500, 6))) for _ in range(2))
        logs = (np.log(np.linalg.eigvalsh(points)) for points in (first, second))
        change = np.abs(np.subtract(*map(anisotropy, logs)))
        assert np.all(change <= math.sqrt(2.0 / 3.0) * space.dist(first, second))
    turn = 1e-4 * np.array([2.0, -1.0, -1.0]) / math.sqrt(6.0)  # a constant of .74 is too small
    near = np.array([0.0, -0.281, -0.281]) + np.outer([0.0, 1.0], turn)
    assert 0.74e-4 < np.ptp(anisotropy(near)) < 0.7414e-4


def test_releases_balls_and_advice_say_it():
    points = np.tile([0.0, 0.0, 1.0], (500, 1))
    ball = riemdp.Ball(Sphere(2), points[0], 0.5)
    assert "0.5, in units of geodesic distance; 28.6 degrees" in str(ball)
    release = riemdp.private_mean(points, ball, riemdp.PureDP(1.0))
    error = Sphere(2).in_units(release.expected_distance)
    assert f"expected ({error}), without the bias" in str(release)
    advice = riemdp.advise_ball(np.eye(3), 500, riemdp.PureDP(1.0), manifold=Sphere(2))
    assert any(note.endswith(" degrees") for note in advice.notes)
    flat = riemdp.private_mean(
        points, riemdp.Ball(Euclidean(3), points[0], 0.5), riemdp.PureDP(1.0)
    )
    assert " expected, without the bias" in str(flat)


@pytest.mark.parametrize("distance", [0.01, 0.5, 2.0])
@pytest.mark.parametrize(
    "space", [Sphere(2, 0.25), Rotations(), ProjectiveSpace(2), SPDLogEuclidean(2)], ids=str
)
def test_units_have_an_inverse_and_a_name(space, distance):
    unit = space.unit(distance)
    assert unit.back(unit.of(distance)) == pytest.approx(distance)
    assert f"{float(unit.of(distance)):.3g}" in unit.said(distance)
    assert f"{float(unit.of(distance)):.3g}" in unit.short(distance)
    assert unit.label
    assert not np.isnan(unit.back(np.array([-1.0, 0.0, 1.0]))).any()  # where an axis may begin


def test_where_there_is_no_unit():
    assert Euclidean(3).unit(0.1) is None
    assert SPDAffineInvariant(3).unit(1e4) is None
