from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from riemdp._errors import InvalidParameterError
from riemdp.noise import SecureGenerator, _generator, is_secure, resolve_generator, secure_generator


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


def test_one_instance_per_process():
    assert secure_generator() is secure_generator()
    assert isinstance(secure_generator(), np.random.Generator)


def test_draws_have_the_right_laws():
    generator = secure_generator()
    size = 50_000
    assert abs(generator.random(size).mean() - 0.5) < 6 / np.sqrt(12 * size)
    assert abs(generator.standard_normal(size).std() - 1.0) < 6 / np.sqrt(2 * size)
    assert abs(generator.standard_exponential(size).mean() - 1.0) < 6 / np.sqrt(size)
    assert abs(generator.standard_gamma(3.0, size).mean() - 3.0) < 6 * np.sqrt(3 / size)
    assert set(np.unique(generator.integers(0, 4, size))) == {0, 1, 2, 3}


def test_two_instances_differ():
    assert not np.array_equal(SecureGenerator().random(4), SecureGenerator().random(4))


def test_two_processes_differ():
    code = "from riemdp.noise import secure_generator as g; print(g().random(4).tobytes().hex())"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
        for _ in range(2)
    ]
    assert len({run.stdout for run in runs}) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
class TestFork:
    def test_children_and_parent_differ(self):
        generator = SecureGenerator()
        streams = [_draws_of_child(generator) for _ in range(2)]
        streams.append(generator.random(4).tobytes())
        assert len(set(streams)) == 3
        assert all(len(stream) == 32 for stream in streams)

    def test_process_wide_instance_differs(self):
        generator = secure_generator()
        assert len({_draws_of_child(generator), _draws_of_child(generator)}) == 2

    def test_a_seeded_generator_repeats_in_children(self):
        # negative control: without the renewal the children would repeat each other
        generator = np.random.default_rng(0)
        assert len({_draws_of_child(generator), _draws_of_child(generator)}) == 1


def test_process_id_is_checked_without_fork_hooks(monkeypatch: pytest.MonkeyPatch):
    before = secure_generator()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert secure_generator() is not before


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


def test_threads_that_meet_at_the_first_call_share_one_instance(monkeypatch: pytest.MonkeyPatch):
    class Interrupted(SecureGenerator):
        def __init__(self):
            super().__init__()
            if not others:  # another thread comes in between
                others.append(None)
                others.append(secure_generator())

    others = []
    monkeypatch.setattr(_generator, "_PER_PROCESS", {})
    monkeypatch.setattr(_generator, "SecureGenerator", Interrupted)
    assert secure_generator() is others[1]
    assert secure_generator() is others[1]


def test_spawned_generators_are_secure_and_differ():
    children = secure_generator().spawn(3)
    assert all(is_secure(child) for child in children)
    assert len({child.random(2).tobytes() for child in children}) == 3


def test_resolve():
    seeded = np.random.default_rng(1)
    assert resolve_generator(seeded) is seeded
    assert resolve_generator(None) is secure_generator()
    assert is_secure(secure_generator())
    assert not is_secure(seeded)


@pytest.mark.parametrize("wrong", [0, np.random.RandomState(0), np.random.PCG64(0), "seed"])
def test_resolve_refuses_seeds_and_old_states(wrong):
    with pytest.raises(InvalidParameterError, match="generator must be"):
        resolve_generator(wrong)


def test_randomgen_is_imported_at_the_first_draw_only():
    code = "import sys, riemdp.noise; print('randomgen' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "False"
