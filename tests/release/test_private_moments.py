"""Releases of moments and variances: what they cost, what they hold, and what they refuse."""

from __future__ import annotations

import json
import math
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from riemdp import (
    GDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Ball,
    BudgetExceededError,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Records,
    Release,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    TangentGaussian,
    UnsupportedBallError,
    plan,
    private_ball,
    private_mean,
    private_moments,
    private_statistic,
    private_variance,
    verify,
)
from riemdp.release._offer import offer, with_draw
from riemdp.release._run import drawn
from riemdp.statistics import DirectVariance, Moments, Recentred, Variance

BALLS = [
    Ball(Euclidean(3), [1.0, -2.0, 0.5], 3.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 3.0),
    Ball(Sphere(2), [0.6, 0.0, 0.8], 3.0),
    Ball.whole(Sphere(2)),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 3.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 3.0),
]
BUDGETS = [GDP(0.5), ZCDP(0.1), ApproxDP(1.0, 1e-6), PureDP(1.0)]


def records(ball, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return ball.point(rng.normal(size=(n, ball.manifold.dim)))  # some of them outside


def seeded(seed=7):
    return np.random.default_rng(seed)


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


@pytest.mark.fast(3)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_releases_hold_named_values_and_verify(ball, budget):
    points = records(ball)
    for options in ({}, {"second": "matrix"}, {"second": "matrix", "base": "recentred"}):
        release = private_moments(points, ball, budget, **options)
        assert failed(release) == set()
        assert release.proven
        assert release.private
        assert not release.projected
        value, dim = release.value, ball.manifold.dim
        assert ball.contains(value.mean)
        shape = (dim, dim) if "second" in options else ()
        assert np.shape(value.second_moment) == shape
        assert np.shape(value["second_moment"]) == shape
        again = Release.from_json(release.to_json())
        assert again.value == value
        assert failed(again) == set()
        assert pickle.loads(pickle.dumps(release)) == release
        assert "NamedValues" in repr(value)


@pytest.mark.parametrize("base", ["recentred", "public", "direct"])
def test_variances_verify(base):
    for ball in BALLS[:3]:
        for budget in (GDP(0.5), PureDP(1.0)):
            release = private_variance(records(ball), ball, budget, base=base)
            assert release.value.shape == (1,)
            assert 0.0 <= release.value[0] <= ball.reach**2
            assert failed(Release.from_json(release.to_json())) == set()


def test_the_mean_has_the_noise_that_it_has_alone():
    ball = BALLS[0]
    alone = private_mean(records(ball), ball, GDP(0.5), mechanism="tangent-gaussian")
    for second in ("scalar", "matrix"):
        both = private_moments(
            records(ball), ball, GDP(0.5), second=second, mechanism="tangent-gaussian"
        )
        assert both.sigma == pytest.approx(alone.sigma, rel=1e-11)
        assert both.value.mean_sd == pytest.approx(both.sigma, rel=1e-9)
    factor = both.value.second_moment_sd / both.sigma
    assert factor == pytest.approx(math.sqrt(2.0) * ball.reach, rel=1e-6)


@pytest.mark.slow
def test_noise_of_the_parts_is_what_is_said():
    ball, points = BALLS[0], records(BALLS[0], n=5)
    found = [
        private_moments(points, ball, GDP(1.0), second="matrix", generator=seeded(i)).value
        for i in range(250)
    ]
    for name, sd in (
        ("coordinates", found[0].mean_sd),
        ("second_moment", found[0].second_moment_sd),
    ):
        entries = np.array([each[name] for each in found])
        spread = entries.std(axis=0)
        wanted = np.full(spread.shape, sd)
        if spread.ndim == 2:  # off-diagonal entries have half the variance
            wanted[~np.eye(3, dtype=bool)] /= math.sqrt(2.0)
        np.testing.assert_allclose(spread, wanted, rtol=5.0 / math.sqrt(2 * len(found)))


def test_of_a_shrunk_draw_no_noise_is_said():
    release = private_moments(records(BALLS[0]), BALLS[0], GDP(0.5), second="matrix")
    less = release.shrink()
    assert np.linalg.norm(less.raw) < np.linalg.norm(release.raw)
    assert math.isnan(less.value.mean_sd)
    assert release.value.mean_sd > 0.0
    assert failed(Release.from_json(less.to_json())) == set()


def test_seeded_releases_repeat_and_say_so():
    ball = BALLS[2]
    one, other = (
        private_moments(records(ball), ball, GDP(1.0), base="recentred", generator=seeded())
        for _ in range(2)
    )
    assert one.raw.tobytes() == other.raw.tobytes()
    assert not one.private


def test_one_charge_before_anything_is_drawn():
    ball = BALLS[0]
    accountant = Accountant(GDP(1.0))
    private_moments(records(ball), ball, GDP(0.6), base="recentred", accountant=accountant)
    private_variance(records(ball), ball, GDP(0.8), accountant=accountant)
    labels = [entry.label.partition(",")[0] for entry in accountant.ledger]
    assert labels == ["private_moments", "private_variance"]
    with pytest.raises(BudgetExceededError):
        private_moments(records(ball), ball, GDP(0.6), accountant=accountant)


def test_a_ball_that_was_found_will_do():
    ball = Ball(Euclidean(2), [0.0, 0.0], 100.0)
    points = np.random.default_rng(3).normal([30.0, 0.0], size=(4000, 2))
    found = private_ball(points, ball, GDP(1.0), generator=seeded())
    release = private_moments(points, found, second="matrix", generator=seeded())
    assert failed(release) - {"randomness"} == set()
    assert release.value.clip < 20.0
    assert np.linalg.norm(release.value.mean - [30.0, 0.0]) < 0.3
    np.testing.assert_allclose(release.value.covariance, np.eye(2), atol=0.4)


def test_recentred_moments_follow_the_spread():
    ball = Ball(Euclidean(4), np.zeros(4), 20.0)
    points = np.random.default_rng(4).normal([9.0, 0.0, 0.0, 0.0], size=(2000, 4))
    errors = {"public": [], "recentred": []}
    for base, found in errors.items():
        for seed in range(10):
            value = private_moments(
                points, ball, GDP(0.5), second="matrix", base=base, generator=seeded(seed)
            ).value
            found.append(np.linalg.norm(value.covariance - np.cov(points.T)))
    assert np.mean(errors["recentred"]) < 0.2 * np.mean(errors["public"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x, b: private_moments(x, b, GDP(1.0), second="third"), '"scalar" or "matrix"'),
        (lambda x, b: private_moments(x, b, GDP(1.0), base="none"), "base must be one of"),
        (lambda x, b: private_moments(x, b, GDP(1.0), base="direct"), "base must be one of"),
        (lambda x, b: private_variance(x, b, GDP(1.0), base=3), '"direct"'),
        (lambda x, b: private_moments(Records(x, labels=[0] * 40), b, GDP(1.0)), "takes no labels"),
        (lambda x, b: private_mean(Records(x, labels=[0] * 40), b, GDP(1.0)), "takes no labels"),
    ],
)
def test_wrong_calls_are_refused(call, said):
    ball = BALLS[0]
    with pytest.raises(InvalidParameterError, match=said):
        call(records(ball), ball)


