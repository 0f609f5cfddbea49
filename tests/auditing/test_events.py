from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import GDP, PureDP, RaoDP
from riemdp.auditing._claims import error_probability
from riemdp.auditing._events import (
    CertifiedEvent,
    Event,
    candidates,
    certify,
    choose,
)

ALPHA = 0.0125


def test_event_contains():
    scores = np.array([-np.inf, 0.0, 1.0, np.inf])
    assert np.array_equal(Event(1.0).contains(scores), [False, False, True, True])
    assert np.array_equal(Event(1.0, strict=True).contains(scores), [False, False, False, True])
    assert np.array_equal(Event(1.0, reverse=True).contains(scores), [True, True, False, False])
    assert np.array_equal(Event(math.inf).contains(scores), [False, False, False, True])


def test_error_probability_is_shared_by_four_bounds():
    assert error_probability(0.95) == pytest.approx(0.0125)


@pytest.mark.parametrize("event", [Event(0.3), Event(0.3, strict=True), Event(0.3, reverse=True)])
def test_certify_counts_as_the_event_says(event, rng):
    first, second = rng.integers(0, 5, (2, 300)) / 10.0
    (found,) = certify((event,), first, second, ALPHA, exact=False)
    from riemdp.auditing._confidence import upper_bound

    assert found.fpr == upper_bound(event.contains(second).sum(), 300, ALPHA)
    assert found.fnr == upper_bound((~event.contains(first)).sum(), 300, ALPHA)
    assert found.mu_lower() >= 0.0


def test_choose_finds_the_middle_and_the_tail(rng):
    first, second = rng.normal(1.0, size=4000), rng.normal(size=4000)
    middle, tail = choose(first, second, GDP(1.0), ALPHA, exact=False)
    assert abs(middle.threshold - 0.5) < 0.5
    assert abs(tail.threshold - 0.5) > 1.0
    assert not middle.reverse


def test_choose_turns_a_score_that_points_the_wrong_way(rng):
    first, second = rng.normal(-1.0, size=4000), rng.normal(size=4000)
    middle, _ = choose(first, second, GDP(1.0), ALPHA, exact=False)
    assert middle.reverse
    (found,) = certify((middle,), first, second, ALPHA, exact=False)
    assert found.mu_lower() > 0.8


def test_choose_for_other_claims(rng):
    first, second = rng.normal(2.0, size=4000), rng.normal(size=4000)
    middle, _ = choose(first, second, RaoDP(1.0, distance="angle"), ALPHA, exact=False)
    assert abs(middle.threshold - 1.0) < 1.0


def test_ties_and_constant_scores():
    constant = np.zeros(100)
    events = choose(constant, constant, PureDP(1.0), ALPHA, exact=False)
    for found in certify(events, constant, constant, ALPHA, exact=False):
        assert found.mu_lower() == 0.0
        assert found.epsilon_lower(0.0) == 0.0
    ones = np.ones(100)
    events = choose(ones, constant, PureDP(1.0), ALPHA, exact=False)
    found = certify(events, ones, constant, ALPHA, exact=False)
    assert max(event.epsilon_lower(0.0) for event in found) > 2.0


def test_infinite_scores():
    first = np.concatenate([np.zeros(60), np.full(40, np.inf)])
    second = np.concatenate([np.zeros(60), np.full(40, -np.inf)])
    for exact, expected in [(True, math.inf), (False, None)]:
        events = choose(first, second, PureDP(1.0), ALPHA, exact=exact)
        found = certify(events, first, second, ALPHA, exact=exact)
        largest = max(event.epsilon_lower(0.0) for event in found)
        assert largest == expected if exact else 1.0 < largest < 4.0
    # each side alone
    events = choose(first, np.zeros(100), PureDP(1.0), ALPHA, exact=True)
    assert Event(math.inf) in events
    found = certify(events, first, np.zeros(100), ALPHA, exact=True)
    assert max(event.mu_lower() for event in found) == math.inf
    events = choose(np.zeros(100), second, PureDP(1.0), ALPHA, exact=True)
    assert Event(-math.inf, strict=True) in events
    found = certify(events, np.zeros(100), second, ALPHA, exact=True)
    assert max(event.mu_lower() for event in found) == math.inf


def test_candidates_have_the_ends_and_stay_few(rng):
    first, second = rng.normal(size=(2, 50_000))
    thresholds = candidates(first, second)
    both = np.concatenate([first, second])
    assert thresholds[0] == both.min()
    assert thresholds[-1] == both.max()
    assert 200 < len(thresholds) < 300


def test_certified_event():
    event = CertifiedEvent(Event(0.0), 0.1, 0.2)
    assert event.epsilon_lower(0.0) == pytest.approx(math.log(0.8 / 0.1))
    assert event.delta_lower(np.array([0.0])) == pytest.approx(0.7)
