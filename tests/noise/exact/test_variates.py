from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.stats

from riemdp._working_precision import working_precision
from riemdp.noise.exact import Bits
from riemdp.noise.exact._ladder import Ladder
from riemdp.noise.exact._variates import (
    direction,
    direction_uniforms,
    gamma,
    gamma_uniforms,
    normal_uniforms,
    normals,
)

flint = pytest.importorskip("flint")


def draws(function, count, uniforms, generator):
    bits, found = Bits(generator), []
    with working_precision(64):
        for _ in range(count):
            strings = bits.uniforms(uniforms)
            found.append(Ladder(64).settle(partial(function, strings)))
    return np.array([[float(x) for x in row] for row in found])


@pytest.mark.fast("7")
@pytest.mark.parametrize("twice_shape", [1, 2, 3, 7, 20])
def test_gamma(twice_shape, holds):
    def pvalue(generator):
        found = draws(
            lambda strings: [gamma(strings, twice_shape)],
            800,
            gamma_uniforms(twice_shape),
            generator,
        )
        return scipy.stats.kstest(found[:, 0], scipy.stats.gamma(0.5 * twice_shape).cdf).pvalue

    assert holds(pvalue)


def test_gamma_of_another_shape_is_told_apart():
    found = draws(lambda u: [gamma(u, 7)], 800, gamma_uniforms(7), np.random.default_rng(20211))
    assert scipy.stats.kstest(found[:, 0], scipy.stats.gamma(3.0).cdf).pvalue < 1e-4


def test_exponential(holds):
    def pvalue(generator):
        found = draws(lambda strings: [gamma(strings[:1], 2)], 800, 1, generator)
        return scipy.stats.kstest(found[:, 0], scipy.stats.expon.cdf).pvalue

    assert holds(pvalue)


def test_normals_of_one_pair_are_independent(holds):
    def pvalue(generator):
        found = draws(lambda strings: normals(strings, 3), 800, normal_uniforms(3), generator)
        # any fixed rotation of them is standard normal again
        turned = found @ np.array([0.6, 0.8, 0.0]), found @ np.array([0.48, -0.36, 0.8])
        return min(
            *(scipy.stats.kstest(x, scipy.stats.norm.cdf).pvalue for x in turned),
            scipy.stats.kstest((found**2).sum(axis=1), scipy.stats.chi2(3).cdf).pvalue,
        )

    assert holds(pvalue)


@pytest.mark.fast("1")
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_directions_are_unit_vectors(dim, holds):
    def pvalue(generator):
        found = draws(
            lambda strings: direction(strings, dim), 800, direction_uniforms(dim), generator
        )
        assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-15)
        if dim == 1:
            return scipy.stats.binomtest(int(np.sum(found > 0)), 800).pvalue
        half = 0.5 * (dim - 1)
        return min(
            scipy.stats.kstest(0.5 * (1.0 + x), scipy.stats.beta(half, half).cdf).pvalue
            for x in found.T
        )

    assert holds(pvalue)