@pytest.mark.parametrize(
    "statistic", [Moments(), Recentred(Moments()), Variance(), DirectVariance()], ids=str
)
def test_what_a_statistic_does_not_take_is_refused_before_the_charge(statistic):
    ball, accountant = BALLS[0], Accountant(GDP(1.0))
    for extra in ({"labels": [0] * 40}, {"covariates": [0.0] * 40}):
        with pytest.raises(InvalidParameterError, match=f"takes no {next(iter(extra))}"):
            private_statistic(
                statistic, Records(records(ball), **extra), ball, GDP(1.0), accountant=accountant
            )
    assert accountant.ledger == ()


def test_projection_is_left_to_the_reader(projecting):
    projecting(True)
    ball = BALLS[0]
    release = private_statistic(Moments(), records(ball), ball, GDP(1.0))
    assert release.projected
    assert failed(Release.from_json(release.to_json())) == set()
    changed = replace(
        private_moments(records(ball), ball, GDP(1.0), base="recentred"), projected=True
    )
    assert failed(changed) == {"document"}


def test_plans_know_the_statistics():
    for statistic in (Moments("matrix"), Recentred(Moments()), Variance(), DirectVariance()):
        assert statistic.name in str(plan(Euclidean(3), 2.0, 100, GDP(1.0), statistic=statistic))


def test_rows_that_are_no_points_are_refused():
    ball = BALLS[2]
    with pytest.raises(NotOnManifoldError, match="row 1"):
        private_moments(np.array([[0.6, 0.0, 0.8], [2.0, 0.0, 0.0]]), ball, GDP(1.0))


