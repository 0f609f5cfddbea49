"""The protocol: clipped once, in chunks or whole, and what a statistic that says nothing gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean, Sphere
from riemdp.statistics import Question, Summary, answer

SPHERE = Sphere(2)
BALL = Ball(SPHERE, [0.0, 0.0, 1.0], 0.5)


@dataclass(frozen=True)
class Farthest(Summary):
    """Largest distance from the centre, which clipping bounds."""

    def range(self, ball):
        return Ball(Euclidean(1), [0.5 * ball.radius], 0.5 * ball.radius)

    def replace_one(self, ball, n, metric):
        return ball.radius

    def summarise(self, ball, records):
        return ball.manifold.dist(ball.center, records).max(keepdims=True)

    def merge(self, first, second):
        return np.maximum(first, second)

    def finish(self, ball, partial, tol):
        return partial - 0.5 * ball.radius


class Plain(Question):
    def finish(self, ball, partial, tol):
        return ball.coordinates(partial).mean(axis=0)


def spread(n, length, seed=0):
    tangent = np.random.default_rng(seed).normal(size=(n, 2))
    tangent *= length / np.linalg.norm(tangent, axis=1, keepdims=True)
    return SPHERE.exp(BALL.center, SPHERE.tangent_vector(BALL.center, tangent))


def test_records_are_clipped_before_a_statistic_sees_them():
    found = answer(Farthest(), BALL, spread(5, 2.0), 1e-9)
    assert found == pytest.approx([0.25], abs=1e-12)
    # negative control: without the clip the value lies outside the range
    assert Farthest().finish(BALL, Farthest().summarise(BALL, spread(5, 2.0)), 1e-9) > 1.0


def test_one_that_clips_by_itself_is_given_the_records_as_they_are():
    @dataclass(frozen=True)
    class Own(Farthest):
        clips = True

    assert answer(Own(), BALL, spread(5, 2.0), 1e-9) == pytest.approx([1.75])


@pytest.mark.parametrize("question", [Farthest(), Plain()], ids=["own", "by default"])
def test_chunks_make_the_whole(question):
    points = np.concatenate([spread(6, 0.2), spread(5, 0.4, 1)])
    whole = question.finish(BALL, question.summarise(BALL, points), 1e-9)
    chunks = [question.summarise(BALL, part) for part in (points[:3], points[3:9], points[9:])]
    merged = question.merge(question.merge(chunks[0], chunks[1]), chunks[2])
    np.testing.assert_allclose(question.finish(BALL, merged, 1e-9), whole, atol=1e-15)


def test_what_is_not_finite_becomes_the_centre():
    class Broken(Plain):
        def finish(self, ball, partial, tol):
            return np.array([np.nan, 1.0])

    np.testing.assert_array_equal(answer(Broken(), BALL, spread(3, 0.1), 1e-9), [0.0, 0.0])


def test_what_is_no_vector_is_refused():
    class Scalar(Plain):
        def finish(self, ball, partial, tol):
            return 1.0

    with pytest.raises(riemdp.InvalidParameterError, match=r"Scalar\.finish must return"):
        answer(Scalar(), BALL, spread(3, 0.1), 1e-9)


def test_defaults_claim_nothing():
    farthest = Farthest()
    assert farthest.proofs_on(BALL) == {"Farthest": None}
    assert farthest.steps == 1
    assert farthest.numerical_delta is None
    assert farthest.answers(BALL) == farthest.range(BALL)
    assert farthest.ask(BALL, BALL.center, 0) is farthest
    assert farthest.start(BALL) == pytest.approx([0.25])
    assert farthest.move(BALL, None, 3.0, 0) == 3.0
    assert farthest.rounding(BALL) == 0.5 * farthest.tolerance(BALL, 0.0)
    assert farthest.tolerance(BALL, 0.0) == 1e-12 * 0.25
    assert farthest.tolerance(BALL, 1.0) == 1e-9
    with pytest.raises(riemdp.UnsupportedNeighboursError, match=r"Farthest.*replace-one"):
        farthest.add_remove(BALL, "distance")
