"""Moments of classes: private labels cost the sums nothing, and nothing tells a label apart."""

from __future__ import annotations

import itertools
import json
import math
import os
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from riemdp import (
    GDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    PureDP,
    Release,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedNeighboursError,
    check,
    private_statistic,
    tangent_mean_sensitivity,
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.auditing import audit
from riemdp.release._offer import exact_sensitivity
from riemdp.statistics import (
    ClassMoments,
    Groups,
    Recentred,
    Records,
    ReplaceOne,
    ReplacePoint,
    answer,
)
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

SECONDS = ["none", "scalar", "matrix"]
BALLS = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Euclidean(3), [1.0, 0.0, -1.0], 4.0),
    Ball(Sphere(2), [0.0, 0.6, 0.8], 3.1),
    Ball.whole(Sphere(2)),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 2.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 3.0),
]
PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)


def extremes(ball, labels=(0, 1, 2)):
    """Records that a search for the largest move should meet, some of them outside."""
    dim = ball.manifold.dim
    axes = np.eye(dim)[:2]
    rows = [*axes, *-axes, -0.2360679775 * axes[0], 2.0 * axes[-1], 0.0 * axes[0]]
    rows = np.array([*rows, *np.random.default_rng(0).normal(size=(3, dim))])
    points = ball.point(ball.reach * np.tile(rows, (len(labels), 1)))
    return Records(points, labels=np.repeat(labels, len(rows)))


def records_of(ball, n=60, classes=3):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, size=n)
    centres = 0.4 * ball.reach * rng.normal(size=(classes, ball.manifold.dim))
    rows = centres[labels] + 0.1 * ball.reach * rng.normal(size=(n, ball.manifold.dim))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return Records(ball.point(rows * np.minimum(1.0, 0.9 * ball.reach / lengths)), labels=labels)


def exactly(statistic, ball, records):
    """The answer to its one query, in float64."""
    return np.array(answer(statistic.query(ball), ball, records, 0.0), dtype=float)


def shuffled(records, order):
    return Records(np.asarray(records.points)[order], labels=np.asarray(records.labels)[order])


# Sensitivity: of the integers that are added, on which all of the guarantee rests.


@pytest.mark.fast(4)
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_no_record_moves_a_sum_farther_than_it_says(ball, second, sums):
    query = ClassMoments((0, 1, 2), second).query(ball)
    for n in (1, 2):
        found = sums.worst_of(query, ball, extremes(ball), n)
        assert found <= 1  # exactly: no allowance for rounding
        assert found > 1 - Fraction(1, 10**8)
    alone = tangent_mean_sensitivity(ball, 7)
    assert query.replace_one(ball, 7, "coordinates") == pytest.approx(alone, rel=1e-11)


@pytest.mark.parametrize("second", SECONDS)
def test_a_label_that_moves_costs_as_much_as_a_point(second, sums):
    """With shares and without a scalar, both attain the bound."""
    query = ClassMoments((0, 1), second).query(PLANE)
    if second == "matrix":  # at right angles
        pair = Records(np.eye(2), labels=[0, 1])
    else:
        pair = Records(np.array([[1.0, 0.0], [1.0, 0.0]]), labels=[0, 1])
    assert 1 - Fraction(1, 10**6) < sums.worst_of(query, PLANE, pair) <= 1
    pair = Records(np.array([[1.0, 0.0], [-1.0, 0.0]]), labels=[0, 0])
    assert 1 - Fraction(1, 10**8) < sums.worst_of(query, PLANE, pair) <= 1


def searched(statistic, dim, labels, seed=0):
    """Largest move of the integers of one record, as an exact square, by a search for the pair."""
    query = statistic.query(PLANE)

    def integers(z, label):
        record = Records(z[None], labels=np.array([label]))
        return query.rows(PLANE, query.prepare(PLANE, record))[0] * 2.0**-40

    def move(z, one, other):
        return -np.linalg.norm(integers(z[:dim], one) - integers(z[dim:], other))

    rng, best = np.random.default_rng(seed), 0.0
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxfev": 1500}
    for one, other in itertools.combinations_with_replacement(labels, 2):
        starts = sorted(rng.normal(size=(60, 2 * dim)), key=lambda z: move(z, one, other))[:2]
        for start in starts:
            found = minimize(move, start, (one, other), "Nelder-Mead", options=options)
            best = max(best, -found.fun)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("second", SECONDS)
