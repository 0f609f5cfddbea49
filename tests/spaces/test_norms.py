"""Norms beyond the range of squares, and clipping."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp.spaces import _points
from riemdp.spaces._points import all_within, clip_norm, long_norm


def test_long_norm():
    ordinary = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(long_norm(ordinary), np.linalg.norm(ordinary, axis=-1))
    vectors = np.array([[3e200, 4e200], [3.0, 4.0], [0.0, 0.0], [1.5e308, 1.5e308], [np.inf, 1.0]])
    np.testing.assert_allclose(long_norm(vectors), [5e200, 5.0, 0.0, np.inf, np.inf], rtol=1e-15)
    assert long_norm(vectors[0]) == pytest.approx(5e200)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-162, 1.0, 1e160, 1e307])
def test_clipping_is_exact_over_the_whole_of_float64(scale):
    """Squares vanish under 1e-161 and overflow beyond 1e154; what is clipped does not notice."""
    vectors = scale * np.array([[3.0, 4.0], [0.0, 1.0], [-0.5, 0.0], [0.0, 0.0]])
    inside = clip_norm(vectors, 6.0 * scale if scale < 1e307 else 1.7e308)
    assert inside.tobytes() == vectors.tobytes()
    radius = 2.0 * scale
    clipped = clip_norm(vectors, radius)
    assert np.all(np.hypot(*clipped.T) <= radius * (1.0 + 1e-15))
    assert clipped[1:].tobytes() == vectors[1:].tobytes()
    if scale > 5e-324:
        np.testing.assert_allclose(clipped[0], scale * np.array([1.2, 1.6]), rtol=1e-15)


@pytest.mark.parametrize("dim", [1, 3, 36, 20_000])
def test_clipping_some_rows_at_a_time_is_clipping_all(dim):
    """In every bit, with rows inside and outside; where none is outside the array itself comes."""
    rows = np.random.default_rng(0).normal(size=(40_000 // dim + 2, dim))
    radius = np.sqrt(dim)
    one_by_one = clip_norm(rows[None], radius)[0]  # all at a time
    np.testing.assert_array_equal(clip_norm(rows, radius), one_by_one)
    assert clip_norm(rows, 1e3 * radius) is rows
    assert not np.array_equal(one_by_one, rows)


@pytest.mark.parametrize("radius", [1e-200, 1.0, 1e200])
def test_what_is_quickly_seen_to_be_inside_is(radius, monkeypatch):
    rng = np.random.default_rng(0)
    for size in (0.5, 1.0 - 1e-7, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 2.0, np.nan, np.inf):
        rows = rng.normal(size=(50, 3))
        rows *= size * radius / np.linalg.norm(rows, axis=-1, keepdims=True)
        quick = clip_norm(rows, radius)
        with monkeypatch.context() as patch:
            patch.setattr(
                _points, "_surely_inside", lambda x, _: np.zeros(x.shape[:-1], dtype=bool)
            )
            np.testing.assert_array_equal(quick, clip_norm(rows, radius))
    assert clip_norm(np.zeros((0, 3)), 1.0).shape == (0, 3)


@pytest.mark.parametrize("odd", [1.0, np.nan, np.inf, -np.inf, 0.0, 5e-324, 1.8e308, None])
@pytest.mark.parametrize("deviation", [0.0, 4.0 * float(np.finfo(np.float64).eps), 1e-6])
def test_the_extremes_say_what_every_value_does(odd, deviation):
    random = np.random.default_rng(1)
    edges = 1.0 + deviation * np.array([1.0, -1.0, 1.0 - 1e-9, 1e-9 - 1.0])
    beyond = np.nextafter(edges, [2.0, 0.0, 2.0, 0.0])
    verdicts = set()
    for middle in (1.0, *edges, *beyond, np.nextafter(edges[0], 0.0), 1.0 + 4.0 * deviation):
        values = 1.0 + deviation * random.uniform(-0.5, 0.5, size=300)
        values[17] = middle
        if odd is not None:
            values[203] = odd
        one_by_one = bool((np.abs(values - 1.0) <= deviation).all())
        assert all_within(values, 1.0, deviation) == one_by_one
        assert all_within(values[17], 1.0, deviation) == bool(abs(middle - 1.0) <= deviation)
        verdicts.add(one_by_one)
    assert verdicts == ({True, False} if odd in (1.0, None) else {False})


def test_none_of_no_values_is_outside():
    assert all_within(np.empty((0, 3)), 1.0, 0.0)
