"""Landmarks in the plane and the unit vectors that stand for them."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import NotOnManifoldError
from riemdp.spaces import complex_landmarks, landmark_pairs, landmarks_of
from riemdp.spaces._landmarks import preshape_of


def configurations(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def helmert(k):
    """Rows of Helmert's basis, one by one."""
    rows = np.zeros((k - 1, k))
    for j in range(1, k):
        rows[j - 1, :j], rows[j - 1, j] = -1.0, j
        rows[j - 1] /= np.sqrt(j * (j + 1.0))
    return rows


@pytest.mark.parametrize("k", [3, 4, 12])
def test_preshapes_are_coordinates_in_helmerts_basis(k):
    points = configurations((2, 5, k))
    found, size = preshape_of(landmark_pairs(points))
    wanted = points @ helmert(k).T
    wanted /= np.linalg.norm(wanted, axis=-1, keepdims=True)
    assert found.shape == (2, 5, 2 * k - 2)
    assert np.allclose(found[..., : k - 1] + 1j * found[..., k - 1 :], wanted, atol=1e-14)
    assert np.all(size > 0.1)


def test_landmarks_are_centred_of_norm_1_and_turned():
    points = configurations((6, 5))
    points[3, 0] = points[3, 1:].mean()  # the first landmark at the centre, up to rounding
    found = complex_landmarks(landmarks_of(preshape_of(landmark_pairs(points))[0]))
    assert np.allclose(found.sum(axis=1), 0.0, atol=1e-14)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-14)
    leading = found[np.arange(6), [0, 0, 0, 1, 0, 0]]
    assert np.all(leading.real > 0.0)
    assert np.all(leading.imag == 0.0)
    centred = points - points.mean(axis=1, keepdims=True)
    ratio = found[:, 1:] / centred[:, 1:]
    assert np.allclose(ratio, ratio[:, :1], atol=1e-12)


def test_landmarks_at_one_place_are_told_by_their_size():
    place = np.full((1, 4), 3.0 + 1e3j)
    assert preshape_of(landmark_pairs(place))[1] == 0.0
    near = place + 1e-11 * configurations((1, 4))
    assert preshape_of(landmark_pairs(near))[1] < 1e-12
    assert preshape_of(landmark_pairs(1e-300 * configurations((1, 4))))[1] > 0.1


def test_pairs_and_complex_numbers_are_the_same():
    points = configurations((3, 4))
    pairs = landmark_pairs(points)
    assert pairs.shape == (3, 4, 2)
    assert complex_landmarks(pairs).tobytes() == points.tobytes()
    assert landmark_pairs(pairs) is pairs
    assert landmark_pairs(points.tolist()).tobytes() == pairs.tobytes()
    for bad in (np.ma.masked_array(points), np.array([["1", "2"]]), points > 0):
        with pytest.raises(NotOnManifoldError):
            landmark_pairs(bad)