def test_no_pair_is_found_that_moves_farther(second):
    statistic = ClassMoments((0, 1), second)
    found = searched(statistic, 2, (0, 1, 7))  # a label of no class too
    assert 2.0 - 1e-6 < found <= 2.0 + 1e-11


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_features_are_no_longer_than_is_said(ball, second):
    records = extremes(ball)
    for sizes in ((), (1, 1, 1)):
        query = ClassMoments((0, 1, 2), second, sizes).query(ball)
        reach = query.answers(ball).reach
        for i in range(len(records)):
            found = answer(query, ball, records.at(slice(i, i + 1)), 0.0)
            assert math.hypot(*map(float, found)) <= reach


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_seen_from_a_released_point_it_moves_no_farther(ball, second, sums):
    for noise in (0.0, 0.2):
        for query in sums.asked(Recentred(ClassMoments((0, 1), second)), ball, noise):
            one, point = query.replace_one(ball, 2, "distance"), query.replace_point
            assert one == point(ball, 2, "distance") == pytest.approx(ball.reach, rel=1e-10)
            assert sums.worst_of(query, ball, extremes(ball, (0, 1))) <= 1


# What is added, and what it stands for.


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_sums_are_exact_in_any_order_and_in_chunks(ball, second):
    records = records_of(ball)
    query = ClassMoments((0, 1, 2), second).query(ball)
    whole = answer(query, ball, records, 0.0)
    order = np.random.default_rng(1).permutation(len(records))
    other = answer(query, ball, shuffled(records, order), 0.0)
    forms = (query.prepare(ball, records.at(rows)) for rows in (slice(0, 7), slice(7, None)))
    parts = [query.added(ball, query.rows(ball, form)) for form in forms]
    chunks = query.finish(ball, query.merge(*parts), 0.0)
    if isinstance(ball.manifold, SPDAffineInvariant):  # products of matrices: by position
        for each in (other, chunks):
            assert max(abs(a - b) for a, b in zip(whole, each, strict=True)) < 1e-9
    else:
        assert whole == other == chunks


@pytest.mark.parametrize("labels", [(0, 1, 2), ("left hand, closed", "1", "\N{SNOWMAN}")])
@pytest.mark.parametrize("ball", BALLS[1:], ids=str)
def test_parts_are_the_moments_of_classes(ball, labels, sums):
    records = records_of(ball)
    codes = np.asarray(records.labels)
    named = Records(records.points, labels=np.array(labels)[codes])
    seen = ball.coordinates(records.points)
    counts = np.bincount(codes, minlength=3)
    expected = np.array([seen[codes == c].mean(axis=0) for c in range(3)])
    within = np.cov((seen - expected[codes]).T, bias=True)
    sizes = tuple(counts.tolist())
    for second, public in itertools.product(SECONDS, ((), sizes)):
        statistic = ClassMoments(labels, second, public)
        found = sums.named(statistic, ball, exactly(statistic, ball, named))
        assert found.classes == labels
        np.testing.assert_allclose(found.coordinates, expected, atol=1e-9 * ball.reach)
        np.testing.assert_allclose(found.shares, counts / len(codes), atol=1e-9)
        np.testing.assert_allclose(
            ball.manifold.coordinates(ball.center, found.means), expected, atol=1e-6
        )
        np.testing.assert_allclose(found.base, ball.center)
        assert found.clip == ball.reach
        assert found.shares_sd == 0.0
        np.testing.assert_array_equal(found.means_sd, 0.0)
        if second == "none":
            assert "variance" not in found
            continue
        assert found.variance == pytest.approx(np.trace(within), abs=1e-8 * ball.reach**2)
        moment = seen.T @ seen / len(seen)
        wanted = moment if second == "matrix" else np.trace(moment)
        np.testing.assert_allclose(found.second_moment, wanted, atol=1e-9 * ball.reach**2)
        if second == "matrix":
            np.testing.assert_allclose(found.covariance, within, atol=1e-8 * ball.reach**2)


