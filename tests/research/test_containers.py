"""What container footpoints, nodes and values come in makes no difference to mechanisms."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    RiemannianGaussian,
    RiemannianLaplace,
    RiemdpError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    TangentGaussian,
    TangentLaplace,
    research,
)
from riemdp.noise import IsotropicLaw
from riemdp.research import (
    ConformalLaplace,
    ConformalRejection,
    GeneralizedGaussian,
    Metropolis,
    PublicPriorLaplace,
    RestrictedLaplace,
)
from riemdp.research._ball_laplace import BallLaplace
from riemdp.research._isotropic import polar_draws
from riemdp.research._net import ball_net
from riemdp.research._net_laplace import NetLaplace

MATCH = r"masked|real numbers"
SPACES = [
    (Euclidean(2), 1.0),
    (Sphere(2), 0.7),
    (Hyperbolic(2), 1.0),
    (SPDLogEuclidean(2), 1.0),
    (SPDAffineInvariant(2), 1.0),
]


def constant(points):
    return np.ones(len(points))


def ball_and_points(manifold, radius):
    ball = Ball(manifold, manifold.origin, radius)
    rng = np.random.default_rng(0)
    return ball, ball.point(0.2 * radius * rng.uniform(-1.0, 1.0, size=(4, manifold.dim)))


def mechanisms(ball):
    manifold = ball.manifold
    yield RiemannianLaplace(manifold, 0.05)
    yield RiemannianGaussian(manifold, 0.05)
    yield TangentGaussian(manifold, 0.05, base=ball.center)
    yield TangentLaplace(manifold, 0.05, base=ball.center)
    if manifold.constant_curvature is not None:
        yield RestrictedLaplace(manifold, 0.05, ball=ball)


@functools.cache
def entry_points(manifold, radius):
    """Functions of one array of four footpoints, points or coordinates; the array; the result."""
    ball, points = ball_and_points(manifold, radius)
    return [(function, array, function(array)) for function, array in functions(ball, points)]


def functions(ball, points):
    coordinates = ball.coordinates(points)

    def seeded(draw):
        return lambda x: draw(x, generator=np.random.default_rng(7))

    for mechanism in mechanisms(ball):
        yield seeded(functools.partial(research.sample, mechanism)), points
        yield lambda x, m=mechanism: m.log_density(x, points), points
        yield lambda x, m=mechanism: m.log_density(points, x), points
    law = Metropolis(ball.manifold, 0.05, "laplace", steps=3)
    yield seeded(law.sample), points
    if ball.manifold.constant_curvature is None:
        return
    law = IsotropicLaw("laplace", ball.manifold, 0.05)
    yield (
        seeded(lambda x, generator: polar_draws(law, x, ball, generator=generator)[0]),
        coordinates,
    )
    yield seeded(BallLaplace(ball, 0.05).sample_from_coordinates), coordinates
    prior = PublicPriorLaplace(ball, constant, 1.0, 0.1, bounds=(0.5, 2.0))
    yield seeded(prior.sample), points
    yield lambda x: prior.log_weight(x, points[0]), points
    rejection = ConformalRejection(ball, constant, 1.0, 0.1, bounds=(0.9, 1.1))
    yield seeded(rejection.sample), points
    yield lambda x: rejection.score(x, points), points
    yield lambda x: rejection.score(points, x), points
    net = ConformalLaplace.public(ball, constant, 0.1, 0.1, nodes=60)
    yield seeded(net.sample), points
    yield net.log_probabilities, points
    yield net.expected_distance, points
    yield net.law.net.nearest, points


@pytest.mark.fast(3)
@pytest.mark.parametrize(("manifold", "radius"), SPACES, ids=str)
def test_the_container_makes_no_difference(manifold, radius, container):
    for function, array, expected in entry_points(manifold, radius):
        found = function(container(array))
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("manifold", "radius"), SPACES, ids=str)
def test_what_is_no_array_of_reals_is_refused(manifold, radius, refused):
    for function, array, _ in entry_points(manifold, radius):
        with pytest.raises(RiemdpError, match=MATCH):
            function(refused(array))


@pytest.mark.fast(3)
def test_parameters_that_are_arrays(container):
    ball, points = ball_and_points(Sphere(2), 0.7)
    net = ball_net(ball, 60)
    values = np.linspace(0.9, 1.1, len(net.points))
    factor = container(values) if _holds_numbers(container, values) else values
    assert np.array_equal(NetLaplace(ball, net, factor, 0.1, 0.1).factor, values)
    assert np.array_equal(TangentGaussian(Sphere(2), 0.1, base=list(points[0])).base, points[0])
    rejection = ConformalRejection(
        ball, constant, 1.0, 0.1, bounds=(0.9, 1.1), landmarks=container(points)
    )
    assert rejection.landmarks.shape == (4, 3)
    quantile = GeneralizedGaussian(0.1, 1.5)._distance_law.quantile
    q = np.array([[0.1, 0.5], [0.9, 0.3]])
    np.testing.assert_allclose(quantile(container(q)), quantile(q))


def _holds_numbers(container, values):
    """Whether a container takes an array without rows."""
    try:
        return np.shape(container(values)) == np.shape(values)
    except (TypeError, ValueError):
        return False


def test_parameters_that_are_no_arrays_of_reals_are_refused(refused):
    ball, points = ball_and_points(Sphere(2), 0.7)
    net = ball_net(ball, 60)
    values = np.linspace(0.9, 1.1, len(net.points))
    attempts = [
        lambda: NetLaplace(ball, net, refused(values), 0.1, 0.1),
        lambda: TangentGaussian(Sphere(2), 0.1, base=refused(points[0])),
        lambda: RestrictedLaplace(Sphere(2), 0.1, ball=Ball(Sphere(2), refused(points[0]), 0.1)),
        lambda: ConformalRejection(
            ball, constant, 1.0, 0.1, bounds=(0.9, 1.1), landmarks=refused(points)
        ),
        lambda: GeneralizedGaussian(0.1, 1.5)._distance_law.quantile(refused(values - 0.5)),
    ]
    if refused(values) is not None:  # the default
        attempts.append(lambda: NetLaplace(ball, net, values, 0.1, 0.1, prior=refused(values)))
    else:
        attempts = [attempts[0], attempts[4]]
    for attempt in attempts:
        with pytest.raises(RiemdpError, match=MATCH):
            attempt()


def test_public_functions_may_not_return_masked_arrays():
    ball, _ = ball_and_points(Sphere(2), 0.7)

    def masked(points):
        return np.ma.masked_array(np.ones(len(points)), mask=points[:, 0] > 0.0)

    for build in (
        lambda: PublicPriorLaplace(ball, masked, 1.0, 0.1, bounds=(0.5, 2.0)),
        lambda: ConformalRejection(ball, masked, 1.0, 0.1, bounds=(0.9, 1.1)),
        lambda: ConformalLaplace.public(ball, masked, 0.2, 0.1, nodes=200),
        lambda: ConformalLaplace.public(ball, constant, 0.1, 0.1, nodes=60, prior=masked),
    ):
        with pytest.raises(RiemdpError, match="masked"):
            build()


def test_an_indicator_is_a_prior():
    ball, points = ball_and_points(Sphere(2), 0.7)
    prior = PublicPriorLaplace(ball, lambda x: x[:, 0] > 0.0, 1.0, 0.1, bounds=(0.5, 1.0))
    numbers = PublicPriorLaplace(ball, lambda x: 1.0 * (x[:, 0] > 0.0), 1.0, 0.1, bounds=(0.5, 1.0))
    first, second = (law.log_weight(points, points[0]) for law in (prior, numbers))
    np.testing.assert_array_equal(first, second)
