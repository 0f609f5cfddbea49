"""Affine-invariant means of many records: as Newton's method has them, certified, in few passes."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp import ConvergenceError, NotOnManifoldError, SPDAffineInvariant, frechet_mean
from riemdp.spaces import _symmetric
from riemdp.statistics.curved import _affine_invariant_mean as passes
from riemdp.statistics.curved._affine_invariant_mean import (
    Dense,
    arithmetic_mean,
    descend,
    positions,
)


def newton(data, weights, tol):
    at, _ = descend(Dense(data, weights), arithmetic_mean(data, weights), tol)
    return _symmetric.symmetrise(at.point @ at.point.T), at.size + at.allowance


def awkward(kind, k, n):
    rng = np.random.default_rng(7)
    noise = _symmetric.symmetrise(0.3 * rng.normal(size=(n, k, k)))
    near = _symmetric.expm(noise)
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    if kind == "near":
        return near
    if kind == "six decades":
        return _symmetric.compose(10.0 ** rng.uniform(-3, 3, (n, k)), frames)
    if kind == "two clusters":
        far = np.diag(np.exp(np.linspace(-4, 4, k)))
        return np.where((np.arange(n) < 0.3 * n)[:, None, None], far @ near @ far, near)
    if kind == "one extreme record":
        near[n // 3] = _symmetric.compose(10.0 ** np.linspace(-4, 4, k), frames[0])
        return near
    if kind == "equal":
        return np.repeat(near[:1], n, axis=0)
    grade = 10.0 ** np.linspace(-6, 6, k)  # "graded"
    return grade[:, None] * near * grade


KINDS = ["near", "six decades", "two clusters", "one extreme record", "equal", "graded"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3, pytest.param(9, marks=pytest.mark.slow)])
def test_means_are_those_of_newtons_method(kind, k):
    n = 600
    data, space = _symmetric.symmetrise(awkward(kind, k, n)), SPDAffineInvariant(k)
    weights = np.random.default_rng(1).uniform(size=n) ** 4
    for shares in (None, weights / weights.sum()):
        expected, allowed = newton(data, shares, 1e-8)
        value, bound, _ = passes.solve(data, shares, 1e-8)
        assert bound <= 1e-8
        assert space.dist(value, expected) <= bound + allowed


@pytest.mark.parametrize("k", [2, 3, 4])
def test_passes_add_up_logarithms_by_weight(k, random_points):
    data = random_points(SPDAffineInvariant(k), np.random.default_rng(k), 70, 1.0)
    shares = np.arange(70.0) / (35 * 69)
    point = arithmetic_mean(data, shares)
    inverse = np.linalg.inv(point)
    logs = _symmetric.logm(_symmetric.symmetrise(inverse @ data @ inverse.T))
    squares = (logs**2).sum(axis=(1, 2))
    for weights in (shares, None):
        by = np.full(70, 1.0 / 70) if weights is None else weights
        for sample in (None, np.arange(0, 70, 9)):
            found = Dense(data, weights, sample).evaluate(point)
            np.testing.assert_allclose(found.gradient, np.einsum("i,ijk", by, logs), atol=1e-12)
            assert found.objective == pytest.approx(0.5 * by @ squares)
            assert len(found.logs) == len(found.vectors) == (70 if sample is None else 8)


def test_a_record_without_weight_says_nothing(random_points):
    """Not even where its condition number is beyond float64."""
    space = SPDAffineInvariant(2)
    data = random_points(space, np.random.default_rng(0), 5, 1.0)
    expected = frechet_mean(space, data[1:])
    data[0] = np.diag([1e-200, 1e200])
    found = frechet_mean(space, data, [0.0, 1.0, 1.0, 1.0, 1.0])
    assert space.dist(found.value, expected.value) <= 2e-10
    assert found.error_bound <= 1e-10


def test_order_and_repetition_do_not_matter(random_points):
    space, rng = SPDAffineInvariant(3), np.random.default_rng(2)
    data = random_points(space, rng, 700, 1.0)
    mean = frechet_mean(space, data).value
    shuffled = frechet_mean(space, rng.permutation(data)).value
    assert space.dist(mean, shuffled) <= 2e-10
    times = rng.integers(0, 3, 700)
    repeated = frechet_mean(space, np.repeat(data, times, axis=0)).value
    assert space.dist(frechet_mean(space, data, times).value, repeated) <= 2e-10
    assert space.dist(mean, repeated) > 1e-6


@pytest.mark.parametrize(("k", "n"), [(2, 4000), (3, 8000), (4, 4100)])
def test_few_passes_are_enough(k, n, random_points):
    data = random_points(SPDAffineInvariant(k), np.random.default_rng(5), n, 1.0)
    assert frechet_mean(SPDAffineInvariant(k), data, tol=1e-8).passes <= 5


def exact_gradient(point, few, counts):
    total = mpmath.zeros(len(point))
    inverse = mpmath.inverse(mpmath.matrix(point.tolist()))
    for matrix, count in zip(few, counts, strict=True):
        inside = inverse * mpmath.matrix(matrix.tolist()) * inverse.T
        values, vectors = mpmath.eigsy((inside + inside.T) / 2)
        log = vectors * mpmath.diag([mpmath.log(x) for x in values]) * vectors.T
        total += mpmath.mpf(count) / sum(counts) * log
    return total


@pytest.mark.parametrize("k", [3, 5])
def test_the_allowance_covers_the_rounding_of_a_pass(k):
    """Long runs of equal records, whose roundings add up; a much smaller allowance would not."""
    rng, counts, shares = np.random.default_rng(k), [2000, 900, 400], []
    with mpmath.workdps(40):
        for digits in (0.0, 2.0, 6.0):
            frames = np.linalg.qr(rng.normal(size=(3, k, k)))[0]
            logs = digits * np.linspace(-0.5, 0.5, k)
            few = _symmetric.compose(np.tile(10.0**logs, (3, 1)), frames)
            data = np.repeat(few, counts, axis=0)
            point = arithmetic_mean(data, None)
            found = Dense(data, None, positions(3300, None, 100)).evaluate(point)
            exact = exact_gradient(point, few, counts)
            error = float(mpmath.norm(mpmath.matrix(found.gradient.tolist()) - exact))
            shares.append(error / found.allowance)
    assert 1e-3 < max(shares) <= 0.5


def test_a_wrong_logarithm_shows(monkeypatch, random_points):
    """The control of the tests above: what is wrong by ten times the tolerance is seen."""
    space = SPDAffineInvariant(3)
    data = random_points(space, np.random.default_rng(3), 600, 1.0)
    expected, allowed = newton(data, None, 1e-10)
    right = passes.whitened_logarithms

    def wrong(*args, **options):
        entries, condition = right(*args, **options)
        return entries + 1e-9, condition

    monkeypatch.setattr(passes, "whitened_logarithms", wrong)
    value, bound, _ = passes.solve(data, None, 1e-10)
    assert space.dist(value, expected) > bound + allowed


@pytest.mark.parametrize("factor", [1e-300, 1e-80, 1e40, 1e150, 1e300])
def test_one_record_far_from_all_others(factor, random_points):
    space, n = SPDAffineInvariant(4), 520
    data = random_points(space, np.random.default_rng(11), n, 0.3)
    at = int(positions(n, None, n // 8)[1])  # of the sample
    data[at] = factor * np.eye(4)
    found = frechet_mean(space, data, tol=1e-9)
    assert found.error_bound <= 1e-9
    other, _ = descend(Dense(data, None), arithmetic_mean(data, None), 1e-9)
    gap = space.dist(found.value, other.point @ other.point.T)
    assert gap <= found.error_bound + other.size + other.allowance


def test_a_sample_that_stands_for_no_others_costs_few_passes(monkeypatch):
    space, n, rng = SPDAffineInvariant(3), 1024, np.random.default_rng(4)
    logs = _symmetric.symmetrise(2.0 * rng.normal(size=(n, 3, 3)))
    logs[positions(n, None, n // 8)] *= 0.05
    data = space.validate(_symmetric.expm(logs))
    expected, allowed = newton(data, None, 1e-9)
    value, bound, used = passes.solve(data, None, 1e-9)
    assert bound <= 1e-9
    assert space.dist(value, expected) <= bound + allowed
    assert used <= 10
    monkeypatch.setattr(passes, "_PROGRESS", np.inf)  # the control: all steps are the sample's
    assert passes.solve(data, None, 1e-9)[2] > 2 * used


def test_a_row_that_is_lost_on_the_way_is_left_to_newtons_method(monkeypatch, random_points):
    space = SPDAffineInvariant(3)
    data = random_points(space, np.random.default_rng(6), 600, 1.0)

    def lost(*args, **options):
        raise NotOnManifoldError("row 0 is lost")

    monkeypatch.setattr(passes, "whitened_logarithms", lost)
    value, bound, _ = passes.solve(data, None, 1e-9)
    assert space.dist(value, newton(data, None, 1e-9)[0]) <= 2e-9
    assert bound <= 1e-9


def test_a_tolerance_under_rounding_is_an_error_with_advice(random_points):
    data = random_points(SPDAffineInvariant(3), np.random.default_rng(8), 600, 1.0)
    with pytest.raises(ConvergenceError, match="larger tol"):
        passes.solve(data, None, 1e-15)


@pytest.mark.parametrize("k", [3, 4])
def test_bits_do_not_depend_on_the_number_of_cores(k, monkeypatch, random_points):
    data = random_points(SPDAffineInvariant(k), np.random.default_rng(9), 9000, 1.0)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(_symmetric, "_available_cores", lambda cores=cores: cores)
        found.append(passes.solve(data, None, 1e-8))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]
