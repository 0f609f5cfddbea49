"""Means with public weights: their constants, their integers and their certificates."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Grassmann,
    Hyperbolic,
    InvalidParameterError,
    KendallShapes,
    NotOnManifoldError,
    PlanarShapes,
    Product,
    ProjectiveSpace,
    QuotientBall,
    Release,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    Torus,
    UnsupportedNeighboursError,
    frechet_mean,
    private_mean,
    verify,
)
from riemdp.statistics import (
    AddRemove,
    Records,
    ReplacePoint,
    ReplaceUser,
    WeightedFrechetMean,
    WeightedTangentMean,
    answer,
    largest_share,
)
from riemdp.statistics import _certified_affine_invariant as certified_matrices
from riemdp.statistics._certified_space_form import certificate
from riemdp.statistics._enclosed_point import whitening
from riemdp.statistics._records import in_units
from riemdp.statistics._sensitivity import alike
from riemdp.statistics._weighted_means import whole_weights
from riemdp.testing import check_part


def numbers(*given):
    """An answer in float64."""
    return np.array(answer(*given), dtype=float)


PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
CAP = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)


def _records(ball, n, seed, weights=None):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, ball.manifold.dim))
    lengths = ball.radius * rng.uniform(size=n) ** 0.5
    vectors *= (lengths / np.linalg.norm(vectors, axis=1))[:, None]
    weights = rng.uniform(0.1, 1.0, size=n) if weights is None else weights
    return Records(ball.point(vectors), weights=weights).validated(ball.manifold)


def _mean(ball, statistic, records):
    tol = statistic.tolerance(ball, 1e-3)
    return numbers(statistic, ball, records, tol)


def _moved(ball, vectors, other, weights, statistic):
    """Distance between means of records whose first one is replaced."""
    changed = vectors.copy()
    changed[0] = other
    ends = [
        ball.point(_mean(ball, statistic, Records(ball.point(each), weights=weights))[None])[0]
        for each in (vectors, changed)
    ]
    return float(ball.manifold.dist(*ends))


SHARP = {
    "sphere": (CAP, 2.0 * math.tan(1.0), 4000),
    "hyperbolic": (Ball(Hyperbolic(2), [1.0, 0.0, 0.0], 1.5), 3.0, 3),
    "plane": (PLANE, 2.0, 3),
    "matrices": (Ball(SPDAffineInvariant(2), np.eye(2), 1.2), 2.4, 3),
}


def _reached(name, half):
    """How far a record of twice the others' weight moves their mean, in units of its share."""
    ball = SHARP[name][0]
    along = np.eye(ball.manifold.dim)[0]
    across = np.eye(ball.manifold.dim)[1 if name == "sphere" else 0]
    r = ball.radius * (1.0 - 1e-12)
    vectors = r * np.concatenate([across[None], *[[along], [-along]] * half])
    weights = np.full(len(vectors), 0.5)
    weights[0] = 1.0
    share = largest_share(weights)
    statistic = WeightedFrechetMean(share)
    found = _moved(ball, vectors, -r * across, weights, statistic)
    assert found <= statistic.replace_one(ball, len(vectors), "distance")
    assert found > 1.3 * SHARP[name][1] / len(weights)  # the control: the mean weight for it
    return found / share


@pytest.mark.parametrize("name", SHARP)
def test_constants_are_attained_and_the_mean_weight_is_not_enough(name):
    ball, constant, half = SHARP[name]
    stated = WeightedFrechetMean(0.01).replace_one(ball, 1000, "distance")
    assert stated == pytest.approx(0.01 * constant, rel=1e-12)
    # on spheres for vanishing shares alone: to first order
    limit = 2.0 * _reached(name, 2 * half) - _reached(name, half)
    assert limit == pytest.approx(constant, rel=1e-6)


@pytest.mark.parametrize("share", [1.0, 0.7, 0.4, math.sqrt(0.1), 0.03])
def test_shares_of_no_whole_number_of_records_count_in_full(share):
    found = [
        statistic.replace_one(PLANE, 1000, "coordinates") / (2.0 * PLANE.radius * share)
        for statistic in (WeightedFrechetMean(share), WeightedTangentMean(share))
    ]
    assert found == pytest.approx([1.0, 1.0], rel=1e-12)
    assert min(found) >= 1.0
    few = alike(share)
    assert Fraction(few) * Fraction(share) <= 1  # rounded down, so that the bound is not
    assert Fraction(math.nextafter(few, math.inf)) * Fraction(share) > 1


def test_so_many_records_are_rounded_down():
    shares = np.random.default_rng(0).uniform(0.01, 1.0, size=200)
    exact = [Fraction(float(share)) for share in shares]
    assert all(Fraction(alike(float(share))) * share <= 1 for share in exact)
    assert any(Fraction(1.0 / float(share)) * share > 1 for share in exact)  # the control


