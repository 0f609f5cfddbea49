from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    GDP,
    ZCDP,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    Release,
    RiemdpError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    private_mean,
    verify,
)
from riemdp.kernel._verify import SearchReceipt
from riemdp.release._search._document import search_to_dict
from riemdp.statistics import Groups


def failed(release):
    return [check.name for check in verify(release).checks if not check.passed]


def test_the_schedule_follows_from_the_receipt(found):
    search = replace(found.search, release=found.left)
    receipt = SearchReceipt(search_to_dict(search), found.ball.manifold, found.n, found.budget)
    assert receipt.found() == found.ball


@pytest.mark.parametrize(
    ("manifold", "radius", "budget"),
    [
        (Euclidean(3), 1.0, PureDP(2.0)),
        (Sphere(2), 1.2, GDP(2.0)),
        (Hyperbolic(3), 2.0, ZCDP(1.0)),
        pytest.param(SPDAffineInvariant(2), 2.0, ApproxDP(4.0, 1e-6), marks=pytest.mark.slow),
        (SPDLogEuclidean(3), 3.0, ApproxDP(4.0, 1e-6)),
    ],
    ids=str,
)
def test_what_was_searched_is_verified(manifold, radius, budget):
    ball = Ball(manifold, manifold.origin, radius)
    rng = np.random.default_rng(0)
    points = ball.point(rng.normal(size=(400, manifold.dim)) * 0.03 * radius + 0.2 * radius)
    release = private_mean(points, ball, budget, method="adaptive", generator=rng)
    again = Release.from_json(release.to_json())
    assert failed(again) == failed(release) == []
    assert again.search.steps
    assert again.ball.radius < radius
    assert "docs/proofs/private-ball.md" in release.proofs.values()


def _numbers(place, path=()):
    """Every number in a document, and where it is."""
    if isinstance(place, dict):
        for key, value in place.items():
            yield from _numbers(value, (*path, key))
    elif isinstance(place, list):
        for i, value in enumerate(place):
            yield from _numbers(value, (*path, i))
    elif not isinstance(place, (str, type(None))):
        yield path, place


def _changed(value):
    if isinstance(value, bool):
        return ()
    if isinstance(value, int):  # a step of the grid is less than float64 can tell
        return (value + (1 if abs(value) < 10**6 else 10**9), -value - 1)
    return (value * (1.0 + 1e-6) + 1e-6, value * 0.5 - 0.01)


def _first_of_each(search):
    """Numbers of the first choice and of the first centre, and of no step."""
    kinds = [step["query"] for step in search["steps"]]
    kept = {0, kinds.index("centre")}
    return [x for x in _numbers(search) if x[0][0] != "steps" or x[0][1] in kept]


@pytest.mark.parametrize("which", [_first_of_each, pytest.param(_numbers, marks=pytest.mark.slow)])
def test_whatever_is_changed_is_found(release, which):
    document = json.loads(release.to_json())
    seen = 0
    for path, value in which(document["search"]):
        for other in _changed(value)[: None if which is _numbers else 1]:
            changed = copy.deepcopy(document)
            place = changed["search"]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = other
            try:
                names = failed(Release.from_json(json.dumps(changed)))
            except RiemdpError:
                names = ["search"]
            is_answer = {"place", "rounded"} & {*path}  # others may lead to the same ball
            assert is_answer or {"search", "guarantee"} & set(names), path
            seen += 1
    assert seen > 20


def test_steps_that_are_missing_or_doubled_are_found(release):
    search = release.search
    steps = search.steps
    for other in (steps[:-1], steps[1:], (*steps, steps[-1]), steps[::-1]):
        assert "search" in failed(replace(release, search=replace(search, steps=other)))


def test_another_budget_ball_or_size_is_found(release):
    search = release.search
    for other in (
        replace(search, budget=GDP(1.1)),
        replace(search, budget=PureDP(1.0)),
        replace(search, release=GDP(search.release.mu * 1.0001)),
        replace(search, ball=Ball(Euclidean(2), np.zeros(2), 1.01)),
    ):
        assert "search" in failed(replace(release, search=other))
    assert failed(replace(release, search=replace(search, release=None))) == ["document"]
    for other in (
        replace(release, guarantee=GDP(0.9)),
        replace(release, guarantee=GDP(1.1)),
        replace(release, ball=Ball(Euclidean(2), release.ball.center, release.ball.radius * 1.01)),
        replace(release, ball=Ball(Euclidean(2), release.ball.center + 1e-3, release.ball.radius)),
    ):
        assert "search" in failed(other)


def test_a_search_is_about_its_records_and_one_relation(release):
    """Whatever else of the release fits them."""
    for records in (599, 601):
        assert "search" in failed(replace(release, n=records))
    # one record of one: the sensitivity is the same, and what the search costs is not known
    changed = replace(release, neighbours=Groups(1), stated_proofs=None)
    assert "search" in failed(changed)


def test_a_lesser_share_may_be_released(release):
    """A share is within the budget; the noise then has to be that of the share."""
    lesser = replace(release, search=replace(release.search, release=GDP(0.1)))
    assert "guarantee" in failed(lesser)
    assert "search" not in failed(lesser)
