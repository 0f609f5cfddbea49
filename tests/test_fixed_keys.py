"""What tests draw from secure generators is the same in every run, and only there."""

from __future__ import annotations

import os

import numpy as np
import pytest

import riemdp
from fixed_keys import fixed_keys
from riemdp.noise import SecureGenerator, is_secure


def drawn(name):
    with fixed_keys(name):
        return [SecureGenerator().random(4), riemdp.secure_generator().random(4)]


@pytest.fixture(scope="module")
def draws():
    return []


@pytest.mark.parametrize("number", range(3))
def test_tests_draw_from_keys_of_their_own(draws, number, request):
    draws.append(riemdp.secure_generator().random(4))
    if request.config.getoption("keys") == "fixed":
        name = f"fixed {request.node.nodeid}"
        with fixed_keys(name):
            np.testing.assert_array_equal(draws[-1], riemdp.secure_generator().random(4))
    assert len(np.unique(draws)) == 4 * len(draws)


def test_a_name_gives_the_same_draws_and_every_generator_others():
    first, again, other = drawn("a"), drawn("a"), drawn("b")
    np.testing.assert_array_equal(first, again)
    assert len(np.unique([*first, *other])) == 16


def test_generators_stay_secure_to_the_library():
    with fixed_keys("a"):
        assert is_secure(riemdp.secure_generator())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_fork_draws_what_nobody_else_does():
    with fixed_keys("a"):
        before = SecureGenerator()
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            try:
                theirs = np.append(before.random(4), riemdp.secure_generator().random(4))
                os.write(write, theirs.tobytes())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            theirs = np.frombuffer(pipe.read())
        os.waitpid(child, 0)
        ours = np.append(before.random(4), riemdp.secure_generator().random(4))
    assert len(theirs) == 8
    assert len(np.unique([*ours, *theirs])) == 16


@pytest.mark.system_keys
def test_keys_come_from_the_system_again_afterwards():
    inside = drawn("a")
    after = [SecureGenerator().random(4), riemdp.secure_generator().random(4)]
    assert len(np.unique([*inside, *after])) == 16
