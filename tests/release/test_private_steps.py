"""Releases by noisy steps: what they cost together, and that one of them is the tangent mean."""

from __future__ import annotations

import functools
import json
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    Release,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    TangentGaussian,
    plan,
    private_ball,
    private_huber,
    private_mean,
    private_median,
    private_statistic,
    verify,
)
from riemdp.kernel import Vector, _verify
from riemdp.mechanisms import Mechanism
from riemdp.privacy import GaussianCurve, affordable_mu
from riemdp.release._offer import offer, with_draw
from riemdp.release._run import drawn
from riemdp.statistics import (
    GeometricMedian,
    Groups,
    HuberMean,
    RefinedMean,
    Rows,
    Statistic,
    Value,
    _statistic,
    answer,
    outline,
)

BALLS = [
    Ball(Euclidean(3), [1.0, -2.0, 0.5], 3.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 3.0),
    Ball(Sphere(2), [0.6, 0.0, 0.8], 3.0),
    Ball(Sphere(1), [0.6, 0.8], 3.0),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 3.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 3.0),
]
PLANE = Ball(Euclidean(2), [0.0, 0.0], 2.0)


def records(ball, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return ball.point(rng.normal(size=(n, ball.manifold.dim)))  # some of them outside


def seeded(seed=7):
    return np.random.default_rng(seed)


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_one_round_is_the_tangent_gaussian_bit_for_bit(ball):
    points, options = records(ball), {"mechanism": "tangent-gaussian"}
    for budget in (GDP(0.4), ApproxDP(1.0, 1e-6)):
        one, other = (
            released(points, ball, budget, generator=seeded(), **options)
            for released in (private_mean, functools.partial(private_statistic, RefinedMean(1)))
        )
        assert other.statistic == RefinedMean(1)
        assert one.value.tobytes() == other.value.tobytes()
        assert (one.grid, one.rounded) == (other.grid, other.rounded)
        assert (one.sigma, one.sensitivity, one.tol) == (other.sigma, other.sensitivity, other.tol)
        assert one.expected_distance == other.expected_distance
        assert failed(Release.from_json(other.to_json())) == set()
    far = private_mean(points, ball, GDP(0.4), method="refined", generator=seeded(), **options)
    assert far.value.tobytes() != one.value.tobytes()


def test_one_round_has_the_whole_budget_whatever_its_share_rounds_to():
    for share in (1.0 - 9e-10, 1.0 + 9e-10):
        release = private_statistic(
            RefinedMean(rounds=1, shares=(share,)), records(PLANE), PLANE, GDP(1.0)
        )
        assert release.statistic == RefinedMean(1)
        assert release.sensitivity <= release.sigma


def test_the_exact_sums_of_two_rounds_are_those_of_one():
    """The first round asks for the tangent mean too, short of the margin for its moment."""
    for ball in BALLS:
        points = records(ball)
        first, one = (outline(RefinedMean(rounds), ball).queries[0] for rounds in (2, 1))
        found = answer(first, ball, points, 0.0)
        whole = answer(one, ball, points, 0.0)
        gap = np.array([float(x) for x in found[:-1]]) - [float(x) for x in whole]
        assert np.linalg.norm(gap) < 2.0**-37 * ball.radius


@pytest.mark.fast(3)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_releases_are_exact_and_proved_and_replayed(ball):
    for release in (
        private_statistic(GeometricMedian(steps=3), records(ball), ball, GDP(2.0)),
        private_statistic(HuberMean(steps=3), records(ball), ball, ApproxDP(2.0, 1e-6)),
        private_mean(records(ball), ball, ZCDP(1.0), method="refined"),
    ):
        assert (release.tol, release.proven) == (0.0, True)
        assert ball.contains(release.value)
        # the second moment is asked for in the first round alone
        assert len(release.rounded) == len(release.scales) * ball.manifold.dim + 1
        again = Release.from_json(release.to_json())
        assert again.value.tobytes() == release.value.tobytes()
        assert again.statistic == release.statistic
        assert failed(again) == set()
        assert str(again).count("  note ") == 1


def test_the_whole_costs_what_one_answer_would():
    points = records(PLANE)
    for budget in (GDP(0.5), ZCDP(0.2), ApproxDP(1.0, 1e-6)):
        one = private_mean(points, PLANE, budget, mechanism="tangent-gaussian")
        for release in (
            private_median(points, PLANE, budget, mechanism="tangent-gaussian"),
            private_statistic(
                RefinedMean(rounds=3), points, PLANE, budget, mechanism="tangent-gaussian"
            ),
        ):
            assert release.sensitivity == pytest.approx(2.0 * 2.0 / 40, rel=1e-12)
            *_, last = release.offer.asked
            assert release.sigma == pytest.approx(one.sigma / math.sqrt(last.query.share), rel=1e-8)
            answers = [
                GaussianCurve(each.sensitivity / scale)
                for each, scale in zip(release.offer.asked, release.scales, strict=True)
            ]
            whole = answers[0].compose(*answers[1:])
            assert whole.mu() == pytest.approx(affordable_mu(budget), rel=1e-8)


def test_auto_takes_what_composes():
    release = private_median(records(PLANE), PLANE, ApproxDP(1.0, 1e-6))
    assert release.mechanism.name == "tangent-gaussian"
    pure = private_statistic(
        GeometricMedian(steps=12, warm_share=1.0 / 13.0), records(PLANE), PLANE, PureDP(13.0)
    )
    assert failed(pure) == set()
    # thirteen queries, each with a thirteenth of the budget
    assert pure.scales == pytest.approx([pure.sensitivity] * 13, rel=1e-6)


def part(share):
    """A query with a share of the budget, whose answer moves by 1 with ten records."""
    return Rows(Vector(2), 5.0, lambda ball, points: np.zeros_like(points), share=share)


@dataclass(frozen=True)
class Shared(Statistic):
    """Two queries, of shares that are stated."""

    name = "tests.Shared"
    shares: tuple = (0.36, 0.64)

    def queries(self, ball):
        for share in self.shares:
            answer = yield part(share)
        return Value(answer.point, ball)


class Bolder(TangentGaussian):
    """A mechanism of another package, which says nothing of several draws."""

    name = "tests.Bolder"
    proof = "https://example.org/bolder"


def calibrated(statistic, kind, budget):
    made = offer(statistic, kind, PLANE, 10, budget, draws=False)
    return pytest.approx([each.mechanism.sigma for each in made.asked], rel=1e-8)


def test_shares_are_of_squares_for_gaussian_noise_and_of_epsilon_for_laplace_noise():
    for kind in (TangentGaussian, riemdp.RiemannianGaussian, Bolder):
        assert calibrated(Shared(), kind, GDP(1.0)) == [1.0 / 0.6, 1.0 / 0.8]
    assert calibrated(Shared(), riemdp.TangentLaplace, PureDP(1.0)) == [1.0 / 0.36, 1.0 / 0.64]
    # shares of more than 1 are of their sum
    assert calibrated(Shared((9.0, 16.0)), TangentGaussian, GDP(1.0)) == [5.0 / 3.0, 5.0 / 4.0]
    assert calibrated(Shared((0.09, 0.16)), Bolder, GDP(1.0)) == [1.0 / 0.3, 1.0 / 0.4]
    assert calibrated(Shared((9.0, 16.0)), Bolder, GDP(1.0)) == [5.0 / 3.0, 5.0 / 4.0]
    for wrong in ((0.0, 1.0), (1.0, math.nan), (1.0, "x"), (-1.0, 1.0)):
        with pytest.raises(riemdp.InvalidParameterError, match="the share of a query"):
            calibrated(Shared(wrong), TangentGaussian, GDP(1.0))


def test_a_calibrated_mechanism_is_for_one_query():
    given = TangentGaussian(Euclidean(2), 100.0)
    with pytest.raises(riemdp.InvalidParameterError, match='mechanism="tangent-gaussian"'):
        offer(Shared(), given, PLANE, 10, GDP(1.0))
    assert offer(Shared((0.5,)), given, PLANE, 10, GDP(1.0), draws=False).mechanism is given


def test_a_joint_weight_is_a_claim_that_is_not_inherited():
    assert TangentGaussian.joint_weight((3.0, 4.0)) == 5.0
    assert TangentGaussian.joint_weight((1.0,) * 13) ** 2 >= 13.0
    for kind in (Bolder, riemdp.TangentLaplace, riemdp.RiemannianGaussian, Mechanism):
        assert kind.joint_weight((3.0, 4.0)) is None


def test_verify_sums_the_costs():
    release = private_statistic(GeometricMedian(steps=3), records(PLANE), PLANE, GDP(1.0))
    for place in range(len(release.scales)):
        scales = [0.99 * s if k == place else s for k, s in enumerate(release.scales)]
        weaker = replace(release.mechanism, sigma=scales[-1])
        assert "guarantee" in failed(replace(release, mechanism=weaker, scales=tuple(scales)))
    assert "guarantee" not in failed(replace(release, guarantee=GDP(1.0 + 1e-9)))
    assert "guarantee" in failed(replace(release, guarantee=GDP(0.99)))


def first(document):
    """Numbers of the first query."""
    return document["header"]["queries"][0]


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda d: d["header"]["statistic"].update(warm_share=0.3), "guarantee"),
        (lambda d: d["header"]["statistic"].update(eta=0.9), "arithmetic"),
        (lambda d: d["rounded"].pop(), "arithmetic"),
        (lambda d: d["rounded"].__setitem__(0, d["rounded"][0] + 2**30), "arithmetic"),
        (lambda d: d["value"].__setitem__(0, d["value"][0] + 1e-5), "arithmetic"),
        (lambda d: first(d).update(sigma=0.99 * first(d)["sigma"]), "guarantee"),
        (lambda d: first(d).update(sensitivity=0.5 * first(d)["sensitivity"]), "sensitivity"),
        (lambda d: d["header"].update(n=41), "sensitivity"),
        (lambda d: d["header"].update(projected=True), "document"),
    ],
)
def test_a_document_that_was_changed_fails(change, check):
    release = private_statistic(
        GeometricMedian(steps=3), records(PLANE), PLANE, GDP(1.0), generator=seeded()
    )
    document = json.loads(release.to_json())
    change(document)
    assert check in failed(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["header"]["statistic"].update(rounds=4),
        lambda d: d["header"]["queries"].append(first(d)),
        lambda d: first(d).update(sigma=0.9 * first(d)["sigma"]),
    ],
)
def test_a_document_with_other_scales_than_queries_does_not_verify(change):
    document = json.loads(
        private_statistic(GeometricMedian(steps=3), records(PLANE), PLANE, GDP(1.0)).to_json()
    )
    change(document)
    try:
        found = Release.from_json(json.dumps(document))
    except riemdp.InvalidParameterError:
        return  # it is no release at all
    assert failed(found)


