from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from riemdp import GDP, Ball, Euclidean, PureDP, SPDAffineInvariant, private_ball
from riemdp.noise.exact import Rounded
from riemdp.privacy import bounded_range
from riemdp.release._rounded_value import rounded_point
from riemdp.release._search import _answers
from riemdp.release._search._answers import centre_drawn, chosen
from riemdp.release._search._numbers import radii, radius_weights
from riemdp.release._search._records import Records, beyond
from riemdp.release._search._schedule import Centre, Choice
from riemdp.release._search._steps import CentreStep, ChoiceStep

LINE = Ball(Euclidean(1), np.zeros(1), 1.0)


def choice(query, rate, count=8, penalty=4.0):
    guarantee = bounded_range(GDP, rate)
    top = 1.0 if query == "axis" else 2.0
    return Choice(query, query, guarantee, rate, top, count, penalty, np.zeros(1))


def law(values, asked):
    weights = radius_weights(beyond(values, asked.candidates), asked.rate, asked.penalty)
    first, second = map(float, weights.units)
    logs = np.log(2.0) * second * np.array(weights.octaves) - first * np.array(weights.losses)
    return np.exp(logs - np.logaddexp.reduce(logs))


def test_a_radius_is_drawn_from_its_law():
    points = np.linspace(-0.9, 0.9, 12)[:, None]
    asked, records = choice("radius", 0.8), Records(LINE, points)
    rng = np.random.default_rng(0)
    found = [chosen(asked, records, rng, np.zeros(1)) for _ in range(300)]
    assert set(found) <= set(asked.candidates)
    counts = np.array([found.count(t) for t in asked.candidates])
    expected = law(np.abs(points[:, 0]), asked)
    assert scipy.stats.chisquare(counts, 300 * expected).pvalue > 1e-4
    assert scipy.stats.chisquare(counts, 300 * np.roll(expected, 1)).pvalue < 1e-4  # control


def test_a_place_is_near_the_median():
    points = np.concatenate([np.full(60, 0.5), np.full(3, -1.0)])[:, None]
    asked, rng = choice("axis", 2.0, count=9), np.random.default_rng(0)
    found = [chosen(asked, Records(LINE, points), rng, np.ones(1)) for _ in range(30)]
    assert np.all(np.abs(np.array(found) - 0.5) <= 0.25)


def _ratio(pairs, monkeypatch):
    """Largest log ratio of the probabilities of a spread, when one record is moved."""
    monkeypatch.setattr(Records, "pairs", pairs)
    points = np.zeros((20, 1))
    moved = points.copy()
    moved[0] = 1.0
    asked, order = choice("pairs", 0.5), np.arange(20)
    laws = [law(Records(LINE, x).pairs(order), asked) for x in (points, moved)]
    return np.abs(np.log(laws[0] / laws[1])).max()


def test_pairs_that_share_a_record_are_not_private(monkeypatch):
    honest = Records.pairs
    assert _ratio(honest, monkeypatch) <= 0.5

    def overlapping(self, order):
        return np.abs(self.points[order[1:], 0] - self.points[order[0], 0])

    assert _ratio(overlapping, monkeypatch) > 3.0

    def neighbours_in_the_data(self, order):
        ranked = np.sort(self.points[:, 0])
        return ranked[1::2] - ranked[::2]

    monkeypatch.setattr(Records, "pairs", neighbours_in_the_data)
    twice = np.repeat(np.linspace(-0.9, 0.9, 10), 2)[:, None]
    moved, asked = twice.copy(), choice("pairs", 0.5, count=24)
    moved[0] = 0.95
    laws = [law(Records(LINE, x).pairs(None), asked) for x in (twice, moved)]
    assert np.abs(np.log(laws[0] / laws[1])).max() > 3.0


def test_without_a_random_order_rows_that_belong_together_look_narrow(monkeypatch):
    """What the permutation is for: rows half a recording apart may be the same again."""
    line = np.linspace(-0.9, 0.9, 500)
    recording = np.concatenate([line, line])[:, None]
    asked, rng = choice("pairs", 1.0, count=24), np.random.default_rng(0)
    shuffled = chosen(asked, Records(LINE, recording), rng, np.zeros(1))
    honest = Records.pairs
    monkeypatch.setattr(Records, "pairs", lambda self, order: honest(self, np.sort(order)))
    in_order = chosen(asked, Records(LINE, recording), rng, np.zeros(1))
    assert shuffled > 1.0
    assert in_order < 0.1


def test_steps_are_entered_before_they_are_drawn(monkeypatch):
    seen = []
    monkeypatch.setattr(_answers, "chosen", lambda *_: seen.append("drawn") or 2.0)

    class Account:
        def spend(self, guarantee, label):
            seen.append(guarantee)

    private_ball(np.zeros((500, 1)), LINE, GDP(1.0), accountant=Account())
    assert seen == [GDP(1.0), "drawn"]


def test_every_answer_is_in_the_receipt():
    space = SPDAffineInvariant(2)
    ball = Ball(space, space.origin, 3.0)
    points = ball.point(np.array([1.5, 1.5, 0.0]) + np.zeros((600, 3)))
    found = private_ball(points, ball, PureDP(0.5), generator=np.random.default_rng(0))
    assert [step.query for step in found.steps[:3]] == ["pairs", "axis", "radius"]
    # the scale axis leads there before any centre
    assert found.steps[1].value == pytest.approx(1.5 * np.sqrt(2.0), abs=0.5)
    assert all(isinstance(step, (ChoiceStep, CentreStep)) for step in found.steps)
    without = private_ball(points, ball, PureDP(0.5), axis=None, generator=np.random.default_rng(0))
    assert "axis" not in [step.query for step in without.steps]
    assert replace(found.steps[0], value=1.0).value == 1.0


def test_a_centre_is_brought_back_into_the_public_ball():
    """The ball of a centre may reach out of it, and the noise as far as that ball."""
    ball, rng = Ball(Euclidean(2), np.zeros(2), 1.0), np.random.default_rng(0)
    question = Centre("centre 1", GDP(0.01), Ball(ball.manifold, [0.9, 0.0], 0.8))
    beyond = 0
    for _ in range(8):
        step = centre_drawn(question, ball, Records(ball, np.zeros((10, 2))), rng)
        assert ball.contains(step.value)
        drawn = rounded_point(question.ball, Rounded(step.rounded, step.grid))
        beyond += not ball.contains(drawn)
    assert beyond > 2


def test_grid_of_the_test_is_that_of_the_search():
    assert choice("radius", 1.0).candidates.tolist() == radii(2.0, 8).tolist()
