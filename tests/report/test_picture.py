from __future__ import annotations

import re

import pytest

from riemdp import GDP, PureDP, UnsupportedBudgetError
from riemdp.report._picture import trade_off


class Silent:
    """A definition from which no epsilon follows."""

    def epsilon_at(self, delta):
        raise UnsupportedBudgetError("none")


def points(picture, class_):
    found = re.search(rf'points="([^"]*)" class="{class_}"', picture)[1]
    return [tuple(float(x) for x in pair.split(",")) for pair in found.split()]


@pytest.mark.parametrize("guarantee", [GDP(1.0), PureDP(0.1)])
def test_the_curve_rises_and_lies_above_guessing(guarantee):
    picture = trade_off(guarantee, 0.05)
    curve = points(picture, "curve")
    guess = points(picture, "guess")
    assert (curve[0], curve[-1]) == (guess[0], guess[-1])
    assert [x for x, _ in curve] == sorted(x for x, _ in curve)
    heights = [y for _, y in curve]
    assert heights == sorted(heights, reverse=True)  # pictures count downwards
    left, bottom = guess[0]
    right, top = guess[1]
    for x, y in curve:
        assert y <= bottom + (top - bottom) * (x - left) / (right - left) + 0.11


def test_it_says_in_words_what_it_shows():
    assert "0.260 at 0.05" in trade_off(GDP(1.0), 0.05)
    assert trade_off(Silent(), 0.05) is None
