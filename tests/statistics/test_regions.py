"""Confidence regions: coverage over laws, sizes and budgets, and what they are as sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp import InsufficientSamplesError, InvalidParameterError, UnsupportedError
from riemdp.statistics import ReleasedMoments, confidence_region, contrast_interval
from riemdp.statistics._regions import largest_eigenvalue_quantile

METHODS = ("ellipsoid", "directional", "distribution-free")
CELLS = [
    *((d, n, mu, law) for d in (2, 6) for n in (100, 2000) for mu in (0.5, 1.0)
      for law in ("normal", "student", "skewed")),
    *((21, n, 1.0, law) for n in (100, 2000) for law in ("normal", "student")),
]  # fmt: skip


def records(law, dim, size, rng):
    """Vectors clipped to the unit ball, off its centre, with axes of different lengths."""
    axes = np.geomspace(1.0, 0.2, dim)
    axes *= 0.5 / np.linalg.norm(axes)
    if law == "skewed":
        vectors = rng.exponential(size=(*size, dim)) - 1.0
    else:
        vectors = rng.normal(size=(*size, dim))
    if law == "student":
        vectors /= np.sqrt(rng.chisquare(3, size=(*size, 1)))
    vectors = axes * vectors
    vectors[..., 0] += 0.3
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1.0)


def truth(law, dim):
    rng = np.random.default_rng(99)
    return np.mean([records(law, dim, (100_000,), rng).mean(axis=0) for _ in range(12)], axis=0)


def isotropic(rng, dim, sd):
    square = rng.normal(size=(dim, dim))
    return 0.5 * sd * (square + square.T)


def release(vectors, mu, rng):
    """The joint release: sensitivity 2/n in the unit ball, weight 1/sqrt(2) of the matrix."""
    n, dim = vectors.shape
    sigma = 2.0 / (n * mu)
    sigma_second = math.sqrt(2.0) * sigma
    return ReleasedMoments(
        vectors.mean(axis=0) + sigma * rng.normal(size=dim),
        vectors.T @ vectors / n + isotropic(rng, dim, sigma_second),
        sigma,
        sigma_second,
        n,
        1.0,
    )


def plug_in_covers(moments, theta, level=0.95):
    """The region with the noisy covariance as if it had no noise."""
    values, vectors = np.linalg.eigh(
        moments.second_moment
        - np.outer(moments.mean, moments.mean)
        + moments.sigma**2 * np.eye(moments.dim)
    )
    values = np.maximum(values, 0.0) / moments.n + moments.sigma**2
    apart = vectors.T @ (moments.mean - theta)
    return float((apart**2 / values).sum()) <= scipy.stats.chi2.ppf(level, moments.dim)


def hits(cell, repetitions, seed=1):
    """How often the regions, the interval of the last axis and the plug-in cover."""
    dim, n, mu, law = cell
    rng, theta = np.random.default_rng(seed), truth(law, dim)
    axis = np.eye(dim)[-1]
    found = np.zeros(5, dtype=int)
    for _ in range(repetitions):
        moments = release(records(law, dim, (n,), rng), mu, rng)
        covers = [bool(confidence_region(moments, method=m).contains(theta)) for m in METHODS]
        low, high = contrast_interval(moments, axis)
        found += [*covers, low <= theta[-1] <= high, plug_in_covers(moments, theta)]
    return found


def at_least(found, repetitions, level=0.95):
    return scipy.stats.binomtest(int(found), repetitions, level, alternative="less").pvalue > 1e-4


@pytest.mark.fast(1)
@pytest.mark.parametrize("cell", [(2, 100, 0.5, "normal"), (6, 100, 1.0, "student")])
def test_coverage(cell):
    found = hits(cell, 250)
    assert all(at_least(count, 250) for count in found[:4])


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: "-".join(map(str, cell)))
def test_coverage_in_all_cells(cell):
    repetitions = 400 if cell[0] == 21 else 1500
    found = hits(cell, repetitions)
    assert np.all(found[:3] >= 0.95 * repetitions)
    assert at_least(found[3], repetitions, 0.94)


@pytest.mark.slow
def test_the_plug_in_does_not_cover():
    # negative control: the noise of the matrix is inverted with it
    found = hits((21, 2000, 1.0, "student"), 120)
    assert found[4] < 0.85 * 120
    assert np.all(found[:2] >= 118)


def test_few_records_apart_and_much_noise_in_the_matrix():
    # Variances of 6 times the noise's: the limit of records that lie close together. The plug-in
    # covers in every eighth case, and the regions are made for this.
    rng, dim, n, repetitions = np.random.default_rng(4), 21, 10**7, 300
    covered = np.zeros(3)
    for _ in range(repetitions):
        sigma = 1e-6
        sigma_second = 10.0 / math.sqrt(2.0) * n * sigma**2
        covariance = 5.0 * n * sigma**2 * np.eye(dim)
        mean = math.sqrt(6.0) * sigma * rng.normal(size=dim)
        moments = ReleasedMoments(
            mean, covariance + isotropic(rng, dim, sigma_second), sigma, sigma_second, n, 1.0
        )
        regions = [confidence_region(moments, method=m) for m in METHODS[:2]]
        origin = np.zeros(dim)
        covered += [*(r.contains(origin) for r in regions), plug_in_covers(moments, origin)]
    assert all(at_least(count, repetitions) for count in covered[:2])
    assert covered[2] < 0.3 * repetitions
    assert covered[1] < 0.995 * repetitions  # not wider than it has to be


def test_without_inflation_the_directional_region_does_not_cover():
    # negative control of the calibration: one dimension, noise that hides the variance
    rng, repetitions = np.random.default_rng(6), 20_000
    sigma, spread, ratio = 1.0, 2.0, 10.0
    moments = ReleasedMoments([0.0], [[0.0]], sigma, ratio, 2, 1.0)
    region = confidence_region(moments, method="directional")
    miss = np.zeros(2)
    for inflation in (region.inflation, 0.0):
        means = math.sqrt(spread) * rng.normal(size=repetitions)
        noisy = spread + ratio * rng.normal(size=repetitions) + inflation
        rejected = means**2 > region.critical * np.maximum(noisy, sigma**2)
        miss[0 if inflation else 1] = rejected.mean()
    assert miss[0] < 0.06
    assert miss[1] > 0.08


@pytest.fixture
def moments():
    rng = np.random.default_rng(2)
    return release(records("skewed", 4, (500,), rng), 1.0, rng)


@pytest.mark.parametrize("method", METHODS)
def test_contains_is_half_width(moments, method):
    region = confidence_region(moments, 0.9, method=method)
    units = np.random.default_rng(3).normal(size=(5, 30, 4))
    reach = region.half_width(units)
    assert reach.shape == (5, 30)
    units /= np.linalg.norm(units, axis=-1, keepdims=True)
    np.testing.assert_allclose(region.half_width(-3.0 * units), reach)
    inside = region.center + 0.999 * reach[..., None] * units
    outside = region.center + 1.001 * reach[..., None] * units
    assert region.contains(inside).all()
    assert not region.contains(outside).any()
    assert region.contains(region.center)
    assert reach.max() <= region.radius * (1 + 1e-12)
    assert region.level == pytest.approx(0.9)
    assert region.dim == 4


def test_the_ellipsoid(moments):
    region = confidence_region(moments)
    for length, axis in zip(region.semi_axes, region.axes.T, strict=True):
        np.testing.assert_allclose(region.half_width(axis), length)
    assert np.all(np.diff(region.semi_axes) <= 0)
    assert region.radius == region.semi_axes[0]
    point = region.center + np.array([0.001, 0.0, -0.002, 0.001])
    apart = point - region.center
    quotient = apart @ np.linalg.solve(region.shape, apart)
    assert bool(region.contains(point)) == (quotient <= region.critical)
    # its intervals are its shadows
    contrast = np.array([1.0, -2.0, 0.0, 0.5])
    low, high = region.intervals(contrast)
    farthest = region.center + np.sqrt(region.critical) * (region.shape @ contrast) / math.sqrt(
        contrast @ region.shape @ contrast
    )
    assert high == pytest.approx(contrast @ farthest)
    assert low == pytest.approx(2 * contrast @ region.center - high)
    assert region.intervals(np.eye(4))[0].shape == (4,)


def test_shape_by_its_formula(moments):
    region = confidence_region(moments, 0.95)
    step = moments.sigma * math.sqrt(scipy.stats.chi2.isf(0.02 * 0.05, 4))
    length = np.linalg.norm(moments.mean)
    ratio = 2.0 * step / length  # sqrt(d) = 2
    matrix = moments.second_moment - np.outer(moments.mean, moments.mean) / (1.0 + ratio)
    extra = moments.sigma_second * largest_eigenvalue_quantile(4, 0.05 * 0.05) + step**2 / ratio
    values, vectors = np.linalg.eigh(matrix + extra * np.eye(4))
    assert values[0] > 0
    expected = (vectors * (values / 499 + moments.sigma**2)) @ vectors.T
    np.testing.assert_allclose(region.shape, expected, rtol=1e-9, atol=1e-15)
    assert region.critical == pytest.approx(scipy.stats.chi2.isf(0.93 * 0.05, 4))


@pytest.mark.parametrize("method", METHODS)
def test_the_frame_does_not_matter(moments, method):
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 4)))[0]
    turned = ReleasedMoments(
        rotation @ moments.mean,
        rotation @ moments.second_moment @ rotation.T,
        moments.sigma,
        moments.sigma_second,
        moments.n,
        moments.reach,
    )
    first, second = (confidence_region(m, method=method) for m in (moments, turned))
    units = np.random.default_rng(6).normal(size=(20, 4))
    np.testing.assert_allclose(first.half_width(units), second.half_width(units @ rotation.T))


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_is_a_larger_region(moments, method):
    units = np.random.default_rng(6).normal(size=(20, 4))
    reach = [
        confidence_region(moments, level, method=method).half_width(units)
        for level in (0.5, 0.9, 0.99, 1 - 1e-9)
    ]
    assert np.all(np.diff(reach, axis=0) > 0)


def test_the_directional_region_is_the_narrower_one_where_noise_is_large():
    rng = np.random.default_rng(7)
    moments = release(records("normal", 21, (100,), rng), 1.0, rng)
    reach = [confidence_region(moments, method=m).half_width(np.eye(21)) for m in METHODS]
    assert np.all(reach[1] < 0.7 * reach[0])
    assert np.all(reach[0] < reach[2])


def test_one_dimension_and_contrasts(moments):
    line = ReleasedMoments([0.2], [[0.1]], 0.01, 0.014, 200, 1.0)
    low, high = contrast_interval(line, [1.0])
    region = confidence_region(line, method="directional")
    # the allowance is for one side less
    assert high - low == pytest.approx(2 * float(region.half_width([1.0])), rel=1e-2)
    low, high = contrast_interval(moments, [2.0, 0.0, 0.0, 0.0])
    assert high + low == pytest.approx(4.0 * moments.mean[0])
    joint = float(confidence_region(moments, method="directional").half_width(np.eye(4)[0]))
    assert high - low < 4.0 * joint


def test_distribution_free_for_any_number_of_records():
    one = ReleasedMoments([0.0, 0.0], np.zeros((2, 2)), 1e-9, 1e-9, 1, 3.0)
    region = confidence_region(one, 0.95, method="distribution-free")
    assert region.radius == pytest.approx(3.0 * (1.0 + math.sqrt(2.0 * math.log(20.0))), rel=5e-3)
    np.testing.assert_array_equal(region.shape, np.eye(2))
    noisy = ReleasedMoments([0.0, 0.0], np.zeros((2, 2)), 100.0, 1e-9, 10**6, 3.0)
    region = confidence_region(noisy, 0.95, method="distribution-free")
    assert region.radius == pytest.approx(
        100.0 * math.sqrt(scipy.stats.chi2.isf(0.05, 2)), rel=5e-3
    )
    assert "asymptotic" not in region.note


def test_numbers_of_very_different_size():
    rng = np.random.default_rng(8)
    square = rng.normal(size=(5, 2))
    rank_two = square @ square.T
    for sigma in (1e-150, 1e-12, 1.0, 1e12, 1e100):
        for second in (np.zeros((5, 5)), rank_two, -rank_two):
            moments = ReleasedMoments(rng.normal(size=5), second, sigma, sigma, 2, 1.0)
            for method in METHODS:
                region = confidence_region(moments, method=method)
                reach = region.half_width(np.eye(5))
                assert np.all(reach > 0)
                assert np.isfinite(reach).all()
                assert region.contains(region.center)
            assert np.isfinite(contrast_interval(moments, np.ones(5))).all()


def test_notes():
    few = ReleasedMoments(np.zeros(5), np.eye(5), 0.1, 0.1, 99, 1.0)
    many = ReleasedMoments(np.zeros(5), np.eye(5), 0.1, 0.1, 100, 1.0, released_base=True)
    assert "asymptotic" in confidence_region(few).note
    assert "care" in confidence_region(few, method="directional").note
    assert "care" not in confidence_region(many).note
    assert "base was released" in confidence_region(many).note
    assert "clipped" in confidence_region(few, method="distribution-free").note


def test_what_is_refused(moments):
    with pytest.raises(InvalidParameterError, match="level"):
        confidence_region(moments, 95)
    with pytest.raises(InvalidParameterError, match="method"):
        confidence_region(moments, method="plug-in")
    one = ReleasedMoments([0.0], [[0.0]], 0.1, 0.1, 1, 1.0)
    for method in METHODS[:2]:
        with pytest.raises(InsufficientSamplesError):
            confidence_region(one, method=method)
    with pytest.raises(InsufficientSamplesError):
        contrast_interval(one, [1.0])
    about_a_release = ReleasedMoments([0.0], [[0.0]], 0.1, 0.1, 9, 1.0, released_base=True)
    with pytest.raises(UnsupportedError, match="public base"):
        confidence_region(about_a_release, method="distribution-free")
    region = confidence_region(moments)
    with pytest.raises(InvalidParameterError, match="coordinates"):
        region.contains(np.zeros(3))
    with pytest.raises(InvalidParameterError, match="directions"):
        region.half_width(np.zeros(3))
    with pytest.raises(InvalidParameterError, match="zero vector"):
        region.half_width(np.zeros(4))


def test_curved_frechet_means_have_no_such_ellipsoid():
    # Four atoms of the hyperbolic plane, with mean at the origin: the limit's covariance is not
    # under that of the tangent vectors, though its eigenvalues are.
    angle = 0.01535
    along = np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])
    covariance, hessian = np.zeros((2, 2)), np.zeros((2, 2))
    for unit, length, weight in zip(along, (2.2605, 9.9686), (0.812, 0.188), strict=True):
        outer = np.outer(unit, unit)
        covariance += weight * length**2 * outer
        hessian += weight * (outer + length / math.tanh(length) * (np.eye(2) - outer))
    inverse = np.linalg.inv(hessian)
    limit = inverse @ covariance @ inverse
    largest = np.linalg.eigvals(np.linalg.solve(covariance, limit)).real.max()
    assert largest == pytest.approx(1.1617, abs=1e-3)
    assert np.all(np.linalg.eigvalsh(limit) <= np.linalg.eigvalsh(covariance))


def test_its_text_says_how_far_it_reaches_and_what_that_rests_on():
    rng = np.random.default_rng(0)
    found = confidence_region(release(records("normal", 2, (200,), rng), 1.0, rng))
    assert str(found).startswith("Confidence region for a mean, level 0.95")
    assert f"radius  {found.radius:.4g} at most" in str(found)
    assert "clipped" in str(found)
