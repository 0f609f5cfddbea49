from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.privacy import within_total
from riemdp.release._rounded_value import replayed
from riemdp.release._search._schedule import Outcome, working_ball
from riemdp.release._search._steps import (
    CentreStep,
    ChoiceStep,
    centre_kind,
    centre_offer,
    found_ball,
)
from riemdp.statistics import TangentMean


@pytest.mark.parametrize("manifold", [Euclidean(3), Sphere(2), Hyperbolic(2)], ids=str)
@pytest.mark.parametrize("budget", [PureDP(0.1), GDP(0.1)], ids=str)
def test_a_centre_has_the_sensitivity_of_a_mean_in_a_tangent_space(manifold, budget):
    ball = Ball(manifold, manifold.origin, 0.8)
    made = centre_offer(ball, 50, budget)
    assert made.sensitivity == pytest.approx(2.0 * 0.8 / 50, rel=1e-12)
    assert made.sensitivity >= 2.0 * 0.8 / 50
    assert made.mechanism.satisfies(made.sensitivity, budget)
    assert not made.mechanism.satisfies(made.sensitivity * 1.001, budget)
    assert type(made.mechanism) is centre_kind(type(budget))


def test_what_is_left_and_what_was_spent_are_the_budget(found):
    search = found.search
    parts = [step.guarantee for step in search.steps]
    assert within_total(search.budget, [*parts, search.left])
    spent = sum(part.price()[0] for part in parts)
    assert search.left.price()[0] + spent == pytest.approx(1.0, rel=1e-12)
    assert search.direction is None
    assert all(proof.startswith("docs/proofs/") for proof in search.proofs().values())


def test_a_centre_is_that_of_its_integers(found):
    public = found.public
    steps = [step for step in found.steps if isinstance(step, CentreStep)]
    assert steps
    for step in steps:
        ball = Ball(public.manifold, step.center, step.radius)
        again = replayed(TangentMean(), ball, step.grid, step.rounded)
        np.testing.assert_array_equal(working_ball(public).project(again), step.value)
        assert public.contains(step.value)
        assert not step.value.flags.writeable


def test_a_step_has_the_numbers_of_its_question(found):
    step = found.steps[0]
    assert isinstance(step, ChoiceStep)
    assert (step.query, step.label, step.top) == ("pairs", "spread", 2.0)


def test_the_ball_is_brought_back_from_the_chart():
    manifold = SPDLogEuclidean(2)
    public = Ball(manifold, 2.0 * np.eye(2), 1.5)
    working = working_ball(public)
    center = working.center + np.array([0.1, 0.0, 0.2])
    ball = found_ball(public, Outcome("found", Ball(working.manifold, center, 0.3)))
    assert ball.radius == 0.3
    np.testing.assert_allclose(manifold.to_chart(ball.center), center, atol=1e-14)
    assert found_ball(public, Outcome("wide", working)) is public