@pytest.mark.fast(1)
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("public", [False, True])
def test_noise_is_as_large_as_is_said(second, public, sums):
    ball = Ball(Euclidean(2), [0.0, 0.0], 2.0)
    records = records_of(ball, n=3000)
    sizes = tuple(np.bincount(records.labels).tolist()) if public else ()
    statistic = ClassMoments((0, 1, 2), second, sizes)
    exact, rng = exactly(statistic, ball, records), np.random.default_rng(0)
    sd = 0.004
    found = [
        sums.named(statistic, ball, exact + sd * rng.normal(size=exact.shape), sd)
        for _ in range(2000)
    ]
    each = np.array([one.coordinates for one in found])
    rms = np.sqrt(each.var(axis=0).mean(axis=-1))
    np.testing.assert_allclose(rms, found[0].means_sd, rtol=0.06)
    if not public:
        spread = np.std([one.shares for one in found], axis=0)
        np.testing.assert_allclose(spread, found[0].shares_sd, rtol=0.07)
    if second != "none":
        moments = np.array([np.atleast_2d(one.second_moment)[0, 0] for one in found])
        assert np.std(moments) == pytest.approx(found[0].second_moment_sd, rel=0.07)
        # what noise adds to the square of a mean is taken off again
        noiseless = sums.named(statistic, ball, exact)
        error = np.std([one.variance for one in found]) / len(found) ** 0.5
        gap = np.mean([one.variance for one in found]) - noiseless.variance
        assert abs(gap) < 4.0 * error + 0.02 * sd


def test_a_mean_is_never_divided_by_a_small_share(sums):
    """Where the noise is not known, small or negative shares count as a tenth of 1/K."""
    statistic = ClassMoments((0, 1))
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    value = np.array([0.3, 0.0, 0.01, 0.0, -0.2, 0.001])
    found = sums.named(statistic, ball, value, math.nan)
    np.testing.assert_allclose(found.coordinates, [[6.0, 0.0], [0.2, 0.0]], rtol=1e-9)
    assert ball.contains(found.means).all()
    np.testing.assert_allclose(found.shares, [-0.2, 0.001], rtol=1e-9)
    assert np.isnan(found.means_sd).all()


@pytest.mark.parametrize("sizes", [(), (60, 1940)], ids=["private", "public"])
def test_means_of_a_small_class_are_not_shortened(sizes, sums):
    """Three records in a hundred: their share is known well, and it is what is divided by."""
    rng = np.random.default_rng(4)
    labels = np.repeat([0, 1], [60, 1940])
    points = np.where(labels[:, None] == 0, [0.8, 0.0], [-0.2, 0.1])
    statistic = ClassMoments((0, 1), "matrix", sizes)
    exact = exactly(statistic, PLANE, Records(points, labels=labels))
    noise = rng.normal(size=(300, len(exact)))
    found = [sums.named(statistic, PLANE, exact + 1e-3 * each, 1e-3) for each in noise]
    means = np.array([each.coordinates[0] for each in found])
    sd = np.median([each.means_sd[0] for each in found])
    assert np.linalg.norm(means.mean(axis=0) - [0.8, 0.0]) < 0.3 * sd
    assert np.mean([each.variance for each in found]) < 0.02


def test_an_empty_class_has_a_mean_and_nothing_breaks(sums):
    for second in SECONDS:
        statistic = ClassMoments(("a", "b"), second)
        records = Records(np.full((5, 2), 0.5), labels=["a"] * 5)
        found = sums.named(statistic, PLANE, exactly(statistic, PLANE, records))
        np.testing.assert_allclose(found.coordinates[1], 0.0)
        np.testing.assert_allclose(found.shares, [1.0, 0.0], atol=1e-10)