@pytest.mark.parametrize("name", SHARP)
def test_no_record_moves_a_weighted_mean_farther(name):
    ball, constant, _ = SHARP[name]
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 3, 5, 8):
        vectors = rng.normal(size=(n + 1, ball.manifold.dim))
        vectors *= ball.radius * (1.0 - 1e-12) / np.linalg.norm(vectors, axis=1)[:, None]
        weights = rng.uniform(size=n) ** 3
        weights[0] = 1.0
        share = largest_share(weights)
        statistic = WeightedFrechetMean(share)
        found = _moved(ball, vectors[:-1], vectors[-1], weights, statistic)
        assert found <= min(2.0 * ball.radius, constant * share) * (1.0 + 1e-9)


SPACES = {
    "sphere": CAP,
    "circle": Ball(Sphere(1), [0.0, 1.0], 1.0),
    "hyperbolic": SHARP["hyperbolic"][0],
    "plane": PLANE,
    "affine-invariant": Ball(SPDAffineInvariant(2), [[2.0, 0.5], [0.5, 1.0]], 1.0),
    "log-euclidean": Ball(SPDLogEuclidean(2), np.eye(2), 1.0),
    "subspaces": Ball(Grassmann(2, 4), Grassmann(2, 4).origin, 0.5),
    "shapes": Ball(PlanarShapes(4), PlanarShapes(4).origin, 0.5),
    "product": Ball(
        Product(Sphere(2), Hyperbolic(2)), Product(Sphere(2), Hyperbolic(2)).origin, 0.8
    ),
    "axes": Ball(ProjectiveSpace(2), ProjectiveSpace(2).origin, 0.6),
    "torus": Ball(Torus(2), Torus(2).origin, 0.6),
    "aligned": QuotientBall(
        KendallShapes(4), np.random.default_rng(9).normal(size=(4, 3)), 0.4, mean="aligned"
    ),
}


@pytest.mark.parametrize("kind", [WeightedFrechetMean, WeightedTangentMean])
@pytest.mark.parametrize("name", SPACES)
def test_every_space_has_both_means(name, kind):
    ball = SPACES[name]
    weights = np.random.default_rng(2).uniform(size=12)
    weights[3] = 0.0
    records = _records(ball, 12, 1, weights)
    statistic = kind(largest_share(weights))
    found = _mean(ball, statistic, records)
    points = np.asarray(records.points)
    if kind is WeightedTangentMean:
        other = weights / weights.sum() @ ball.coordinates(points)
    else:
        mean = frechet_mean(ball.manifold, points, weights=weights / weights.sum(), ball=ball)
        other = ball.coordinates(mean.value[None])[0]
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-10)
    even = _mean(ball, kind(1.0 / 11.0), dataclasses.replace(records, weights=weights > 0.0))
    assert np.abs(found - even).max() > 1e-4  # the control: weights count


def test_sums_are_those_of_integers():
    records = _records(CAP, 50, 3)
    statistic = WeightedTangentMean(largest_share(records.weights))
    found = answer(statistic, CAP, records, 0.0)
    grid = Fraction(CAP.reach) / 2**40
    whole = [math.floor(Fraction(w) * 2**40) for w in records.weights]
    rows = in_units(CAP.coordinates(records.points), CAP.reach)
    for column, x in enumerate(found):
        terms = [math.trunc(Fraction(v) * 2**40) for v in rows[:, column]]
        assert x == sum(q * t for q, t in zip(whole, terms, strict=True)) * grid / sum(whole)


@pytest.mark.parametrize("name", ["sphere", "affine-invariant", "plane", "subspaces"])
def test_a_record_without_weight_counts_for_nothing(name):
    ball = SPACES[name]
    records = _records(ball, 9, 4, np.array([1.0, 0.0] + [0.5] * 7))
    others = []
    for row in (1, 0):
        points = np.array(records.points)
        points[row] = ball.center
        others.append(records.with_points(points))
    for statistic in (WeightedFrechetMean(1.0), WeightedFrechetMean(1.0)):
        tol = statistic.tolerance(ball, 1e-3)
        found, same, differs = [answer(statistic, ball, each, tol) for each in (records, *others)]
        assert found == same
        assert found != differs


@pytest.mark.parametrize("curvature", [1.0, -0.5])
def test_certificates_of_weights_are_those_of_records_that_repeat(curvature):
    rng = np.random.default_rng(6)
    records, point = rng.uniform(-0.4, 0.4, size=(6, 2)), np.array([0.1, -0.2])
    whole = np.array([1, 3, 2, 1, 1, 5])
    found = certificate(curvature, 1.0, point, records, 1e-9, weights=whole)
    repeated = certificate(curvature, 1.0, point, np.repeat(records, whole, axis=0), 1e-9)
    assert found == pytest.approx(repeated, rel=1e-9)
    other = certificate(curvature, 1.0, point, records, 1e-9)
    assert abs(found - other) > 1e-3  # the control


