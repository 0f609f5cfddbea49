"""The mean with weights as private as the records, and people who count for their records."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Release,
    Sphere,
    private_mean,
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    Records,
    ReplaceOne,
    ReplacePoint,
    ReplaceUser,
    WeightedMean,
    answer,
)
from riemdp.statistics._weighted_mean import ROOT_3
from riemdp.testing import check_part

DISC = Ball(Euclidean(2), [0.0, 0.0], 2.0)
SEGMENT = Ball(Euclidean(1), [0.0], 1.0)


def _sums(statistic, ball, points, weights):
    records = Records(np.asarray(points), weights=np.asarray(weights)).validated(ball.manifold)
    return answer(statistic, ball, records, 0.0)


def _largest_move(weight):
    """Search all pairs of vectors of the unit disc with weights."""

    def negative(x):
        w, other, one, two, a, b = x
        v, u = (length * np.array([math.cos(t), math.sin(t)]) for length, t in ((one, a), (two, b)))
        return -np.sum((w * v - other * u) ** 2) - weight**2 * (w - other) ** 2

    box = [(0.0, 1.0)] * 4 + [(0.0, 2.0 * math.pi)] * 2
    starts = np.random.default_rng(1).uniform(size=(25, 6)) * np.array(box)[:, 1]
    found = [scipy.optimize.minimize(negative, x, bounds=box).fun for x in starts]
    return math.sqrt(-min(found))


@pytest.mark.parametrize("weight", [0.5, ROOT_3, 1.74, 2.5])
def test_no_pair_of_records_moves_the_sums_farther(weight):
    stated = WeightedMean(weight).replace_one(DISC, 7, "coordinates") / DISC.radius
    assert _largest_move(weight) == pytest.approx(stated, rel=1e-6)
    assert (stated > 2.0 + 1e-10) == (weight > ROOT_3)  # 1.74 fails to come free


def test_the_square_root_of_three_is_rounded_down():
    assert Fraction(ROOT_3) ** 2 < 3 < Fraction(math.nextafter(ROOT_3, 2.0)) ** 2
    statistic = WeightedMean()
    assert statistic.weight == ROOT_3
    free = pytest.approx(4.0, rel=1e-10)
    assert statistic.replace_one(DISC, 9, "coordinates") == free
    assert WeightedMean(1.001 * ROOT_3).replace_one(DISC, 9, "coordinates") > 4.002
    assert WeightedMean(2.0).replace_point(DISC, 9, "coordinates") == free
    assert WeightedMean(1.0).add_remove(DISC, "coordinates") == pytest.approx(2.0 * math.sqrt(2.0))


def test_a_sum_of_weights_comes_with_the_weighted_sum():
    points, weights = np.array([[1.0, 0.5], [-0.5, 0.25], [9.0, 0.0]]), np.array([0.5, 1.0, 0.25])
    found = [float(x) for x in _sums(WeightedMean(1.5), DISC, points, weights)]
    np.testing.assert_allclose(found, [0.5, 0.5, 1.5 * 2.0 * 1.75], atol=1e-9)
    statistic = WeightedMean(1.5)
    value = statistic.move(DISC, None, np.array(found), 0, float)
    np.testing.assert_allclose(value, np.array([0.5, 0.5]) / 1.75, atol=1e-9)
    # a sum under the deviation of its noise is taken for that
    noise = 6.0 * math.sqrt(3.0)
    low = statistic.move(DISC, None, np.array([0.2, 0.0, -5.0]), 0, lambda: noise)
    np.testing.assert_allclose(low, [0.1, 0.0], atol=1e-12)


def test_the_error_is_that_of_the_formula():
    n, sigma, draws = 500, 1.0, 4000
    rng = np.random.default_rng(3)
    points, weights = rng.uniform(0.8, 1.0, size=(n, 1)), rng.uniform(size=n)
    statistic = WeightedMean()
    exact = np.array([float(x) for x in _sums(statistic, SEGMENT, points, weights)])
    total, mean = weights.sum(), float(weights @ points[:, 0] / weights.sum())
    noisy, length = exact + sigma * rng.normal(size=(draws, 2)), sigma * math.sqrt(math.pi / 2.0)
    values = np.array([statistic.move(SEGMENT, None, y, 0, lambda: length)[0] for y in noisy])
    rms = math.sqrt(np.mean((values - mean) ** 2))
    law = sigma * math.sqrt(1.0 + mean**2 / 3.0) / total
    assert rms == pytest.approx(law, rel=0.06)
    assert abs(rms / (sigma / total) - 1.0) > 0.06  # the control: public weights
    stated = statistic.noise_in_value(SEGMENT) * sigma * math.sqrt(math.pi / 2.0) / total
    assert np.mean(np.abs(values - mean)) <= 1.05 * stated


@pytest.mark.parametrize("budget", [GDP(1.0), PureDP(2.0)])
def test_releases_are_written_read_and_verified(budget):
    rng = np.random.default_rng(4)
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8)
    points, weights = ball.point(rng.uniform(-0.4, 0.5, size=(3000, 2))), rng.uniform(size=3000)
    found = private_mean(points, ball, budget, weights=weights, private_weights=True)
    assert found.statistic == WeightedMean()
    assert (found.n, found.proven) == (3000, True)
    assert found.sensitivity == pytest.approx(1.6)
    read = Release.from_json(found.to_json())
    assert verify(read).passed
    mean = weights @ ball.coordinates(points) / weights.sum()
    assert np.linalg.norm(ball.coordinates(found.value[None])[0] - mean) < 0.05
    # honest: by the sum of weights that was released, not by the number of records
    factor = found.statistic.noise_in_value(ball) * found.mechanism.expected_distance()
    assert found.expected_distance == pytest.approx(factor / weights.sum(), rel=0.1)
    assert found.expected_distance > 1.5 * factor / 3000.0
    tampered = dataclasses.replace(read, statistic=WeightedMean(1.9))
    assert not verify(tampered).passed


def test_weights_lie_in_the_unit_interval():
    with pytest.raises(NotOnManifoldError, match="row 1: its weight is more than 1"):
        private_mean(np.zeros((2, 2)), DISC, GDP(1.0), weights=[1.0, 1.5], private_weights=True)
    with pytest.raises(NotOnManifoldError, match="row 0: its weight is negative"):
        private_mean(np.zeros((2, 2)), DISC, GDP(1.0), weights=[-1.0, 0.5], private_weights=True)
    found = private_mean(np.zeros((2, 2)), DISC, GDP(1.0), weights=[0, 0], private_weights=True)
    assert DISC.contains(found.value)


def test_a_private_number_of_records_needs_no_other_count():
    statistic = AddRemove().form(WeightedMean(), SEGMENT)
    assert statistic == WeightedMean(1.0)
    found = private_mean(
        np.full((800, 1), 0.5),
        SEGMENT,
        GDP(1.0),
        weights=np.full(800, 0.25),
        private_weights=True,
        neighbours=AddRemove(),
    )
    assert (found.n, found.count) == (None, None)
    assert found.sensitivity == pytest.approx(math.sqrt(2.0))
    assert abs(found.value[0] - 0.5) < 0.05
    noise = math.sqrt(2.0) * math.sqrt(math.pi / 2.0)  # of two coordinates
    assert found.expected_distance == pytest.approx(noise / 200.0, rel=0.1)
    assert verify(Release.from_json(found.to_json())).passed


def _people(relation, statistic, *people):
    """Sums of people's records."""
    points = np.concatenate([np.reshape(each, (-1, 1)) for each in people]).astype(np.float64)
    users = [j for j, each in enumerate(people) for _ in each]
    records = Records(points, users=users).validated(SEGMENT.manifold)
    units = relation.units(SEGMENT, records)
    return answer(statistic, SEGMENT, dataclasses.replace(units, users=None), 0.0)


