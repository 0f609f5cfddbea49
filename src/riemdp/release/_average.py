"""Weights of the releases of several sites, and the average of their noisy answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import NotOnManifoldError, UnsupportedBallError, UnsupportedError
from riemdp.release._offer import deviation_of
from riemdp.spaces import Ball
from riemdp.statistics import Answer, Value, frechet_mean, through

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.mechanisms import Mechanism
    from riemdp.release._release import Release
    from riemdp.spaces import FloatArray

#: Points and weights of the mean of a function of a uniform number, dense near 1.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_REST = ((1.0 - _NODES) / 2.0) ** 3
_SHARES = 1.5 * _WEIGHTS * ((1.0 - _NODES) / 2.0) ** 2
#: How much larger than its farthest point a ball is that has to contain points.
_ROOM = 1.0 + 1e-9


def noise_deviations(releases: list[Release]) -> list[float]:
    """Return the standard deviation of the noise in a coordinate of the value of each release.

    Positive and finite; ``UnsupportedError`` if one is not known.
    """
    squares = _mean_squares(releases)
    return [_deviation(place, each, squares) for place, each in enumerate(releases)]


def averaged(releases: list[Release], weights: list[float]) -> tuple[Value, list[str]]:
    """Return the value at the average of the noisy answers, or of the released points, with notes.

    Of releases of one statistic on one ball, with weights of sum 1. The value is a point of the
    range of the statistic; ``UnsupportedError`` if there is no such average.
    """
    answers = releases[0]._answers
    if all(each.mechanism.added_noise(answers) is not None for each in releases):
        return _average(releases, weights), []
    found, notes = _mean_of_points(releases, weights)
    return Value(found, releases[0].ball), notes


def _mean_squares(releases: list[Release]) -> Callable[[Release], float]:
    """Return what computes the mean square of the noise of a release, once for each mechanism."""
    found: list[tuple[Mechanism, float]] = []

    def mean_square(release: Release) -> float:
        for known, square in found:
            if known == release.mechanism:
                return square
        noise = release.mechanism.added_noise(releases[0]._answers)
        lengths = release.mechanism.error_quantile
        square = _mean_square(lengths) if noise is None else noise.mean_square()
        found.append((release.mechanism, square))
        return square

    return mean_square


def _deviation(place: int, release: Release, mean_square: Callable[[Release], float]) -> float:
    """Return the standard deviation of the noise in a coordinate of the value."""
    try:
        if release.offer.last.query.sums and (release._divided_by or 0.0) < 1.0:
            raise UnsupportedError("its number of records is not known, or was released under one")
        found = release._longer(1.0) * math.sqrt(
            mean_square(release) / release._answers.manifold.dim
        )
    except (UnsupportedError, ArithmeticError) as error:
        raise UnsupportedError(
            f"release {place}: how much noise there is in the value is not known ({error}), so "
            "that no weight is known either; use another mechanism"
        ) from None
    if not 0.0 < found < math.inf:
        raise UnsupportedError(f"release {place}: its noise has no finite variance in float64")
    return found


def _mean_square(quantile: Callable[[float], float]) -> float:
    """Return the mean of the square of a length with some quantiles."""
    lengths = np.array([quantile(1.0 - rest) for rest in _REST.tolist()])
    return float(_SHARES @ np.square(lengths))


def shares(releases: list[Release], deviations: list[float], weights: str) -> list[float]:
    """Return the weights, of sum 1: by ``"noise"``, see :func:`noise_deviations`, or ``"sizes"``.

    ``UnsupportedError`` if a number of records is needed and not known.
    """
    if weights == "sizes":
        sizes = [each._divided_by for each in releases]
        if None in sizes:
            raise UnsupportedError(
                'the number of records of a release is not known; use weights="noise"'
            )
        raw = [float(size or 0.0) for size in sizes]
    else:
        least = min(deviations)
        raw = [(least / deviation) ** 2 for deviation in deviations]
    total = math.fsum(raw)
    return [weight / total for weight in raw]


def _average(releases: list[Release], weights: list[float]) -> Value:
    """Return the value at the average of the noisy answers."""
    first = releases[0]
    offer, answers = first.offer, first._answers
    seen = [each._on_grid.values() for each in releases]
    factors = list(weights)
    if offer.last.query.sums:  # answers are sums: of as many records as all sites have
        counts = [each._divided_by or 1.0 for each in releases]
        factors = [w * math.fsum(counts) / n for w, n in zip(weights, counts, strict=True)]
    noisy = np.array([math.fsum(c * y for c, y in zip(factors, column, strict=True))
                      for column in zip(*seen, strict=True)])  # fmt: skip
    squares = (
        (c * deviation_of(each.mechanism, answers)) ** 2
        for c, each in zip(factors, releases, strict=True)
    )
    seen_as = Answer(answers.point(noisy), math.sqrt(math.fsum(squares)))
    return through(offer.statistic, offer.ball, lambda _: seen_as)


def _mean_of_points(releases: list[Release], weights: list[float]) -> tuple[FloatArray, list[str]]:
    """Return the Fréchet mean of the released points, of the draws before projection if it can."""
    first = releases[0]
    answers = first._answers
    if answers != first.ball:
        raise UnsupportedError(
            f"the {first.statistic.name} is no point of the space of the records, and its noise "
            "was not added to coordinates; use a tangent mechanism"
        )
    free = [answers.point(each._on_grid.values()) for each in releases]
    try:
        return _frechet(answers, np.stack(free), weights), []
    except (UnsupportedBallError, NotOnManifoldError):
        pass  # too far apart for a unique mean; the values, which were projected, may not be
    notes = [
        f"release {place}: the value was projected onto the ball, and the draw before is not "
        "known: near the boundary the combination is biased inwards"
        for place, each in enumerate(releases)
        if each.projected
    ]
    return _frechet(answers, np.stack([each.raw for each in releases]), weights), notes


def _frechet(ball: Ball, points: FloatArray, weights: list[float]) -> FloatArray:
    farthest = float(np.max(ball.manifold.dist(ball.center, points)))
    holds = ball if farthest < ball.radius else Ball(ball.manifold, ball.center, farthest * _ROOM)
    return frechet_mean(ball.manifold, points, weights, ball=holds).value
