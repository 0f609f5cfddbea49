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
    UnsupportedError,
    UnsupportedNeighboursError,
    frechet_mean,
    private_mean,
    private_statistic,
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.spaces import in_units
from riemdp.statistics import (
    AddRemove,
    ClassMoments,
    Counted,
    DirectVariance,
    FrechetMean,
    HuberMean,
    Moments,
    PointStatistic,
    Records,
    RefinedMean,
    ReplacePoint,
    ReplaceUser,
    TangentMean,
    Variance,
    Weighted,
    answer,
    largest_share,
    outline,
)
from riemdp.statistics._records import whole_weights
from riemdp.statistics._sensitivity import alike
from riemdp.statistics.curved import _certified_affine_invariant as certified_matrices
from riemdp.statistics.curved._descent_affine_invariant import whitening
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
CAP = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
HALF_PLANE = Ball(Hyperbolic(2), [1.0, 0.0, 0.0], 1.5)


def _records(ball, n, seed, weights=None):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, ball.manifold.dim))
    lengths = ball.radius * rng.uniform(size=n) ** 0.5
    vectors *= (lengths / np.linalg.norm(vectors, axis=1))[:, None]
    weights = rng.uniform(0.1, 1.0, size=n) if weights is None else weights
    return Records(ball.point(vectors), weights=weights).validated(ball.manifold)


def _query(mean, share, ball):
    return next(Weighted(mean, share).queries(ball))


def _mean(ball, query, records):
    return np.array(answer(query, ball, records, query.tolerance(ball, 1e-3)), dtype=float)


def _moved(ball, vectors, other, weights, query):
    """Distance between means of records whose first one is replaced."""
    changed = vectors.copy()
    changed[0] = other
    ends = [
        ball.point(_mean(ball, query, Records(ball.point(each), weights=weights))[None])[0]
        for each in (vectors, changed)
    ]
    return float(ball.manifold.dist(*ends))


SHARP = {
    "sphere": (CAP, 2.0 * math.tan(1.0), 4000),
    "hyperbolic": (HALF_PLANE, 3.0, 3),
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
    query = _query(FrechetMean(), share, ball)
    found = _moved(ball, vectors, -r * across, weights, query)
    assert found <= query.replace_one(ball, len(vectors), "distance")
    assert found > 1.3 * SHARP[name][1] / len(weights)  # the control: the mean weight for it
    return found / share


@pytest.mark.parametrize("name", SHARP)
def test_constants_are_attained_and_the_mean_weight_is_not_enough(name):
    ball, constant, half = SHARP[name]
    stated = _query(FrechetMean(), 0.01, ball).replace_one(ball, 1000, "distance")
    assert stated == pytest.approx(0.01 * constant, rel=1e-12)
    # on spheres for vanishing shares alone: to first order
    limit = 2.0 * _reached(name, 2 * half) - _reached(name, half)
    assert limit == pytest.approx(constant, rel=1e-6)


@pytest.mark.parametrize("share", [1.0, 0.7, 0.4, math.sqrt(0.1), 0.03])
def test_shares_of_no_whole_number_of_records_count_in_full(share):
    found = [
        _query(mean, share, ball).replace_one(ball, 1000, "coordinates")
        / (2.0 * ball.radius * share)
        for mean, ball in (
            (FrechetMean(), PLANE),
            (TangentMean(), CAP),
            (FrechetMean(), HALF_PLANE),
        )
    ]
    assert found == pytest.approx([1.0] * 3, rel=1e-12)
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
        query = _query(FrechetMean(), share, ball)
        found = _moved(ball, vectors[:-1], vectors[-1], weights, query)
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


@pytest.mark.parametrize("mean", [FrechetMean(), TangentMean()], ids=lambda mean: mean.name)
@pytest.mark.parametrize("name", SPACES)
def test_every_space_has_both_means(name, mean):
    ball = SPACES[name]
    weights = np.random.default_rng(2).uniform(size=12)
    weights[3] = 0.0
    records = _records(ball, 12, 1, weights)
    found = _mean(ball, _query(mean, largest_share(weights), ball), records)
    points = np.asarray(records.points)
    if mean == TangentMean():
        other = weights / weights.sum() @ ball.coordinates(points)
    else:
        solved = frechet_mean(ball.manifold, points, weights=weights / weights.sum(), ball=ball)
        other = ball.coordinates(solved.value[None])[0]
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-10)
    alike_ = dataclasses.replace(records, weights=weights > 0.0)
    even = _mean(ball, _query(mean, 1.0 / 11.0, ball), alike_)
    assert np.abs(found - even).max() > 1e-4  # the control: weights count


