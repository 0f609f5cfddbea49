"""Normal variables in float64 against balls, at both ends of what 64 bits leave."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp.noise.exact._quick import REST, SHARE, quick_normals

flint = pytest.importorskip("flint")
arb = flint.arb


def hostile():
    special = [0, 1, 2**64 - 1, 2**64 - 2, 2**52 - 1, 2**52, 2**52 + 1]
    special += [2**i + j for i in range(48, 64) for j in (-1, 0, 1)]
    special += [k * 2**61 + j for k in range(1, 8) for j in (-2049, -1, 0, 1, 2049)]
    special += [2**64 - 2**i + j for i in range(1, 63) for j in (-1, 0, 1)]
    return special


def words(count, seed):
    random = np.random.default_rng(seed)
    return np.concatenate(
        [
            random.permutation(np.array(hostile(), dtype=np.uint64)),
            random.integers(2**64, size=count, dtype=np.uint64),
        ]
    )


def normals(first, second):
    """The variables of cosines, and those of sines."""
    return quick_normals(np.stack([first, second], axis=1)).T


def missed(first, second, share):
    """How many variables err by more than a share of their bound."""
    found = normals(first, second)
    before, flint.ctx.prec = flint.ctx.prec, 300
    wrong = 0
    try:
        for i, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            if np.isnan(found[0][i]):
                continue
            for more in (0, 1):
                length = (-2 * ((arb(a) + more) / arb(2) ** 64).log()).sqrt()
                sine, cosine = (2 * ((arb(b) + more) / arb(2) ** 64)).sin_cos_pi()
                for z, truth in zip(found, (length * cosine, length * sine), strict=True):
                    bound = arb(SHARE) * abs(arb(float(z[i]))) + arb(REST)
                    wrong += not abs(arb(float(z[i])) - truth) <= share * bound
    finally:
        flint.ctx.prec = before
    return wrong


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_variables_err_by_less_than_their_bounds():
    for seed in range(3):
        first, second = words(2000, seed), words(2000, seed + 10)
        assert missed(first, second, 1.0) == 0
    assert missed(first, second, 0.25) > 0  # the control: the bounds are of the right size


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_few_are_left_open():
    random = np.random.default_rng(0)
    first, second = (random.integers(2**64, size=10**5, dtype=np.uint64) for _ in range(2))
    x, y = normals(first, second)
    assert 0 < np.isnan(x).mean() < 1e-3
    assert np.array_equal(np.isnan(x), np.isnan(y))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_variable_is_that_of_its_words_alone():
    """In whatever array they lie, and by whatever registers: all operations round correctly."""
    first, second = words(500, 0), words(500, 1)
    pairs = np.stack([first, second], axis=1)
    whole = quick_normals(pairs)
    alone = np.concatenate([quick_normals(pair[None]) for pair in pairs])
    assert np.array_equal(whole, alone, equal_nan=True)
    assert np.array_equal(whole, quick_normals(pairs[::-1])[::-1], equal_nan=True)
    assert np.array_equal(whole.ravel(), quick_normals(pairs.ravel()), equal_nan=True)
