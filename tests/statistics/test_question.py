"""What a question that says nothing gets."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Sphere
from riemdp.statistics import Question

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)


class Silent(Question):
    def finish(self, ball, partial, tol):
        return ball.coordinates(partial).mean(axis=0)


class Clipping(Silent):
    clips = True


def test_records_are_clipped_unless_the_question_does_it():
    far = BALL.manifold.point(BALL.center, np.array([[2.0, 0.0], [0.1, 0.0]]))
    np.testing.assert_array_equal(Silent().prepare(BALL, far), BALL.project(far))
    assert Clipping().prepare(BALL, far) is far
    assert Silent().takes == ()


def test_chunks_are_kept_whole_and_joined():
    rows = BALL.point(np.array([[0.1, 0.0], [0.0, 0.2], [0.3, 0.1]]))
    silent = Silent()
    parts = [silent.summarise(BALL, rows[:1]), silent.summarise(BALL, rows[1:])]
    np.testing.assert_array_equal(silent.merge(*parts), rows)


def test_an_answer_has_to_be_said():
    with pytest.raises(TypeError, match="finish"):
        Question()