def test_sums_are_those_of_integers():
    records = _records(CAP, 50, 3)
    query = _query(TangentMean(), largest_share(records.weights), CAP)
    found = answer(query, CAP, records, 0.0)
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
    for mean in (FrechetMean(), TangentMean()):
        query = _query(mean, 1.0, ball)
        tol = query.tolerance(ball, 1e-3)
        found, same, differs = [answer(query, ball, each, tol) for each in (records, *others)]
        assert found == same
        assert found != differs


@pytest.mark.parametrize("curvature", [1.0, -0.5])
def test_certificates_of_weights_are_those_of_records_that_repeat(space_forms, curvature):
    certificate = space_forms.certificate
    rng = np.random.default_rng(6)
    records, point = rng.uniform(-0.4, 0.4, size=(6, 2)), np.array([0.1, -0.2])
    whole = np.array([1, 3, 2, 1, 1, 5])
    found = certificate(curvature, 0.6, point, records, 1e-9, weights=whole)
    repeated = certificate(curvature, 0.6, point, np.repeat(records, whole, axis=0), 1e-9)
    assert found == repeated
    other = certificate(curvature, 0.6, point, records, 1e-9)
    assert abs(found - other) > 1e-3  # the control


def matrix_certificate(point, records, whole=None):
    frame, moved = whitening(point, 2)
    roots = certified_matrices.roots(records, 2.0)
    seen = certified_matrices.seen_from(frame, roots)
    lost = certified_matrices.lost(frame, roots, seen, 2.0)
    return certified_matrices.bound(
        moved, certified_matrices.added(seen, lost, whole), 2, 2.0, point
    )


def test_certificates_of_matrices_are_those_of_records_that_repeat():
    rng = np.random.default_rng(7)
    records, point = rng.uniform(-0.5, 0.5, size=(6, 2, 2)), np.array([0.1, -0.2, 0.05])
    records += np.swapaxes(records, 1, 2)
    whole = np.array([1, 3, 2, 1, 1, 5])
    found = matrix_certificate(point, records, whole)
    repeated = np.repeat(records, whole, axis=0)
    assert found == pytest.approx(matrix_certificate(point, repeated), rel=1e-9)
    assert abs(found - matrix_certificate(point, records)) > 1e-3  # the control


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
    Weighted(FrechetMean(), 0.5).check_records(records)
    with pytest.raises(InvalidParameterError, match=r"0\.5 of the sum of all, more than"):
        Weighted(FrechetMean(), 0.4999999).check_records(records)
    with pytest.raises(InvalidParameterError, match="is under 1/n"):
        _query(FrechetMean(), 0.3, PLANE).replace_one(PLANE, 3, "distance")
    with pytest.raises(NotOnManifoldError, match="row 0: its weight is more than 1"):
        Weighted(FrechetMean(), 0.5).check_records(
            dataclasses.replace(records, weights=2.0 * weights)
        )
    for share in (0.0, 1.1, math.nan):
        with pytest.raises(InvalidParameterError, match="share"):
            Weighted(TangentMean(), share)


def test_relations_that_keep_no_places_are_refused():
    with pytest.raises(UnsupportedNeighboursError, match="private_weights=True"):
        AddRemove().form(Weighted(FrechetMean(), 0.1), PLANE)
    points = np.zeros((9, 2))
    people = {"people": 9}
    for neighbours, more in (
        (AddRemove(), {}),
        (ReplaceUser(), people),
        (ReplaceUser(contribution=3), people),
    ):
        options = {"weights": np.ones(9), "adjacency": neighbours, **more}
        with pytest.raises(UnsupportedNeighboursError, match="no places in common"):
            private_mean(points, PLANE, GDP(1.0), **options)
    found = private_mean(points, PLANE, GDP(1.0), weights=np.ones(9), adjacency=ReplacePoint())
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


@pytest.mark.parametrize("mean", [FrechetMean(), TangentMean()], ids=lambda mean: mean.name)
def test_they_are_parts(mean):
    check_part(Weighted(mean, 1.0), ball=PLANE)


# Any statistic of means.

INNER = [
    TangentMean(),
    RefinedMean(rounds=3),
    HuberMean(steps=3),
    Moments(),
    Moments("matrix"),
    Variance(),
    Variance("public"),
]


