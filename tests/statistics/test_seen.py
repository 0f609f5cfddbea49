"""Bounded vectors: no record moves a mean of them farther than is said, seen from anywhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Ball,
    CutLocusError,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.kernel import Moment, _shapes
from riemdp.statistics import _seen
from riemdp.statistics._answer import Prepared, answer
from riemdp.statistics._seen import Directions, Seen, SeenFromCentre, seen_from, steps_ball

BALLS = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Sphere(1), [0.0, 1.0], 3.1),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 3.1),
    Ball.whole(Sphere(2)),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 5.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
]


def bases(ball, size=2):
    """Points of the ball of steps: its centre, one at the boundary, and others."""
    seen = steps_ball(ball)
    coordinates = np.random.default_rng(0).normal(size=(size, ball.manifold.dim))
    lengths = np.linalg.norm(coordinates, axis=-1, keepdims=True)
    inside = ball.reach * coordinates / lengths * np.linspace(0.4, 1.0, size)[:, None]
    return [seen.center, *seen.point(inside)]


def extremes(ball, base):
    """Points of the data that a search for the largest move should meet."""
    axes = np.eye(ball.manifold.dim)[:2]
    around = 0.3 * ball.reach * np.concatenate([axes, -axes])
    rows = np.concatenate([axes, -axes, 0.2360679775 * axes, np.zeros((1, len(axes[0])))])
    found = [*ball.point(ball.reach * rows)]
    if ball.manifold.chart is None:  # at the base, next to it, and at cut points
        near = ball.manifold.point(base, 1e-9 * np.concatenate([axes, -axes]))
        far = ball.manifold.point(base, min(ball.manifold.injectivity_radius, 9.0) * axes)
        found += [base, *near, *far, *ball.manifold.point(base, around)]
        if isinstance(ball.manifold, Sphere):
            found.append(-base)
    else:
        found += [ball.point(base), *ball.point(base + around)]
    random = np.random.default_rng(1).normal(size=(4, ball.manifold.dim))
    return np.array([*found, *ball.point(random)])


def questions(ball, base):
    reach = ball.reach
    yield SeenFromCentre(steps_ball(ball).center, reach, 0.4, moment=True)
    for unit in (reach, 0.1 * reach):
        for moment in (True, False):
            yield Seen(base, unit, 0.7, moment=moment)
    yield Directions(base, 0.3 * reach, 1.0, moment=False)


def moves(question, ball, points, n=2):
    """Squared moves of the answer, exactly, in units of the square of the bound."""
    found = []
    data = np.repeat(points[:1], n, axis=0)
    ends = []
    for point in points:
        data[-1] = point
        ends.append(answer(question, ball, data, 0.0))
    bound = (Fraction(question.weight) * 2 * Fraction(ball.reach) / n) ** 2
    for i, one in enumerate(ends):
        found += [sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) for two in ends[:i]]
    return [each / bound for each in found]


@pytest.mark.fast(3)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_no_record_moves_an_answer_farther_than_it_says(ball):
    centre, inside, edge = bases(ball)
    for base in (centre, inside, edge):
        points = extremes(ball, base)
        for question in questions(ball, base):
            found = moves(question, ball, points)
            assert max(found) <= 1  # exactly: no allowance for rounding
            if base is not edge and question.unit < ball.reach:  # others need not reach so far
                assert max(found) > 0.99


def test_a_larger_factor_of_the_moment_is_not_free(monkeypatch):
    """The free factor is the largest: 1.7 gives 2.0262 in place of 2."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    points = np.array([[1.0, 0.0], [-0.2360679775, 0.0], [-0.3, 0.0]])
    question = SeenFromCentre(ball.center, 1.0, 1.0, moment=True)
    assert 0.99 < max(moves(question, ball, points)) <= 1
    monkeypatch.setattr(_shapes, "_FREE", 1741)  # over 2^10: 1.7002
    larger = Moment(2, scalar=1741)
    monkeypatch.setattr(_seen, "answer_shape", lambda dim, *, moment: larger)
    worst = float(max(moves(question, ball, points))) ** 0.5
    u = np.linspace(-1.0, 1.0, 20001)
    expected = np.sqrt(np.max((1 - u) ** 2 + (1741 / 1024 * (1 - u**2)) ** 2))
    assert expected == pytest.approx(2.02634, abs=1e-5)
    assert 2.02 < 2.0 * worst <= expected * (1 + 1e-9)


def test_the_ball_of_answers_holds_a_vector_with_its_second_moment():
    assert Moment(3).norm < _seen.JOINT_REACH**2


def test_many_coordinates_are_rounded_to_no_longer_vectors():
    """All of one size: rounded up, or to the nearest, they would be too long in some dimension."""
    for dim in range(500, 506):
        ball = Ball(Euclidean(dim), np.zeros(dim), 1.0)
        ends = np.array([[1.0], [-1.0]]) * np.ones(dim)
        for moment in (True, False):
            question = Seen(ball.center, 1.0, 1.0, moment=moment)
            assert 0.99 < max(moves(question, ball, ends)) <= 1


