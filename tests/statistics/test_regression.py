"""Lines in a tangent space: private and public designs, and how far one record moves them."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction

import numpy as np
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
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.auditing import audit
from riemdp.release._offer import exact_sensitivity
from riemdp.statistics import (
    Groups,
    Recentred,
    Records,
    ReplaceOne,
    ReplacePoint,
    TangentRegression,
    answer,
)
from riemdp.statistics._seen import view_from_centre
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

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
LOW, HIGH = 60.0, 80.0
ONE_OF_MANY = 1 - Fraction(1, 10**8)


def extremes(ball, covariates=(LOW, HIGH, 70.0, 62.5, 1e300, -1e300)):
    """Records that a search for the largest move should meet, some of them outside."""
    dim = ball.manifold.dim
    axes = np.eye(dim)[:2]
    rows = np.array([*axes, *-axes, 2.0 * axes[-1], 0.3 * axes[0], 0.0 * axes[0]])
    points = ball.point(ball.reach * np.tile(rows, (len(covariates), 1)))
    return Records(points, covariates=np.repeat(covariates, len(rows)))


def records_of(ball, n=200, seed=0):
    """Records on a line with little about it, well inside the ball."""
    rng = np.random.default_rng(seed)
    covariates = rng.uniform(LOW, HIGH, size=n)
    line = 0.3 * ball.reach * rng.normal(size=(2, ball.manifold.dim)) / ball.manifold.dim**0.5
    rows = line[0] + (covariates[:, None] - 70.0) / 10.0 * line[1]
    rows = rows + 0.02 * ball.reach * rng.normal(size=rows.shape)
    return Records(ball.point(rows), covariates=covariates)


def exactly(statistic, ball, records):
    """The answer to its one query, in float64."""
    return np.array(answer(statistic.query(ball), ball, records, 0.0), dtype=float)


def least_squares(covariates, vectors):
    design = np.stack([np.ones(len(covariates)), covariates], axis=1)
    return np.linalg.lstsq(design, vectors, rcond=None)[0]


# Sensitivity: of the integers that are added.


@pytest.mark.fast(4)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_no_record_moves_a_sum_farther_than_it_says(ball, sums):
    query = TangentRegression(LOW, HIGH).query(ball)
    records = extremes(ball)
    for n in (1, 2):
        assert ONE_OF_MANY < sums.worst_of(query, ball, records, n) <= 1
    stated = Fraction(query.replace_one(ball, 2, "distance")) ** 2
    assert stated >= 2 * Fraction(ball.reach) ** 2  # (2 sqrt(2) r / n)^2, rounded up
    assert stated <= 2 * Fraction(ball.reach) ** 2 * (1 + Fraction(1, 10**10))
    reach = query.answers(ball).reach
    for i in range(len(records)):
        found = answer(query, ball, records.at(slice(i, i + 1)), 0.0)
        assert math.hypot(*map(float, found)) <= reach


def searched(dim, seed=0):
    """Largest move of the integers of one record of vector and covariate, by a search."""
    ball = Ball(Euclidean(dim), np.zeros(dim), 1.0)
    query = TangentRegression(-1.0, 1.0).query(ball)

    def integers(z):
        record = Records(z[None, :dim], covariates=z[dim:])
        return query.rows(ball, query.prepare(ball, record))[0] * 2.0**-40

    def move(z):
        return -np.linalg.norm(integers(z[: dim + 1]) - integers(z[dim + 1 :]))

    rng = np.random.default_rng(seed)
    starts = sorted(rng.normal(size=(200, 2 * dim + 2)), key=move)[:8]
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxfev": 2000}
    return max(-minimize(move, z, method="Nelder-Mead", options=options).fun for z in starts)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2])
def test_no_pair_is_found_that_moves_farther(dim):
    assert 8.0**0.5 - 1e-6 < searched(dim) <= 8.0**0.5 + 1e-11


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_a_public_design_moves_by_its_longest_row(ball, sums):
    """With the covariate fixed; the record farthest from the mean attains it."""
    design = (60.0, 61.0, 64.0, 80.0)
    query = TangentRegression(LOW, HIGH, design).query(ball)
    bound = Fraction(ReplacePoint().sensitivity(query, ball, 4, "distance")) ** 2
    assert bound <= (Fraction(ball.reach) / 2) ** 2 * (1 + Fraction(1, 10**10))
    found = [max(sums.moves(query, ball, extremes(ball, (t,)), n=4)) for t in design]
    assert ONE_OF_MANY * bound < max(found) <= bound
    assert max(found) == found[3]
    assert min(found) < 0.7 * bound
    query = TangentRegression(LOW, HIGH, (60.0, 61.0, 62.0, 61.0)).query(ball)
    elsewhere = sums.moves(query, ball, extremes(ball, (-1e300, 70.0, 1e300)), n=4)
    assert max(elsewhere) <= bound  # rows of no design are shortened too, were they let in


@pytest.mark.parametrize("design", [(), (60.0, 61.0, 64.0, 80.0)], ids=["private", "public"])
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_seen_from_a_released_point_it_moves_no_farther(ball, design, sums):
    statistic = Recentred(TangentRegression(LOW, HIGH, design))
    records = extremes(ball, design[-1:] or (LOW, HIGH, 70.0))
    for noise in (0.0, 0.2):
        for query in sums.asked(statistic, ball, noise):
            assert 0.3 < sums.worst_of(query, ball, records, n=4) <= 1


# What is added, and what it stands for.


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_parts_are_the_line_of_least_squares(ball, public, sums):
    records = records_of(ball)
    covariates = np.asarray(records.covariates)
    statistic = TangentRegression(LOW, HIGH, covariates if public else ())
    found = sums.named(statistic, ball, exactly(statistic, ball, records))
    seen = ball.coordinates(records.points)
    expected = least_squares(covariates, seen)
    scale = np.array([[100.0], [1.0]]) * ball.reach  # the intercept is far from the records
    np.testing.assert_allclose(found.coefficients / scale, expected / scale, atol=1e-8)
    fitted = found.coefficients[0] + covariates[:, None] * found.coefficients[1]
    best = expected[0] + covariates[:, None] * expected[1]
    np.testing.assert_allclose(fitted, best, atol=1e-7 * ball.reach)
    rows = np.stack([np.ones(200), covariates], axis=1)
    np.testing.assert_allclose(found.gram, rows.T @ rows / 200, rtol=1e-8)
    np.testing.assert_array_equal(found.coefficients_sd, 0.0)
    np.testing.assert_allclose(found.base, ball.center)
    assert found.clip == ball.reach


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_sums_are_exact_in_any_order_and_in_chunks(ball, public):
    records = records_of(ball)
    statistic = TangentRegression(LOW, HIGH, records.covariates if public else ())
    query = statistic.query(ball)
    whole = answer(query, ball, records, 0.0)
    order = np.random.default_rng(1).permutation(len(records))
    mixed = Records(records.points[order], covariates=records.covariates[order])
    other = answer(query, ball, mixed, 0.0)
    forms = (query.prepare(ball, records.at(rows)) for rows in (slice(0, 7), slice(7, None)))
    parts = [query.added(ball, query.rows(ball, form)) for form in forms]
    chunks = query.finish(ball, query.merge(*parts), 0.0)
    if isinstance(ball.manifold, SPDAffineInvariant):  # products of matrices: by position
        for each in (other, chunks):
            assert max(abs(a - b) for a, b in zip(whole, each, strict=True)) < 1e-9
    else:
        assert whole == other == chunks


@pytest.mark.fast(1)
@pytest.mark.parametrize("public", [False, True])
def test_noise_is_as_large_as_is_said(public, sums):
    ball = Ball(Euclidean(2), [0.0, 0.0], 2.0)
    records = records_of(ball, n=500)
    statistic = TangentRegression(LOW, HIGH, records.covariates if public else ())
    exact, rng = exactly(statistic, ball, records), np.random.default_rng(0)
    sd = 0.004
    found = [
        sums.named(statistic, ball, exact + sd * rng.normal(size=exact.shape), sd)
        for _ in range(2000)
    ]
    each = np.array([one.coefficients for one in found])
    wanted = sums.named(statistic, ball, exact, sd).coefficients_sd
    np.testing.assert_allclose(each.std(axis=0), wanted, rtol=0.07)
    line = least_squares(records.covariates, ball.coordinates(records.points))
    gap = each.mean(axis=0) - line
    assert (np.abs(gap) < 5.0 * wanted / 2000**0.5 + 0.02 * np.abs(line[[1]])).all()


def test_rows_of_a_public_design_have_the_scale_with_the_least_noise():
    """In the mean square of fitted values, over all scales of the second row."""
    design = np.array([60.0, 61.0, 64.0, 80.0, 70.0])
    covariates = (design - design.mean()) / design.std()

    def error(scale):
        rows = np.stack([np.ones(5), covariates * scale], axis=1)
        longest = max(np.linalg.norm(rows, axis=1))
        fitted = np.stack([np.ones(5), covariates / scale], axis=1)
        return longest**2 * np.mean(np.square(fitted).sum(axis=1))

    statistic = TangentRegression(LOW, HIGH, design)
    _, _, factor, longest = statistic._basis()
    covariance = statistic.parts(view_from_centre(PLANE), np.zeros(4), 1.0, 0.0)["coefficients_sd"]
    assert covariance[1, 0] == pytest.approx(longest / factor / design.std(), rel=1e-9)
    assert longest**2 * (1.0 + 1.0 / factor**2) == pytest.approx(error(factor), rel=1e-9)
    assert error(factor) <= min(error(x) for x in np.linspace(0.1, 3.0, 300)) * (1.0 + 1e-9)


def test_a_covariate_that_does_not_vary_has_a_slope_that_is_bounded(sums):
    """Its variance counts as twice its noise, as a hundredth where that is not known."""
    ball = PLANE
    statistic = TangentRegression(0.0, 2.0)
    records = Records(np.full((9, 2), 0.25), covariates=np.full(9, 1.5))
    exact = exactly(statistic, ball, records)
    noise = 2.0 * math.sqrt(0.5 + 4.0 * 0.5**2)  # of the scaled variance, in units of sd
    for sd, least in ((math.nan, 0.01), (0.0, 1e-6), (0.2, 0.2 * noise)):
        found = sums.named(statistic, ball, exact, sd)
        np.testing.assert_allclose(
            found.coefficients[0] + 1.5 * found.coefficients[1], 0.25, atol=1e-8
        )
        np.testing.assert_allclose(found.coefficients[1], 0.0, atol=1e-6)
        assert np.linalg.det(found.gram) == pytest.approx(least, rel=1e-6)
    far = np.array([0, 0, 1.0, 1.0, 9.0, -9.0])
    found = sums.named(statistic, ball, far, math.nan)
    np.testing.assert_allclose(found.coefficients[1], 1.0 / 0.01)
    assert np.linalg.eigvalsh(found.gram).min() > 0.0


def test_values_outside_the_range_count_as_its_ends():
    points = np.array([[0.5, 0.0], [-0.5, 0.1]])
    for low, high in ((-1.0, 1.0), (0.0, 1e-139), (-1e140, 7e139)):
        statistic = TangentRegression(low, high)
        outside = Records(points, covariates=[-1.7e308, 1.7e308])
        inside = Records(points, covariates=[low, high])
        one, two = (answer(statistic.query(PLANE), PLANE, each, 0.0) for each in (outside, inside))
        assert one == two


# Checks of covariates.


@pytest.mark.parametrize(
    ("records", "error", "said"),
    [
        (Records(np.zeros((3, 2)), covariates=[0.0, math.nan, 1.0]), NotOnManifoldError, "row 1"),
        (Records(np.zeros((3, 2)), covariates=[0.0, 1.0, math.inf]), NotOnManifoldError, "row 2"),
        (Records(np.zeros((3, 2)), covariates=[0.0, 1.0]), InvalidParameterError, "one for each"),
        (Records(np.zeros((3, 2)), covariates=list("abc")), InvalidParameterError, "real numbers"),
        (np.zeros((3, 2)), InvalidParameterError, "takes covariates too"),
        (Records(np.zeros((3, 2)), [0, 1, 0], [0.0] * 3), InvalidParameterError, "takes no labels"),
    ],
)
def test_covariates_are_checked_before_anything_is_charged(records, error, said):
    account = Accountant(GDP(5.0))
    for statistic in (TangentRegression(0.0, 1.0), Recentred(TangentRegression(0.0, 1.0))):
        with pytest.raises(error, match=said):
            check(records, PLANE, GDP(1.0), statistic=statistic, accountant=account)
    assert not account.ledger


def test_a_public_design_has_to_be_that_of_the_records():
    records = records_of(PLANE, n=5)
    other = (*records.covariates[:-1], 70.0)
    options = {"mechanism": "tangent-gaussian", "adjacency": ReplacePoint()}
    for design, said in (
        (other, "not those of the public design"),
        (records.covariates[:-1], "design is one of 4 records, not of n = 5"),
    ):
        with pytest.raises(InvalidParameterError, match=said):
            private_statistic(
                TangentRegression(LOW, HIGH, design), records, PLANE, GDP(1.0), **options
            )
    statistic = TangentRegression(LOW, HIGH, records.covariates[::-1])  # in any order
    assert verify(private_statistic(statistic, records, PLANE, GDP(1.0), **options)).passed


def test_a_public_design_protects_no_covariate():
    records = records_of(PLANE, n=5)
    statistic = TangentRegression(LOW, HIGH, records.covariates)
    query = statistic.query(PLANE)
    for relation in (ReplaceOne(), Groups(2)):
        with pytest.raises(
            UnsupportedNeighboursError, match="do not protect labels and covariates"
        ):
            exact_sensitivity(statistic, query, PLANE, 5, relation, "distance")
    with pytest.raises(NotAttainableError, match="do not protect labels and covariates"):
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


# Releases.


@pytest.mark.parametrize("budget", [GDP(1.0), ZCDP(0.5), ApproxDP(1.0, 1e-6), PureDP(1.0)], ids=str)
@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("wrap", [lambda each: each, Recentred], ids=["once", "recentred"])
def test_releases(budget, public, wrap):
    ball = BALLS[4]
    records = records_of(ball, n=60)
    statistic = wrap(TangentRegression(LOW, HIGH, records.covariates if public else ()))
    relation = ReplacePoint() if public else ReplaceOne()
    release = private_statistic(statistic, records, ball, budget, adjacency=relation)
    assert release.proven
    again = Release.from_json(release.to_json())
    assert verify(again).passed
    assert again.statistic == statistic
    assert hash(again.statistic) == hash(statistic)
    assert again.value == release.value
    assert pickle.loads(pickle.dumps(release)).value == release.value
    for name, part in release.value.items():
        np.testing.assert_array_equal(again.value[name], part)
    assert release.value.coefficients.shape == (2, 2)


def test_one_record_is_enough():
    for ball in (BALLS[0], PLANE):
        records = Records(ball.center[None], covariates=[0.3])
        release = private_statistic(TangentRegression(0.0, 1.0), records, ball, GDP(1.0))
        assert np.isfinite(release.value.coefficients).all()
        assert verify(release).passed


def test_documents():
    for statistic in (
        TangentRegression(0, 1),
        TangentRegression(-1e-3, 1e9, (0.1, 2, 1e9)),
        Recentred(TangentRegression(0.0, 1.0, np.linspace(0.0, 1.0, 7)), 0.3),
    ):
        again = decode(json.loads(json.dumps(encode(statistic))))
        assert again == statistic
        assert hash(again) == hash(statistic)
    long = TangentRegression(0.0, 1.0, np.linspace(0.0, 1.0, 100_000))
    assert decode(json.loads(json.dumps(encode(long)))) == long
    assert "design" not in repr(long)
    assert TangentRegression(0, 1, [0, 1]).design == (0.0, 1.0)
    with pytest.raises(InvalidParameterError):
        decode({**encode(TangentRegression(0, 1)), "design": ["a"]})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"low": 1.0, "high": 1.0}, "low must be less than high"),
        ({"low": 2.0, "high": 1.0}, "low must be less than high"),
        ({"low": 0.0, "high": math.inf}, "low must be less than high"),
        ({"low": math.nan, "high": 1.0}, "low must be less than high"),
        ({"low": -1.7e308, "high": 1.7e308}, "low must be less than high"),
        ({"low": "a", "high": 1.0}, "low must be a real number"),
        ({"low": 0.0, "high": 1.0, "design": np.zeros((2, 2))}, "design must be a sequence"),
        ({"low": 0.0, "high": 1.0, "design": np.linspace(0, 1, 100_001)}, "at most 100000"),
        ({"low": 0.0, "high": 1.0, "design": (0.0, 2.0)}, "must lie between low = 0.0 and high"),
        ({"low": 0.0, "high": 1.0, "design": (0.0, math.nan)}, "must lie between low"),
        ({"low": 0.0, "high": 1.0, "design": (0.5,)}, "varies too little"),
        ({"low": 0.0, "high": 1.0, "design": (0.5, 0.5 + 1e-9)}, "varies too little"),
        ({"low": 0.0, "high": 1.0, "design": ("a", "b")}, "design must hold real numbers"),
        ({"low": 0.0, "high": 1.0, "design": 0.5}, "design must be a sequence"),
        ({"low": 0.0, "high": 1.0, "design": None}, "design must hold real numbers"),
    ],
)
def test_wrong_parameters_are_refused(options, said):
    with pytest.raises(InvalidParameterError, match=said):
        TangentRegression(**options)


# Audits of joint releases, on pairs that attain the bounds.

ENDS = [Records([[sign, 0.0]], covariates=[1.0]) for sign in (1.0, -1.0)]
MOVED = [Records([[sign, 0.0]], covariates=[sign]) for sign in (1.0, -1.0)]


def test_the_checks_of_any_statistic_hold():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    check_part(TangentRegression(-1.0, 3.0), ball=ball)
    check_part(Recentred(TangentRegression(0.0, 1.0)), ball=ball)


@pytest.mark.parametrize("spread", [0.05, 0.3])
def test_slopes_over_a_part_of_the_range_are_not_shortened(spread, sums):
    """With many records a covariate that varies little still has its slope."""
    rng = np.random.default_rng(3)
    times = rng.uniform(0.5 - spread, 0.5 + spread, size=20_000)
    points = np.stack([times - 0.5, 0.0 * times], axis=-1)
    statistic = TangentRegression(0.0, 1.0)
    exact = exactly(statistic, PLANE, Records(points, covariates=times))
    noise = rng.normal(size=(300, len(exact)))
    found = [sums.named(statistic, PLANE, exact + 2e-4 * each, 2e-4) for each in noise]
    slopes = np.array([each.coefficients[1, 0] for each in found])
    sd = np.median([each.coefficients_sd[1, 0] for each in found])
    assert abs(np.median(slopes) - 1.0) < 0.2 * sd + 0.01
    assert np.std(slopes) < 1.3 * sd


@pytest.mark.slow
@pytest.mark.parametrize("pair", [ENDS, MOVED], ids=["a point", "point and covariate"])
def test_the_joint_release_is_as_private_as_is_said(pair):
    statistic, source = TangentRegression(-1.0, 1.0), np.random.default_rng(5)
    options = {"mechanism": "tangent-gaussian", "generator": source}
    outputs = {
        id(records): [
            private_statistic(statistic, records, PLANE, GDP(3.0), **options).raw
            for _ in range(250)
        ]
        for records in pair
    }
    for claim, verdict in ((GDP(3.0), "consistent"), (GDP(1.2), "violated")):  # and a control
        left = {each: iter(drawn) for each, drawn in outputs.items()}
        found = audit(
            lambda records, _, left=left: next(left[id(records)]),
            *pair,
            claim,
            samples=250,
            confidence=0.999,
            generator=source,
        )
        assert found.verdict == verdict
