import math
from dataclasses import replace

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp import _errors as errors
from riemdp.mechanisms import MECHANISMS, RiemannianLaplace, TangentGaussian
from riemdp.noise.exact import FlatDraw, SpaceFormDraw
from riemdp.release import _offer as module
from riemdp.release import offer, wanted_mean
from riemdp.release._least_error import least_error
from riemdp.release._offer import Offer, Terms, computed_sensitivity
from riemdp.statistics import FrechetMean, RefinedMean, ReplaceOne, TangentMean, mean_for


def ball_of(manifold, radius=0.6):
    return Ball(manifold, manifold.origin, radius)


def calibrated(kind, ball, n, budget):
    return offer(wanted_mean(ball, kind), kind, ball, n, budget)


def test_sensitivity_includes_twice_the_tolerance():
    ball = ball_of(Sphere(2))
    exact = riemdp.frechet_mean_sensitivity(ball, 10)
    query = next(FrechetMean().queries(ball))
    sensitivity, tol = computed_sensitivity(
        FrechetMean(), query, ball, 10, "distance", ReplaceOne()
    )
    assert sensitivity == math.nextafter(exact + 2 * tol, math.inf)
    assert 0 < tol < 1e-6 * exact


@pytest.mark.parametrize(
    ("manifold", "expected"),
    [
        (Euclidean(2), "frechet-mean"),
        (SPDLogEuclidean(2), "frechet-mean"),
        (Sphere(1), "tangent-mean"),
        (Sphere(2), "tangent-mean"),
        (Hyperbolic(2), "tangent-mean"),
        (SPDAffineInvariant(2), "tangent-mean"),
    ],
)
def test_the_mean_goes_with_the_metric_of_the_mechanism(manifold, expected):
    assert mean_for(manifold, TangentGaussian.metric).name == expected
    assert mean_for(manifold, RiemannianLaplace.metric).name == "frechet-mean"


@pytest.mark.parametrize("kind", MECHANISMS.values())
@pytest.mark.parametrize("budget", [PureDP(0.7), ApproxDP(0.7, 1e-5), GDP(0.7)])
def test_calibrated_candidates_satisfy_the_budget_and_half_the_noise_does_not(kind, budget):
    ball = ball_of(SPDLogEuclidean(2))
    try:
        candidate = calibrated(kind, ball, 10, budget)
    except riemdp.InvalidBudgetError:
        assert isinstance(budget, PureDP)
        assert "gaussian" in kind.name
        return
    assert candidate.mechanism.privacy(candidate.sensitivity).satisfies(budget)
    weak = kind(ball.manifold, 0.99 * candidate.mechanism.sigma)
    assert not weak.privacy(candidate.sensitivity).satisfies(budget)


def test_offers_catch_what_is_unsupported_and_nothing_else(monkeypatch):
    ball = ball_of(Sphere(2))
    pairs = [(FrechetMean(), RiemannianLaplace), (TangentMean(), RiemannianLaplace)]
    terms = Terms(ball, 10, PureDP(1.0))
    first, second = (terms.offered(*pair) for pair in pairs)
    assert isinstance(first, Offer)
    assert isinstance(second, riemdp.UnsupportedError)
    assert "not as a distance" in str(second)

    def broken(*_, **__):
        raise KeyError("a bug")

    monkeypatch.setattr(RiemannianLaplace, "calibrate", broken)
    with pytest.raises(KeyError):
        terms.offered(*pairs[0])


def test_an_instance_has_to_belong_to_the_answers_and_to_be_enough():
    ball = ball_of(Sphere(2))
    good = offer(FrechetMean(), RiemannianLaplace, ball, 10, PureDP(1.0)).mechanism
    assert offer(FrechetMean(), good, ball, 10, PureDP(1.0)).mechanism is good
    with pytest.raises(riemdp.NotAttainableError, match="too little noise"):
        offer(FrechetMean(), good, ball, 10, PureDP(0.99))
    with pytest.raises(riemdp.InvalidParameterError, match="the mechanism is for"):
        offer(FrechetMean(), RiemannianLaplace(Sphere(3), 1.0), ball, 10, PureDP(1.0))


@pytest.mark.parametrize("wrong", [None, 3, "riemannian-laplace", int])
def test_an_offer_needs_a_mechanism_or_a_class(wrong):
    with pytest.raises(riemdp.InvalidParameterError, match="mechanism must be"):
        offer(FrechetMean(), wrong, ball_of(Sphere(2)), 10, PureDP(1.0))


def of_another_package(monkeypatch, **members):
    """Offer one more mechanism."""
    from riemdp.release import _least_error

    kind = type("M", (RiemannianLaplace,), {"name": "lab.M", "proof": "a paper", **members})
    monkeypatch.setattr(_least_error, "MECHANISMS", {**MECHANISMS, "lab.M": kind})
    return kind


def test_an_unknown_error_comes_last(monkeypatch):
    def unknown(*_):
        raise riemdp.UnsupportedError("nobody knows")

    ball = ball_of(Sphere(2))
    of_another_package(monkeypatch, expected_distance=unknown, error_quantile=unknown)
    table = riemdp.plan(ball.manifold, 0.6, 50, PureDP(1.0), target_error=0.1)
    row = table["lab.M"]
    assert (row.problem, row.expected_distance, row.quantile_95) == (None, None, None)
    assert row.sigma > 0.0
    assert row.required_n is None
    chosen, _ = least_error(wanted_mean, Terms(ball, 50, PureDP(1.0)))
    assert table.best.mechanism == chosen.mechanism.name == "tangent-laplace"
    assert "lab.M" in str(table)


