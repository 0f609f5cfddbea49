import copy
import json
import pickle
from dataclasses import replace

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
    PureDP,
    Release,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    TangentLaplace,
    UnsupportedError,
    private_mean,
    verify,
)


def make(manifold, budget, radius=0.7, **options):
    ball = Ball(manifold, manifold.origin, radius)
    points = np.broadcast_to(manifold.origin, (40, *manifold.point_shape))
    return private_mean(points, ball, budget, **options)


RELEASES = [
    (Sphere(2), PureDP(1.0), {}),
    (Sphere(3, 2.0), PureDP(0.3), {"mechanism": "tangent-laplace"}),
    (Hyperbolic(2, -0.7), PureDP(2.0), {}),
    (SPDLogEuclidean(3), ApproxDP(1 / 3, 1e-7), {}),
    (SPDLogEuclidean(3), ZCDP(0.1), {"mechanism": "tangent-gaussian"}),
    (SPDAffineInvariant(2), GDP(0.1), {"generator": np.random.default_rng(0)}),
    (SPDAffineInvariant(4), PureDP(1.0), {}),
    (SPDAffineInvariant(4), ApproxDP(1.0, 1e-6), {"mechanism": "riemannian-gaussian"}),
    (SPDAffineInvariant(2), GDP(1.0), {"mechanism": "tangent-gaussian"}),
]


FIELDS = (
    "guarantee",
    "statistic",
    "neighbours",
    "proofs",
    "reason",
    "sensitivity",
    "tol",
    "n",
    "adjacency",
    "proven",
    "private",
    "sigma",
    "expected_distance",
)


@pytest.mark.fast(3)
@pytest.mark.parametrize(("manifold", "budget", "options"), RELEASES)
def test_json_round_trip_is_exact(manifold, budget, options):
    release = make(manifold, budget, **options)
    again = Release.from_json(release.to_json())
    assert np.array_equal(again.value, release.value)
    assert again.mechanism == release.mechanism
    assert again.ball == release.ball
    for name in FIELDS:
        assert getattr(again, name) == getattr(release, name), name
    assert again.error_quantile(0.9) == release.error_quantile(0.9)
    assert again.to_json() == release.to_json()


def test_a_mechanism_of_another_ball_is_not_written():
    release = make(Sphere(2), PureDP(1.0))
    other = Ball(Sphere(2), [0, 1, 0], 0.7)
    for mechanism in (
        RiemannianLaplace(Sphere(3), 0.5),
        TangentLaplace(Sphere(2), 0.5, base=other.center),
    ):
        with pytest.raises(InvalidParameterError, match="cannot be written"):
            replace(release, mechanism=mechanism).to_json()


def test_a_base_without_effect_is_left_out():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    mechanism = TangentLaplace(Euclidean(2), 1.0, base=[5.0, 5.0])
    release = private_mean(np.zeros((9, 2)), ball, PureDP(1.0), mechanism=mechanism)
    assert "base" not in json.loads(release.to_json())["header"]["mechanism"]
    assert verify(release).passed
    assert verify(Release.from_json(release.to_json())).passed


def test_value_cannot_be_changed_in_place():
    release = make(Sphere(2), PureDP(1.0))
    copies = (
        pickle.loads(pickle.dumps(release)),
        copy.deepcopy(release),
        Release.from_json(release.to_json()),
        replace(release, value=release.value.copy()),
    )
    for same in (release, *copies):
        assert np.array_equal(same.value, release.value)
        with pytest.raises(ValueError, match="read-only"):
            same.value[0] = 2.0


@pytest.mark.parametrize(
    "options",
    [{}, {"method": "refined"}, {"adjacency": "add-remove"}],
    ids=["one query", "two", "sums"],
)
def test_copies_say_of_their_noise_what_the_release_says(options):
    """What follows from the integers is found again, and not carried along."""
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.2, (60, 2)))
    release = private_mean(points, ball, GDP(1.0), **options)
    said = release.expected_distance, release.error_quantile(0.9), release.count, release.scales
    for same in (
        pickle.loads(pickle.dumps(release)),
        copy.copy(release),
        copy.deepcopy(release),
        Release.from_json(release.to_json()),
        replace(release),
    ):
        assert np.array_equal(same.value, release.value)
        found = same.expected_distance, same.error_quantile(0.9), same.count, same.scales
        assert found == said
        asked = [(each.sensitivity, each.mechanism) for each in same.offer.asked]
        assert asked == [(each.sensitivity, each.mechanism) for each in release.offer.asked]
    first, *others = release.rounded
    other = replace(release, rounded=(first + 2**30, *others))
    assert not np.array_equal(other._outcome.raw, release._outcome.raw)


def test_every_query_has_one_scale():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    release = private_mean(np.zeros((50, 2)), ball, GDP(1.0), method="refined")
    assert len(release.scales) == 2
    assert release.scales[-1] == release.sigma
    for wrong in ((), release.scales[:1], (*release.scales, 1.0)):
        other = replace(release, scales=wrong)
        with pytest.raises(InvalidParameterError, match="one for each of 2 queries, got"):
            _ = other.offer
        with pytest.raises(UnsupportedError, match="its integers are not those"):
            _ = other.expected_distance
        assert not verify(other).passed
    with pytest.raises(InvalidParameterError, match="a scale"):
        replace(release, scales=(0.0, release.sigma))


def test_an_array_that_is_given_stays_its_own():
    release = make(Sphere(2), PureDP(1.0))
    given = release.value.copy()
    same = replace(release, value=given)
    given[0] += 1.0
    np.testing.assert_array_equal(same.raw, release.raw)
    np.testing.assert_array_equal(same.value, release.value)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("private", "yes"),
        ("private", 1),
        ("sensitivity", None),
        ("sensitivity", "0.1"),
        ("tol", [1e-9]),
        ("mechanism", None),
        ("mechanism", "riemannian-laplace"),
        ("mechanism", RiemannianLaplace),
        ("ball", None),
        ("neighbours", None),
        ("neighbours", "replace-one"),
        ("statistic", 3),
        ("statistic", "frechet-mean"),
        ("n", 40.0),
        ("n", True),
        ("n", None),
        ("reason", None),
        ("guarantee", 1.0),
        ("value", "here"),
        ("stated_proofs", "none"),
        ("stated_proofs", ("ab",)),
        ("stated_proofs", ((1, None),)),
        ("stated_moves", 1.0),
        ("stated_moves", ((1.0, "x"),)),
        ("nonce", None),
        ("nonce", "0" * 31),
    ],
    ids=str,
)
def test_a_field_of_another_type_is_refused_by_name(name, wrong):
    release = private_mean([[0.0]], Ball(Euclidean(1), [0.0], 1.0), PureDP(1.0))
    with pytest.raises(InvalidParameterError, match=name):
        replace(release, **{name: wrong})


def test_numbers_of_numpy_are_those_of_python():
    release = private_mean([[0.0]], Ball(Euclidean(1), [0.0], 1.0), PureDP(1.0))
    again = replace(release, n=np.int64(1), sensitivity=np.float64(release.sensitivity))
    assert again.to_json() == release.to_json()
