import json

import numpy as np
import pytest

from riemdp import (
    GDP,
    ZCDP,
    ApproxDP,
    Ball,
    Hyperbolic,
    InvalidParameterError,
    PureDP,
    Release,
    RiemdpError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    private_mean,
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
]


FIELDS = (
    "guarantee",
    "summary",
    "reason",
    "sensitivity",
    "tol",
    "n",
    "adjacency",
    "proven",
    "private",
    "reproducible",
    "numerical_delta",
    "sigma",
    "expected_distance",
)


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


def test_json_of_a_restricted_mechanism():
    from riemdp import RiemannianLaplace

    ball = Ball(Sphere(2), [0, 0, 1], 0.7)
    mechanism = RiemannianLaplace(ball.manifold, 0.5, ball=ball)
    release = private_mean([[0, 0, 1.0]] * 9, ball, PureDP(1.0), mechanism=mechanism)
    assert Release.from_json(release.to_json()).mechanism == mechanism


@pytest.mark.parametrize(
    "change",
    [
        {"format": "riemdp-release/99"},
        {"manifold": {"type": "Torus", "dim": 2}},
        {"manifold": {"type": "Sphere", "dim": 2, "colour": 1}},
        {"guarantee": {"type": "PureDP"}},
        {"guarantee": {"type": "PureDP", "epsilon": -1.0}},
        {"mechanism": {"name": "magic", "sigma": 1.0}},
        {"mechanism": {"name": "tangent-gaussian", "sigma": 1.0, "restricted_to_ball": True}},
        {"ball": {}},
        {"n": "many"},
        {"n": None},
        {"expected_distance": "small"},
        {"value": [0.0, 0.0, 7.0]},
    ],
)
def test_malformed_documents_are_refused(change):
    document = json.loads(make(Sphere(2), PureDP(1.0)).to_json()) | change
    with pytest.raises(RiemdpError):
        Release.from_json(json.dumps(document))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "not json", "[" * 100_000])
def test_other_text_is_refused(text):
    with pytest.raises(InvalidParameterError, match="not a release"):
        Release.from_json(text)


def test_value_cannot_be_changed_in_place():
    release = make(Sphere(2), PureDP(1.0))
    with pytest.raises(ValueError, match="read-only"):
        release.value[0] = 2.0
