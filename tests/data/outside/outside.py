"""Two statistics and a mechanism of another package; it uses nothing but public names of riemdp."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from riemdp import Ball, Euclidean, UnsupportedManifoldError
from riemdp.kernel import Vector
from riemdp.mechanisms import Mechanism
from riemdp.noise.exact import ExactDraw
from riemdp.privacy import PureCurve
from riemdp.statistics import Rows, Statistic, Value, shortened


@dataclass(frozen=True)
class Spread(Statistic):
    """Mean squared distance of the records to the centre of the ball, from 0 to r^2."""

    name = "outside.Spread"

    def queries(self, ball):
        half = 0.5 * ball.radius**2
        answer = yield Rows(Vector(1), half, squares)
        values = Ball(Euclidean(1), [half], half)
        return Value(values.project(answer.point + half), values)


def squares(ball, coordinates):
    """Return squared distances, as numbers from -1 to 1."""
    relative = np.sum(np.square(coordinates / ball.radius), axis=-1, keepdims=True)
    return shortened(2.0 * relative - 1.0, 1.0)


@dataclass(frozen=True)
class Median(Statistic):
    """Ever shorter steps towards the geometric median, each along a noisy mean of directions.

    A direction is a vector no longer than 1, of which the kernel adds no other: the mean of n of
    them moves by at most 2/n.
    """

    name = "outside.Median"

    steps: int = 8

    def queries(self, ball):
        manifold, point = ball.manifold, ball.center
        for step in range(self.steps):
            answer = yield Rows(
                Vector(manifold.dim),
                1.0,
                functools.partial(directions, point),
                clipped=projected,
                share=1.0 / self.steps,
            )
            length = 0.7**step * ball.radius
            seen = manifold.tangent_vector(point, length * answer.point)
            point = ball.project(manifold.exp(point, seen))
        return Value(point, ball, gain=length)


def projected(ball, points):
    """Clip records."""
    return ball.project(points)


def directions(point, ball, records):
    """Return where records are, as seen from a released point."""
    seen = ball.manifold.tangent_coordinates(point, ball.manifold.log(point, records))
    lengths = np.linalg.norm(seen, axis=-1, keepdims=True)
    return shortened(seen / np.maximum(lengths, 0.05 * ball.radius), 1.0)


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
