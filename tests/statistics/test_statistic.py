"""What a statistic that says nothing gets."""

from __future__ import annotations

import pytest

import riemdp
from riemdp import Ball, Euclidean, Sphere
from riemdp.statistics import Summary

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)


class Silent(Summary):
    """It has a range of its own, and nothing else."""

    name = "Silent"

    def range(self, ball):
        return Ball(Euclidean(1), [0.5 * ball.radius], 0.5 * ball.radius)

    def replace_one(self, ball, n, metric):
        return ball.radius

    def finish(self, ball, partial, tol):
        return partial


def test_defaults_claim_nothing():
    silent = Silent()
    assert silent.proofs_on(BALL) == {"Silent": None}
    assert silent.title == silent.name
    assert silent.steps == 1
    assert silent.answers(BALL) == silent.range(BALL)
    assert silent.ask(BALL, BALL.center, 0) is silent
    assert silent.start(BALL) == pytest.approx([0.25])
    assert silent.move(BALL, None, 3.0, 0, float) == 3.0
    assert silent.rounding(BALL) == 0.5 * silent.tolerance(BALL, 0.0)
    assert silent.tolerance(BALL, 0.0) == 1e-12 * 0.25
    assert silent.tolerance(BALL, 1.0) == 1e-9
    with pytest.raises(riemdp.UnsupportedNeighboursError, match=r"Silent.*replace-one"):
        silent.add_remove(BALL, "distance")
    assert silent.finish(BALL, None, 0.0) is None