def test_a_ball_that_was_found_in_a_large_one_has_no_region():
    """Coordinates about its centre may jump: as about a mean that is released first."""
    sphere = Sphere(2)
    near = Ball(sphere, sphere.origin, 0.5)
    points = near.point(np.random.default_rng(0).normal([0.2, 0.0], 0.05, (3000, 2)))
    for radius, refused in ((1.5, False), (2.9, True)):
        public = Ball(sphere, sphere.origin, radius)
        found = private_ball(points, public, GDP(2.0), generator=seeded())
        assert found.ball != public
        release = private_moments(points, found, second="matrix", generator=seeded())
        if refused:
            with pytest.raises(UnsupportedBallError, match="public ball of less than half"):
                release.confidence_region()
        else:
            assert release.released_moments().released_base
            release.confidence_region()


def test_tampering_is_found():
    ball = BALLS[0]
    release = private_moments(records(ball), ball, GDP(1.0), base="recentred")
    document = json.loads(release.to_json())
    header = document["header"]
    first, last = header["queries"]
    for key, other in (
        ("value", [document["value"][0] + 1.0, *document["value"][1:]]),
        ("rounded", [document["rounded"][0] + 10**12, *document["rounded"][1:]]),
        ("header", {**header, "queries": [first, {**last, "sensitivity": 0.5}]}),
        ("header", {**header, "statistic": {**header["statistic"], "share": 0.5}}),
    ):
        assert not verify({**document, key: other}).passed


# An audit of mean and second moment together, on the pair of records that attains the bound.


def advantage(made, pair, draws, source):
    """Share of draws that the best threshold tells right, less that of the other record."""
    ends = []
    for record in pair:
        found = [drawn(made, np.array([record]), source, limit=GDP(1e6))[1] for _ in range(draws)]
        ends.append(np.array(found, dtype=float))
    axis = ends[0].mean(axis=0) - ends[1].mean(axis=0)
    middle = 0.5 * (ends[0].mean(axis=0) + ends[1].mean(axis=0)) @ axis
    return float(np.mean(ends[0] @ axis > middle) - np.mean(ends[1] @ axis > middle))


@pytest.mark.slow
@pytest.mark.parametrize("second", ["scalar", "matrix"])
def test_both_together_are_as_private_as_is_said(second):
    """Of the scalar the worst pair is r and -0.236 r, where both parts move."""
    plane = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    pair = ([1.0, 0.0], [-0.2360679775, 0.0]) if second == "scalar" else ([1.0, 0.0], [-1.0, 0.0])
    made = offer(Moments(second), TangentGaussian, plane, 1, GDP(1.0))
    draws, source = 3000, np.random.default_rng(11)
    claimed = math.erf(0.5 / math.sqrt(2.0))  # 2 Phi(mu/2) - 1
    error = 4.0 / math.sqrt(2.0 * draws)
    assert abs(advantage(made, pair, draws, source) - claimed) < error
    # negative control: the noise that the second moment alone would need
    space = made.mechanism.manifold
    weaker = TangentGaussian(space, 0.7 * made.mechanism.sigma)
    weak = with_draw(replace(made, asked=(replace(made.last, mechanism=weaker),)))
    assert advantage(weak, pair, draws, source) > claimed + error


@pytest.mark.slow
def test_components_of_real_data():
    """Share of the variance along the released directions, direct and recentred."""
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / "eeg_eegmmidb_s001.npz").exists():
        pytest.skip("RIEMDP_DATA names no folder with eeg_eegmmidb_s001.npz")
    with np.load(path) as file:
        points = file["cov8_1s"].astype(float)
    points = 0.5 * (points + points.transpose(0, 2, 1))
    ball = Ball(SPDLogEuclidean(8), 10.0 * np.eye(8), 12.0)
    rows = ball.coordinates(points)
    covariance = np.cov(rows.T, bias=True)

    def share(matrix):
        top = np.linalg.eigh(matrix)[1][:, -5:]
        return np.trace(top.T @ covariance @ top) / np.trace(covariance)

    for base, wanted in (("public", 0.175), ("recentred", 0.426)):
        found = [
            share(
                private_moments(
                    points, ball, GDP(1.0), second="matrix", base=base, generator=seeded(i)
                ).value.covariance
            )
            for i in range(10)
        ]
        assert np.mean(found) > wanted - 0.03
