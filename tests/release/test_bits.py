"""What the bits of a release tell: of float64 noise which footpoint it was, of exact noise nothing.

The float64 path is the negative control of the exact one, under the same attacks.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    Sphere,
    private_mean,
)
from riemdp.noise.exact import Rounded, default_grid
from riemdp.release._rounded_value import rounded_point
from riemdp.research._isotropic import polar_draws

SPACES = {
    "R1": Euclidean(1),
    "R10": Euclidean(10),
    "S2": Sphere(2),
    "H2": Hyperbolic(2),
    "SPD3": SPDAffineInvariant(3),
}
KINDS = {
    "laplace": (RiemannianLaplace, PureDP(1.0)),
    "gaussian": (RiemannianGaussian, ApproxDP(1.0, 1e-6)),
}
#: Records, each in a ball of radius 1: the mean of neighbours moves by 0.02.
RECORDS = 100


def setting(space, kind, budget=None):
    """Ball about the first axis, and a mechanism for one of RECORDS records replaced."""
    manifold, (mechanism, usual) = SPACES[space], KINDS[kind]
    first = np.eye(manifold.dim + 1)[0]
    center = first if space in ("S2", "H2") else manifold.origin
    # a little more than the sensitivity, which is rounded up
    chosen = mechanism.calibrate(manifold, 2.0 / RECORDS * (1 + 1e-12), budget or usual)
    return Ball(manifold, center, 1.0), chosen


def footpoint(dim, length):
    """A vector of this length on an axis that is no coordinate's."""
    vector = np.sin(1.0 + np.arange(dim)) if dim > 2 else np.array([np.cos(1.0), np.sin(1.0)])[:dim]
    return length * vector / np.linalg.norm(vector)


def float_draws(ball, mechanism, vector, count, generator):
    """Points of the ball that are drawn in float64 about normal coordinates."""
    side, direction = polar_draws(mechanism._law, vector, ball, count, generator)
    return ball.point(np.minimum(side, ball.radius)[..., None] * direction)


def exact_draws(ball, mechanism, vector, count, generator):
    """Integers, and points, of releases in exact arithmetic about normal coordinates."""
    draw, grid = mechanism.exact_draw(ball), default_grid(mechanism.sigma)
    integers = draw.draws(vector, grid, count, generator=generator)
    rounded = (Rounded(tuple(row), grid) for row in integers.tolist())
    return integers, np.array([rounded_point(ball, one) for one in rounded])


def visible(ball, points):
    """What has the direction of the normal coordinates, in all the bits that points have."""
    on_line = points.shape[-1] == ball.manifold.dim
    return points if on_line else points[..., 1:]


def contradicts(attacks, ball, points, vector, lost=3):
    """Whether points cannot have been drawn in float64 about normal coordinates."""
    seen = visible(ball, points)
    if seen.shape[-1] == 1:
        return attacks.finer_than_sum(seen[:, 0], vector[0])
    return attacks.off_reflected_grid(seen, vector, lost=lost)


def holds(p_value):
    """Whether a test passes, or does on fresh draws."""
    return any(p_value(np.random.default_rng(seed)) > 1e-4 for seed in (161, 162))


@pytest.mark.parametrize(
    ("noise", "attack", "probability"),
    [
        (("R1", "laplace", PureDP(1.0)), (0.02, None), 0.222),
        (("R1", "laplace", PureDP(0.1)), (0.007, None), 0.0067),
        (("R1", "gaussian"), (0.02, None), 0.049),
        (("R10", "laplace"), (0.007, 4), 0.054),
        (("R10", "laplace"), (1e-14, 4), 0.054),
        (("R10", "gaussian"), (0.007, 4), 0.054),
        (("R10", "gaussian"), (1e-14, 4), 0.054),
        (("S2", "laplace"), (0.007, 6), 0.0056),
        (("S2", "gaussian"), (0.007, 6), 0.0057),
        (("H2", "laplace"), (0.007, 6), 0.0054),
        (("H2", "gaussian"), (0.007, 6), 0.0052),
        # more bits believed
        (("R10", "gaussian"), (1e-14, 3), 0.100),
        (("S2", "laplace"), (1e-14, 3), 0.042),
        (("H2", "gaussian"), (1e-14, 3), 0.042),
    ],
)
@pytest.mark.fast(5)
def test_float64_draws_contradict_the_neighbour(attacks, noise, attack, probability):
    (ball, mechanism), (length, lost) = setting(*noise), attack
    generator, vector = np.random.default_rng(16), footpoint(ball.manifold.dim, length)
    events = []
    for start in (0.0 * vector, vector):
        points = float_draws(ball, mechanism, start, 40_000, generator)
        events.append(contradicts(attacks, ball, points, vector, lost))
    first, second = (event.mean() for event in events)
    assert 0.7 * probability <= first <= 1.3 * probability
    # At a distance of 0.02 or less exp(epsilon) P1 + delta would have to be at least P0.
    assert second <= 1e-4


