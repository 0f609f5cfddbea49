from __future__ import annotations

import numpy as np
import pytest

from riemdp import GDP, Ball, Euclidean, Hyperbolic, PureDP, SPDLogEuclidean, Sphere
from riemdp.privacy import within_total
from riemdp.release._search._schedule import Centre, Choice, schedule, working_ball

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)


def walk(ball, n, budget, answers, *, rounds=3, axis=None):
    """Questions of a search that is answered by a function of each."""
    questions, asked, answer = schedule(ball, n, budget, rounds, axis), [], None
    while True:
        try:
            question = next(questions) if answer is None else questions.send(answer)
        except StopIteration as end:
            return asked, end.value
        asked.append(question)
        answer = answers(question)


def at(radius, *, point=(0.0, 0.0)):
    """Answers of data of a radius about a point."""

    def answer(question):
        if isinstance(question, Centre):
            return np.array(point)
        candidates = question.candidates
        size = np.sqrt(2.0) * radius if question.query == "pairs" else radius
        return float(candidates[np.argmin(np.abs(candidates - size))])

    return answer


def test_too_few_records_are_asked_nothing():
    asked, outcome = walk(PLANE, 50, PureDP(1.0), at(0.1))
    assert asked == []
    assert (outcome.reason, outcome.ball) == ("small n", PLANE)


def test_wide_data_stop_after_the_spread():
    asked, outcome = walk(PLANE, 2000, PureDP(1.0), at(0.8))
    assert [question.label for question in asked] == ["spread"]
    assert (outcome.reason, outcome.ball) == ("wide", PLANE)
    assert asked[0].top == 2.0


def test_a_cluster_is_closed_in_on():
    asked, outcome = walk(PLANE, 2000, GDP(1.0), at(0.02, point=(0.3, 0.1)))
    assert outcome.reason == "found"
    assert outcome.ball.radius < 0.03
    assert outcome.ball.center.tolist() == [0.3, 0.1]
    assert [q.query for q in asked if isinstance(q, Choice)].count("pairs") == 1
    assert sum(isinstance(q, Centre) for q in asked) <= 3
    centres = [q.ball.reach for q in asked if isinstance(q, Centre)]
    assert centres == sorted(centres, reverse=True)


def test_a_radius_that_is_no_smaller_keeps_the_ball():
    def answer(question):
        inner = at(0.1)(question)
        return 1.2 if isinstance(question, Choice) and question.query == "radius" else inner

    asked, outcome = walk(PLANE, 2000, GDP(1.0), answer)
    assert (outcome.reason, outcome.ball) == ("wide", PLANE)
    assert sum(isinstance(q, Centre) for q in asked) <= 1


def test_records_that_were_lost_lead_back():
    seen = []

    def answer(question):
        if isinstance(question, Choice) and question.query == "radius":
            seen.append(question)
            return 0.05 if len(seen) == 1 else 0.9
        return at(0.01, point=(0.01, 0.0))(question)

    _, outcome = walk(PLANE, 2000, GDP(1.0), answer)
    assert (outcome.reason, outcome.ball) == ("back", PLANE)


@pytest.mark.parametrize("n", [300, 2000, 10**6])
@pytest.mark.parametrize("budget", [PureDP(1.0), GDP(0.5)], ids=str)
def test_the_steps_are_within_the_budget_whatever_is_answered(budget, n):
    rng = np.random.default_rng(0)
    manifold = SPDLogEuclidean(3)
    ball = working_ball(Ball(manifold, manifold.origin, 2.0))
    for _ in range(20):

        def answer(question):
            if isinstance(question, Centre):
                return question.ball.project(rng.normal(size=6))
            return float(rng.choice(question.candidates))

        asked, outcome = walk(ball, n, budget, answer, axis=manifold.scale_axis)
        parts = [question.guarantee for question in asked]
        left = (
            type(budget)(budget.price()[0] * 0.29)
            if isinstance(budget, PureDP)
            else GDP(budget.mu * np.sqrt(0.29))
        )
        assert within_total(budget, [*parts, left])
        assert outcome.ball.reach <= ball.reach
        assert all(q.ball.reach <= ball.reach for q in asked if isinstance(q, Centre))


def test_on_flat_spaces_the_chart_is_searched():
    manifold = SPDLogEuclidean(2)
    ball = Ball(manifold, 2.0 * np.eye(2), 1.5)
    working = working_ball(ball)
    assert working.manifold == Euclidean(3)
    assert working.radius == 1.5
    np.testing.assert_array_equal(working.center, manifold.to_chart(ball.center))
    sphere = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    assert working_ball(sphere) is sphere


def test_a_ball_that_the_space_has_no_room_for_is_not_taken():
    space = Hyperbolic(2)
    far = space.exp([1.0, 0.0, 0.0], [0.0, 7.9, 0.0])
    ball = Ball(space, far, 1.0)
    beyond = ball.project(space.exp([1.0, 0.0, 0.0], [0.0, 8.5, 0.0]))

    def answer(question):
        return beyond if isinstance(question, Centre) else at(0.1)(question)

    _, outcome = walk(ball, 2000, GDP(1.0), answer)
    assert np.linalg.norm(outcome.ball.center - beyond) > 0.0