def test_values_of_other_processors_are_those_of_the_integers(monkeypatch):
    """Each step a few units in the last place off, as elsewhere; a digit that counts is not."""
    rng, stepped = np.random.default_rng(5), _verify._At.stepped
    for ball in BALLS:
        release = private_median(records(ball), ball, GDP(0.3), generator=seeded())
        for size, expected in ((4e-16, set()), (1e-3, {"arithmetic"})):

            def elsewhere(at, base, coordinates, size=size):
                return stepped(at, base, coordinates + size * rng.normal(size=len(coordinates)))

            with monkeypatch.context() as patch:
                patch.setattr(_verify._At, "stepped", elsewhere)
                assert failed(release) == expected


def test_a_document_with_more_steps_than_are_worked_through_is_refused_quickly(monkeypatch):
    monkeypatch.setattr(_statistic, "_MOST", 1000)
    release = private_statistic(GeometricMedian(steps=3), records(PLANE), PLANE, GDP(1.0))
    text = release.to_json().replace('"steps": 3', '"steps": 4611686018427387904')
    with pytest.raises(riemdp.InvalidParameterError, match="at most 10000"):
        Release.from_json(text)
    with pytest.raises(riemdp.InvalidParameterError, match="more than 1000 queries"):
        calibrated(Shared((1.0,) * 1001), TangentGaussian, GDP(1.0))


