import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, Rotations, SPDAffineInvariant, Sphere
from riemdp.release._advise_ball import ClippingBias
from riemdp.statistics import FrechetMean, TangentMean


def supposed(space, shift, spread, n=150):
    """The bias of one shift, and the records that it is about with their mean."""
    generator = np.random.default_rng(5)
    coordinates = spread * generator.normal(size=(n, space.dim))
    coordinates -= coordinates.mean(axis=0)
    shifts = np.zeros((1, space.dim))
    shifts[0, 0] = shift
    mean = space.point(space.origin, shifts[0])
    records = space.point(mean, coordinates)
    return ClippingBias(space, space.origin, coordinates, shifts), records, mean


def value(statistic, ball, records):
    """What is released of records, without noise."""
    clipped = ball.manifold.clip(ball.center, records, ball.radius)
    if isinstance(statistic, TangentMean):
        return ball.point(ball.coordinates(clipped).mean(axis=0))
    found = ball.center
    for _ in range(200):
        found = ball.manifold.point(found, ball.manifold.coordinates(found, clipped).mean(axis=0))
    return found


@pytest.mark.parametrize("statistic", [TangentMean(), FrechetMean()], ids=lambda each: each.name)
@pytest.mark.parametrize("radius", [0.5, 1.4])
@pytest.mark.parametrize("space", [Sphere(2), Rotations()], ids=str)
def test_it_is_how_far_the_value_lies_off_the_mean(space, radius, statistic):
    bias, records, mean = supposed(space, 0.4, 0.35)
    far = float(space.dist(value(statistic, Ball(space, space.origin, radius), records), mean))
    is_tangent = isinstance(statistic, TangentMean)
    found = bias.at(radius, in_tangent_space=is_tangent)
    assert found == pytest.approx(far, rel=0.2, abs=2e-3)


def test_a_tangent_mean_is_off_where_nothing_is_clipped():
    bias, records, mean = supposed(Sphere(2), 0.6, 0.4)
    ball = Ball(Sphere(2), Sphere(2).origin, 3.0)
    assert np.all(Sphere(2).dist(ball.center, records) < ball.radius)
    far = float(Sphere(2).dist(value(TangentMean(), ball, records), mean))
    assert far > 0.01
    assert bias.at(3.0, in_tangent_space=True) == pytest.approx(far, rel=1e-6)
    assert bias.at(3.0, in_tangent_space=False) == 0.0


@pytest.mark.parametrize("space", [SPDAffineInvariant(2), Hyperbolic(2)], ids=str)
def test_that_of_a_frechet_mean_on_a_nonpositively_curved_space_is_near(space):
    bias, records, mean = supposed(space, 0.5, 0.6)
    far = float(space.dist(value(FrechetMean(), Ball(space, space.origin, 0.9), records), mean))
    assert bias.at(0.9, in_tangent_space=False) == pytest.approx(far, rel=0.25)
    assert bias.at(20.0, in_tangent_space=False) == pytest.approx(0.0, abs=1e-9)


def test_of_many_points_some_are_looked_at():
    generator = np.random.default_rng(6)
    points = generator.normal(size=(100_000, 2))
    shifts = np.array([[1.0, 0.0]])
    found = [
        ClippingBias(Euclidean(2), np.zeros(2), some, shifts).at(1.5, in_tangent_space=False)
        for some in (points, points[:5000])
    ]
    assert found[0] == pytest.approx(found[1], rel=0.05)
