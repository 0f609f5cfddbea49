"""Helpers for statistics: what they ask, lead to without noise, and how far one record moves it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from riemdp.statistics import Answer, NamedValues, Prepared, Records, Summaries, answer, through


def floats(exact):
    """An answer in float64."""
    return np.array([float(x) for x in exact])


def taken(records, rows):
    """Records at these rows, with all that belongs to them."""
    extras = {name: np.asarray(getattr(records, name))[rows] for name in records.extras}
    return Records(np.asarray(records.points)[rows], **extras)


def walked(statistic, ball, records, tol=1e-9, *, deviation=0.0, change=lambda exact, step: exact):
    """Value that exact answers lead to, with noise or not, which is said to be so long."""
    data = records if isinstance(records, Summaries) else Prepared(ball, records)
    steps = []

    def answered(query):
        exact = change(floats(answer(query, ball, data, tol)), len(steps))
        steps.append(query)
        return Answer(query.answers(ball).point(exact), deviation)

    return through(statistic, ball, answered)


def named(statistic, ball, exact, deviation=0.0):
    """Parts of the value that an answer to the one query leads to."""

    def answered(query):
        return Answer(query.answers(ball).point(exact), deviation)

    value = through(statistic, ball, answered)
    return NamedValues(value.raw, value.parts)


def asked(statistic, ball, noise=0.0, seed=1):
    """Queries of answers that are noise alone, so many radii long."""
    rng, found = np.random.default_rng(seed), []

    def answered(query):
        found.append(query)
        answers = query.answers(ball)
        noisy = noise * ball.reach * rng.normal(size=answers.manifold.dim)
        return Answer(answers.point(noisy), noise * ball.reach)

    through(statistic, ball, answered)
    return found


def moves(query, ball, records, n=2):
    """Squared moves of the answer over all pairs of records, exactly.

    ``records`` are rows of points, or :class:`Records`; each takes the place of the last of n.
    """
    given = records if isinstance(records, Records) else Records(records)
    ends = []
    for i in range(len(given)):
        chosen = taken(given, [0] * (n - 1) + [i])
        ends.append(answer(query, ball, Prepared(ball, chosen), 0.0))
    return [
        sum((a - b) ** 2 for a, b in zip(one, two, strict=True))
        for i, one in enumerate(ends)
        for two in ends[:i]
    ]


def worst_of(query, ball, records, n=2):
    """Largest move of an answer, as a share of the sensitivity, squared; exactly."""
    bound = Fraction(query.replace_one(ball, n, "coordinates")) ** 2
    return max(moves(query, ball, records, n)) / bound
