"""Offers that are kept: of public numbers and parts of this library alone."""

import functools
import gc
import sys
import traceback
import weakref

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, Product, Sphere, private_mean
from riemdp import _errors as errors
from riemdp.mechanisms import Choice, RiemannianLaplace, TangentGaussian
from riemdp.noise import rule
from riemdp.privacy import GDP, ApproxDP, PureDP
from riemdp.release import _kept
from riemdp.release._kept import Asked, kept, known_by, same_budget
from riemdp.release._offer import offer
from riemdp.statistics import FrechetMean, PointStatistic, ReplaceOne, TangentMean

NUMBERS = (50, None, "exact", True, False, False, None)


def ball_of(manifold, radius=0.5):
    return Ball(manifold, manifold.origin, radius)


def asked(mechanism=TangentGaussian, ball=None, statistic=None, budget=None, numbers=NUMBERS):
    ball = ball_of(Sphere(2)) if ball is None else ball
    parts = statistic or FrechetMean(), budget or GDP(1.0), ReplaceOne()
    return known_by(lambda: None, mechanism, ball, parts, numbers)


def hits():
    return kept.cache_info().hits


def test_the_same_public_numbers_are_worked_out_once():
    first = offer(TangentMean(), TangentGaussian, ball_of(Sphere(2)), 50, GDP(1.0))
    ball = ball_of(Sphere(2))
    again = offer(TangentMean(), Choice(TangentGaussian), ball, 50, GDP(1.0))
    assert again.mechanism is first.mechanism
    assert again.ball is ball  # what a caller brought comes back
    assert again.proofs(GDP(1.0)) == first.proofs(GDP(1.0))
    other = offer(TangentMean(), TangentGaussian, ball, 51, GDP(1.0))
    assert other.mechanism.sigma < first.mechanism.sigma


def test_what_differs_in_a_bit_or_a_type_is_something_else():
    same = asked()
    assert same == asked(ball=ball_of(Sphere(2)))
    assert hash(same) == hash(asked())
    assert same == asked(mechanism=Choice(TangentGaussian))
    radius = np.nextafter(0.5, 1.0)
    shifted = Ball(Euclidean(2), [0.0, 0.0], 0.5)
    for other in (
        asked(ball=ball_of(Sphere(2), radius)),
        asked(ball=Ball(Sphere(2), [0.6, 0.0, 0.8], 0.5)),
        asked(ball=ball_of(Hyperbolic(2))),
        asked(mechanism=RiemannianLaplace),
        asked(statistic=TangentMean()),
        asked(budget=GDP(2.0)),
        asked(budget=GDP(1.0, adjacency="add-remove")),
        asked(budget=PureDP(1.0)),
        asked(numbers=(True, *NUMBERS[1:])),
        asked(numbers=(50.0, *NUMBERS[1:])),
        asked(numbers=(*NUMBERS[:-1], 1.0)),
    ):
        assert other != same
    assert asked(ball=shifted) != asked(ball=Ball(Euclidean(2), [0.0, -0.0], 0.5))
    assert same != "something"


def test_a_count_that_is_none_is_refused_whatever_is_known():
    ball = ball_of(Sphere(2))
    offer(TangentMean(), TangentGaussian, ball, 1, GDP(1.0))
    with pytest.raises(errors.InvalidParameterError, match="positive integer"):
        offer(TangentMean(), TangentGaussian, ball, True, GDP(1.0))


def test_parts_of_other_packages_are_computed_anew(foreign_disc):
    class Own(TangentGaussian):
        name = "tests.own"

    class Bowl(Ball):
        pass

    assert asked() is not None
    disc = foreign_disc()
    for each in (
        asked(mechanism=Own),
        asked(mechanism=TangentGaussian(Euclidean(2), 1.0)),
        asked(ball=Bowl(Sphere(2), [0.0, 0.0, 1.0], 0.5)),
        asked(ball=ball_of(disc)),
        asked(ball=ball_of(Product(Sphere(2), disc))),
        asked(statistic=PointStatistic(1.0, 50, function=np.mean)),
        asked(numbers=(np.int64(50), *NUMBERS[1:])),
        asked(ball=ball_of(Euclidean(2000))),
    ):
        assert each is None
    assert same_budget(GDP(1.0), GDP(1.0))
    assert not same_budget(GDP(1.0), PureDP(1.0))


@pytest.fixture
def foreign_disc():
    class Disc(Euclidean):
        """Not of this library."""

    return functools.partial(Disc, 2)


def test_an_error_is_told_again_but_nothing_that_it_passed_is_kept():
    class Witness:
        pass

    def refused():
        witness = Witness()
        seen.append(weakref.ref(witness))
        with pytest.raises(errors.UnsupportedError) as caught:
            offer(FrechetMean(), TangentGaussian, ball_of(Sphere(2)), 50, PureDP(1.0))
        return type(caught.value), str(caught.value), caught.value

    seen = []
    first, again = refused(), refused()
    assert hits() >= 1
    assert first[:2] == again[:2]
    assert first[2] is not again[2]
    frames = [name for _, _, name, _ in traceback.extract_tb(again[2].__traceback__)]
    assert "_offer" not in frames  # it was not computed again
    del first, again
    gc.collect()
    assert [each() for each in seen] == [None, None]


def test_neither_records_nor_generators_outlive_a_release():
    class Account:
        adjacency = "replace-one"

        def spend(self, guarantee, label):
            """Take it."""

    class Source(np.random.Generator):
        pass

    points, generator, account = np.zeros((20, 2)), Source(np.random.PCG64(0)), Account()
    gone = [weakref.ref(each) for each in (points, generator, account)]
    ball = ball_of(Euclidean(2))
    private_mean(points, ball, GDP(1.0), generator=generator, accountant=account)
    assert kept.cache_info().currsize > 0
    del points, generator, account
    gc.collect()
    assert [each() for each in gone] == [None, None, None]


def test_what_is_made_known_later_counts(monkeypatch):
    from riemdp.noise import _rules

    before = asked()
    monkeypatch.setattr(_rules, "_rules", dict(_rules._rules))
    rule("laplace", Sphere)(_rules._rules["laplace", Sphere])
    assert asked() != before


def test_there_are_not_too_many():
    for n in range(1, 300):
        kept(Asked((n,), lambda: None))
    assert kept.cache_info().currsize == kept.cache_info().maxsize == 128


def test_a_release_is_the_same_bit_by_bit_where_its_offer_is_known():
    def release(budget):
        return private_mean(
            np.tile([0.0, 0.0, 1.0], (20, 1)),
            ball_of(Sphere(2)),
            budget,
            generator=np.random.default_rng(1),
            arithmetic="float64",
        )

    for budget in (GDP(1.0), ApproxDP(1.0, 1e-6)):
        fresh, before = release(budget), hits()
        again = release(budget)
        assert hits() >= before + 3
        assert again.to_json() == fresh.to_json()
        kept.cache_clear()
        assert release(budget).to_json() == fresh.to_json()


def test_the_module_is_what_is_cleared_before_each_test():
    assert sys.modules["riemdp.release._kept"] is _kept
    assert kept.cache_info().currsize == 0
