"""A whitening that is off is as far from the point as is claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.statistics.curved._descent_affine_invariant import (
    _displacement,
    exact_matrix,
    whitening,
)

flint = pytest.importorskip("flint")


def test_the_whitening_is_compared_with_the_point():
    """A whitening that is off by a millionth; half of what is found would not do."""
    b = flint.arb_mat(3, 3, 1) * (1 + flint.arb("1e-6"))
    moved = _displacement(b)
    truth = 2e-6 * math.sqrt(3.0)
    assert 0.5 * moved < truth <= moved
    assert _displacement(flint.arb_mat(3, 3, 1) * 3) == math.inf


def test_a_point_is_a_symmetric_matrix_of_its_norm():
    point = np.array([1.0, -2.0, 0.5])
    rows = [[float(x) for x in row] for row in exact_matrix(point, 2).table()]
    assert rows[0][1] == rows[1][0]
    assert np.linalg.norm(rows) == pytest.approx(np.linalg.norm(point), rel=1e-15)
    found, moved = whitening(point, 2)
    assert moved < 1e-15
    values, vectors = np.linalg.eigh(rows)
    whitened = (vectors * np.exp(-0.5 * values)) @ vectors.T
    np.testing.assert_allclose(found, whitened, rtol=1e-13)