def matrix_certificate(point, logs, vectors, whole=None):
    frame, moved = whitening(point, 2)
    seen = certified_matrices.seen_from(frame, logs, vectors)
    return certified_matrices.bound(moved, certified_matrices.added(*seen, whole), 2)


def test_certificates_of_matrices_are_those_of_records_that_repeat():
    rng = np.random.default_rng(7)
    logs, point = rng.uniform(-0.5, 0.5, size=(6, 2)), np.array([0.1, -0.2, 0.05])
    vectors = np.linalg.qr(rng.normal(size=(6, 2, 2)))[0]
    whole = np.array([1, 3, 2, 1, 1, 5])
    found = matrix_certificate(point, logs, vectors, whole)
    pairs = [np.repeat(each, whole, axis=0) for each in (logs, vectors)]
    assert found == pytest.approx(matrix_certificate(point, *pairs), rel=1e-9)
    assert abs(found - matrix_certificate(point, logs, vectors)) > 1e-3  # the control


def test_the_largest_share_is_of_the_integers_and_rounded_up():
    assert largest_share([1.0, 1.0]) == 0.5
    assert largest_share([1.0, 1e-13]) == 1.0  # under 2^-40
    found = Fraction(largest_share([1.0, 1.0, 1.0]))
    assert Fraction(1, 3) <= found < Fraction(1, 3) + Fraction(1, 10**15)
    assert whole_weights([0.0, 2.0**-41, 2.0**-40, 1.0]).tolist() == [0, 0, 1, 2**40]
    with pytest.raises(InvalidParameterError, match="must not all be 0"):
        largest_share([0.0, 1e-13])


def test_weights_have_the_share_that_is_stated():
    weights = np.array([1.0, 0.5, 0.5])
    records = Records(np.zeros((3, 2)), weights=weights).validated(PLANE.manifold)
    WeightedFrechetMean(0.5).check_records(records)
    with pytest.raises(InvalidParameterError, match=r"0\.5 of the sum of all, more than"):
        WeightedFrechetMean(0.4999999).check_records(records)
    with pytest.raises(InvalidParameterError, match="is under 1/n"):
        WeightedFrechetMean(0.3).replace_one(PLANE, 3, "distance")
    with pytest.raises(NotOnManifoldError, match="row 0: its weight is more than 1"):
        WeightedFrechetMean(0.5).check_records(dataclasses.replace(records, weights=2.0 * weights))
    for share in (0.0, 1.1, math.nan):
        with pytest.raises(InvalidParameterError, match="share"):
            WeightedTangentMean(share)


def test_relations_that_keep_no_places_are_refused():
    with pytest.raises(UnsupportedNeighboursError, match="private_weights=True"):
        AddRemove().form(WeightedFrechetMean(0.1), PLANE)
    points = np.zeros((9, 2))
    people = {"people": 9}
    for neighbours, more in (
        (AddRemove(), {}),
        (ReplaceUser(), people),
        (ReplaceUser(contribution=3), people),
    ):
        options = {"weights": np.ones(9), "neighbours": neighbours, **more}
        with pytest.raises(UnsupportedNeighboursError, match="no places in common"):
            private_mean(points, PLANE, GDP(1.0), **options)
    found = private_mean(points, PLANE, GDP(1.0), weights=np.ones(9), neighbours=ReplacePoint())
    assert found.sensitivity == pytest.approx(2.0 / 9.0)


def test_a_document_with_another_share_or_relation_fails():
    records = _records(CAP, 20, 8)
    found = private_mean(records.points, CAP, GDP(1.0), weights=records.weights)
    assert found.proven
    document = found.to_json()
    read = Release.from_json(document)
    assert verify(read).passed
    assert read.statistic.share == largest_share(records.weights / records.weights.max())
    stated = f'"share": {read.statistic.share!r}'
    assert stated in document
    for other in (0.9 * read.statistic.share, 1.1 * read.statistic.share):
        tampered = Release.from_json(document.replace(stated, f'"share": {other!r}'))
        failed = {check.name for check in verify(tampered).checks if not check.passed}
        assert "sensitivity" in failed
    shifted = dataclasses.replace(read, neighbours=ReplaceUser())
    assert "sensitivity" in {check.name for check in verify(shifted).checks if not check.passed}


@pytest.mark.parametrize("kind", [WeightedFrechetMean, WeightedTangentMean])
def test_they_are_parts(kind):
    check_part(kind(1.0), ball=PLANE)


@pytest.mark.parametrize("wrong", [[-1.0, 2.0], [0.5, math.nan], [1.0, math.inf], [1.0, 1e300]])
def test_shares_are_of_weights_up_to_one(wrong):
    with pytest.raises(InvalidParameterError, match=r"row \d: its weight is not in \[0, 1\]"):
        largest_share(wrong)
    for other in (["a"], 1.0, [[1.0]], None):
        with pytest.raises(InvalidParameterError, match="weights must"):
            largest_share(other)