def test_records_in_another_order_give_the_same_integers():
    for ball in BALLS[:-1]:  # not where products of matrices may round by position
        points = records(ball)
        order = np.random.default_rng(3).permutation(len(points))
        for statistic in (GeometricMedian(2), HuberMean(2)):
            one, other = (
                private_statistic(statistic, rows, ball, GDP(1.0), generator=seeded())
                for rows in (points, points[order])
            )
            assert one.rounded == other.rounded


def test_one_record_and_extreme_records():
    for ball in BALLS[1:]:
        ends = ball.point(np.eye(ball.manifold.dim)[:1] * ball.radius)
        for points in (ends, np.repeat(ball.center[None], 3, axis=0)):
            for release in (
                private_statistic(GeometricMedian(steps=1), points, ball, GDP(1.0)),
                private_mean(points, ball, GDP(1.0), method="refined"),
            ):
                assert ball.contains(release.value)
                assert release.sensitivity == pytest.approx(2.0 * ball.reach / len(points))


def test_a_ball_that_was_found_pays_for_steps():
    points = np.random.default_rng(0).normal([0.3, -0.2], 0.02, (2000, 2))
    for call in (private_median, private_huber):
        found = private_ball(points, PLANE, GDP(0.5), generator=seeded())
        release = call(points, found, generator=seeded())
        assert (found.left, release.guarantee, release.ball) == (None, GDP(0.5), found.ball)
        assert release.budget.mu < 0.5
        assert failed(Release.from_json(release.to_json())) == set()