def test_records_far_away_count_as_their_ends(sums):
    far = Records(np.array([[1e300, 0.0], [0.0, -1e200]]), labels=[0, 1])
    near = Records(np.array([[1.0, 0.0], [0.0, -1.0]]), labels=[0, 1])
    for second in SECONDS:
        statistic = ClassMoments((0, 1), second)
        gap = exactly(statistic, PLANE, far) - exactly(statistic, PLANE, near)
        assert np.abs(gap).max() < 1e-11


# Labels.


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1, 3, -1], dtype=np.int8),
        np.array([3, -1, 3, -1], dtype=object),
        np.array([np.int32(3), -1, 3, np.int64(-1)], dtype=object),
        [3, -1, 3, -1],
        pd.Series([3, -1, 3, -1], dtype="Int64"),
        pd.Categorical([3, -1, 3, -1]),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_may_be_integers_of_any_kind(labels):
    points = np.array([[0.1, 0.0], [0.2, 0.0], [0.3, 0.0], [0.4, 0.0]])
    release = private_statistic(ClassMoments((-1, 3)), Records(points, labels), PLANE, GDP(50.0))
    np.testing.assert_allclose(release.value.shares, [0.5, 0.5], atol=0.1)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes", "yes"]),
        np.array(["no", "yes", "yes"], dtype=object),
        pd.Series(["no", "yes", "yes"]),
        pd.Categorical(["no", "yes", "yes"]),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_may_be_texts_of_any_kind(labels):
    release = private_statistic(
        ClassMoments(("yes", "no")), Records(np.zeros((3, 2)), labels), PLANE, GDP(50.0)
    )
    np.testing.assert_allclose(release.value.shares, [2 / 3, 1 / 3], atol=0.1)


