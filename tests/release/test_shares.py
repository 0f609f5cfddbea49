"""How several answers are paid for by one budget."""

import math
from fractions import Fraction

import pytest

import riemdp
from riemdp import GDP, KLDP, RDP, ZCDP, ApproxDP, Ball, Euclidean, MeanCDP, PureDP, RaoDP
from riemdp.mechanisms import TangentGaussian, TangentLaplace
from riemdp.privacy import compose
from riemdp.release import _offer, offer
from riemdp.release._offer import parts_of, within
from riemdp.statistics import GeometricMedian, RefinedMean

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
MOVES = [0.3, 2.0, 0.01]
SHARES = [0.2, 0.5, 0.3]


def gaussian(sigma):
    return TangentGaussian(PLANE.manifold, sigma, base=PLANE.center)


def laplace(sigma):
    return TangentLaplace(PLANE.manifold, sigma, base=PLANE.center)


def test_one_query_gets_all_whatever_its_share():
    assert parts_of(GDP(1.0), [0.3]) == [GDP(1.0)]
    assert parts_of(MeanCDP(0.3, 0.5), [1.0]) == [MeanCDP(0.3, 0.5)]


def test_others_get_what_their_shares_say():
    assert parts_of(PureDP(1.0), [0.25, 0.75]) == [PureDP(0.25), PureDP(0.75)]
    squares = [part.mu**2 for part in parts_of(GDP(2.0), SHARES)]
    assert squares == pytest.approx([4.0 * share for share in SHARES], rel=1e-14)


@pytest.mark.parametrize(
    "budget",
    [
        PureDP(0.7),
        ApproxDP(0.7, 1e-6),
        GDP(0.7),
        ZCDP(0.3),
        RDP(4.0, 0.7),
        KLDP(0.3),
        RaoDP(0.5, distance="parametric"),
    ],
)
@pytest.mark.parametrize("shares", [SHARES, [0.1] * 10, [1.0, 2.0, 1.0], [0.1, 0.2]])
def test_parts_are_together_within_the_whole(budget, shares):
    """Shares of more than 1 are of their sum; 0.1 is more than a tenth."""
    together = compose(parts_of(budget, shares))
    for size in budget.sizes:
        assert getattr(together, size) <= getattr(budget, size)
    spent = sum(Fraction(part.price()[0]) for part in parts_of(budget, shares))
    assert spent <= Fraction(budget.price()[0])
    if sum(shares) >= 1.0:
        assert spent >= Fraction(budget.price()[0]) * (1 - Fraction(1, 10**14))


def test_a_definition_without_parts_has_none():
    with pytest.raises(riemdp.UnsupportedBudgetError, match="share MeanCDP"):
        parts_of(MeanCDP(0.3, 0.5), [0.5, 0.5])


@pytest.mark.parametrize("budget", [GDP(0.7), ZCDP(0.7**2 / 2)])
def test_noise_of_several_scales_is_within_what_squares_add_up_to(budget):
    scales = [move / (0.7 * math.sqrt(share)) for move, share in zip(MOVES, SHARES, strict=True)]
    assert within([gaussian(1.000001 * s) for s in scales], MOVES, SHARES, budget)
    assert not within([gaussian(0.999999 * s) for s in scales], MOVES, SHARES, budget)
    for place in range(3):  # one alone that errs is enough
        wrong = [gaussian((0.99 if k == place else 1.000001) * s) for k, s in enumerate(scales)]
        assert not within(wrong, MOVES, SHARES, budget)
    others = [0.35, 0.25, 0.4]  # of another division it is as much
    scales = [move / (0.7 * math.sqrt(share)) for move, share in zip(MOVES, others, strict=True)]
    assert within([gaussian(1.000001 * s) for s in scales], MOVES, SHARES, budget)


def test_noise_that_does_not_compose_is_within_each_share():
    scales = [move / (0.7 * share) for move, share in zip(MOVES, SHARES, strict=True)]
    assert within([laplace(1.000001 * s) for s in scales], MOVES, SHARES, PureDP(0.7))
    for place in range(3):
        wrong = [laplace((0.99 if k == place else 1.000001) * s) for k, s in enumerate(scales)]
        assert not within(wrong, MOVES, SHARES, PureDP(0.7))


def test_parts_of_more_than_all_are_within_nothing(monkeypatch):
    budget, moves, shares = GDP(0.7), [1.0, 1.0], [0.5, 0.5]
    parts = parts_of(budget, shares)
    noise = [TangentLaplace.calibrate(PLANE.manifold, 1.0, part) for part in parts]
    assert within(noise, moves, shares, budget)
    honest = parts_of
    monkeypatch.setattr(
        _offer,
        "parts_of",
        lambda whole, shares: [part.at(1.001 * part.mu) for part in honest(whole, shares)],
    )
    assert not within(noise, moves, shares, budget)


def test_without_parts_there_is_still_the_joint_draw():
    budget, moves, shares = MeanCDP(0.3, 1.0), [1.0, 1.0], [0.5, 0.5]
    joint = gaussian(1.0).calibrate(PLANE.manifold, math.sqrt(2.0), budget)
    assert within([gaussian(1.001 * joint.sigma)] * 2, moves, shares, budget)
    assert not within([gaussian(0.99 * joint.sigma)] * 2, moves, shares, budget)
    assert not within([laplace(10.0)] * 2, moves, shares, budget)


@pytest.mark.parametrize("statistic", [RefinedMean(rounds=3), GeometricMedian(steps=4)])
@pytest.mark.parametrize("kind", [TangentGaussian, TangentLaplace])
def test_every_query_has_the_noise_of_its_share(statistic, kind):
    """By hand: ``sigma_i = Delta_i / (mu sqrt(share_i))``, and ``Delta_i / (epsilon share_i)``."""
    is_gaussian = kind is TangentGaussian
    made = offer(statistic, kind, PLANE, 50, GDP(0.7) if is_gaussian else PureDP(0.7))
    for asked in made.asked:
        part = math.sqrt(asked.query.share) if is_gaussian else asked.query.share
        assert asked.mechanism.sigma == pytest.approx(asked.sensitivity / (0.7 * part), rel=1e-8)
        assert asked.mechanism.sigma >= asked.sensitivity / (0.7 * part)
    assert sum(asked.query.share for asked in made.asked) == pytest.approx(1.0, rel=1e-12)


def test_the_last_round_of_a_refined_mean_has_four_fifths_of_epsilon():
    """So its scale is 1.25 times that of one query, where equal shares would have made it 2."""
    made = offer(RefinedMean(), TangentLaplace, PLANE, 50, PureDP(0.7))
    assert made.sensitivity == pytest.approx(2.0 / 50, rel=1e-12)
    assert made.mechanism.sigma == pytest.approx(1.25 * made.sensitivity / 0.7, rel=1e-8)
    early = made.asked[0]
    assert early.mechanism.sigma == pytest.approx(5.0 * early.sensitivity / 0.7, rel=1e-8)