def test_the_draw_of_every_query_has_to_be_proved():
    ball, budget = ball_of(Euclidean(2)), GDP(1.0)
    found = offer(RefinedMean(), TangentGaussian, ball, 500, budget)
    first, last = found.asked
    assert first.mechanism != last.mechanism
    assert not found.unproven(budget)
    doubtful = type("Doubtful", (FlatDraw,), {"proof": None})
    for place in (0, 1):
        asked, draw = [first, last], found.asked[place].draw
        asked[place] = replace(asked[place], draw=doubtful(draw.kind, draw.dim, draw.sigma))
        assert replace(found, asked=tuple(asked)).unproven(budget) == "exact draw"


def test_what_is_cheaper_and_not_proved_is_named(monkeypatch):
    of_another_package(monkeypatch, expected_distance=lambda _: 1e-3, proof=None)
    ball = ball_of(Sphere(2))
    chosen, reason = least_error(wanted_mean, Terms(ball, 50, PureDP(1.0)))
    assert chosen.mechanism.name == "tangent-laplace"
    assert reason.endswith(". Not taken, since not proved: lab.M for the frechet-mean, 0.001")
    taken, reason = least_error(wanted_mean, Terms(ball, 50, PureDP(1.0)), allow_unproven=True)
    assert taken.mechanism.name == "lab.M"
    assert "Not taken" not in reason


@pytest.mark.parametrize("order", [1, -1])
def test_no_order_of_mechanisms_counts(monkeypatch, order):
    """NaN compares with nothing: the one before it and the one after would win."""
    monkeypatch.setattr(RiemannianLaplace, "expected_distance", lambda _: math.nan)
    from riemdp.release import _least_error

    monkeypatch.setattr(_least_error, "MECHANISMS", dict(list(MECHANISMS.items())[::order]))
    chosen, _ = least_error(wanted_mean, Terms(ball_of(Euclidean(2)), 50, PureDP(1.0)))
    assert chosen.mechanism.name in ("tangent-laplace", "wrapped-laplace")


@pytest.mark.parametrize(
    "exact_draw",
    [lambda *_: None, lambda *_: FlatDraw("laplace", 5, 1.0), lambda *_: FlatDraw],
)
def test_an_exact_draw_of_another_package_that_is_none_is_refused(exact_draw):
    kind = type("M", (RiemannianLaplace,), {"name": "lab.M", "exact_draw": exact_draw})
    with pytest.raises(errors.UnsupportedError, match=r"lab\.M.*riemdp\.research"):
        offer(FrechetMean(), kind, ball_of(Sphere(2)), 50, PureDP(1.0))


def test_who_draws_in_another_way_has_no_exact_draw():
    """Its privacy is that of its own draws: those of the class above it need not be."""

    class Louder(RiemannianLaplace):
        name = "lab.Louder"

        def sample(self, footpoint, size=None, generator=None):
            return footpoint

    class Named(RiemannianLaplace):
        name = "lab.Named"

    ball = ball_of(Sphere(2))
    with pytest.raises(errors.UnsupportedError, match="no exactly rounded draw"):
        offer(FrechetMean(), Louder, ball, 50, PureDP(1.0))
    found = offer(FrechetMean(), Named, ball, 50, PureDP(1.0))
    assert isinstance(found.last.draw, SpaceFormDraw)


def test_without_an_exact_draw_there_is_no_offer():
    ball = ball_of(Euclidean(2))
    exact = offer(FrechetMean(), RiemannianLaplace, ball, 50, PureDP(1.0))
    assert exact.tol == 0.0
    assert exact.sensitivity == pytest.approx(2 * 0.6 / 50, rel=1e-14)

    class Silent(RiemannianLaplace):
        name = "lab.Silent"

        def exact_draw(self, ball):
            raise errors.UnsupportedError("no exactly rounded draw of lab.Silent is known")

    account = riemdp.Accountant(PureDP(1.0))
    with pytest.raises(errors.UnsupportedError, match=r"riemdp\.research\.private_mean"):
        riemdp.private_mean(
            np.zeros((50, 2)), ball, PureDP(1.0), mechanism=Silent, accountant=account,
            allow_unproven=True,
        )  # fmt: skip
    assert account.remaining == PureDP(1.0)


def test_auto_takes_the_next_where_the_best_is_not_drawn(monkeypatch):
    best, _ = least_error(wanted_mean, Terms(ball_of(Sphere(2)), 50, PureDP(1.0)))

    def none(self, ball):
        raise errors.UnsupportedError("not here")

    monkeypatch.setattr(type(best.mechanism), "exact_draw", none)
    found, reason = least_error(wanted_mean, Terms(ball_of(Sphere(2)), 50, PureDP(1.0)))
    assert found.mechanism.name != best.mechanism.name
    assert best.mechanism.name not in reason.split(" under ")[0]
    assert found.last.draw is not None


def test_without_python_flint_nothing_is_released(monkeypatch):
    monkeypatch.setattr(module, "certified_available", lambda: False)
    with pytest.raises(errors.InvalidParameterError, match="pip install python-flint"):
        offer(FrechetMean(), RiemannianLaplace, ball_of(Sphere(2)), 50, PureDP(1.0))


def test_a_ball_too_small_for_a_proof_is_refused():
    matrices = SPDAffineInvariant(2)
    ball = Ball(matrices, matrices.origin, 1e-11)
    with pytest.raises(errors.UnsupportedBallError, match="cannot be certified"):
        offer(FrechetMean(), RiemannianLaplace, ball, 5, PureDP(1.0))
