"""Points whose sensitivity the caller declares."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    PureDP,
    Release,
    SPDAffineInvariant,
    Sphere,
    UnprovenMechanismError,
    UnsupportedManifoldError,
    plan,
    private_statistic,
    verify,
)
from riemdp._part import registered
from riemdp.statistics import Groups, PointStatistic

UNPROVEN = {"allow_unproven": True}


def middle(records):
    """The record in the middle of an order that each record has of itself."""
    order = np.argsort(records.reshape(len(records), -1)[:, 0], kind="stable")
    return records[order[len(records) // 2]]


def data(manifold, n, random_points):
    return random_points(manifold, np.random.default_rng(0), n, 0.3)


@pytest.mark.fast(3)
@pytest.mark.parametrize(
    "manifold", [Euclidean(2), SPDAffineInvariant(2), Sphere(2), Hyperbolic(2)], ids=str
)
def test_a_point_is_planned_released_charged_and_verified(manifold, random_points):
    ball, n = Ball(manifold, manifold.origin, 1.0), 21
    statistic = PointStatistic(0.2, n, function=middle)
    table = plan(manifold, 1.0, n, PureDP(1.0), statistic=statistic)
    assert table["riemannian-laplace"].unproven == "point-statistic"
    points = data(manifold, n, random_points)
    account = Accountant(PureDP(1.5))
    for _ in range(2):  # refused before anything is charged
        with pytest.raises(UnprovenMechanismError, match="point-statistic"):
            private_statistic(statistic, points, ball, PureDP(1.0), accountant=account)
    release = private_statistic(
        statistic,
        points,
        ball,
        PureDP(1.0),
        mechanism="riemannian-laplace",
        **UNPROVEN,
        accountant=account,
        generator=np.random.default_rng(1),
    )
    assert [entry.guarantee for entry in account.ledger] == [PureDP(1.0)]
    assert release.sigma == pytest.approx(0.2, rel=1e-6)
    assert release.sensitivity >= 0.2
    assert not release.proven
    assert ball.contains(release.value)
    again = Release.from_json(release.to_json())
    assert again.statistic == statistic
    assert again.statistic.function is None
    failed = [check.name for check in verify(again).checks if not check.passed]
    assert failed == ["proof"]
    with pytest.raises(InvalidParameterError, match="read from a document"):
        private_statistic(again.statistic, points, ball, PureDP(1.0), **UNPROVEN)


def test_a_citation_is_the_proof():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    statistic = PointStatistic(2.0, 5, "https://example.org/median", function=middle)
    release = private_statistic(statistic, np.zeros((5, 1)), ball, PureDP(1.0))
    assert release.proven
    assert release.proofs["point-statistic"] == "https://example.org/median"
    assert verify(Release.from_json(release.to_json())).passed


def test_the_noise_is_about_the_point(random_points):
    manifold = Sphere(2)
    ball, points = Ball(manifold, manifold.origin, 1.0), data(manifold, 21, random_points)
    statistic = PointStatistic(1e-9, 21, function=middle)
    for mechanism in ("riemannian-laplace", "riemannian-gaussian"):
        release = private_statistic(
            statistic, points, ball, GDP(1.0), mechanism=mechanism, **UNPROVEN
        )
        assert manifold.dist(release.value, middle(ball.project(points))) < 1e-6


def test_records_are_clipped_before_the_function_sees_them():
    seen = []

    def function(records):
        seen.append(records)
        return records[0]

    ball = Ball(Euclidean(1), [0.0], 1.0)
    statistic = PointStatistic(2.0, 3, function=function)
    private_statistic(statistic, [[5.0], [0.5], [-7.0]], ball, PureDP(1.0), **UNPROVEN)
    np.testing.assert_array_equal(seen[0], [[1.0], [0.5], [-1.0]])


def test_a_sensitivity_is_declared_for_one_n():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    statistic = PointStatistic(0.1, 100, function=middle)
    query = next(statistic.queries(ball))
    assert query.replace_one(ball, 100, "distance") == 0.1
    assert query.replace_one(ball, 100, "coordinates") == 0.1
    assert Groups(3).sensitivity(query, ball, 100, "distance") >= 0.3
    with pytest.raises(InvalidParameterError, match=r"n = 100 records, got 10"):
        private_statistic(statistic, np.zeros((10, 1)), ball, PureDP(1.0), **UNPROVEN)


def test_a_distance_bounds_coordinates_where_the_exponential_does_not_shrink():
    statistic = PointStatistic(0.1, 10)
    sphere, plane = (Ball(m, m.origin, 1.0) for m in (Sphere(2), Hyperbolic(2)))
    assert next(statistic.queries(plane)).replace_one(plane, 10, "coordinates") == 0.1
    with pytest.raises(UnsupportedManifoldError, match="Riemannian mechanism"):
        next(statistic.queries(sphere)).replace_one(sphere, 10, "coordinates")
    # the control: on the sphere coordinates are farther apart than the points
    ends = np.array([[0.99, 0.0], [0.9, 0.41]])
    for ball, longer in ((sphere, True), (plane, False)):
        dist = ball.manifold.dist(*ball.point(ends))
        assert (np.linalg.norm(ends[0] - ends[1]) > dist) is np.bool_(longer)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([0.0, 0.0], "one point of shape"),
        ([[0.0, 0.0, 1.0]], "one point of shape"),
        ([0.0, 0.0, 2.0], "no point"),
        ([np.nan, 0.0, 1.0], "no point"),
        ("text", "one point of shape"),
    ],
)
def test_what_is_no_point_is_refused_without_its_coordinates(value, words):
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    statistic = PointStatistic(0.1, 4, function=lambda _: value)
    with pytest.raises(InvalidParameterError, match=words) as caught:
        private_statistic(statistic, np.tile(ball.center, (4, 1)), ball, PureDP(1.0), **UNPROVEN)
    assert "2.0" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: PointStatistic(0.0, 4),
        lambda: PointStatistic(np.inf, 4),
        lambda: PointStatistic(0.1, 0),
        lambda: PointStatistic(0.1, 4, citation=3),
        lambda: PointStatistic(0.1, 4, function=3),
    ],
)
def test_bad_arguments(wrong):
    with pytest.raises(InvalidParameterError):
        wrong()


def test_it_is_a_part_that_documents_can_name():
    assert "point-statistic" in registered("statistic")
