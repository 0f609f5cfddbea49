"""Two statistics and a mechanism of another package; it uses nothing but public names of riemdp."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from riemdp import Ball, Euclidean, UnsupportedManifoldError
from riemdp.mechanisms import Mechanism
from riemdp.noise.exact import ExactDraw
from riemdp.privacy import PureCurve
from riemdp.statistics import (
    FrechetMean,
    Question,
    Statistic,
    Summary,
    answer,
)


@dataclass(frozen=True)
class FrechetVariance(Summary):
    """Least mean squared distance of the records to a point of the ball.

    Of n records in a ball of radius r it lies in [0, r^2], the value at the centre being one of
    those that it is the least of. Let m be the minimiser for the first data set. It is one of the
    points that the second is compared with, and m and the new record are at most 2r apart, so the
    variance grows by at most (2r)^2/n; and so it does the other way round.
    """

    name = "outside.FrechetVariance"

    def range(self, ball):
        half = 0.5 * ball.radius**2
        return Ball(Euclidean(1), [half], half)

    def replace_one(self, ball, n, metric):
        return min(ball.radius**2, 4.0 * ball.radius**2 / n) * (1.0 + 1e-14)

    def tolerance(self, ball, sensitivity):
        # distances are at most 2r, and d(m', x) <= d(m, x) + |m m'|
        moved = FrechetMean().tolerance(ball, 0.0)
        floor = moved * (4.0 * ball.radius + moved) + 1e-12 * ball.radius**2
        return max(floor, 1e-9 * sensitivity)

    def finish(self, ball, partial, tol):
        found = answer(FrechetMean(), ball, partial, FrechetMean().tolerance(ball, 0.0))
        mean = ball.point(np.array(found, dtype=float))
        squares = np.square(ball.manifold.dist(mean, partial))
        return np.array([math.fsum(squares) / len(squares) - 0.5 * ball.radius**2])


@dataclass(frozen=True)
class Median(Statistic):
    """Ever shorter steps towards the geometric median, each along a noisy mean of directions.

    A record counts as a vector no longer than 1, whatever the others are, so the mean of n of them
    moves by at most 2/n.
    """

    name = "outside.Median"

    steps: int = 8

    def answers(self, ball):
        space = Euclidean(ball.manifold.dim)
        return Ball(space, space.origin, 1.0)

    def replace_one(self, ball, n, metric):
        return min(2.0, 2.0 / n) * (1.0 + 1e-14)

    def ask(self, ball, point, step):
        return MeanDirection(point)

    def move(self, ball, point, noisy, step, noise):
        manifold, length = ball.manifold, 0.7**step * ball.radius
        return ball.project(manifold.exp(point, manifold.tangent_vector(point, length * noisy)))


@dataclass(frozen=True)
class MeanDirection(Question):
    """Mean over the records of their directions, seen from a public point; a sum and a count."""

    point: np.ndarray

    def summarise(self, ball, records):
        manifold = ball.manifold
        seen = manifold.tangent_coordinates(self.point, manifold.log(self.point, records))
        lengths = np.linalg.norm(seen, axis=-1, keepdims=True)
        directions = seen / np.maximum(lengths, 0.05 * ball.radius)
        return np.append(directions.T.sum(axis=-1), len(records))

    def merge(self, first, second):
        return first + second

    def finish(self, ball, partial, tol):
        return partial[:-1] / partial[-1]


class LogisticLaw:
    """Law of the absolute value of a logistic variable."""

    def __init__(self, sigma):
        self.sigma = sigma

    def mean(self):
        return 2.0 * math.log(2.0) * self.sigma

    def quantile(self, q):
        return 2.0 * self.sigma * np.arctanh(q)


@dataclass(frozen=True)
class LogisticDraw(ExactDraw):
    """A logistic variable about a footpoint, rounded to the nearest number of a grid."""

    proof = "https://example.org/logistic-noise"

    sigma: float
    coordinates = 1

    def integers(self, bits, ladder, footpoint, grid):
        uniform = bits.uniform()
        step = Fraction(2) ** -grid
        scale, middle = Fraction(self.sigma) / step, footpoint[0] / step

        def rounded():  # None where the bits that were read leave it open: then more are
            u = uniform.ball()
            return ladder.nearest((u / (1 - u)).log() * arb_of(scale) + arb_of(middle))

        return [ladder.settle(rounded)]


def arb_of(number):
    return arb(number.numerator) / arb(number.denominator)


@dataclass(frozen=True)
class Logistic(Mechanism):
    """Logistic noise on the line: the slope of its log-density is at most 1/sigma."""

    name = "outside.Logistic"

    @classmethod
    def calibrate(cls, manifold, sensitivity, budget):
        if manifold != Euclidean(1):
            raise UnsupportedManifoldError(f"{cls.name} is for Euclidean(1), got {manifold}")
        sigma = sensitivity / 64.0
        while not cls(manifold, sigma).satisfies(sensitivity, budget):
            sigma *= 1.01
        return cls(manifold, sigma)

    def privacy(self, sensitivity):
        return PureCurve(math.nextafter(sensitivity / self.sigma, math.inf))

    def exact_draw(self, ball):
        return LogisticDraw(self.sigma)

    def log_density(self, point, footpoint):
        x = np.abs(np.asarray(point)[..., 0] - np.asarray(footpoint)[..., 0]) / self.sigma
        return -x - 2.0 * np.log1p(np.exp(-x)) - math.log(self.sigma)

    @property
    def _distance_law(self):
        return LogisticLaw(self.sigma)
