"""The options that every release has: named in signatures, and what they do to every statistic."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import riemdp
from riemdp import GDP, Ball, Euclidean, Records, Sphere, verify
from riemdp._errors import InvalidParameterError, RiemdpError, UnsupportedError
from riemdp.release import ReleaseOptions
from riemdp.release._options import Options, with_options
from riemdp.statistics import (
    ClassMoments,
    GeometricMedian,
    Moments,
    Weighted,
    largest_share,
    weighted,
)

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8)
POINTS = BALL.point(np.random.default_rng(0).normal(scale=0.2, size=(40, 2)))
WEIGHTS = np.linspace(0.5, 1.0, 40)
USERS = np.arange(40) // 4
CALLS = {
    "private_mean": riemdp.private_mean,
    "private_median": riemdp.private_median,
    "private_huber": riemdp.private_huber,
    "private_moments": riemdp.private_moments,
    "private_variance": riemdp.private_variance,
}


def seeded():
    return np.random.default_rng(1)


def test_the_mean_names_what_every_release_takes():
    known = inspect.signature(riemdp.private_mean).parameters
    assert list(known) == ["points", "ball", "budget", "method", *ReleaseOptions.__annotations__]
    assert len(known) == 15
    assert known["n"].annotation == "int | None"
    for name in ReleaseOptions.__annotations__:
        assert known[name].default == getattr(Options(), name)
        assert known[name].kind is inspect.Parameter.KEYWORD_ONLY


def test_options_stand_in_the_signature_of_a_function():
    @with_options
    def made(points, *, own=1, **options):
        return points, own, options

    assert list(inspect.signature(made).parameters)[:3] == ["points", "own", "mechanism"]
    assert made(2, n=3) == (2, 1, {"n": 3})
    with pytest.raises(TypeError, match="'mechansim'; did you mean mechanism"):
        riemdp.private_median(POINTS, BALL, GDP(1.0), mechansim="auto")


@pytest.mark.parametrize("call", [name for name in CALLS if name != "private_mean"])
@pytest.mark.parametrize("private", [False, True])
def test_weights_are_for_every_statistic_of_rows(call, private):
    """The same integers as of the statistic that states its weights."""
    options = {"mechanism": "tangent-gaussian"}
    named = CALLS[call](
        POINTS, BALL, GDP(1.0), weights=WEIGHTS, private_weights=private, generator=seeded(),
        **options,
    )  # fmt: skip
    plain = CALLS[call](POINTS, BALL, GDP(1.0), generator=seeded(), **options).statistic
    share = largest_share(WEIGHTS)
    made = weighted(plain, BALL) if private else Weighted(plain, share)
    stated = riemdp.private_statistic(
        made, Records(POINTS, weights=WEIGHTS), BALL, GDP(1.0), generator=seeded(), **options
    )
    assert (named.statistic, named.rounded) == (stated.statistic, stated.rounded)
    assert verify(named).passed


def test_equal_weights_are_none():
    one = riemdp.private_moments(POINTS, BALL, GDP(1.0), generator=seeded())
    same = riemdp.private_moments(POINTS, BALL, GDP(1.0), weights=[3.0] * 40, generator=seeded())
    assert same.rounded == one.rounded


@pytest.mark.parametrize("call", CALLS)
def test_people_may_count_for_several_records(call):
    release = CALLS[call](POINTS, BALL, GDP(1.0), users=USERS, people=10, contribution=3)
    assert release.neighbours.contribution == 3
    assert release.statistic.weighs
    assert verify(release).passed


def test_what_takes_none_says_so():
    labels = Records(POINTS, labels=[0, 1] * 20)
    with pytest.raises(RiemdpError, match="labels, covariates or weights"):
        riemdp.private_statistic(ClassMoments([0, 1]), labels, BALL, GDP(1.0), weights=WEIGHTS)
    with pytest.raises(InvalidParameterError, match="private_weights=True where they are"):
        riemdp.private_statistic(Moments(), Records(POINTS, weights=WEIGHTS), BALL, GDP(1.0))
    with pytest.raises(UnsupportedError, match="contribution"):
        riemdp.private_directional_summary(POINTS, GDP(1.0), users=USERS, people=10, contribution=3)


def test_a_statistic_has_to_agree_whether_weights_are_private():
    """Else private ones would be divided by the largest, or would set the noise as public ones."""
    given = POINTS, BALL, GDP(1.0)
    hidden, public = weighted(Moments(), BALL), Weighted(Moments(), largest_share(WEIGHTS))
    with pytest.raises(InvalidParameterError, match="is for private weights"):
        riemdp.private_statistic(hidden, *given, weights=WEIGHTS)
    with pytest.raises(InvalidParameterError, match="is for public weights"):
        riemdp.private_statistic(public, *given, weights=WEIGHTS, private_weights=True)
    account = riemdp.Accountant(GDP(2.0))
    kept = riemdp.private_statistic(
        hidden, *given, weights=WEIGHTS, private_weights=True, accountant=account
    )
    assert kept.statistic == hidden
    assert account.spent == GDP(1.0)


def test_directions_may_weigh():
    options = {"mechanism": "riemannian-gaussian", "weights": WEIGHTS}
    release = riemdp.private_directional_summary(POINTS, GDP(1e7), **options)
    expected = (WEIGHTS[:, None] * POINTS).sum(axis=0) / WEIGHTS.sum()
    found = release.value["resultant"]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert verify(release).passed


def test_a_statistic_has_its_own_fields():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    release = riemdp.private_statistic(GeometricMedian(steps=3), np.zeros((9, 2)), ball, GDP(1.0))
    assert len(release.scales) == 4
    with pytest.raises(TypeError, match="no keyword 'steps'"):
        riemdp.private_median(np.zeros((9, 2)), ball, GDP(1.0), steps=3)
