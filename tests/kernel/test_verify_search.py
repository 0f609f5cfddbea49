from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

from riemdp import GDP, ZCDP, Ball, Euclidean, Hyperbolic, PureDP, SPDLogEuclidean, Sphere
from riemdp._errors import InvalidParameterError
from riemdp.kernel import Choice
from riemdp.kernel._verify_search import check_search
from riemdp.release._search._steps import working_ball
from riemdp.release._search._units import Units, searched

SPD = SPDLogEuclidean(2)
BALLS = [
    (Ball(Euclidean(2), np.zeros(2), 1.0), None),
    (working_ball(Ball(SPD, np.eye(2), 1.5)), SPD.scale_axis),
    (Ball(Sphere(2), [1.0, 0.0, 0.0], 1.2), None),
    (Ball(Hyperbolic(2), [1.0, 0.0, 0.0], 2.0), None),
]


def run(ball, budget, seed, *, counted=False, axis=None, spread=0.03, n=900):
    rng = np.random.default_rng(seed)
    dim = ball.manifold.dim
    steps = rng.normal(size=(n, dim)) * spread + np.eye(dim)[0] * 0.4 * ball.reach
    units = Units(ball, ball.point(steps), counted=counted, axis=axis)
    size = None if counted else n
    outcome, steps = searched(ball, budget, size, units, axis=axis, source=rng)
    return outcome, json.loads(json.dumps(steps)), (ball, budget, size, axis)


@pytest.mark.parametrize(("ball", "axis"), BALLS, ids=[str(ball.manifold) for ball, _ in BALLS])
@pytest.mark.parametrize("budget", [PureDP(1.0), GDP(0.6), ZCDP(0.3), PureDP(0.01)], ids=str)
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.fast(8)
def test_a_receipt_leads_to_the_ball_that_was_found(ball, axis, budget, counted):
    for seed, spread in enumerate((0.003, 0.05, 0.4, 2.0)):
        outcome, steps, known = run(ball, budget, seed, counted=counted, axis=axis, spread=spread)
        found = check_search(steps, *known)
        assert found.left == outcome.left
        assert found.draws == outcome.spent
        assert found.ball.reach == pytest.approx(outcome.ball.reach, rel=1e-12)
        np.testing.assert_allclose(found.ball.center, outcome.ball.center, atol=1e-12)
        assert (found.first is None) == (outcome.first is None)
        if outcome.outside is not None:
            assert (found.outside, found.far) == (outcome.outside[0], outcome.far)


def test_budgets_from_end_to_end():
    """From too little for any search to far more than one needs."""
    ball = BALLS[0][0]
    for budget in (PureDP(1e-300), PureDP(1e-12), PureDP(1e9), GDP(1e-100), GDP(40.0), ZCDP(1e6)):
        for counted in (False, True):
            outcome, steps, known = run(ball, budget, 0, counted=counted)
            assert check_search(steps, *known).left == outcome.left


def edits(step):
    """Changes of one number of a step, each to another that is as well formed."""
    for key, value in step.items():
        if key == "query":
            yield key, "radius" if value != "radius" else "pairs"
        elif key == "share":
            yield key, [value[0] + 1, value[1]]
            yield key, [float(value[0]), value[1]]
        elif key in ("count", "grid"):
            yield key, value + 1
            yield key, float(value)
        elif key == "center":
            yield key, [value[0] + 1e-6, *value[1:]]
        elif key in ("rate", "top", "penalty", "sigma", "radius", "far"):
            yield key, value * (1.0 + 1e-6)
            yield key, value * (1.0 - 1e-6)
            yield key, True
            yield key, float("nan")
        yield key, None


@pytest.mark.fast(1)
@pytest.mark.parametrize("budget", [PureDP(1.0), GDP(0.6)], ids=str)
@pytest.mark.parametrize("counted", [False, True])
def test_every_edit_of_a_stated_number_is_found(budget, counted):
    _, steps, known = run(BALLS[0][0], budget, 1, counted=counted)
    check_search(steps, *known)
    assert {step["query"] for step in steps} >= {"pairs", "centre", "radius", "guard"}
    tried = 0
    for i, step in enumerate(steps):
        for key, value in edits(step):
            forged = copy.deepcopy(steps)
            forged[i][key] = value
            with pytest.raises(InvalidParameterError):
                check_search(forged, *known)
            tried += 1
        for forged in (
            [*steps[:i], *steps[i + 1 :]],
            [*steps[: i + 1], step, *steps[i + 1 :]],
            [*steps[:i], {**step, "more": 1}, *steps[i + 1 :]],
        ):
            with pytest.raises(InvalidParameterError):
                check_search(forged, *known)
    assert tried > 40
    for forged in (None, [None], {"steps": steps}, [*steps, steps[-1]]):
        with pytest.raises(InvalidParameterError):
            check_search(forged, *known)


def test_answers_lead_elsewhere():
    """A place or an integer is an answer, and no other follows from it; the ball is another."""
    outcome, steps, known = run(BALLS[0][0], GDP(0.6), 1)
    first = min(i for i, step in enumerate(steps) if step["query"] == "radius")
    forged = copy.deepcopy(steps)
    forged[first]["place"] += 1
    with pytest.raises(InvalidParameterError):  # later queries were asked on another ball
        check_search(forged, *known)
    forged = copy.deepcopy(steps)
    forged[-1]["rounded"][0] += 1
    assert check_search(forged, *known).outside != outcome.outside[0]
    for place in (-1, 10**6, 2.0, True):
        forged = copy.deepcopy(steps)
        forged[0]["place"] = place
        with pytest.raises(InvalidParameterError):
            check_search(forged, *known)


def test_costs_are_of_the_numbers_that_are_stated():
    """To the last digit: what is stated is what was drawn with."""
    _, steps, known = run(BALLS[0][0], PureDP(1.0), 2)
    forged = copy.deepcopy(steps)
    forged[0]["rate"] = float(np.nextafter(forged[0]["rate"], 1.0))
    found = check_search(forged, *known)
    assert Choice(Fraction(forged[0]["rate"])) in found.draws
    assert found.draws != check_search(steps, *known).draws


def test_other_public_numbers_do_not_fit():
    ball = BALLS[0][0]
    _, steps, (_, budget, n, _) = run(ball, GDP(0.6), 1)
    other = Ball(Euclidean(2), np.zeros(2), 1.1)
    for known in (
        (other, budget, n),
        (ball, GDP(0.61), n),
        (ball, budget, 950),
        (ball, budget, None),
    ):
        with pytest.raises(InvalidParameterError):
            check_search(steps, *known)


@pytest.mark.parametrize("n", [500, 1000, 2000, 4000])
def test_rounding_decides_no_share(n):
    """Where a rate times n is 40 to the last digit but one."""
    _, steps, known = run(BALLS[0][0], PureDP(1.0), 1, n=n)
    check_search(steps, *known)
    assert Fraction(*steps[0]["share"]) == Fraction(40, n)