def releases(mechanism, ball, count, vector, *, generator):
    """Values of releases of records at the centre, but for one that moves their mean to a point."""
    data = np.repeat(ball.center[None], RECORDS, axis=0)
    data[0] = ball.point(RECORDS * vector)
    budget, chosen = KINDS["gaussian"][1], {"mechanism": mechanism, "generator": generator}
    return np.array([private_mean(data, ball, budget, **chosen).value for _ in range(count)])


@pytest.mark.parametrize("count", [100, pytest.param(3000, marks=pytest.mark.slow)])
def test_private_mean_itself(attacks, count):
    manifold, vector = SPACES["R10"], footpoint(10, 1e-9)
    ball = Ball(manifold, manifold.origin, 1.0)
    mechanism = RiemannianGaussian.calibrate(manifold, 0.0201, KINDS["gaussian"][1])

    def both(generator):
        found = [
            releases(mechanism, ball, count, x, generator=generator) for x in (0.0 * vector, vector)
        ]
        return [contradicts(attacks, ball, x, vector) for x in found]

    assert holds(lambda generator: attacks.same_probability(*both(generator)))


def rational(vector):
    """Average of RECORDS integer vectors on the grid of records, nearest."""
    unit = RECORDS * 2**40
    return [Fraction(round(unit * x), unit) for x in vector.tolist()]


def odd_steps(dim, more=0):
    """A vector of some steps of a grid, odd numbers of them and a bit more."""
    return [2 * i + 5 + more for i in range(dim)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("space", "length", "lost"),
    [
        ("R1", 0.02, 0),
        ("R10", 0.007, 4),
        ("S2", 0.007, 6),
        ("H2", 0.007, 6),
        ("R1", 1e-9, 0),
        ("R10", 1e-9, 3),
        ("S2", 1e-9, 3),
        ("H2", 1e-9, 3),
    ],
)
def test_exact_draws_do_not_contradict_the_neighbour(attacks, space, kind, length, lost):
    ball, mechanism = setting(space, kind)
    vector = footpoint(ball.manifold.dim, length)

    def p_value(generator):
        events = []
        for start in (0.0 * vector, vector):
            points = exact_draws(ball, mechanism, rational(start), 5000, generator)[1]
            events.append(contradicts(attacks, ball, points, vector, lost))
        return attacks.same_probability(*events)

    assert holds(p_value)


@pytest.mark.fast("H2-300-laplace", "H2-300-gaussian")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("space", "count"),
    [
        ("H2", 300),
        *(pytest.param(space, 5000, marks=pytest.mark.slow) for space in SPACES),
    ],
)
def test_bits_of_exact_draws_tell_nothing(attacks, space, kind, count):
    ball, mechanism = setting(space, kind)
    dim, unit = ball.manifold.dim, Fraction(2) ** -default_grid(mechanism.sigma)
    # The candidates are a few steps of the grid apart: 2^-35 times the noise at most.
    near = [unit * x for x in odd_steps(dim, Fraction(1, 3))]

    def p_value(generator):
        sides = []
        for start in ([0] * dim, near):
            integers, points = exact_draws(ball, mechanism, start, count, generator)
            sides.append((integers, points.reshape(count, -1)))
        return attacks.same_bits(*sides, odd_steps(dim))

    assert holds(p_value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["H2", "R1"])
def test_noise_on_a_grid_about_the_footpoint_tells_which_it_was(attacks, space, kind):
    ball, mechanism = setting(space, kind)
    dim, generator = ball.manifold.dim, np.random.default_rng(16)
    draw, grid = mechanism.exact_draw(ball), default_grid(mechanism.sigma)
    sides = []
    for start in (0 * np.arange(dim), odd_steps(dim)):
        noise = [draw.draw([0] * dim, grid - 1, generator=generator) for _ in range(100)]
        integers = np.array([2 * np.array(x.integers) + start for x in noise])
        points = [rounded_point(ball, Rounded(tuple(x), grid)) for x in integers.tolist()]
        sides.append((integers, np.array(points)))
    assert attacks.same_bits(*sides, odd_steps(dim)) < 1e-8
