"""Lengths of parts of vectors whose direction is uniform, against vectors."""

import numpy as np
import pytest
from scipy import stats

from riemdp.noise import PartOfRadial, RadialLaw, isotropic_vectors, part_of


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
