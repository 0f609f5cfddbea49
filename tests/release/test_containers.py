"""What containers records come in makes no difference to what takes data; masks are refused."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    NotOnManifoldError,
    PureDP,
    RiemdpError,
    SPDLogEuclidean,
    Sphere,
    audit,
    covariance_descriptors,
    frechet_mean,
    private_ball,
    private_mean,
    tangent_mean,
)
from riemdp.auditing import (
    DistanceScore,
    LinearScore,
    audit_density_ratio,
    claimed_trade_off,
    extreme_directions,
    footpoint_pair,
    neighbouring_datasets,
    output_grid,
)
from riemdp.mechanisms import RiemannianLaplace
from riemdp.release import Release
from riemdp.research import ConformalLaplace

MATCH = r"masked|real numbers"
SPHERE = Sphere(2)
BALL = Ball(SPHERE, SPHERE.origin, 0.7)
POINTS = BALL.point(0.3 * np.random.default_rng(0).uniform(-1.0, 1.0, size=(30, 2)))


def seeded():
    return np.random.default_rng(5)


def constant(points):
    return np.ones(len(points))


#: Everything public that takes records or points, as a function of 30 of them.
TAKES_POINTS = {
    "private_mean": lambda x: private_mean(x, BALL, PureDP(1.0), generator=seeded()).value,
    "private_ball": lambda x: private_ball(x, BALL, PureDP(9.0), generator=seeded()).ball.center,
    "ConformalLaplace.private": lambda x: (
        ConformalLaplace.private(x, BALL, 1.0, nodes=300, generator=seeded()).factor
    ),
    "ConformalLaplace.public": lambda x: ConformalLaplace.public(BALL, x, 1.0, 0.1, 300).factor,
    "frechet_mean": lambda x: frechet_mean(SPHERE, x, ball=BALL).value,
    "tangent_mean": lambda x: tangent_mean(BALL, x),
    "Release": lambda x: _release(x).value,
    "score": DistanceScore(SPHERE, POINTS[0], POINTS[1]),
    "output_grid": output_grid,
    "audit_density_ratio": lambda x: (
        audit_density_ratio(
            RiemannianLaplace(SPHERE, 1.0),
            POINTS[0],
            POINTS[1],
            PureDP(2.0),
            samples=10,
            points=x,
            generator=seeded(),
        ).point
    ),
}


def _release(value):
    release = private_mean(POINTS, BALL, PureDP(1.0), generator=seeded())
    return Release(
        value=value,
        guarantee=release.guarantee,
        mechanism=release.mechanism,
        statistic=release.statistic,
        reason=release.reason,
        sensitivity=release.sensitivity,
        tol=release.tol,
        ball=BALL,
        n=30,
        rounded=release.rounded,
    )


@pytest.mark.parametrize("name", TAKES_POINTS)
def test_the_container_makes_no_difference(name, container):
    function = TAKES_POINTS[name]
    found = function(container(POINTS))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, function(POINTS), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", TAKES_POINTS)
def test_what_is_no_array_of_reals_is_refused(name, refused):
    wrong = refused(POINTS)
    default = wrong is None and name == "audit_density_ratio"
    numbers = getattr(wrong, "dtype", np.dtype(float)).kind == "b" and name == "output_grid"
    if default or numbers:
        return
    with pytest.raises(
        RiemdpError,
        match=rf"{MATCH}|outputs must be real|an array or a list|must have shape|covering radius",
    ):
        TAKES_POINTS[name](wrong)


@pytest.mark.parametrize("name", ["private_mean", "private_ball", "ConformalLaplace.private"])
def test_a_refusal_draws_nothing(name):
    generator = seeded()
    before = generator.bit_generator.state
    masked = np.ma.masked_array(POINTS, mask=POINTS > 0.9)
    options = {"generator": generator}
    with pytest.raises(NotOnManifoldError, match="fill or drop"):
        {
            "private_mean": lambda: private_mean(masked, BALL, PureDP(1.0), **options),
            "private_ball": lambda: private_ball(masked, BALL, PureDP(1.0), **options),
            "ConformalLaplace.private": lambda: ConformalLaplace.private(
                masked, BALL, 1.0, nodes=300, **options
            ),
        }[name]()
    assert generator.bit_generator.state == before


@pytest.mark.parametrize(
    "name", [name for name in TAKES_POINTS if name not in ("Release", "output_grid")]
)
@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda x: np.where(np.arange(30)[:, None] == 4, np.nan, x), "row 4.*NaN"),
        (lambda x: np.where(np.arange(30)[:, None] == 4, np.inf, x), "row 4.*NaN or inf"),
        (lambda x: x[:, :2], "shape"),
        (lambda x: 2.0 * x, "row 0.*norm"),
    ],
)
def test_points_off_the_manifold_are_refused(name, spoil, match):
    with pytest.raises(NotOnManifoldError, match=match):
        TAKES_POINTS[name](spoil(POINTS))


@pytest.mark.parametrize(
    "name",
    [
        "private_mean",
        "private_ball",
        "ConformalLaplace.private",
        "ConformalLaplace.public",
        "frechet_mean",
        "tangent_mean",
        "output_grid",
    ],
)
def test_no_records_at_all_are_refused(name):
    with pytest.raises(RiemdpError, match=r"empty|n >= |outputs"):
        TAKES_POINTS[name](np.empty((0, 3)))


def test_weights(refused):
    weights = np.arange(1.0, 5.0)
    wrong = refused(weights)
    if (
        wrong is None or getattr(wrong, "dtype", np.dtype(float)).kind == "b"
    ):  # the default, and numbers
        assert frechet_mean(Euclidean(3), POINTS[:4], wrong).passes == 1
        return
    with pytest.raises(RiemdpError, match=MATCH):
        frechet_mean(Euclidean(3), POINTS[:4], wrong)


IMAGES = np.random.default_rng(1).random((3, 4, 5))


def test_images(container):
    found = covariance_descriptors(container(IMAGES), 0.1)
    np.testing.assert_allclose(found, covariance_descriptors(IMAGES, 0.1), rtol=1e-10)


def test_what_is_no_array_of_images_is_refused(refused):
    with pytest.raises(RiemdpError, match=r"masked|uint8 or floats|of one size|shape"):
        covariance_descriptors(refused(IMAGES), 0.1)


def test_masked_records_on_matrices_are_refused_too():
    space = SPDLogEuclidean(2)
    ball = Ball(space, np.eye(2), 1.0)
    records = np.repeat(np.diag([1.0, 1.5])[None], 5, axis=0)
    rows = [*records[:4], np.ma.masked_array(records[4], mask=np.eye(2))]
    for function in (
        lambda: private_mean(rows, ball, PureDP(1.0)),
        lambda: private_ball(rows, ball, PureDP(1.0)),
        lambda: frechet_mean(space, rows),
        lambda: tangent_mean(ball, rows),
        lambda: extreme_directions(space, rows[4]),
        lambda: footpoint_pair(space, 0.1, base=rows[4]),
    ):
        with pytest.raises(NotOnManifoldError, match="fill or drop"):
            function()


def test_directions_and_rates_of_an_audit(refused):
    wrong = refused(np.array([1.0, 2.0]))
    attempts = [lambda: claimed_trade_off(PureDP(1.0), wrong)]
    if wrong is not None:  # the default
        attempts += [
            lambda: footpoint_pair(SPHERE, 0.1, direction=wrong),
            lambda: neighbouring_datasets(BALL, 3, direction=wrong),
        ]
    for attempt in attempts:
        with pytest.raises(RiemdpError, match=MATCH):
            attempt()


def test_an_audit_refuses_masked_outputs_data_sets_and_scores():
    def noisy(data, generator):
        return np.mean(data) + generator.laplace(size=2)

    def masked(data, generator):
        return np.ma.masked_array(noisy(data, generator), mask=[True, False])

    class MaskedDraws:
        def sample(self, footpoint, size, generator):
            return np.ma.masked_array(generator.laplace(size=(size, len(footpoint))))

    first, second = np.zeros(4), np.array([0.0, 0.0, 0.0, 1.0])
    options = {"samples": 200, "generator": seeded()}
    audit(noisy, first, second, PureDP(1.0), **options)
    hidden = np.ma.masked_array(second, mask=[False, False, True, False])
    for attempt in (
        lambda: audit(masked, first, second, PureDP(1.0), **options),
        lambda: audit(noisy, first, hidden, PureDP(1.0), **options),
        lambda: audit(
            noisy,
            first,
            second,
            PureDP(1.0),
            score=lambda outputs: np.ma.masked_array(outputs[:, 0]),
            **options,
        ),
        lambda: audit(MaskedDraws(), first, second, PureDP(1.0), **options),
        lambda: LinearScore().fit(np.ma.masked_array(np.eye(3)), np.eye(3)),
    ):
        with pytest.raises(RiemdpError, match="masked"):
            attempt()


@pytest.mark.parametrize("outputs", [0.5, [], np.empty((0, 2))])
def test_outputs_without_rows_are_refused(outputs):
    with pytest.raises(RiemdpError, match="outputs must be"):
        output_grid(outputs)
