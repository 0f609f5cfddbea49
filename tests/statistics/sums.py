"""Helpers for statistics that are sums of features: how far one record moves what is computed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from riemdp.statistics import Records, answer


def moves(question, ball, records, n=2):
    """Squared moves of the answer over all pairs of records, exactly.

    ``records`` are rows of points, or :class:`Records`; each takes the place of the last of n.
    """
    given = records if isinstance(records, Records) else Records(records)
    ends = []
    for i in range(len(given)):
        rows = [0] * (n - 1) + [i]
        chosen = {
            name: np.asarray(getattr(given, name))[rows] for name in ("points", *given.extras)
        }
        ends.append(answer(question, ball, Records(**chosen), 0.0))
    return [
        sum((a - b) ** 2 for a, b in zip(one, two, strict=True))
        for i, one in enumerate(ends)
        for two in ends[:i]
    ]


def worst_of(statistic, ball, records, n=2):
    """Largest move of one answer, as a share of the sensitivity, squared; exactly."""
    bound = Fraction(statistic.replace_one(ball, n, "distance")) ** 2
    return max(moves(statistic.ask(ball, statistic.start(ball), 0), ball, records, n)) / bound
