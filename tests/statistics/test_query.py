"""What a query that says nothing of itself gets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import Ball, Sphere, UnsupportedError, UnsupportedNeighboursError
from riemdp.statistics import Answer, Query

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)


class Silent(Query):
    def finish(self, ball, partial, tol):
        return ball.coordinates(partial).mean(axis=0)


class Clipping(Silent):
    clips = True


def test_records_are_clipped_unless_the_query_does_it():
    far = BALL.manifold.point(BALL.center, np.array([[2.0, 0.0], [0.1, 0.0]]))
    np.testing.assert_array_equal(Silent().prepare(BALL, far), BALL.project(far))
    assert Clipping().prepare(BALL, far) is far
    assert Silent().takes == ()


def test_chunks_are_kept_whole_and_joined():
    rows = BALL.point(np.array([[0.1, 0.0], [0.0, 0.2], [0.3, 0.1]]))
    silent = Silent()
    parts = [silent.added(BALL, silent.rows(BALL, part)) for part in (rows[:1], rows[1:])]
    np.testing.assert_array_equal(silent.merge(*parts), rows)


def test_an_answer_has_to_be_said():
    with pytest.raises(TypeError, match="finish"):
        Query()


def test_defaults_claim_nothing():
    silent = Silent()
    assert (silent.share, silent.projects, silent.sums, silent.functions) == (1.0, True, False, ())
    assert silent.answers(BALL) is BALL
    assert silent.typical(BALL, 1.0, 5.0) is BALL.center
    assert silent.tolerance(BALL, 1.0) == silent.rounding(BALL) == 0.0
    assert silent.stretch(BALL, "coordinates") == 1.0
    assert not silent.adds(BALL)
    assert silent.in_passes(BALL, 1e-9) is None
    for claim in (silent.replace_one, silent.replace_point):
        with pytest.raises(UnsupportedError, match="no sensitivity of Silent is known"):
            claim(BALL, 10, "distance")
    with pytest.raises(UnsupportedNeighboursError, match="replace-one neighbours"):
        silent.add_remove(BALL, "distance")
    with pytest.raises(UnsupportedError, match="no length is stated of the rows of Silent"):
        silent.guarded(BALL, np.zeros((1, 2), dtype=np.int64))


def test_rounding_is_half_of_the_least_tolerance():
    class Rough(Silent):
        def tolerance(self, ball, sensitivity):
            return max(1e-9, sensitivity)

    assert Rough().rounding(BALL) == 5e-10


def test_a_noise_that_is_not_known_counts_as_none():
    assert Answer(BALL.center, 0.5).known_deviation == 0.5
    assert Answer(BALL.center, math.nan).known_deviation == 0.0