def test_no_step_leads_out_of_float64():
    for ball in BALLS:
        for statistic in (GeometricMedian(3, eta=1e300), HuberMean(3, clip=1e-300)):
            release = private_statistic(statistic, records(ball), ball, GDP(1.0))
            assert ball.contains(release.value)


def test_the_whole_sphere_is_a_ball():
    ball = Ball.whole(Sphere(2))
    points = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    release = private_statistic(GeometricMedian(steps=2), points, ball, GDP(5.0))
    assert failed(Release.from_json(release.to_json())) == set()


def test_accounts_groups_plans_and_scales():
    account = Accountant(GDP(1.0))
    points = records(PLANE)
    release = private_median(points, PLANE, GDP(0.6), accountant=account)
    assert account.spent == GDP(0.6)
    assert [entry.label for entry in account.ledger] == [
        f"private_median, {release.mechanism.name}"
    ]
    with pytest.raises(riemdp.BudgetExceededError):
        private_huber(points, PLANE, GDP(0.9), accountant=account)
    one, three = (
        private_statistic(GeometricMedian(steps=2), points, PLANE, GDP(0.6), adjacency=relation)
        for relation in (riemdp.statistics.ReplaceOne(), Groups(3))
    )
    assert three.sigma == pytest.approx(3.0 * one.sigma, rel=1e-8)
    listed = plan(PLANE.manifold, 2.0, 40, GDP(0.6), statistic=GeometricMedian(2))
    found = {each.mechanism: each for each in listed.rows}["tangent-gaussian"]
    # of records spread over the ball, and with what noise does to the steps
    law = one.mechanism.expected_distance()
    assert found.expected_distance > one.offer.value.gain * law
    assert one.expected_distance < found.expected_distance
    for radius in (1e-70, 1e70):
        ball = Ball(Euclidean(2), [0.0, 0.0], radius)
        release = private_statistic(
            GeometricMedian(steps=2), 0.3 * radius * np.eye(2), ball, GDP(1.0)
        )
        assert failed(release) == set()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda *a: private_mean(*a, method="median"), "method must be"),
        (lambda *a: private_mean(*a, method=2), "method must be"),
        (lambda *a: private_mean(*a, rounds=3), "no keyword 'rounds'"),
        (lambda *a: private_statistic(RefinedMean(shares=(0.5, 0.6)), *a), "sum to 1"),
        (lambda *a: private_statistic(RefinedMean(rounds=0), *a), "rounds must be"),
        (lambda *a: private_statistic(GeometricMedian(steps=0), *a), "steps must be"),
        (lambda *a: private_statistic(GeometricMedian(warm_share=2.0), *a), "warm_share must be"),
        (lambda *a: private_statistic(HuberMean(clip=0.0), *a), "clip must be positive"),
    ],
)
def test_wrong_arguments_cost_nothing(call, said):
    with pytest.raises((riemdp.InvalidParameterError, TypeError), match=said):
        call(records(PLANE), PLANE, GDP(1.0))