@pytest.mark.parametrize("ball", [PLANE, CAP, Ball(Euclidean(1), [0.2], 1.0)], ids=str)
@pytest.mark.parametrize("inner", INNER, ids=str)
def test_every_answer_moves_by_the_largest_share_and_no_farther(inner, ball, sums):
    """The record of the largest weight is replaced, wherever noise has led."""
    axes = ball.reach * np.eye(ball.manifold.dim)[:2]
    points = ball.point(np.concatenate([axes, -axes, -0.2360679775 * axes]))
    weights = np.array([0.25, 0.5, 1.0])
    share = largest_share(weights)
    for noise in (0.0, 0.2):
        for query in sums.asked(Weighted(inner, share), ball, noise):
            stated = Fraction(query.replace_one(ball, 3, "coordinates"))
            assert float(stated) == pytest.approx(2.0 * ball.reach * share, rel=1e-9)
            ends = [
                answer(query, ball, Records(points[[0, 0, i]], weights=weights), 0.0)
                for i in range(len(points))
            ]
            gaps = [sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in _pairs(ends)]
            assert max(gaps) <= stated**2
            assert noise or max(gaps) > (1 - Fraction(1, 10**6)) * stated**2


def _pairs(ends):
    return [(one, other) for i, one in enumerate(ends) for other in ends[:i]]


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_weights_count_as_records_that_repeat(inner, sums):
    rng = np.random.default_rng(3)
    points, times = CAP.point(0.3 * rng.normal(size=(30, 2))), rng.integers(0, 4, size=30)
    times[0] = 3
    weighted = Weighted(inner, 3.0 / times.sum() * (1.0 + 1e-9))
    # rows are added with thirds that are rounded
    found = sums.walked(weighted, CAP, Records(points, weights=times / 3.0))
    wanted = sums.walked(inner, CAP, np.repeat(points, times, axis=0))
    np.testing.assert_allclose(found.raw, wanted.raw, atol=1e-9)
    assert found.gain == pytest.approx(wanted.gain, rel=1e-9)
    plain = sums.walked(inner, CAP, points)
    assert np.abs(plain.raw - wanted.raw).max() > 1e-3  # the control


def test_only_means_of_points_have_weights():
    for wrong in (ClassMoments((0, 1)), Counted(Moments(), 1.0, weighs=True), "moments", None):
        with pytest.raises(InvalidParameterError, match="points alone"):
            Weighted(wrong, 0.5)
    for wrong in (DirectVariance(), PointStatistic(1.0, 3), Counted(Moments(), 1.0)):
        with pytest.raises(UnsupportedError, match="is no mean, which weights could have"):
            outline(Weighted(wrong, 0.5), PLANE)


def test_titles_and_documents():
    statistic = Weighted(Moments("matrix"), 0.25)
    assert statistic.title == "weighted moments"
    assert statistic.inside == (Moments("matrix"),)
    assert decode(encode(statistic), "statistic") == statistic
    assert Weighted(RefinedMean(), 0.25).caveat == RefinedMean().caveat
    assert set(Weighted(RefinedMean(), 0.25).proofs_on(PLANE)) == {
        "weighted",
        "refined-mean",
        "exact mean",
    }


def test_releases_of_moments_with_public_weights():
    records = _records(CAP, 400, 8)
    statistic = Weighted(Moments("matrix"), largest_share(records.weights))
    found = private_statistic(statistic, records, CAP, GDP(1.0))
    assert found.proven
    assert verify(Release.from_json(found.to_json())).passed
    one = found.sensitivity / statistic.share
    assert one == pytest.approx(2.0 * CAP.radius, rel=1e-9)
    shares = records.weights / records.weights.sum()
    np.testing.assert_allclose(
        found.value.coordinates, shares @ CAP.coordinates(records.points), atol=0.1
    )


def test_no_inference_is_made_as_if_all_weights_were_the_same():
    """A region of so many records would be too small: the mean of few is less certain."""
    records = _records(CAP, 400, 8)
    statistic = Weighted(Moments("matrix"), largest_share(records.weights))
    found = private_statistic(statistic, records, CAP, GDP(1.0))
    with pytest.raises(UnsupportedError):
        found.released_moments()
    plain = private_statistic(Moments("matrix"), records.points, CAP, GDP(1.0))
    assert plain.released_moments().n == 400


@pytest.mark.parametrize("wrong", [[-1.0, 2.0], [0.5, math.nan], [1.0, math.inf], [1.0, 1e300]])
def test_shares_are_of_weights_up_to_one(wrong):
    with pytest.raises(InvalidParameterError, match=r"row \d: its weight is not in \[0, 1\]"):
        largest_share(wrong)
    for other in (["a"], 1.0, [[1.0]], None):
        with pytest.raises(InvalidParameterError, match="weights must"):
            largest_share(other)
