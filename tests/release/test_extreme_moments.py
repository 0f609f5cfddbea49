"""Sums and moments at the ends of what is valid: records, documents, shares and values."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    NotOnManifoldError,
    Release,
    RiemdpError,
    SPDAffineInvariant,
    private_huber,
    private_median,
    private_moments,
    private_statistic,
    private_variance,
    verify,
)
from riemdp.kernel import Vector
from riemdp.spaces import Product
from riemdp.statistics import Moments, NamedValues, Recentred, SumStatistic


def _huge(k):
    return 1e308 * (0.5 * np.eye(k) + 0.5 * np.ones((k, k)))


@pytest.mark.parametrize("k", [3, 5])
def test_a_record_that_overflows_as_seen_from_the_centre_is_clipped(k):
    space = SPDAffineInvariant(k)
    ball = Ball(space, 0.5 * np.eye(k), 1.0)
    found = ball.project(space.validate(_huge(k)[None]))
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    "release",
    [
        lambda x, ball: private_moments(x, ball, GDP(1.0), base="recentred"),
        lambda x, ball: private_variance(x, ball, GDP(1.0)),
        lambda x, ball: private_median(x, ball, GDP(1.0)),
        lambda x, ball: private_huber(x, ball, GDP(1.0)),
    ],
)
def test_no_valid_record_makes_a_release_fail(release):
    points = np.repeat(np.eye(3)[None], 20, axis=0)
    points[-1] = _huge(3)
    release(points, Ball(SPDAffineInvariant(3), 0.5 * np.eye(3), 1.0))


def test_a_factor_that_overflows_is_clipped_with_its_record():
    space = Product(SPDAffineInvariant(3), Euclidean(2))
    center = space.join([0.5 * np.eye(3), np.zeros(2)])
    ball = Ball(space, center, 1.0)
    points = space.join([np.stack([np.eye(3), _huge(3)]), np.array([[0.1, 0.0], [0.3, 0.4]])])
    found = ball.project(points)
    assert ball.contains(found).all()
    matrix, vector = space.split(found[1])
    np.testing.assert_array_equal(matrix, 0.5 * np.eye(3))
    np.testing.assert_allclose(vector, [0.3, 0.4])
    private_moments(points, ball, GDP(1.0), base="recentred")


def _not_definite_from(ball, rng):
    """A valid matrix that is not definite in float64 as seen from the centre."""
    k = len(ball.center)
    while True:
        scales = np.exp(rng.uniform(-25.0, 25.0, size=k))
        found = scales[:, None] * (0.9 * np.eye(k) + 0.1) * scales
        try:
            found = ball.manifold.validate(0.5 * (found + found.T)[None])
        except NotOnManifoldError:
            continue
        try:
            ball.manifold.log(ball.center, found)
        except NotOnManifoldError:
            return found[0]


@pytest.mark.fast("5", "13")
@pytest.mark.parametrize("k", [5, 13, 32])  # one or more of them, by the processor
def test_clipping_of_other_records_does_not_depend_on_one_that_is_not_definite_from_there(k):
    rng = np.random.default_rng(k)
    space = SPDAffineInvariant(k)
    q = np.linalg.qr(rng.normal(size=(k, k)))[0]
    center = (q * np.exp(np.linspace(-13.0, 13.0, k))) @ q.T
    ball = Ball(space, 0.5 * (center + center.T), 1.0)
    points = space.point(ball.center, 0.5 * rng.normal(size=(800, space.dim)))
    with_graded = points.copy()
    with_graded[77] = _not_definite_from(ball, rng)
    first, second = ball.project(points), ball.project(with_graded)
    others = np.arange(len(points)) != 77
    assert first[others].tobytes() == second[others].tobytes()


def test_records_next_to_the_centre_stay_what_they_are_beside_one_that_overflows():
    space = SPDAffineInvariant(3)
    ball = Ball(space, 0.25 * np.eye(3), 1.0)
    near = 0.25 * np.eye(3)
    near[0, 1] = near[1, 0] = 1e-320
    points = np.stack([near, 0.3 * np.eye(3), _huge(3), 0.25 * np.eye(3)])
    found = ball.project(points)
    for i in (0, 1, 3):
        assert found[i].tobytes() == points[i].tobytes()
    np.testing.assert_array_equal(found[2], ball.center)


@dataclass(frozen=True)
class _InMillimetres(SumStatistic):
    name: ClassVar[str] = "mypackage.InMillimetres"
    proof: ClassVar[str | None] = "mypackage/proof.md"

    def shape(self, dim):
        return Vector(dim)

    def unit(self, ball):
        return 1e-3

    def parts(self, view, features, deviation, relative):
        return {"mean": features}


def test_a_unit_of_the_inner_statistic_takes_no_noise_from_a_second_round():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    try:
        release = private_statistic(Recentred(_InMillimetres()), np.zeros((20, 2)), ball, GDP(1.0))
    except RiemdpError:
        return
    assert release.sensitivity >= 2.0 / 20


@pytest.mark.parametrize("base", ["public", "recentred"])
def test_documents_whose_value_has_one_more_axis_do_not_verify(base):
    ball = Ball(Euclidean(1), np.zeros(1), 1.0)
    document = json.loads(private_moments(np.zeros((5, 1)), ball, GDP(1.0), base=base).to_json())
    document["value"] = [document["value"]]
    assert not verify(Release.from_json(json.dumps(document))).passed


def test_a_short_document_does_not_ask_for_much_memory():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    release = private_moments(np.zeros((5, 2)), ball, GDP(1.0), second="matrix")
    document = json.loads(release.to_json())
    document["header"]["manifold"]["dim"], document["header"]["ball"]["center"] = (
        100_000,
        [0] * 100_000,
    )
    with pytest.raises(RiemdpError):  # 40 GB otherwise
        Release.from_json(json.dumps(document))


def test_a_shrunk_draw_says_no_variance_beyond_the_ball():
    ball = Ball(Euclidean(4), np.zeros(4), 1.0)
    release = private_moments(np.zeros((60, 4)), ball, GDP(0.05), mechanism="tangent-gaussian")
    value = release.shrink().value
    assert math.isnan(value.mean_sd)
    assert value.variance <= 1.0


@pytest.mark.parametrize("share", [5e-324, 1e-305])
def test_no_share_loses_a_release_after_its_charge(share):
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    charged = []

    class Account:
        def spend(self, guarantee, label):
            charged.append(guarantee)

    try:
        moments = Recentred(Moments(), share)
        private_statistic(moments, np.zeros((5, 2)), ball, GDP(1e-5), accountant=Account())
    except RiemdpError:
        assert not charged


def test_named_values_are_what_they_say():
    first, second = (NamedValues(np.array([z, 1.0]), {"x": 1}) for z in (0.0, -0.0))
    assert first == second
    assert hash(first) == hash(second)
    with pytest.raises(AttributeError):
        first.x = 2


def test_values_out_of_the_range_of_the_statistic_are_found():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    release = private_variance(np.zeros((5, 2)), ball, GDP(1.0))
    document = json.loads(release.to_json())
    document["value"] = [-5.0]
    assert not verify(Release.from_json(json.dumps(document))).passed
