from __future__ import annotations

import ast
import copy
import os
import pickle
import struct
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

from riemdp._errors import InvalidParameterError
from riemdp.noise import SecureGenerator, _generator, is_secure, resolve_generator, secure_generator

pytestmark = pytest.mark.system_keys  # where they come from is tested here


def _draws_of_child(generator: np.random.Generator) -> bytes:
    """Bytes that a forked child draws from a generator that its parent made."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, generator.random(4).tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pipe.read()
    os.waitpid(pid, 0)
    return result


def _chacha(key: bytes, blocks: int, rounds: int = 20) -> bytes:
    """Key stream of ChaCha (Bernstein, 2008), counter and nonce 0, from its definition."""

    def quarter_round(x, a, b, c, d):
        for first, second, third, turn in (
            (a, b, d, 16),
            (c, d, b, 12),
            (a, b, d, 8),
            (c, d, b, 7),
        ):
            x[first] = (x[first] + x[second]) & 0xFFFFFFFF
            mixed = x[third] ^ x[first]
            x[third] = (mixed << turn | mixed >> (32 - turn)) & 0xFFFFFFFF

    stream = b""
    for counter in range(blocks):
        start = struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<QQ", counter, 0))
        x = list(start)
        for _ in range(rounds // 2):
            for i in range(4):
                quarter_round(x, i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        stream += struct.pack(
            "<16I", *((u + v) & 0xFFFFFFFF for u, v in zip(x, start, strict=True))
        )
    return stream


def _drawn(generator: np.random.Generator, words: int) -> bytes:
    """Bytes of the stream behind a generator."""
    return generator.integers(0, 2**64, words, dtype=np.uint64).astype("<u8").tobytes()


def test_the_reference_gives_the_published_key_stream():
    # the first block of the all-zero key: Bernstein's eSTREAM vectors, RFC 8439 appendix A.1
    published = (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )
    assert _chacha(bytes(32), 1).hex() == published


def test_the_stream_is_chacha20_under_all_256_bits_from_the_system(monkeypatch):
    asked = []
    key = bytes(range(101, 101 + 32))
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or key[:size])
    drawn = _drawn(SecureGenerator(), 24)
    assert asked == [32]
    assert drawn == _chacha(key, 3)
    # negative controls: a 64-bit key, fewer rounds
    assert drawn != _chacha(key[:8] + bytes(24), 3)
    assert drawn != _chacha(key, 3, rounds=8)
    assert drawn != _chacha(key, 3, rounds=12)


def test_every_byte_of_the_key_changes_the_stream(monkeypatch):
    keys = [bytes(32), *(bytes(i) + b"\x01" + bytes(31 - i) for i in range(32))]
    streams = set()
    for key in keys:
        monkeypatch.setattr(os, "urandom", lambda size, key=key: key[:size])
        streams.add(_drawn(SecureGenerator(), 2))
    assert len(streams) == 33


def test_every_generator_has_a_key_of_its_own(monkeypatch):
    asked = []
    system = os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or system(size))
    generator = SecureGenerator()
    generator.spawn(2)
    _generator._after_fork_in_child()
    assert asked[:3] == [32, 32, 32]
    assert len(asked) >= 4  # the generator that the fork left, and others of this process
    assert set(asked) == {32}


def test_draws_have_the_right_laws():
    generator = secure_generator()
    size = 50_000
    assert abs(generator.random(size).mean() - 0.5) < 8 / np.sqrt(12 * size)
    assert abs(generator.standard_normal(size).std() - 1.0) < 8 / np.sqrt(2 * size)
    assert abs(generator.standard_exponential(size).mean() - 1.0) < 8 / np.sqrt(size)
    assert abs(generator.standard_gamma(3.0, size).mean() - 3.0) < 8 * np.sqrt(3 / size)
    assert set(np.unique(generator.integers(0, 4, size))) == {0, 1, 2, 3}


def test_two_instances_differ():
    assert not np.array_equal(SecureGenerator().random(4), SecureGenerator().random(4))


@pytest.fixture(scope="module")
def two_processes():
    """Of two processes: is randomgen there after the import, and the first numbers."""
    code = (
        "import sys; from riemdp.noise import secure_generator as make; "
        "print('randomgen' in sys.modules, make().random(4).tobytes().hex())"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
        for _ in range(2)
    ]
    return [run.stdout.split() for run in runs]


def test_two_processes_differ(two_processes):
    assert len({numbers for _, numbers in two_processes}) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
class TestFork:
    def test_children_and_parent_differ(self):
        generator = SecureGenerator()
        streams = [_draws_of_child(generator) for _ in range(2)]
        streams.append(generator.random(4).tobytes())
        assert len(set(streams)) == 3
        assert all(len(stream) == 32 for stream in streams)

    def test_a_seeded_generator_repeats_in_children(self):
        # negative control: without the renewal the children would repeat each other
        generator = np.random.default_rng(0)
        assert len({_draws_of_child(generator), _draws_of_child(generator)}) == 1


@pytest.mark.parametrize(
    "leak",
    [
        pickle.dumps,
        lambda g: pickle.dumps(g, protocol=0),
        copy.copy,
        copy.deepcopy,
        lambda g: g.__getstate__(),
        lambda g: pickle.dumps(g.bit_generator),
        lambda g: pickle.dumps(g.bit_generator, protocol=2),
        lambda g: copy.deepcopy(g.bit_generator),
        lambda g: copy.copy(g.bit_generator),
        lambda g: g.bit_generator.state,
        lambda g: g.bit_generator.__getstate__(),
        lambda g: pickle.dumps({"generator": [g]}),
        lambda g: g.__setstate__({}),
        lambda g: g.bit_generator.__setstate__({}),
        lambda g: g.bit_generator.__setstate_cython__({}),
        lambda g: g.bit_generator.__reduce_cython__(),
        lambda g: g.bit_generator.seed(1),
        lambda g: g.bit_generator.__init__(),
        lambda g: setattr(g.bit_generator, "__class__", np.random.PCG64),
        lambda g: g.bit_generator.seed(key=1),
        lambda g: g.bit_generator.seed_seq,
        lambda g: g.bit_generator._seed_seq,
        lambda g: g.bit_generator._seed_with_seed_sequence(np.random.SeedSequence(1)),
        lambda g: g.bit_generator.spawn(2),
        lambda g: g.bit_generator.jumped(),
        lambda g: g.bit_generator.advance(1),
        lambda g: g.bit_generator.ctypes,
        lambda g: setattr(g.bit_generator, "state", {}),
    ],
)
def test_the_key_stays_in_the_process(leak):
    with pytest.raises(TypeError, match=r"riemdp\.secure_generator"):
        leak(SecureGenerator())


def test_no_attribute_of_the_bit_generator_sets_or_shows_state():
    from randomgen import ChaCha

    generator = SecureGenerator()
    names = {*dir(ChaCha), *dir(np.random.PCG64), "jumped", "advance", "jump", "generator"}
    names = {name for name in names if not (name.startswith("__") and name.endswith("__"))}
    assert names >= {"seed", "state", "seed_seq", "capsule", "lock"}
    for name in names:
        with pytest.raises(TypeError, match=r"riemdp\.secure_generator"):
            setattr(generator.bit_generator, name, 1)
        if name not in ("capsule", "lock"):
            with pytest.raises(TypeError, match=r"riemdp\.secure_generator"):
                getattr(generator.bit_generator, name)
    assert 0.0 <= generator.random() < 1.0
    assert "SecureChaCha" in repr(generator)
    assert isinstance(generator.bit_generator, ChaCha)


def _restarted() -> SecureGenerator:
    generator = SecureGenerator()
    np.random.Generator.__init__(generator, np.random.PCG64(1))
    return generator


def _bare() -> SecureGenerator:
    generator = np.random.Generator.__new__(SecureGenerator)
    np.random.Generator.__init__(generator, np.random.PCG64(1))
    return generator


def _relabelled() -> np.random.Generator:
    class Seeded(np.random.Generator):
        __slots__ = ("__weakref__",)

    generator = Seeded(np.random.PCG64(1))
    generator.__class__ = SecureGenerator
    return generator


def _subclassed() -> np.random.Generator:
    class Permissive:
        def __init_subclass__(cls):  # keeps Python from asking SecureGenerator
            pass

    class Seeded(Permissive, SecureGenerator):
        def __init__(self):
            super().__init__()
            np.random.Generator.__init__(self, np.random.PCG64(1))

    return Seeded()


def _overridden() -> np.random.Generator:
    class Permissive:
        def __init_subclass__(cls):
            pass

    class Zero(Permissive, SecureGenerator):
        def standard_normal(self, size=None):
            return np.zeros(size)

    return Zero()


IMPOSTORS = {
    "another bit generator": _restarted,
    "made without the constructor": _bare,
    "another class relabelled": _relabelled,
    "a seeded subclass": _subclassed,
    "a subclass that overrides a draw": _overridden,
    "a mock": lambda: mock.Mock(spec=SecureGenerator),
    "a NumPy generator": lambda: np.random.default_rng(1),
    "a NumPy generator on the secure stream": lambda: np.random.Generator(
        SecureGenerator().bit_generator
    ),
}


@pytest.mark.parametrize("make", IMPOSTORS.values(), ids=IMPOSTORS.keys())
def test_only_what_the_library_made_counts_as_secure(make):
    impostor = make()
    assert isinstance(impostor, np.random.Generator)  # so it is let in, and has to be told apart
    assert resolve_generator(impostor) is impostor
    assert not is_secure(impostor)
    assert is_secure(SecureGenerator())


@pytest.mark.parametrize(
    "change",
    [
        lambda g: type("Seeded", (SecureGenerator,), {}),
        lambda g: setattr(g, "standard_normal", np.zeros),
        lambda g: setattr(g, "remark", "none"),
        lambda g: setattr(g, "_bit_generator", np.random.PCG64(1)),
        lambda g: setattr(g, "__class__", np.random.Generator),
        lambda g: delattr(g, "random"),
        lambda g: setattr(SecureGenerator, "standard_normal", np.zeros),
        lambda g: setattr(SecureGenerator, "bit_generator", None),
        lambda g: delattr(SecureGenerator, "spawn"),
        lambda g: mock.patch.object(g, "random").start(),
        lambda g: mock.patch.object(SecureGenerator, "laplace").start(),
        lambda g: mock.patch.object(_generator.SecureGenerator, "__init__").start(),
    ],
)
def test_the_generator_cannot_be_subclassed_or_patched(change):
    generator = SecureGenerator()
    with pytest.raises(TypeError, match=r"subclassed or patched.*riemdp\.secure_generator"):
        change(generator)
    assert is_secure(generator)
    assert not hasattr(generator, "__dict__")


def test_generators_are_forgotten_with_their_last_reference():
    before = len(_generator._OWN)
    generators = [SecureGenerator() for _ in range(3)]
    assert len(_generator._OWN) == before + 3
    del generators
    assert len(_generator._OWN) <= before


def test_spawned_generators_are_secure_and_differ():
    children = secure_generator().spawn(3)
    assert all(is_secure(child) for child in children)
    assert len({child.random(2).tobytes() for child in children}) == 3


def test_resolve():
    seeded = np.random.default_rng(1)
    assert resolve_generator(seeded) is seeded
    assert is_secure(secure_generator())
    assert not is_secure(seeded)


@pytest.mark.parametrize("given", [None, SecureGenerator], ids=["none", "held"])
def test_every_draw_has_a_key_of_its_own(given):
    held = given and given()
    draws = [resolve_generator(held) for _ in range(3)]
    assert all(type(one) is SecureGenerator and one is not held for one in draws)
    if held is not None:
        draws.append(held)
    assert len({one.random(2).tobytes() for one in draws}) == len(draws)


def test_copies_of_a_process_image_draw_different_noise(copies):
    first, second = copies("""
import numpy as np, riemdp
def program():
    ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.1, (500, 2)))
    generator = riemdp.secure_generator()
    def released():
        return repr([
            riemdp.private_mean(points, ball, riemdp.GDP(1.0), generator=one, **each).value.tolist()
            for one in (None, generator)
            for each in ({}, {"method": "refined"})
        ])
    released()
    return released
""")
    pairs = list(zip(ast.literal_eval(first), ast.literal_eval(second), strict=True))
    assert len(pairs) == 4
    assert all(one != other for one, other in pairs)


def test_control_a_key_that_outlives_a_draw_repeats_in_copies(copies):
    first, second = copies("""
import riemdp
def program():
    generator = riemdp.secure_generator()
    generator.random()
    return lambda: repr(generator.random())
""")
    assert first == second


@pytest.mark.parametrize("wrong", [0, np.random.RandomState(0), np.random.PCG64(0), "seed"])
def test_resolve_refuses_seeds_and_old_states(wrong):
    with pytest.raises(InvalidParameterError, match="generator must be"):
        resolve_generator(wrong)


def test_randomgen_is_imported_at_the_first_draw_only(two_processes):
    assert {early for early, _ in two_processes} == {"False"}
