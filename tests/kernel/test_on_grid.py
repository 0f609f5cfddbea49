"""Vectors become rows of integers that are no longer than 1."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from riemdp.kernel import UNIT, _shapes, on_grid


def square(row):
    return sum(Fraction(x) ** 2 for x in row)


def test_each_number_is_rounded_towards_zero():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 4))
    vectors /= 1.5 * np.linalg.norm(vectors, axis=1, keepdims=True)
    found = on_grid(vectors).tolist()
    assert found == [[int(Fraction(x) * UNIT) for x in row] for row in vectors.tolist()]
    tiny = np.array([[2.0**-41, -(2.0**-41)], [2.0**-40, -(2.0**-40)]])
    assert on_grid(tiny).tolist() == [[0, 0], [1, -1]]


@pytest.mark.parametrize("dim", [1, 2, 3, 30])
def test_longer_ones_count_as_zero_and_no_others(dim):
    rng = np.random.default_rng(dim)
    vectors = rng.normal(size=(500, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= 1.0 + 2.0**-40 * rng.integers(-3, 4, size=(500, 1))
    whole = [[int(Fraction(x) * UNIT) for x in row] for row in vectors.tolist()]
    wanted = [row if square(row) <= UNIT**2 else [0] * dim for row in whole]
    assert on_grid(vectors).tolist() == wanted
    assert 10 < sum(map(any, wanted)) < 490


def test_the_boundary_is_exact():
    vectors = np.array([[1.0, 0.0], [1.0, 2.0**-40], [1.0, 2.0**-41], [0.6, 0.8], [-1.0, 0.0]])
    assert on_grid(vectors).tolist() == [
        [UNIT, 0],
        [0, 0],
        [UNIT, 0],
        [int(Fraction(0.6) * UNIT), int(Fraction(0.8) * UNIT)],
        [-UNIT, 0],
    ]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**23, 1.1])
def test_what_is_no_vector_counts_as_zero(wrong):
    vectors = np.full((3, 2), 0.25)
    vectors[1, 0] = wrong
    found = on_grid(vectors)
    assert found.tolist() == [[UNIT // 4] * 2, [0, 0], [UNIT // 4] * 2]
    assert on_grid(np.asfortranarray(vectors)).tolist() == found.tolist()


def test_what_floats_prove_short_is_not_checked_again(monkeypatch):
    """Of one that is longer all are."""
    vectors = np.array([[0.6, 0.79], [-0.99, 0.0], [0.0, 0.0]])
    checked = []
    monkeypatch.setattr(_shapes, "guarded", lambda rows, most: checked.append((len(rows), most)))
    assert on_grid(vectors).tolist() == [[int(Fraction(x) * UNIT) for x in v] for v in vectors]
    assert not checked
    vectors[0, 1] = 1.0
    on_grid(vectors)
    assert checked == [(3, UNIT**2)]


def test_rows_are_a_copy():
    class Kept(np.ndarray):
        """Vectors whose products are themselves."""

        def __mul__(self, other):
            return self

        __rmul__ = __mul__

    vectors = np.full((2, 2), 0.25).view(Kept)
    found = on_grid(vectors)
    vectors[:] = 9.0
    assert found.tolist() == [[UNIT // 4] * 2] * 2
