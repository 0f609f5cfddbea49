"""Constants of docs/proofs/neighbours.md as mathematics; tests/test_laws.py has those in use."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize


def features(count, *, labels=False, weights=False, scalar=0.0, matrix=0.0):
    """T of a vector in the unit disc with a label in {0, 1} or a weight in [0, 1], as the note."""

    def of(numbers):
        vector = numbers[:2] / max(1.0, np.hypot(*numbers[:2]))
        x, y = vector
        parts = [vector, [count]]
        if labels:
            unit = np.array([1.0, 0.0] if numbers[2] < 0.0 else [0.0, 1.0])
            parts = [np.kron(unit, vector), count * unit]
        parts += [[scalar * (x * x + y * y)], matrix * np.array([x * x, y * y, 2.0**0.5 * x * y])]
        weight = 0.5 * (1.0 + numbers[2]) if weights else 1.0
        return weight * np.concatenate(parts)

    return of


FALSE = {
    "a label moves": (features(2.0, labels=True), 5.0**0.5, 10.0**0.5, 2.0),
    "scalar": (features(10.0, scalar=2.0), 105.0**0.5, 2.2681726, 10.0),
    "matrix": (features(3.0, matrix=1.0), 11.0**0.5, 1.5 * 2.0**0.5, 3.0),
    "weight": (features(3.0, weights=True), 10.0**0.5, 10.0**0.5, 3.0),
}


@pytest.mark.fast(2)
@pytest.mark.parametrize("name", FALSE)
def test_the_conversion_of_means_is_false_where_more_is_released(name):
    vector_of, alone, apart, count = FALSE[name]
    random = np.random.default_rng(1)

    def largest(norm, size):
        tried = random.uniform(-1.0, 1.0, size=(400, size))
        best = sorted(tried, key=norm)[-4:]
        options = {"xatol": 1e-10, "fatol": 1e-14, "maxfev": 4000, "maxiter": 4000}
        found = [
            minimize(
                lambda z: -norm(np.clip(z, -1.0, 1.0)), each, method="Nelder-Mead", options=options
            )
            for each in best
        ]
        return max(-each.fun for each in found)

    added_ = largest(lambda z: float(np.linalg.norm(vector_of(z))), 3)
    replaced_ = largest(lambda z: float(np.linalg.norm(vector_of(z[:3]) - vector_of(z[3:]))), 6)
    assert added_ == pytest.approx(alone, rel=1e-6)
    assert replaced_ == pytest.approx(apart, rel=1e-6)
    claimed = 2.0 / np.hypot(1.0, count) * added_
    assert claimed < (1.0 - 1e-2) * replaced_ < 2.0 * added_
    # with the vector and the number alone it is true, and attained
    mean = features(count)
    of_mean = largest(lambda z: float(np.linalg.norm(mean(z[:3]) - mean(z[3:]))), 6)
    assert of_mean == pytest.approx(2.0, rel=1e-6)
