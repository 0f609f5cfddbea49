"""Regions and tests from releases: what they are about, and which releases they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    PureDP,
    Release,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
    UnsupportedError,
    private_ball,
    private_mean,
    private_moments,
    private_statistic,
    two_sample_test,
)
from riemdp import statistics as pure
from riemdp.statistics import ClassMoments, Moments, Recentred

PLANE = Ball(Euclidean(2), [0.0, 0.0], 2.0)


def records(seed, n=400, shift=0.0, ball=PLANE):
    rows = np.random.default_rng(seed).normal(
        [shift, *[0.0] * (ball.manifold.dim - 1)], 0.5, (n, ball.manifold.dim)
    )
    return ball.point(rows)


def moments(points, budget=None, ball=PLANE, seed=7, **options):
    return private_moments(
        points,
        ball,
        budget or GDP(1.0),
        second="matrix",
        generator=np.random.default_rng(seed),
        **options,
    )


@pytest.mark.parametrize("base", ["public", "recentred"])
@pytest.mark.parametrize(
    "ball", [PLANE, Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 3.0)], ids=str
)
def test_regions_cover_the_mean_of_the_records(ball, base):
    points = records(0, ball=ball, n=2000)
    release = moments(points, ball=ball, base=base)
    value = release.value
    region = release.confidence_region(0.95)
    np.testing.assert_allclose(region.center, value.coordinates)
    seen = ball.manifold.coordinates(value.base, points)
    assert region.contains(seen.mean(axis=0))  # of the sample: nearer than that of the law
    assert not region.contains(
        value.coordinates + 1.001 * region.radius * np.eye(ball.manifold.dim)[0]
    )
    assert region.radius < 0.5
    assert "asymptotic" in region.note
    assert ("released" in region.note) == (base == "recentred")
    assert release.confidence_region(0.99).radius > region.radius
    again = Release.from_json(release.to_json()).confidence_region(0.95)
    assert again == region


@pytest.mark.slow
def test_coverage_of_releases():
    """Sampling and noise are both in the region."""
    level, covered = 0.9, []
    for seed in range(150):
        release = moments(records(seed, n=150), GDP(1.0), seed=1000 + seed)
        covered.append(bool(release.confidence_region(level).contains([0.0, 0.0])))
    assert np.mean(covered) > level - 4.0 * np.sqrt(level * (1.0 - level) / len(covered))
    narrow = moments(records(0, n=150)).confidence_region(level).radius
    assert moments(records(0, n=150), GDP(0.1)).confidence_region(level).radius > 1.5 * narrow


def test_the_noise_is_that_of_the_value():
    for base in ("public", "recentred"):
        release = moments(records(1), base=base)
        found = release.released_moments()
        assert found.sigma == pytest.approx(release.value.mean_sd)
        assert found.sigma_second == pytest.approx(release.value.second_moment_sd)
        np.testing.assert_allclose(found.second_moment, release.value.second_moment)
        assert found.reach == release.value.clip
        assert found.released_base == (base == "recentred")


def test_two_samples_are_told_apart_or_not():
    a, b, far = (moments(records(i, shift=s), seed=i) for i, s in ((1, 0.0), (2, 0.0), (3, 0.4)))
    same, apart = two_sample_test(a, b), two_sample_test(a, far)
    assert same.pvalue > 0.05
    assert apart.pvalue < 1e-3
    assert same == pure.two_sample_test(a.released_moments(), b.released_moments())
    np.testing.assert_allclose(apart.difference, a.value.coordinates - far.value.coordinates)


SILENT = {
    "mean": lambda x: private_mean(x, PLANE, GDP(1.0)),
    "scalar": lambda x: private_moments(x, PLANE, GDP(1.0)),
    "laplace": lambda x: moments(x, PureDP(1.0)),
    "projected": lambda x: replace(moments(x), projected=True),
    "recentred scalar": lambda x: private_statistic(Recentred(Moments()), x, PLANE, GDP(1.0)),
    "shrunk": lambda x: moments(x).shrink(),
}


@pytest.mark.parametrize("made", SILENT.values(), ids=SILENT)
def test_releases_that_say_too_little_are_refused(made):
    release = made(records(0))
    with pytest.raises(UnsupportedError):
        release.confidence_region(0.95)
    with pytest.raises(UnsupportedError):
        two_sample_test(moments(records(0)), release)


def test_a_ball_that_was_found_is_no_public_base():
    found = private_ball(
        records(0, n=2000, shift=5.0),
        Ball(Euclidean(2), [0.0, 0.0], 50.0),
        GDP(2.0),
        generator=np.random.default_rng(1),
    )
    release = moments(records(0, n=2000, shift=5.0), budget=None, ball=found)
    assert release.released_moments().released_base
    assert "base was released" in release.confidence_region().note
    with pytest.raises(UnsupportedError, match="public base"):
        release.confidence_region(method="distribution-free")


def test_bases_that_were_released_and_cut_points():
    near, far = (Ball(Sphere(2), [0.0, 0.0, 1.0], radius) for radius in (1.5, 1.6))
    for ball, base in ((near, "recentred"), (far, "public")):
        assert moments(records(0, ball=ball), ball=ball, base=base).confidence_region().radius > 0
    release = moments(records(0, ball=far), ball=far, base="recentred")
    with pytest.raises(UnsupportedBallError, match="injectivity"):
        release.confidence_region()


def test_means_that_are_not_comparable_are_refused():
    one = moments(records(0))
    other = moments(records(1), ball=Ball(Euclidean(2), [0.0, 0.1], 2.0))
    recentred = [moments(records(i), base="recentred", seed=i) for i in (0, 1)]
    for pair in ((one, other), recentred, (one, recentred[0])):
        with pytest.raises(InvalidParameterError, match="one base"):
            two_sample_test(*pair)
    with pytest.raises(InvalidParameterError, match=r"riemdp\.Release"):
        two_sample_test(one, 3)
    assert two_sample_test(recentred[0], recentred[0]).pvalue > 0.99


def test_class_moments_have_no_region():
    points = records(0)
    labels = np.arange(len(points)) % 2
    release = private_statistic(
        ClassMoments((0, 1), second="matrix"),
        pure.Records(points, labels=labels),
        PLANE,
        GDP(1.0),
    )
    with pytest.raises(UnsupportedError, match="second moments"):
        release.confidence_region()
