"""The checks of statistics hold of this library's, and each fails for one with that mistake."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp.statistics import FrechetMean, ReplaceOne, Summary, TangentMean
from riemdp.testing import check_part

BALLS = [
    None,
    Ball(Euclidean(1), [3.0], 0.5),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 1.5),
    Ball(SPDLogEuclidean(2), np.eye(2), 2.0),
    Ball(SPDAffineInvariant(2), np.eye(2), 1.0),
]


@pytest.mark.fast(4)
@pytest.mark.parametrize("ball", BALLS, ids=str)
@pytest.mark.parametrize("part", [FrechetMean(), TangentMean(), ReplaceOne()], ids=str)
def test_statistics_and_neighbours_pass(part, ball):
    check_part(part, ball=ball)


@dataclass(frozen=True)
class Spread(Summary):
    """Mean squared distance to the centre, right or with a mistake."""

    name = "tests.Spread"
    mistake: str = ""

    def range(self, ball):
        half = 0.5 * ball.radius**2
        return Ball(Euclidean(1), [half], half)

    def replace_one(self, ball, n, metric):
        share = 0.5 if self.mistake == "neighbours_are_close" else 1.0
        if self.mistake == "noise_grows_with_records":
            return ball.radius**2 * n
        return np.nextafter(share * ball.radius**2 / n, np.inf)

    def summarise(self, ball, records):
        squares = np.sum(ball.coordinates(records) ** 2, axis=-1)
        return np.array([float(len(squares)), squares.sum()])

    def merge(self, first, second):
        if self.mistake == "order_does_not_count":
            return first + 1.01 * second
        if self.mistake == "chunks_make_the_whole":
            return first
        return first + second

    def finish(self, ball, partial, tol):
        value = partial[1:] / partial[0] - self.range(ball).radius
        return value * (3.0 if self.mistake == "answers_lie_in_their_ball" else 1.0)


@dataclass(frozen=True)
class Unclipped(Spread):
    name = "tests.Unclipped"
    clips = True

    def summarise(self, ball, records):
        squares = ball.manifold.dist(ball.center, records) ** 2
        return np.array([float(len(squares)), squares.sum()])


@pytest.mark.fast(1)
@pytest.mark.parametrize("ball", [BALLS[0], BALLS[2], BALLS[5]], ids=str)
def test_a_statistic_of_ones_own_passes(ball, failures):
    assert failures(Spread(), ball) == []


@pytest.mark.parametrize(
    "mistake",
    [
        "answers_lie_in_their_ball",
        "chunks_make_the_whole",
        "neighbours_are_close",
        "order_does_not_count",
    ],
)
def test_a_broken_statistic_is_noticed(mistake, failures):
    assert mistake in failures(Spread(mistake))
    assert "document" not in failures(Spread(mistake))


def test_more_of_what_is_noticed(failures):
    assert "noise_falls_with_records" in failures(Spread("noise_grows_with_records"))
    assert failures(Unclipped()) == ["records_are_clipped"]


@dataclass(frozen=True)
class TwoSpreads(Spread):
    """The same asked for twice, the second time three times as large."""

    name = "tests.TwoSpreads"
    steps = 2
    weight: float = 3.0

    def range(self, ball):
        return Ball(Euclidean(1), [0.0], 3.0 * ball.radius**2)

    def answer_weight(self, step):
        return self.weight if step else 1.0

    def ask(self, ball, point, step):
        return TwoSpreads("answers_lie_in_their_ball" if step else "")

    def finish(self, ball, partial, tol):
        factor = 3.0 if self.mistake else 1.0
        return factor * partial[1:] / partial[0]


def test_weights_of_later_answers_are_held_against_them(failures):
    assert failures(TwoSpreads()) == []
    assert failures(TwoSpreads(weight=2.9)) == ["neighbours_are_close"]


@dataclass(frozen=True)
class Nobody(ReplaceOne):
    name = "tests.Nobody"

    def sensitivity(self, statistic, ball, n, metric):
        return 0.0 * super().sensitivity(statistic, ball, n, metric)


def test_neighbours_that_nothing_tells_apart_are_noticed(failures):
    assert failures(Nobody()) == ["relation_is_measured"]


def stashed(way):
    """Return a statistic that releases its noise, and hands an exact answer on beside it."""
    kept = []

    class Carrier(Spread):
        name = "tests.Carrier"
        last = None

        def __init__(self):
            super().__init__()
            object.__setattr__(self, "seen", [0.0])
            object.__setattr__(self, "array", np.zeros(1))

        @functools.cached_property
        def half(self):
            return 0.5

        def finish(self, ball, partial, tol):
            found = super().finish(ball, partial, tol) + 0.0 * self.half
            if way == "attribute":
                object.__setattr__(self, "last", found)
            elif way == "list":
                self.seen[0] = float(found[0])
            elif way == "array":
                self.array[:] = found
            elif way == "class":
                type(self).last = found
            elif way == "closure":
                kept[:] = [found]
            return found

        def move(self, ball, point, noisy, step, noise):
            return noisy if way == "none" or not kept else kept[0]

    return Carrier()


@pytest.mark.parametrize("way", ["attribute", "list", "array", "class", "closure"])
def test_a_statistic_that_carries_an_answer_past_the_noise_is_noticed(way, failures):
    assert "nothing_is_carried" in failures(stashed(way))


def test_what_is_computed_once_of_public_numbers_is_no_answer(failures):
    assert "nothing_is_carried" not in failures(stashed("none"))
