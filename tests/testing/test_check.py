"""The checks hold of this library's parts, and each fails for a part with that mistake."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from riemdp import (
    GDP,
    ZCDP,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    Part,
    PureDP,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    _part,
)
from riemdp.mechanisms import TangentGaussian, TangentLaplace
from riemdp.privacy import KLDP, RDP, MeanCDP, RaoDP
from riemdp.statistics import FrechetMean, ReplaceOne, Summary, TangentMean
from riemdp.testing import check_part, part_checks

MANIFOLDS = [
    Euclidean(1),
    Euclidean(3),
    Sphere(1),
    Sphere(2),
    Sphere(4, 2.5),
    Hyperbolic(1),
    Hyperbolic(4, -2.5),
    SPDLogEuclidean(1),
    SPDLogEuclidean(3),
    SPDAffineInvariant(1),
    SPDAffineInvariant(4),
]
DEFINITIONS = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-6),
    GDP(0.7),
    ZCDP(0.3),
    RDP(4.0, 0.5),
    KLDP(0.3),
    MeanCDP(0.3, 0.5),
    RaoDP(0.4, distance="angle"),
    RaoDP(0.4, distance="parametric"),
]
MECHANISMS = [
    RiemannianLaplace(Euclidean(2), 0.3),
    RiemannianGaussian(Sphere(2), 0.3),
    RiemannianLaplace(Hyperbolic(2), 0.3),
    RiemannianGaussian(SPDAffineInvariant(2), 0.3),
    TangentGaussian(Sphere(2), 0.3, base=Sphere(2).origin),
    TangentLaplace(SPDLogEuclidean(2), 0.3, base=np.eye(2)),
]


@pytest.fixture
def registry(monkeypatch):
    """A copy that a test may add to."""
    monkeypatch.setattr(_part, "_registry", dict(_part._registry))


@pytest.mark.parametrize("part", [*MANIFOLDS, *DEFINITIONS], ids=str)
def test_spaces_and_definitions_pass(part):
    check_part(part)


@pytest.mark.parametrize("part", MECHANISMS, ids=str)
def test_mechanisms_pass(part):
    check_part(part)


@pytest.mark.parametrize("part", [None, Sphere, "Sphere", Part()])
def test_what_is_no_part_is_refused(part):
    with pytest.raises(InvalidParameterError, match="no part that can be checked"):
        check_part(part)


def failures(part, ball=None):
    """Names of the checks that fail, each with a message of its own."""
    found = []
    for name, check in part_checks(part, ball=ball):
        try:
            check()
        except Exception:
            found.append(name)
    return found


BALLS = [
    None,
    Ball(Euclidean(1), [3.0], 0.5),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 1.5),
    Ball(SPDLogEuclidean(2), np.eye(2), 2.0),
    Ball(SPDAffineInvariant(2), np.eye(2), 1.0),
]


@pytest.mark.parametrize("ball", BALLS, ids=str)
@pytest.mark.parametrize("part", [FrechetMean(), TangentMean(), ReplaceOne()], ids=str)
def test_statistics_and_neighbours_pass(part, ball):
    check_part(part, ball=ball)


@dataclass(frozen=True)
class Spread(Summary):
    """Mean squared distance to the centre, right or with a mistake."""

    name = "tests.Spread"
    mistake: str = ""

    def range(self, ball):
        half = 0.5 * ball.radius**2
        return Ball(Euclidean(1), [half], half)

    def replace_one(self, ball, n, metric):
        share = 0.5 if self.mistake == "neighbours_are_close" else 1.0
        if self.mistake == "noise_grows_with_records":
            return ball.radius**2 * n
        return np.nextafter(share * ball.radius**2 / n, np.inf)

    def summarise(self, ball, records):
        squares = np.sum(ball.coordinates(records) ** 2, axis=-1)
        if self.mistake == "order_does_not_count":
            squares[0] = 0.0
        return np.array([float(len(squares)), squares.sum()])

    def merge(self, first, second):
        if self.mistake == "chunks_make_the_whole":
            return first
        return first + second

    def finish(self, ball, partial, tol):
        value = partial[1:] / partial[0] - self.range(ball).radius
        return value * (3.0 if self.mistake == "answers_lie_in_their_ball" else 1.0)


@dataclass(frozen=True)
class Unclipped(Spread):
    name = "tests.Unclipped"
    clips = True

    def summarise(self, ball, records):
        squares = ball.manifold.dist(ball.center, records) ** 2
        return np.array([float(len(squares)), squares.sum()])


@pytest.mark.parametrize("ball", [BALLS[0], BALLS[2], BALLS[5]], ids=str)
def test_a_statistic_of_ones_own_passes(ball, registry):
    _part._registry[Spread.name] = Spread
    assert failures(Spread(), ball) == []


@pytest.mark.parametrize(
    "mistake",
    [
        "answers_lie_in_their_ball",
        "chunks_make_the_whole",
        "neighbours_are_close",
        "order_does_not_count",
    ],
)
def test_a_broken_statistic_is_noticed(mistake, registry):
    _part._registry[Spread.name] = Spread
    assert mistake in failures(Spread(mistake))
    assert "document" not in failures(Spread(mistake))


def test_more_of_what_is_noticed(registry):
    _part._registry |= {Spread.name: Spread, Unclipped.name: Unclipped}
    assert "noise_falls_with_records" in failures(Spread("noise_grows_with_records"))
    assert failures(Unclipped()) == ["records_are_clipped"]


@dataclass(frozen=True)
class Nobody(ReplaceOne):
    name = "tests.Nobody"

    def sensitivity(self, statistic, ball, n, metric):
        return 0.0 * super().sensitivity(statistic, ball, n, metric)


def test_neighbours_that_nothing_tells_apart_are_noticed(registry):
    _part._registry[Nobody.name] = Nobody
    assert failures(Nobody()) == ["relation_is_measured"]


def test_the_checks_one_by_one():
    names = [name for name, _ in part_checks(Sphere(2))]
    assert len(names) == len(set(names)) >= 11
    assert failures(Sphere(2)) == []


class Flat(Sphere):
    name = "tests.Flat"
    curvature_bound = 0.0


class Wide(Sphere):
    name = "tests.Wide"
    injectivity_radius = 2.0 * math.pi


class Bent(Hyperbolic):
    name = "tests.Bent"
    constant_curvature = -2.0


class Careless(Sphere):
    name = "tests.Careless"

    def validate(self, points):
        return np.asarray(points, dtype=float)


class Scaled(Sphere):
    name = "tests.Scaled"

    def dist(self, a, b):
        return 1.1 * super().dist(a, b)


class Oblique(Euclidean):
    name = "tests.Oblique"

    def tangent_vector(self, base, coordinates):
        return 2.0 * super().tangent_vector(base, coordinates)

    def tangent_coordinates(self, base, tangent):
        return 0.5 * super().tangent_coordinates(base, tangent)


class Transposed(Euclidean):
    name = "tests.Transposed"

    def log(self, base, point):
        return np.moveaxis(super().log(base, point), -1, 0)


class Crooked(Euclidean):
    name = "tests.Crooked"

    def dist(self, a, b):
        return super().dist(a, b) * (1.0 + np.asarray(a)[..., 0] ** 2)


class Herd(Euclidean):
    """Centres records together: one of them moves the others."""

    name = "tests.Herd"

    def coordinates(self, center, points):
        found = super().coordinates(center, points)
        return found - 1e-12 * found.mean(axis=0) if found.ndim > 1 else found


class Sticky(Euclidean):
    name = "tests.Sticky"

    def clip(self, center, points, radius):
        return super().clip(center, points, 0.9 * radius)


class Roomy(Sphere):
    name = "tests.Roomy"

    def check_ball(self, center, radius):
        """Has room for anything."""

    def clip(self, center, points, radius):
        return super().clip(center, points, radius) * (np.nan if radius > 3.0 else 1.0)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Flat(2), "curvature_is_bounded"),
        (Wide(2), "geodesics_are_shortest"),
        (Bent(3), "curvature_is_bounded"),
        (Careless(2), "bad_points_are_refused"),
        (Scaled(2), "exp_inverts_log"),
        (Oblique(2), "coordinates_are_orthonormal"),
        (Transposed(2), "shapes"),
        (Crooked(2), "distances_are_a_metric"),
        (Herd(2), "records_are_independent"),
        (Sticky(2), "balls_clip"),
        (Roomy(2), "large_balls_work_or_are_refused"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_broken_space_is_noticed(part, expected, registry):
    _part._registry[part.name] = type(part)
    assert expected in failures(part)
    if expected != "shapes":
        assert "document" not in failures(part)


def test_a_part_that_documents_cannot_name(registry):
    assert failures(Flat(2))[0] == "document"


@dataclass(frozen=True)
class Loud(RiemannianGaussian):
    name = "tests.Loud"

    def sample(self, footpoint, size=None, generator=None):
        return RiemannianGaussian(self.manifold, 1.5 * self.sigma).sample(
            footpoint, size, generator
        )


@dataclass(frozen=True)
class Quiet(RiemannianGaussian):
    name = "tests.Quiet"

    def sample(self, footpoint, size=None, generator=None):
        return RiemannianGaussian(self.manifold, 0.3 * self.sigma).sample(
            footpoint, size, generator
        )


@dataclass(frozen=True)
class Deaf(RiemannianGaussian):
    name = "tests.Deaf"

    def sample(self, footpoint, size=None, generator=None):
        return super().sample(footpoint, size, np.random.default_rng(5))


@dataclass(frozen=True)
class Boastful(RiemannianGaussian):
    name = "tests.Boastful"

    def privacy(self, sensitivity):
        return super().privacy(0.3 * sensitivity)


@dataclass(frozen=True)
class Backward(RiemannianGaussian):
    name = "tests.Backward"

    def privacy(self, sensitivity):
        return super().privacy(0.1 / sensitivity)


@dataclass(frozen=True)
class Thrifty(RiemannianGaussian):
    name = "tests.Thrifty"

    @classmethod
    def calibrate(cls, manifold, sensitivity, budget, **options):
        found = RiemannianGaussian.calibrate(manifold, sensitivity, budget, **options)
        return cls(found.manifold, 0.9 * found.sigma)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Loud, "distances_follow_the_law"),
        (Loud, "density_is_that_of_the_draws"),
        (Quiet, "curve_holds_for_draws"),
        (Deaf, "draws_are_points"),
        (Boastful, "curve_holds_for_draws"),
        (Backward, "curve_falls"),
        (Thrifty, "calibration_keeps_the_budget"),
    ],
)
def test_a_broken_mechanism_is_noticed(kind, expected, registry):
    _part._registry[kind.name] = kind
    found = failures(kind(Euclidean(2), 0.3))
    assert expected in found
    assert "document" not in found


@dataclass(frozen=True)
class Rising(PureDP):
    name = "tests.Rising"

    def delta_at(self, epsilon):
        return 1.0 - super().delta_at(epsilon)


@dataclass(frozen=True)
class Small(ApproxDP):
    name = "tests.Small"

    def epsilon_at(self, delta):
        return 0.5 * super().epsilon_at(delta)


@dataclass(frozen=True)
class Generous(PureDP):
    name = "tests.Generous"

    def allows(self, curve):
        return curve.pure_epsilon() <= 2.0 * self.epsilon


@dataclass(frozen=True)
class Doubling(GDP):
    name = "tests.Doubling"

    def split(self, releases):
        return Doubling(self.mu)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Rising(1.0), "delta_falls"),
        (Small(1.0, 1e-6), "epsilon_inverts_delta"),
        (Generous(1.0), "allows_less"),
        (Doubling(1.0), "shares_add_up"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_broken_definition_is_noticed(part, expected, registry):
    _part._registry[part.name] = type(part)
    assert expected in failures(part)
