"""Releases with parts of other packages, or without integers: verified by the parts themselves."""

import json
from dataclasses import replace

import numpy as np
import pytest

from riemdp import Ball, PureDP, Release, SPDAffineInvariant, Sphere, private_mean, verify
from riemdp.mechanisms import RiemannianLaplace
from riemdp.noise.exact import FlatDraw
from riemdp.statistics import FrechetMean


def release_of(**options):
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
    options = {"mechanism": "riemannian-laplace"} | options
    return private_mean(np.tile([0.0, 0.0, 1.0], (40, 1)), ball, PureDP(1.0), **options)


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


@pytest.mark.parametrize("project", [True, False])
def test_several_points_are_no_value(project):
    release = release_of(arithmetic="float64", project=project)
    assert failed(release) == set()
    assert "value" in failed(replace(release, value=np.stack([release.value] * 2)))


def test_a_law_that_would_take_minutes_is_not_computed():
    manifold = SPDAffineInvariant(65)
    ball, law = Ball(manifold, manifold.origin, 0.1), RiemannianLaplace(manifold, 1e-4)
    release = Release(
        value=manifold.origin, guarantee=PureDP(1.0), mechanism=law, statistic=FrechetMean(),
        reason="", sensitivity=0.1, tol=1e-6, ball=ball, n=40_000,
    )  # fmt: skip
    document = json.loads(release.to_json())
    assert (document["expected_distance"], document["error_quantile_95"]) == (None, None)
    checks = {c.name: c for c in verify(Release.from_json(json.dumps(document))).checks}
    assert checks["error"].passed
    assert "SPD(65)" in checks["error"].detail
    claimed = json.dumps(document | {"expected_distance": 0.2, "error_quantile_95": 0.3})
    assert "error" in failed(Release.from_json(claimed))


@pytest.mark.parametrize(
    "found", [lambda *_: None, lambda *_: 1 / 0, lambda *_: FlatDraw("laplace", 5, 1.0)]
)
def test_integers_are_not_those_of_a_mechanism_that_cannot_draw_them(found):
    """A document may state them of a part of another package, whose exact draw is none."""
    release = release_of()
    kind = type("M", (RiemannianLaplace,), {"name": "lab.M", "exact_draw": found})
    assert "arithmetic" in failed(replace(release, mechanism=kind(Sphere(2), release.sigma)))


def test_float64_says_nothing_of_arithmetic():
    release = release_of(arithmetic="float64")
    assert (release.numerical_delta, release.rounded, release.grid) == (None, None, None)
    assert {"grid", "rounded"}.isdisjoint(json.loads(release.to_json()))
    assert "arithmetic" not in {check.name for check in verify(release).checks}
    assert failed(release) == set()
