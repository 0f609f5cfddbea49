"""The offer of a mean is found once for the same public values, and never for others."""

from dataclasses import replace

import numpy as np
import pytest

import riemdp
from riemdp import GDP, Ball, Euclidean, PureDP, Sphere
from riemdp.mechanisms import MECHANISMS
from riemdp.release import _run
from riemdp.release._offer import Terms, wanted_mean
from riemdp.release._options import Options

BALL = Ball(Euclidean(2), [0.0, 0.0], 1.0)
TERMS = Terms(BALL, 50, GDP(1.0))


def misses(*calls):
    _run._kept.cache_clear()
    for terms, options in calls:
        _run.checked_offer(wanted_mean, terms, options)
    return _run._kept.cache_info().misses


def test_the_same_public_values_have_one_offer():
    again = Terms(Ball(Euclidean(2), np.zeros(2), 1.0), 50, GDP(1.0))
    assert misses((TERMS, Options()), (again, Options())) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(TERMS, n=51),
        replace(TERMS, budget=GDP(1.5)),
        replace(TERMS, budget=PureDP(1.0)),
        replace(TERMS, ball=Ball(Euclidean(2), [0.0, 0.0], 1.5)),
        replace(TERMS, ball=Ball(Euclidean(2), [-0.0, 0.0], 1.0)),
        replace(TERMS, ball=Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)),
        replace(TERMS, neighbours=riemdp.statistics.AddRemove(), n=None),
        replace(TERMS, streams=True),
    ],
)
def test_other_public_values_have_another(other):
    assert misses((TERMS, Options()), (other, Options())) == 2


def test_other_options_have_another():
    named = Options(mechanism="tangent-laplace")
    assert misses((TERMS, Options()), (TERMS, named), (TERMS, Options(allow_unproven=True))) == 3


def test_nothing_is_kept_of_what_another_package_brings():
    class Mine(Euclidean):
        """A space that is not of this library."""

    ball = Ball(Mine(2), [0.0, 0.0], 1.0)
    assert misses((replace(TERMS, ball=ball), Options(allow_unproven=True))) == 0
    given = riemdp.RiemannianGaussian(Euclidean(2), 1.0)
    assert misses((TERMS, Options(mechanism=given))) == 0


@pytest.mark.parametrize("mechanism", ["mylab.Noise", "auto"])
def test_nothing_is_kept_where_another_package_brings_a_mechanism(monkeypatch, mechanism):
    """It may withdraw its proof."""
    mine = type("Noise", (riemdp.RiemannianGaussian,), {"__module__": "mylab", "name": mechanism})
    monkeypatch.setattr(_run, "named", lambda name: mine if name == "mylab.Noise" else name)
    monkeypatch.setattr(_run, "kinds", lambda: {**MECHANISMS, "mylab.Noise": mine})
    assert misses((TERMS, Options(mechanism=mechanism, allow_unproven=True))) == 0


def test_a_release_has_the_offer_that_its_fields_lead_to():
    points = BALL.point(np.random.default_rng(0).normal(0.0, 0.2, (50, 2)))
    release = riemdp.private_mean(points, BALL, GDP(1.0))
    read = riemdp.Release.from_json(release.to_json())
    assert read.header == release.header
    for made in (read, release):
        (asked,) = made.offer.asked
        assert (asked.mechanism, asked.sensitivity, asked.tol) == (
            release.mechanism,
            release.sensitivity,
            release.tol,
        )
        assert asked.draw == release.offer.last.draw
        assert made.offer.projected is release.projected
    np.testing.assert_array_equal(read.value, release.value)
