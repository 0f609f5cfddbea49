from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    InvalidBudgetError,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Release,
    RiemdpError,
    SPDAffineInvariant,
    Sphere,
    UnprovenMechanismError,
    UnsupportedManifoldError,
    frechet_mean,
    private_mean,
    verify,
)
from riemdp_papers import PublishedConformalLaplace, PublishedMean, published_mean

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)


def _cluster(n):
    return np.random.default_rng(0).normal(0.15, 0.1, (n, 2))


def test_nothing_is_guaranteed_and_it_cannot_pass_for_a_release():
    found = published_mean(_cluster(30), PLANE, 1.0, generator=np.random.default_rng(0))
    assert isinstance(found, PublishedMean)
    assert not isinstance(found, Release)
    assert found.guarantee is None
    assert not found.proven
    assert not found.private
    assert found.reproducible
    assert not published_mean(_cluster(30), PLANE, 1.0).reproducible
    assert PLANE.contains(found.value)
    assert not found.value.flags.writeable
    assert "array" not in repr(found).replace(repr(found.value), "")
    with pytest.raises(InvalidParameterError, match=r"riemdp\.Release"):
        verify(found)
    # nothing of the scale, which depends on the data
    names = {field.name for field in dataclasses.fields(found)}
    assert names == {"value", "epsilon", "sensitivity", "tol", "ball", "n", "reproducible"}


def test_riemdp_knows_nothing_of_it():
    points = _cluster(30)
    law = PublishedConformalLaplace(points, PLANE, 1.0, 0.1)
    for mechanism in (PublishedConformalLaplace, law, PublishedConformalLaplace.name):
        with pytest.raises(InvalidParameterError, match="mechanism"):
            private_mean(points, PLANE, PureDP(1.0), mechanism=mechanism, allow_unproven=True)
    release = private_mean(points, PLANE, PureDP(1.0))
    with pytest.raises(InvalidParameterError, match="guarantee"):
        dataclasses.replace(release, guarantee=None)
    with pytest.raises((InvalidParameterError, UnprovenMechanismError)):
        Release.from_json(release.to_json().replace(release.mechanism.name, law.name))


@pytest.mark.parametrize("ball", [PLANE, Ball(Sphere(2), Sphere(2).origin, 0.7)], ids=str)
def test_the_steps_are_those_of_private_mean(ball):
    points = ball.point(np.random.default_rng(0).uniform(-0.9, 0.9, (30, 2)))
    found = published_mean(points, ball, 1.0, generator=np.random.default_rng(0))
    release = private_mean(points, ball, PureDP(1.0), mechanism="riemannian-laplace")
    assert (found.sensitivity, found.tol, found.n) == (release.sensitivity, release.tol, 30)
    law = PublishedConformalLaplace(points, ball, 1.0, found.sensitivity)
    mean = frechet_mean(ball.manifold, ball.project(points), ball=ball).value
    value = law.sample(mean, generator=np.random.default_rng(0))
    assert ball.manifold.dist(value, found.value) < 1e-6
    wide = published_mean(points, ball, 1.0, tol=1e-3)
    assert wide.tol == 1e-3
    assert wide.sensitivity == pytest.approx(found.sensitivity + 2e-3, rel=1e-6)


def test_the_sensitivity_by_default_is_that_of_frechet_mean():
    law = PublishedConformalLaplace(_cluster(30), PLANE, 0.5, steps=20, neighbours=5)
    assert 2 / 30 <= law.sensitivity <= 2 / 30 + 1e-9
    assert law.sample(np.zeros(2), 4, np.random.default_rng(0)).shape == (4, 2)


def test_bad_input_is_refused():
    points = _cluster(30)
    with pytest.raises(InvalidParameterError, match=r"riemdp\.Ball"):
        published_mean(points, 1.0, 1.0)
    with pytest.raises(InvalidBudgetError, match="epsilon"):
        published_mean(points, PLANE, PureDP(1.0))
    for epsilon in (0.0, np.inf, True, "1"):
        with pytest.raises(InvalidBudgetError, match="epsilon"):
            published_mean(points, PLANE, epsilon)
    with pytest.raises(InvalidParameterError, match="tol"):
        published_mean(points, PLANE, 1.0, tol=-1.0)
    with pytest.raises(NotOnManifoldError, match="row 4"):
        published_mean(np.where(np.arange(30)[:, None] == 4, np.nan, points), PLANE, 1.0)
    with pytest.raises(NotOnManifoldError, match="fill or drop"):
        published_mean(np.ma.masked_array(points, mask=points > 0.1), PLANE, 1.0)
    for few in (points[:0], points[:1], points[0]):
        with pytest.raises(RiemdpError, match=r"n >= 2|empty|shape"):
            published_mean(few, PLANE, 1.0)
    space = SPDAffineInvariant(2)
    with pytest.raises(UnsupportedManifoldError, match="constant curvature"):
        published_mean(np.stack([np.eye(2)] * 3), Ball(space, np.eye(2), 1.0), 1.0)