def test_noise_follows_the_spread_and_not_the_radius():
    rng = np.random.default_rng(0)
    points = 0.05 * rng.normal(size=(400, 2)) + [0.3, -0.2]
    ball = Ball(Euclidean(2), [0.0, 0.0], 10.0)
    errors = {name: [] for name in ("one shot", "refined", "median")}
    for seed in range(8):
        for name, release in (
            ("one shot", private_mean(points, ball, GDP(1.0), generator=seeded(seed))),
            ("refined", private_statistic(RefinedMean(4), points, ball, GDP(1.0),
                                          generator=seeded(seed))),
            ("median", private_median(points, ball, GDP(1.0), generator=seeded(seed))),
        ):  # fmt: skip
            errors[name].append(np.linalg.norm(release.value - points.mean(axis=0)))
    assert np.mean(errors["refined"]) < 0.5 * np.mean(errors["one shot"])
    assert np.mean(errors["median"]) < 0.4 * np.mean(errors["one shot"])


# An audit of all answers together, on the pair of data sets that attains every sensitivity.


def advantage(made, draws, source):
    """Share of draws that a threshold tells right, for the likelihood ratio of all answers."""
    # the first coordinate of each, of which the first answer has two, over its variance
    rows = np.cumsum([0] + [each.answers.manifold.dim for each in made.asked[:-1]])
    units = [2.0**-each.grid / each.mechanism.sigma**2 for each in made.asked]
    right = 0
    for sign in (1.0, -1.0):
        data = np.array([[sign * made.ball.radius]])
        for _ in range(draws):
            _, integers = drawn(made, data, source, limit=GDP(1e6))
            right += sign * (np.array(integers, dtype=float)[rows] @ units) > 0.0
    return right / draws - 1.0


@pytest.mark.slow
def test_all_answers_together_are_as_private_as_is_said():
    """Records at either end of a segment are seen in opposite directions, step by step."""
    line = Ball(Euclidean(1), [0.0], 1.0)
    statistic = GeometricMedian(3, eta=0.2)  # not so far as to pass the record
    made = offer(statistic, TangentGaussian, line, 1, GDP(1.0))
    draws, source = 1500, np.random.default_rng(11)
    claimed = math.erf(0.5 / math.sqrt(2.0))  # 2 Phi(mu/2) - 1
    error = 4.0 / math.sqrt(2.0 * draws)
    found = advantage(made, draws, source)
    assert found < claimed + error
    # negative control: every answer has noise as if it were alone
    weak = with_draw(replace(made, asked=tuple(
        replace(each, mechanism=TangentGaussian(each.answers.manifold, each.sensitivity))
        for each in made.asked
    )))  # fmt: skip
    assert advantage(weak, draws, source) > claimed + error
    assert found > claimed - error  # and the bound is attained


@pytest.mark.slow
def test_errors_on_real_data():
    """On the data that the tables of the docs are about, within a fifth, or better."""
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / "eeg_eegmmidb_s001.npz").exists():
        pytest.skip("RIEMDP_DATA names no folder with eeg_eegmmidb_s001.npz")
    with np.load(path) as file:
        points = file["cov8_1s"].astype(float)
    points = 0.5 * (points + points.transpose(0, 2, 1))
    ball = Ball(SPDLogEuclidean(8), 10.0 * np.eye(8), 12.0)
    mean = riemdp.frechet_mean(ball.manifold, points).value
    chart = ball.manifold.to_chart(points)
    median = chart.mean(axis=0)
    for _ in range(100):
        weights = 1.0 / np.linalg.norm(chart - median, axis=1)
        median = weights @ chart / weights.sum()
    median = ball.manifold.from_chart(median)
    for mu, once, twice, steps in ((0.2, 0.5, 0.17, 0.103), (1.0, 0.102, 0.027, 0.019)):
        for call, target, wanted in (
            (private_mean, mean, once),
            (lambda *a, **o: private_mean(*a, method="refined", **o), mean, twice),
            (private_median, median, steps),
        ):
            errors = [
                ball.manifold.dist(call(points, ball, GDP(mu), generator=seeded(i)).value, target)
                for i in range(40)
            ]
            assert np.mean(errors) < 1.2 * wanted


def test_huber_lies_between():
    assert isinstance(private_huber(records(PLANE), PLANE, GDP(1.0)).statistic, HuberMean)
