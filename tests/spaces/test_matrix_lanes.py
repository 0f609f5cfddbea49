"""Products and exponentials of many matrices: right, and with the same bits compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import _compiled
from riemdp.spaces import _matrix_lanes as lanes

FUNCTIONS = {function.name: function for function in lanes.FUNCTIONS}


def given(name, k, n, seed=0):
    """What a function takes: numbers, and matrices."""
    rng = np.random.default_rng([k, n, seed])
    first, third = rng.normal(size=(2, n, k, k)) / k
    one = rng.normal(size=(k, k))
    if name == "exponentials":
        return (2, 0.25), [lanes.in_lanes(first + np.swapaxes(first, 1, 2))]
    if name == "congruent":
        return (), [first + np.swapaxes(first, 1, 2), one]
    return (), [lanes.in_lanes(first), one, lanes.in_lanes(third)][: 2 + (name == "defects")]


def test_they_are_products_and_exponentials():
    (steps, scale), (matrices,) = given("exponentials", 4, 6)
    values, vectors = np.linalg.eigh(np.moveaxis(matrices, -1, 0))
    right = (vectors * np.exp(scale * 4.0 * values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    found = np.moveaxis(lanes.exponentials(matrices, 1.0, 1.0), -1, 0)
    np.testing.assert_allclose(found, right, rtol=1e-13, atol=1e-13)
    assert steps == lanes.squarings(1.0)
    _, (roots, factor, others) = given("defects", 4, 6)
    r, f = np.moveaxis(roots, -1, 0), np.moveaxis(others, -1, 0)
    y = f @ factor @ r
    np.testing.assert_allclose(
        lanes.grams(factor, roots), factor @ r @ np.swapaxes(r, 1, 2) @ factor.T, rtol=1e-12
    )
    square = ((y @ np.swapaxes(y, 1, 2) - np.eye(4)) ** 2).sum(axis=(1, 2))
    np.testing.assert_allclose(lanes.defects(factor, roots, others), square, rtol=1e-12)
    _, (matrices, factor) = given("congruent", 4, 6)
    np.testing.assert_allclose(
        lanes.congruent(factor, matrices), factor @ matrices @ factor.T, rtol=1e-11, atol=1e-13
    )
    each = np.broadcast_to(factor, matrices.shape)
    np.testing.assert_array_equal(
        lanes.congruent(each, matrices), lanes.congruent(factor, matrices)
    )


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 11])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_code_has_the_bits_of_numpy(name, k):
    extension = pytest.importorskip("riemdp._lanes")
    for n in (1, 7, 16, 21):
        numbers, matrices = given(name, k, n)
        expected = FUNCTIONS[name].plain(*numbers, *matrices)
        for width in extension.widths():

            def run(*arrays, width=width):
                return extension.run(width, name, *arrays)

            found = FUNCTIONS[name].ran(run, *numbers, *matrices)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_kernels_are_compared_and_arrays_of_other_lengths_left_alone(name):
    extension = pytest.importorskip("riemdp._lanes")
    same = FUNCTIONS[name].same_bits
    assert _compiled.kernel(name, same) is not None
    assert not same(lambda *arrays: arrays[-1].fill(1.0) or True)
    numbers, matrices = given(name, 3, 5)
    asked = []
    FUNCTIONS[name].ran(lambda *arrays: asked.extend(arrays) or True, *numbers, *matrices)
    assert extension.run(2, name, *asked)
    for i, array in enumerate(asked):
        changed = list(asked)
        changed[i] = np.full(1, 7.0) if i == len(asked) - 2 else np.full(array.size + 1, 3.0)
        before = asked[-1].copy()
        assert not extension.run(2, name, *changed)
        np.testing.assert_array_equal(asked[-1], before)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_logarithms_are_those_of_eigenvalues(k):
    rng = np.random.default_rng(k)
    rows = rng.normal(size=(40, k, 2 * k))
    matrices = rows @ np.swapaxes(rows, 1, 2)
    entries, condition = lanes.logarithms(matrices)
    values, vectors = np.linalg.eigh(matrices)
    right = (vectors * np.log(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    np.testing.assert_allclose(np.moveaxis(lanes.full(entries), -1, 0), right, atol=1e-11)
    assert (condition >= (values[:, -1] / values[:, 0]) * (1.0 - 1e-12)).all()
    matrices[0] = -matrices[0]
    assert lanes.logarithms(matrices)[1][0] == np.inf