class Strange:
    """A label that nobody listed, and that looks like one."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(1)

    def __repr__(self):
        return "secret"


@pytest.mark.parametrize(
    ("classes", "labels", "row"),
    [
        ((0, 1), np.array([0, 1, 1, 5]), 3),
        ((0, 1), np.array([0, -7, 1, 5]), 1),
        ((0, 1), np.array([0, 2**63 + 1, 1, 5], dtype=np.uint64), 1),
        ((0, 1), np.array(["0", "1", "1", "0"]), 0),
        (("0", "1"), np.array([0, 1, 1, 0]), 0),
        (("a", "b"), np.array(["a", "b", "A", "b"]), 2),
        ((0, 1), np.array([0, 1, None, 1], dtype=object), 2),
        ((0, 1), np.array([0, 1.0, 1, 1], dtype=object), 1),
        ((0, 1), np.array([0, True, 1, 1], dtype=object), 1),
        ((0, 1), np.array([0, 1, [1], 1], dtype=object), 2),
        ((0, 1), np.array([0, 1, 1, Strange()], dtype=object), 3),
        ((0, 1), np.array([0, 1, math.nan, 1], dtype=object), 2),
    ],
)
def test_a_label_of_no_class_costs_nothing_and_is_not_told(classes, labels, row):
    account, source = Accountant(GDP(5.0)), np.random.default_rng(0)
    before = source.bit_generator.state
    for statistic in (ClassMoments(classes), Recentred(ClassMoments(classes, "matrix"))):
        with pytest.raises(InvalidParameterError) as error:
            check(
                Records(np.zeros((4, 2)), labels),
                PLANE,
                GDP(1.0),
                statistic=statistic,
                accountant=account,
                generator=source,
            )
        said = str(error.value)
        assert said.startswith(f"row {row}: ")
        assert "is not among the public classes" in said or "must be integers or texts" in said
        for secret in ("5", "-7", "secret", "nan", "None", "True", "A,"):
            assert secret not in said
    assert not account.ledger
    assert source.bit_generator.state == before


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (Records(np.zeros((4, 2)), labels=[0.0, 1.0, 0.0, 1.0]), "labels must be integers or"),
        (Records(np.zeros((4, 2)), labels=[True, False, True, True]), "labels must be integers or"),
        (Records(np.zeros((4, 2)), labels=[0, 1]), "labels must be one for each point"),
        (np.zeros((4, 2)), "takes labels too"),
        (Records(np.zeros((4, 2)), covariates=np.zeros(4)), "takes labels too"),
        (Records(np.zeros((4, 2)), [0, 1, 0, 1], np.zeros(4)), "takes no covariates"),
    ],
)
def test_labels_are_needed_and_nothing_else(records, said):
    with pytest.raises(InvalidParameterError, match=said):
        private_statistic(ClassMoments((0, 1)), records, PLANE, GDP(1.0))


def test_points_that_are_none_are_refused_before_labels_are_looked_at():
    with pytest.raises(NotOnManifoldError, match="row 1"):
        private_statistic(
            ClassMoments((0, 1)),
            Records(np.array([[0.0, 0.0], [math.nan, 0.0]]), labels=[0, 9]),
            PLANE,
            GDP(1.0),
        )


# Public labels.


def test_public_labels_have_a_relation_of_their_own(sums):
    """Their noise is that of one mean, and the sums alone move: a label that moves is none."""
    for second in SECONDS:
        statistic = ClassMoments((0, 1), second, (1, 1))
        query = statistic.query(PLANE)
        bound = Fraction(ReplacePoint().sensitivity(query, PLANE, 2, "distance")) ** 2
        assert 1 <= bound < 1 + Fraction(1, 10**10)  # (2 r / n)^2
        found = max(sums.moves(query, PLANE, extremes(PLANE, (0,))))
        assert 1 - Fraction(1, 10**8) < found <= 1
        assert (statistic.by_place, ClassMoments((0, 1), second).by_place) == (("labels",), ())
        for relation in (ReplaceOne(), Groups(2)):
            with pytest.raises(UnsupportedNeighboursError, match="do not protect labels"):
                exact_sensitivity(statistic, query, PLANE, 2, relation, "distance")
    query = ClassMoments((0, 1)).query(PLANE)
    assert ReplacePoint().sensitivity(query, PLANE, 8, "distance") == 0.25


@pytest.mark.parametrize("wrap", [lambda each: each, Recentred], ids=["once", "recentred"])
@pytest.mark.parametrize("second", SECONDS)
def test_releases_with_public_labels(second, wrap):
    records = records_of(PLANE)
    sizes = tuple(np.bincount(records.labels).tolist())
    statistic = wrap(ClassMoments((0, 1, 2), second, sizes))
    release = private_statistic(statistic, records, PLANE, GDP(1.0), adjacency=ReplacePoint())
    private = private_statistic(
        wrap(ClassMoments((0, 1, 2), second)),
        records,
        PLANE,
        GDP(1.0),
        mechanism=type(release.mechanism),
    )
    assert release.sigma == private.sigma  # labels cost no noise
    np.testing.assert_allclose(release.value.shares, np.array(sizes) / 60)
    assert release.value.shares_sd == 0.0
    again = Release.from_json(release.to_json())
    assert again.statistic == statistic
    assert again.neighbours == ReplacePoint()
    assert verify(again).passed
    with pytest.raises(NotAttainableError, match="public class sizes and designs do not protect"):
        private_statistic(statistic, records, PLANE, GDP(1.0))
    with pytest.raises(UnsupportedNeighboursError, match="replace-point does not promise"):
        private_statistic(
            statistic,
            records,
            PLANE,
            GDP(1.0),
            adjacency=ReplacePoint(),
            accountant=Accountant(GDP(5.0)),
        )


def test_public_sizes_have_to_be_those_of_the_labels():
    records = records_of(PLANE)
    first, second, third = np.bincount(records.labels).tolist()
    for sizes, said in (
        ((second, first, third), "do not come in the public sizes"),
        ((first, second, third + 1), f"add up to {len(records) + 1}, not to n = {len(records)}"),
    ):
        with pytest.raises(InvalidParameterError, match=said):
            private_statistic(
                ClassMoments((0, 1, 2), sizes=sizes),
                records,
                PLANE,
                GDP(1.0),
                mechanism="tangent-gaussian",
                adjacency=ReplacePoint(),
            )


# Releases.


@pytest.mark.parametrize("budget", [GDP(1.0), ZCDP(0.5), ApproxDP(1.0, 1e-6), PureDP(1.0)], ids=str)
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("wrap", [lambda each: each, Recentred], ids=["once", "recentred"])
def test_releases(budget, second, wrap):
    ball = BALLS[4]
    statistic = wrap(ClassMoments(("a", "b", "c"), second))
    records = records_of(ball)
    named = Records(records.points, labels=np.array(["a", "b", "c"])[records.labels])
    account = Accountant(budget)
    release = private_statistic(statistic, named, ball, budget, accountant=account)
    assert release.proven
    assert len(account.ledger) == 1
    value = release.value
    assert value.means.shape == (3, *ball.manifold.point_shape)
    assert ball.contains(value.means).all()
    assert value.coordinates.shape == (3, 2)
    again = Release.from_json(release.to_json())
    assert verify(again).passed
    assert again.statistic == statistic
    assert hash(again.statistic) == hash(statistic)
    assert again.value == value
    assert pickle.loads(pickle.dumps(release)).value == value
    for name, part in value.items():
        np.testing.assert_array_equal(again.value[name], part)


@pytest.mark.parametrize("ball", [BALLS[0], PLANE], ids=str)
def test_one_record_is_enough(ball):
    for second in SECONDS:
        records = Records(ball.center[None], labels=[1])
        release = private_statistic(ClassMoments((1, 2), second), records, ball, GDP(1.0))
        assert np.isfinite(release.raw).all()
        assert verify(release).passed


def test_documents():
    for classes in ((1, 2), (-5, 0, 2**62), ("a", "b"), ("1", "2"), ("a,b", "", "null", "NaN")):
        for sizes in ((), tuple(range(1, len(classes) + 1))):
            statistic = ClassMoments(classes, "scalar", sizes)
            again = decode(json.loads(json.dumps(encode(statistic))))
            assert again == statistic
            assert hash(again) == hash(statistic)
            assert list(map(type, again.classes)) == list(map(type, classes))
    assert ClassMoments([np.int64(1), np.int8(2)]).classes == (1, 2)
    assert ClassMoments(np.array(["x", "y"])).classes == ("x", "y")
    assert ClassMoments((1, 2)) != ClassMoments((2, 1))
    for broken in ({"classes": [1, 1]}, {"classes": [1.5, 2]}, {"second": "cubic"}):
        with pytest.raises(InvalidParameterError):
            decode({**encode(ClassMoments((1, 2))), **broken})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"classes": (1,)}, "at least two labels"),
        ({"classes": ()}, "at least two labels"),
        ({"classes": (1, "b")}, "all integers or all texts"),
        ({"classes": (1.0, 2.0)}, "all integers or all texts"),
        ({"classes": (True, False)}, "all integers or all texts"),
        ({"classes": (0, math.inf)}, "all integers or all texts"),
        ({"classes": "ab"}, "classes must be a tuple"),
        ({"classes": 3}, "classes must be a tuple"),
        ({"classes": None}, "classes must be a tuple"),
        ({"classes": (1, 2, 1)}, "distinct"),
        ({"classes": (1, 2**63)}, "under 2"),
        ({"classes": ("finite", "infinity")}, "name them otherwise"),
        ({"classes": (1, 2), "second": "both"}, "second must be"),
        ({"classes": (1, 2), "second": None}, "second must be"),
        ({"classes": (1, 2), "sizes": (3,)}, "one for each of the 2 classes"),
        ({"classes": (1, 2), "sizes": (3, 0)}, "sizes of classes must be a positive integer"),
        ({"classes": (1, 2), "sizes": (3, 1.5)}, "sizes of classes must be a positive integer"),
        ({"classes": (1, 2), "sizes": 3}, "sizes must be a tuple"),
    ],
)
def test_wrong_parameters_are_refused(options, said):
    with pytest.raises(InvalidParameterError, match=said):
        ClassMoments(**options)


# Audits of joint releases.

PAIRS = {
    "a point": (Records([[1.0, 0.0]], labels=[0]), Records([[-1.0, 0.0]], labels=[0])),
    "a label": (Records([[1.0, 0.0]], labels=[0]), Records([[0.0, 1.0]], labels=[1])),
}


def test_the_checks_of_any_statistic_hold():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    check_part(ClassMoments((0, 1)), ball=ball)
    check_part(ClassMoments(("a", "b", "c"), "matrix"), ball=ball)
    check_part(Recentred(ClassMoments((0, 1), "scalar")), ball=ball)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("second", ["none", "matrix"])
def test_the_joint_release_is_as_private_as_is_said(pair, second):
    """On pairs that attain the bound; what is claimed is nearly seen, and less is refuted."""

    statistic, source = ClassMoments((0, 1), second), np.random.default_rng(2)
    options = {"mechanism": "tangent-gaussian", "generator": source}
    outputs = {
        id(records): [
            private_statistic(statistic, records, PLANE, GDP(3.0), **options).raw
            for _ in range(400)
        ]
        for records in pair
    }
    for claim, verdict in ((GDP(3.0), "consistent"), (GDP(1.5), "violated")):  # and a control
        left = {each: iter(drawn) for each, drawn in outputs.items()}
        found = audit(
            lambda records, _, left=left: next(left[id(records)]),
            *pair,
            claim,
            samples=400,
            confidence=0.999,
            generator=source,
        )
        assert found.verdict == verdict
        assert found.mu_lower > 1.5


# Real data: the folder is named by RIEMDP_DATA.


def classify(vectors, means, covariance, floor):
    """Class of each vector by its distance to the means, in the metric of a covariance."""
    values, axes = np.linalg.eigh(covariance)
    whitening = axes / np.sqrt(np.maximum(values, floor))
    gaps = [np.square((vectors - mean) @ whitening).sum(axis=1) for mean in means]
    return np.argmin(gaps, axis=0)


@pytest.mark.slow
def test_accuracy_on_recordings():
    """Fists or feet of one subject: means and tangent discriminants that are worth something."""
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / "eeg_eegmmidb_s001.npz").exists():
        pytest.skip("RIEMDP_DATA names no folder with eeg_eegmmidb_s001.npz")
    with np.load(path) as file:
        points, names = file["cov8_1s"].astype(float), file["label_1s"].astype(int)
    points = 0.5 * (points + points.transpose(0, 2, 1))[names > 2]
    labels = names[names > 2]
    ball = Ball(SPDLogEuclidean(8), 10.0 * np.eye(8), 12.0)
    vectors, dim = ball.manifold.coordinates(ball.center, points), ball.manifold.dim
    train = round(0.7 * len(labels))
    for mu, least in (
        (0.5, (0.55, 0.64, 0.62)),
        (1.0, (0.69, 0.75, 0.76)),
        (2.0, (0.72, 0.77, 0.79)),
    ):
        right = np.zeros((20, 3))
        for seed in range(20):
            rng = np.random.default_rng(seed)
            first, rest = np.split(rng.permutation(len(labels)), [train])
            for k, statistic in enumerate(
                (
                    ClassMoments((3, 4)),
                    Recentred(ClassMoments((3, 4))),
                    Recentred(ClassMoments((3, 4), "matrix")),
                )
            ):
                found = private_statistic(
                    statistic,
                    Records(points[first], labels[first]),
                    ball,
                    GDP(mu),
                    mechanism="tangent-gaussian",
                    generator=rng,
                ).value
                means = ball.manifold.coordinates(ball.center, found.means)
                matrix, floor = np.eye(dim), 1.0
                if "covariance" in found:
                    matrix, floor = found.covariance, found.second_moment_sd * (dim / 2) ** 0.5
                told = 3 + classify(vectors[rest], means, matrix, floor)
                right[seed, k] = np.mean(told == labels[rest])
        assert (right.mean(axis=0) > least).all()
