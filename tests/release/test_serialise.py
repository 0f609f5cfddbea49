import json

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
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
    private_statistic,
)
from riemdp._part_document import decode, encode
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace, TangentGaussian, TangentLaplace
from riemdp.release import _serialise
from riemdp.statistics import GeometricMedian

MANIFOLDS = [
    Euclidean(3),
    Sphere(2, 0.1 + 0.2),
    Sphere(1),
    Hyperbolic(4, -1 / 3),
    SPDLogEuclidean(2),
    SPDAffineInvariant(5),
]


@pytest.mark.parametrize("manifold", MANIFOLDS)
def test_manifolds(manifold):
    assert decode(encode(manifold), "manifold") == manifold


@pytest.mark.parametrize("budget", [PureDP(1 / 3), ApproxDP(1.0, 1e-9), GDP(0.1), ZCDP(0.2, 0.1)])
def test_budgets(budget):
    assert decode(encode(budget), "definition") == budget


@pytest.mark.parametrize("manifold", MANIFOLDS)
def test_mechanisms(manifold):
    ball = Ball(manifold, manifold.origin, 0.5)
    mechanisms = [
        TangentGaussian(manifold, 1 / 3, base=ball.center),
        TangentLaplace(manifold, 1 / 3, base=ball.center),
    ]
    if not isinstance(manifold, SPDAffineInvariant):
        mechanisms += [
            RiemannianLaplace(manifold, 0.1),
            RiemannianGaussian(manifold, 0.1),
        ]
    for mechanism in mechanisms:
        document = _serialise.mechanism_to_dict(mechanism, ball)
        assert _serialise.mechanism_from_dict(document, ball, mechanism.sigma) == mechanism


def test_balls():
    ball = Ball(Sphere(2), [0, 0.6, 0.8], 1 / 3)
    document = {"center": ball.center.tolist(), "radius": ball.radius}
    assert _serialise.ball_from_dict(ball.manifold, document) == ball
    for radius in ("wide", "0.5", None, [0.5], {}, True):
        with pytest.raises((InvalidParameterError, UnsupportedBallError)):
            _serialise.ball_from_dict(ball.manifold, document | {"radius": radius})


def test_unknown_names_are_refused():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    with pytest.raises(InvalidParameterError, match="Klein"):
        decode({"type": "Klein"}, "manifold")
    with pytest.raises(InvalidParameterError, match="Blessing"):
        decode({"type": "Blessing"}, "definition")
    with pytest.raises(InvalidParameterError, match="magic"):
        _serialise.mechanism_from_dict({"type": "magic"}, ball, 1.0)
    with pytest.raises(InvalidParameterError, match="options"):
        _serialise.mechanism_from_dict({"type": "tangent-laplace", "options": ["ball"]}, ball, 1.0)
    assert np.isfinite(ball.radius)


def test_scales_of_several_answers():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    release = private_statistic(GeometricMedian(steps=2), np.zeros((50, 2)), ball, GDP(1.0))
    document = json.loads(release.to_json())
    header = document["header"]
    queries = header["queries"]
    assert [query["sigma"] for query in queries] == list(release.scales)
    assert Release.from_json(release.to_json()).scales == release.scales
    first, last = queries[0], queries[-1]

    def read(given):
        changed = {**document, "header": {**header, "queries": given}}
        return Release.from_json(json.dumps(changed))

    for wrong in ([], [last], last, None, [*queries, last]):
        with pytest.raises(InvalidParameterError, match="queries must be a list of"):
            read(wrong)
    for wrong in (0.0, -1.0, "x", None, [1.0]):
        with pytest.raises(InvalidParameterError, match="sigma"):
            read([{**first, "sigma": wrong}, *queries[1:]])
    for name, wrong in (("dim", 7), ("dim", 2.0), ("share", 0.5), ("share", 1), ("grid", 3)):
        with pytest.raises(InvalidParameterError, match=f"{name} of a query is"):
            read([{**first, name: wrong}, *queries[1:]])
