from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from riemdp import InvalidParameterError
from riemdp.noise.exact import _choice, exact_choice

LAW = (range(5), range(5), (Fraction(1, 3), Fraction(1, 4)))
WEIGHTS = np.exp(-np.arange(5) / 3.0) * 2.0 ** (np.arange(5) / 4.0)


def _drawn(draws, seed):
    rng = np.random.default_rng(seed)
    return [exact_choice(*LAW, generator=rng) for _ in range(draws)]


def _p_value(weights, found):
    expected = weights / weights.sum() * len(found)
    return scipy.stats.chisquare(np.bincount(found, minlength=5), expected).pvalue


def test_draws_follow_the_law():
    found = _drawn(500, 1)
    assert _p_value(WEIGHTS, found) > 1e-4
    # negative control: another law is told apart
    assert _p_value(WEIGHTS**3, found) < 1e-4


def test_each_candidate_has_its_part_of_the_unit_interval(monkeypatch):
    """Bits of a uniform variable on either side of every edge, at any precision."""
    edges = np.cumsum(WEIGHTS / WEIGHTS.sum())[:-1]

    class Given:
        def __init__(self, value):
            self.value = value

        def bytes(self, count):
            return (int(self.value * 2**53) << (8 * count - 53)).to_bytes(count, "big")

    monkeypatch.setattr(_choice, "resolve_generator", lambda given: given)
    for precision in (4, 128):
        for i, edge in enumerate(edges):
            for side in (-1, 1):
                given = Given(edge + side * 1e-12)
                found = exact_choice(*LAW, generator=given, precision=precision)
                assert found == i + (side > 0)


@pytest.mark.parametrize("scale", [1, 10**6, 10**300])
def test_weights_of_any_size(scale):
    rng = np.random.default_rng(0)
    found = exact_choice([scale, 0], [0, 0], generator=rng)
    other = exact_choice([0, 0, 0], [0, scale, 0], generator=rng)
    assert scale == 1 or (found, other) == (1, 1)


def test_nothing_to_choose_from_is_refused(monkeypatch):
    with pytest.raises(InvalidParameterError, match="candidate"):
        exact_choice([], [])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        exact_choice([0], [])
    monkeypatch.setattr(_choice, "certified_available", lambda: False)
    with pytest.raises(InvalidParameterError, match="python-flint"):
        exact_choice([0], [0])
