from __future__ import annotations

import numpy as np
import pytest

from riemdp.noise.exact import Bits

flint = pytest.importorskip("flint")


def test_a_longer_prefix_continues_a_shorter_one():
    uniform = Bits(np.random.default_rng(0)).uniform()
    lengths = (1, 5, 64, 65, 1000, 3, 8001, 24)
    longest = uniform.prefix(9000)
    assert longest.bit_length() > 8900
    for bits in lengths:
        assert uniform.prefix(bits) == longest >> (9000 - bits)


def test_every_bit_is_used_once():
    """However many bits each variable takes: the generator's bytes, in the order of reading."""
    bits = Bits(np.random.default_rng(3))
    uniforms = bits.uniforms(5)
    read = b""
    for uniform, count in zip(uniforms, (100, 3, 1000, 1, 200), strict=True):
        read += uniform.prefix(8 * count).to_bytes(count, "big")
    assert read == _stream(3, len(read))
    # a prefix that grew: the later bytes follow what others have read since
    grown = uniforms[1].prefix(8 * 7).to_bytes(7, "big")
    assert grown[:3] == read[100:103]
    assert grown[3:] == _stream(3, len(read) + 4)[len(read) :]


@pytest.mark.parametrize("bits", [64, 100, 128, 2056])
@pytest.mark.parametrize("before", [1, 16, 200, 255, 300])
def test_variables_that_were_begun_together_read_what_each_would(bits, before):
    """Whatever was left of a block, and however many bytes: they and the generator go on alike."""
    together, alone = (np.random.default_rng(5) for _ in range(2))
    first, other = Bits(together), Bits(alone)
    assert first.uniform().prefix(8 * before) == other.uniform().prefix(8 * before)
    heads, begun = first.begun(37, bits)
    uniforms, others = begun(), other.uniforms(37)
    assert [each.prefix(bits) for each in others] == [each.prefix(bits) for each in uniforms]
    assert [each.prefix(64) for each in others] == heads.tolist()
    assert others[3].prefix(5000) == uniforms[3].prefix(5000)
    assert first.uniform().prefix(70) == other.uniform().prefix(70)
    assert together.bytes(8) == alone.bytes(8)


def _stream(seed, count):
    """What a generator gives in blocks that depend on what is asked for, joined."""
    generator, found = np.random.default_rng(seed), b""
    asked = [100, 3, 1000, 1, 200, 4]
    block = b""
    for size in asked:
        if len(block) < size:
            block += generator.bytes(max(256, size))
        found, block = found + block[:size], block[size:]
    return found[:count]


def test_balls_hold_every_continuation():
    uniform = Bits(np.random.default_rng(1)).uniform()
    value = uniform.prefix(400)
    before = flint.ctx.prec
    try:
        for bits in (24, 53, 128, 300):
            flint.ctx.prec = bits
            ball = uniform.ball()
            low = uniform.prefix(bits)
            for inside in ((low, -bits), (value, -400), (low + 1, -bits)):
                assert ball.contains(flint.arb(inside))
            assert not ball.contains(flint.arb((8 * low - 1, -bits - 3)))
            assert not ball.contains(flint.arb((8 * low + 9, -bits - 3)))
    finally:
        flint.ctx.prec = before


def test_bits_are_fair():
    bits = Bits(np.random.default_rng(2))
    words = np.array([bits.uniform().prefix(16) for _ in range(20_000)])
    ones = ((words[:, None] >> np.arange(16)) & 1).sum(axis=0)
    assert np.all(np.abs(ones - 10_000) < 5 * np.sqrt(5_000))