def test_people_move_the_sums_by_no_more_whatever_their_numbers_of_records():
    relation, statistic = ReplaceUser(contribution=200), WeightedMean()
    stated = relation.sensitivity(statistic, SEGMENT, 2, "coordinates")
    assert stated == pytest.approx(2.0, rel=1e-10)
    rng = np.random.default_rng(5)
    other, one, many = [0.3, -0.2], np.ones(1), np.ones(250)
    persons = [one, -one, many, -many, rng.uniform(-1, 1, 30), 0.5 * many[:120]]

    def largest(weight):
        sums = [_people(relation, WeightedMean(weight), each, other) for each in persons]
        return max(math.dist(map(float, a), map(float, b)) for a in sums for b in sums)

    assert largest(ROOT_3) <= stated
    assert largest(ROOT_3) == pytest.approx(stated, rel=1e-6)
    assert largest(1.74) > stated * 1.0005  # the control


def test_people_count_for_their_records_up_to_a_bound():
    relation = ReplaceUser(contribution=3)
    found = _people(relation, WeightedMean(1.0), [0.5], [0.1, 0.3], [-0.2] * 9)
    total = (0.5 + 2 * 0.2 - 3 * 0.2) / 3.0
    np.testing.assert_allclose([float(x) for x in found], [total, 2.0], atol=1e-9)
    assert ReplaceUser().units(SEGMENT, Records([[0.5]], users=[1])).weights is None
    assert (relation.adds, ReplaceUser().adds, ReplaceOne().adds) == (("weights",), (), ())
    assert relation.title == "replace-user, who counts for up to 3"
    for each in (relation, AddRemoveUser(contribution=7), AddRemoveUser()):
        assert decode(encode(each), "neighbours") == each
    for wrong in (0, -1, 1.5):
        with pytest.raises(InvalidParameterError, match="contribution"):
            ReplaceUser(contribution=wrong)
    weighted = Records([[0.5]], weights=[1.0], users=[1])
    with pytest.raises(InvalidParameterError, match="leave out weights"):
        relation.units(SEGMENT, weighted)


@pytest.mark.parametrize("people", [400, None])
def test_people_are_released_with_their_contributions(people):
    rng = np.random.default_rng(6)
    users = rng.integers(0, 400, size=4000) % rng.integers(1, 401, size=4000)
    points = rng.uniform(-0.5, 0.5, size=(4000, 1)) + 0.3 * (users < 100)[:, None]
    options = {"users": users, "contribution": 8, "people": people}
    found = private_mean(points, SEGMENT, GDP(2.0), **options)
    assert isinstance(found.statistic, WeightedMean)
    assert found.neighbours.contribution == 8
    assert verify(Release.from_json(found.to_json())).passed
    names, numbers = np.unique(users, return_counts=True)
    means = np.array([points[users == name].mean() for name in names])
    weights = np.minimum(numbers, 8)
    assert abs(found.value[0] - weights @ means / weights.sum()) < 0.08


def test_it_is_a_part():
    check_part(WeightedMean(), ball=DISC)
    assert ReplacePoint().sensitivity(WeightedMean(), DISC, 5, "coordinates") >= 4.0