def test_vectors_that_are_longer_than_float64_can_tell_are_shortened():
    """The norm of (1, 2^-30) is 1 in float64; its square as integers is more."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    ends = np.array([[1.0, 2.0**-30], [-1.0, -(2.0**-30)]])
    assert np.linalg.norm(ends[0]) == 1.0
    for question in questions(ball, ball.center):
        assert 0.99 < max(moves(question, ball, ends)) <= 1


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_sums_are_of_integers_in_any_order(ball):
    points = extremes(ball, bases(ball)[1])
    for question in questions(ball, bases(ball)[1]):
        whole = answer(question, ball, points, 0.0)
        other = answer(question, ball, points[::-1], 0.0)
        rows = question.prepare(ball, points)
        parts = [question.summarise(ball, rows[:3]), question.summarise(ball, rows[3:])]
        chunks = question.finish(ball, question.merge(*parts), 0.0)
        if isinstance(ball.manifold, SPDAffineInvariant):  # products of matrices: by position
            for each in (other, chunks):
                assert max(abs(a - b) for a, b in zip(whole, each, strict=True)) < 1e-9
        else:
            assert whole == other == chunks
        unit = Fraction(question.weight) * Fraction(ball.reach) / (len(points) << 40)
        assert all((each / unit).denominator == 1 for each in whole)
        assert question.moment or whole[-1] == 0


def test_records_are_prepared_once(monkeypatch):
    ball = BALLS[2]
    calls = []
    clip = Ball.project
    monkeypatch.setattr(Ball, "project", lambda self, x: calls.append(1) or clip(self, x))
    prepared = Prepared(ball, extremes(ball, ball.center))
    for base in bases(ball):
        prepared.summary(Seen(base, 1.0, 1.0, moment=False))
    assert len(calls) == 2  # of the records, and of a public one at every place


class Awkward(Sphere):
    """A sphere of another package, whose logarithm fails at cut points and returns odd numbers."""

    name = "tests.Awkward"

    def coordinates(self, center, points):
        if np.any(points @ center < -1.0 + 1e-12):
            raise CutLocusError("no logarithm")
        found = super().coordinates(center, points)
        return np.where(points[..., 2:] > 0.99, np.nan, found)


def test_a_record_without_a_logarithm_counts_as_zero_and_spoils_no_other():
    space = Awkward(2)
    base = np.array([1.0, 0.0, 0.0])
    points = np.array([-base, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], base])
    found = seen_from(space, base, points)
    np.testing.assert_array_equal(found[[0, 2]], 0.0)
    np.testing.assert_array_equal(found[[1, 3]], Sphere(2).coordinates(base, points)[[1, 3]])


class Counting(Awkward):
    """The same, where results depend on how many records there are, as rounding of products may."""

    name = "tests.Counting"

    def coordinates(self, center, points):
        return super().coordinates(center, points) * (1.0 + 2.0**-40 * len(points))


@pytest.mark.parametrize("lost", [[0], [3], [0, 2, 3], [0, 1, 2, 3]])
def test_the_others_are_treated_as_if_no_record_lacked_a_logarithm(lost):
    space, base = Counting(2), np.array([1.0, 0.0, 0.0])
    points = Sphere(2).exp(base, np.array([[0.0, 0.1 * j, 0.2] for j in range(4)]))
    expected = space.coordinates(base, points)
    expected[lost] = 0.0
    points[lost] = -base
    np.testing.assert_array_equal(seen_from(space, base, points), expected)
    alone = [seen_from(space, base, point[None])[0] for point in points]
    assert len(lost) == 4 or not np.array_equal(alone, expected)  # the control


def test_records_that_have_logarithms_only_one_by_one_are_seen_one_by_one():
    class Alone(Sphere):
        name = "tests.Alone"

        def coordinates(self, center, points):
            if len(points) > 1:
                raise CutLocusError("one at a time")
            return super().coordinates(center, points)

    base = np.array([1.0, 0.0, 0.0])
    points = np.array([[0.0, 1.0, 0.0], base])
    expected = Sphere(2).coordinates(base, points)
    np.testing.assert_array_equal(seen_from(Alone(2), base, points), expected)


def test_directions_of_tiny_and_huge_vectors_are_unit_vectors():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    question = Directions(ball.center, 1.0, 1.0, moment=False)
    rows = np.array([[3e-300, 4e-300], [5e-324, 0.0], [0.3, 0.4], [0.0, 0.0]])
    found = question._vectors(rows)
    np.testing.assert_allclose(found, [[0.6, 0.8], [1.0, 0.0], [0.6, 0.8], [0.0, 0.0]], rtol=4e-15)
    far = question._vectors(np.array([[3e300, 4e300]]))
    np.testing.assert_allclose(far, [[0.6, 0.8]], rtol=4e-15)
