from __future__ import annotations

import numpy as np
import pytest

from riemdp import Euclidean, PureDP, RiemannianLaplace, TangentGaussian
from riemdp.auditing import LowBitScore, audit, output_grid
from riemdp.auditing._floating_point import lowest_bit


def test_lowest_bit():
    values = [1.0, 3.0, 2.0, 0.5, 0.75, -6.0, 1.0 + 2.0**-52, 2.0**-1074, 0.0, np.inf, np.nan]
    expected = [0, 0, 1, -1, -2, 1, -52, -1074, 1024, 1024, 1024]
    assert np.array_equal(lowest_bit(values), expected)


def test_lowest_bit_of_random_floats(rng):
    for value in rng.normal(size=100) * 10.0 ** rng.uniform(-20, 20, 100):
        place = int(lowest_bit(value))
        multiple = value / 2.0**place
        assert multiple == round(multiple)
        assert round(multiple) % 2 == 1


def test_output_grid():
    outputs = np.array([[0.5, 3.0, 0.0], [0.25, 6.0, 0.0]])
    assert np.array_equal(output_grid(outputs), [0.25, 1.0, np.inf])


def leak(release, seed, samples=3000):
    return audit(
        release,
        np.array([0.0]),
        np.array([1.0]),
        PureDP(0.1),
        samples=samples,
        score=LowBitScore(),
        generator=np.random.default_rng(seed),
    )


def test_low_bits_leak_where_floats_are_added():
    result = leak(lambda data, generator: data[0] + generator.laplace(scale=10.0), 0)
    assert result.verdict == "violated"
    assert result.pure_epsilon_lower > 1.0


@pytest.mark.parametrize("kind", [RiemannianLaplace, TangentGaussian])
def test_mechanisms_on_the_line_leak_them_too(kind):
    """The documented limit of floating-point noise; a hardened mechanism will fail this."""
    result = audit(
        kind(Euclidean(1), 10.0),
        [0.0],
        [1.0],
        PureDP(1.0),
        samples=20_000,
        score=LowBitScore(),
        generator=np.random.default_rng(0),
    )
    assert result.verdict == "violated"


def test_a_public_grid_hides_them():
    def gridded(data, generator):
        return np.round((data[0] + generator.laplace(scale=10.0)) * 64.0) / 64.0

    for seed in range(5):
        assert leak(gridded, seed).verdict == "consistent"


def test_score_of_places_never_seen():
    score = LowBitScore().fit(np.ones((5, 1)), np.full((5, 1), 0.5))
    values = score(np.array([[1.0], [0.5], [2.0**-30], [2.0**30]]))
    assert values[0] == pytest.approx(np.log(5.5 / 0.5))
    assert values[1] == -values[0]
    assert np.array_equal(values[2:], [0.0, 0.0])
