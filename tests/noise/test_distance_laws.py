"""Laws of distances: cut, of products, and of parts of vectors, against vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from riemdp._errors import InvalidParameterError
from riemdp.noise import PartOfRadial, RadialLaw, part_of
from riemdp.noise._distance_laws import IndependentRadial
from riemdp.research._isotropic import isotropic_vectors, radii


def test_wrong_levels():
    radial = RadialLaw("laplace", 10, 0.0, 0.7)
    for each in (IndependentRadial((radial,), (2,)), part_of(radial, 3)):
        for q in (-0.1, 1.1, math.nan):
            with pytest.raises(InvalidParameterError, match=r"in \[0, 1\]"):
                each.quantile(q)


QUANTILES = np.array([0.05, 0.3, 0.5, 0.7, 0.95])


@pytest.mark.parametrize(
    ("dim", "count"),
    [
        (1, 1),
        (3, 5),
        pytest.param(2, 50, marks=pytest.mark.slow),
        pytest.param(1, 10_000, marks=pytest.mark.slow),
    ],
)
def test_of_flat_factors_it_is_that_of_the_whole_space(dim, count):
    part = RadialLaw("gaussian", dim, 0.0, 0.7)
    found = IndependentRadial((part,), (count,))
    wanted = stats.chi(dim * count, scale=0.7)
    assert found.mean() == pytest.approx(wanted.mean(), rel=2e-3)
    np.testing.assert_allclose(found.quantile(QUANTILES), wanted.ppf(QUANTILES), rtol=5e-3)
    fewer = IndependentRadial((part,), (count + 1,))  # the control
    assert abs(fewer.mean() / wanted.mean() - 1.0) > 0.4 / (count + 1) - 1e-9


def test_counts_are_those_of_their_part():
    one, other = RadialLaw("gaussian", 2, 0.0, 0.3), RadialLaw("laplace", 2, 0.0, 0.2)
    found = IndependentRadial((one, other), (3, 2))
    rng = np.random.default_rng(0)
    squares = [np.square(radii(one, 40_000, rng)) for _ in range(3)]
    squares += [np.square(radii(other, 40_000, rng)) for _ in range(2)]
    dist = np.sqrt(np.sum(squares, axis=0))
    np.testing.assert_allclose(found.quantile(QUANTILES), np.quantile(dist, QUANTILES), rtol=0.02)


@pytest.mark.parametrize(("dim", "whole"), [(1, 2), (3, 10), (6, 600)])
def test_laplace_parts_against_vectors(dim, whole):
    radial = RadialLaw("laplace", whole, 0.0, 0.7)
    law = part_of(radial, dim)
    assert isinstance(law, PartOfRadial)
    vectors = isotropic_vectors(radial, (4000,), np.random.default_rng(dim))
    lengths = np.linalg.norm(vectors[:, :dim], axis=-1)
    levels = np.linspace(0.05, 0.95, 19)
    counts = np.histogram(lengths, [0.0, *law.quantile(levels), np.inf])[0]
    assert stats.chisquare(counts).pvalue > 1e-4
    other = np.histogram(lengths, [0.0, *(1.1 * law.quantile(levels)), np.inf])[0]
    assert stats.chisquare(other).pvalue < 1e-4  # the control
    deviation = lengths.std() / np.sqrt(len(lengths))
    assert abs(lengths.mean() - law.mean()) < 4.0 * deviation
    squares = np.square(lengths)
    assert abs(squares.mean() - law.mean_square()) < 4.0 * squares.std() / np.sqrt(len(squares))


@pytest.mark.parametrize(("dim", "whole"), [(1, 2), (2, 7), (6, 60_000)])
def test_quadrature_against_closed_forms(dim, whole):
    """A Gaussian part is Gaussian, and the quadrature, which does not know, finds it."""
    radial = RadialLaw("gaussian", whole, 0.0, 1.3)
    chi = stats.chi(dim, scale=1.3)
    law, direct = PartOfRadial(radial, dim), part_of(radial, dim)
    q = np.array([0.01, 0.5, 0.95, 0.999])
    np.testing.assert_allclose(direct.quantile(q), chi.ppf(q), rtol=1e-9)
    np.testing.assert_allclose(law.quantile(q), chi.ppf(q), rtol=1e-5)
    assert law.mean() == pytest.approx(chi.mean(), rel=1e-9)
    assert law.mean_square() == pytest.approx(dim * 1.69, rel=1e-12)
    assert law.quantile(0.0) == 0.0
    assert law.quantile(1.0) == np.inf


def test_all_of_it_is_the_whole():
    radial = RadialLaw("laplace", 3, 0.0, 1.0)
    assert part_of(radial, 3) is radial
