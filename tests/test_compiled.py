"""The compiled extension: what it needs, when it refuses, and that nothing needs it."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from riemdp import _compiled
from riemdp.spaces import _log_fractions, _log_lanes, _logarithms


@pytest.fixture
def extension():
    return pytest.importorskip("riemdp._lanes")


def views(n=5):
    found = np.full((6, n), 7.0), np.full(n, 7.0), np.full(n, True)
    given = np.tile(np.eye(3), (n, 1, 1)), np.empty(0), *_logarithms._limits()
    return [*given, *_log_fractions.padded_poles(), *found]


def larger(n=5):
    found = np.full((10, n), 7.0), np.full(n, 7.0), np.full(n, True)
    given = np.tile(np.eye(4), (n, 1, 1)), _log_lanes.bottoms(), np.array([1e-70, 1e70, 1e12])
    return [*given, *_log_fractions.padded_poles(), np.full(8 * 89, 7.0), *found]


def pivots(n=5):
    given = np.tile(np.eye(4), (n, 1, 1)), np.array([0.5]), np.full(8 * 33, 7.0)
    return [*given, np.full(n, False)]


KERNELS = {"logarithms_3x3": views, "logarithms": larger, "definite": pivots}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_does_its_work(extension, name):
    for lanes in extension.widths():
        arrays = KERNELS[name]()
        assert extension.run(lanes, name, *arrays)
        if name == "definite":
            assert arrays[-1].all()
            continue
        assert not arrays[-3].any()
        assert not arrays[-1].any()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("less", [False, True])
def test_arrays_of_other_lengths_are_left_alone(extension, name, less):
    for which, array in enumerate(KERNELS[name]()):
        if (name, which) in {("logarithms", 6), ("definite", 2)} and not less:
            continue  # to work in: more is enough
        if array.size == 0 and less:
            continue
        arrays = KERNELS[name]()
        length = array.size - 1 if less else array.size + 1
        arrays[which] = np.full(length, 7, dtype=array.dtype)
        before = [each.copy() for each in arrays]
        assert not extension.run(max(extension.widths()) if less else 2, name, *arrays)
        for each, old in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(each, old)


def test_counts_beyond_the_table_are_left_alone(extension):
    arrays = views()
    arrays[5] = arrays[5] + 10**9
    assert not extension.run(2, "logarithms_3x3", *arrays)


def test_unknown_kernels_and_widths_do_nothing(extension):
    assert not extension.run(2, "nothing", *views())
    assert not extension.run(3, "logarithms_3x3", *views())
    assert not extension.run(2, "logarithms_3x3", *views()[1:])
    assert not extension.run(2, "logarithms_3x3")
    for wrong in ((), (2,), (2, "logarithms_3x3", *views(), *views())):
        with pytest.raises(TypeError):
            extension.run(*wrong)


def test_arrays_in_another_order_and_read_only_ones_are_refused(extension):
    arrays = views()
    arrays[0] = np.asfortranarray(arrays[0])
    with pytest.raises((ValueError, BufferError)):
        extension.run(2, "logarithms_3x3", *arrays)
    arrays = views()
    arrays[-1].setflags(write=False)
    with pytest.raises((ValueError, BufferError)):
        extension.run(2, "logarithms_3x3", *arrays)


def test_it_needs_no_other_library(extension):
    if sys.platform != "linux":
        pytest.skip("nm and readelf are those of Linux")
    try:
        names = subprocess.check_output(["nm", "-D", extension.__file__], text=True)
        needed = subprocess.check_output(["readelf", "-d", extension.__file__], text=True)
    except OSError:
        pytest.skip("no binutils")
    # what the tag of wheels promises
    versions = re.findall(r"@GLIBC_2\.(\d+)", names)
    assert all(int(minor) <= 17 for minor in versions)
    symbols = {line.split()[-1].split("@")[0] for line in names.splitlines()}
    runtime = {
        "memcpy", "memset", "memmove", "strcmp", "__cxa_finalize", "__gmon_start__",
        "__stack_chk_fail", "__memcpy_chk",
        "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable",
    }  # fmt: skip
    assert {name for name in symbols if not name.lstrip("_").startswith("Py")} <= runtime
    assert "sqrt" not in symbols  # it is an instruction
    libraries = [line for line in needed.splitlines() if "NEEDED" in line]
    assert all("[libc." in line for line in libraries), libraries


def test_without_the_extension_there_is_no_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "riemdp._lanes", None)
    _compiled._extension.cache_clear()
    try:
        assert _compiled.widest() == 0
        assert _compiled.kernel("logarithms_3x3", lambda _: pytest.fail("it was tried")) is None
    finally:
        _compiled._extension.cache_clear()


def test_a_kernel_with_other_bits_is_not_taken(extension):
    asked = []

    def other(run):
        asked.append(run)
        return False

    for _ in range(2):
        assert _compiled.kernel("logarithms_3x3", other) is None
    assert len(asked) == 1
    run = _compiled.kernel("logarithms_3x3", lambda _: True)
    assert run is not None
    assert run(*views())


FLUSHING = """
import ctypes, sys
import numpy as np
from riemdp import _compiled
from riemdp.spaces import _log_fractions, _log_lanes, _logarithms
matrices = _logarithms.public_matrices(3)
run = _compiled.kernel("logarithms_3x3", _logarithms._same_bits_3x3)
assert run is not None
before = _logarithms.logarithms_of_3x3(matrices).entries
plain = _logarithms._plain_3x3
asked = []
_logarithms._plain_3x3 = lambda *given: asked.append(given) or plain(*given)
_logarithms.logarithms_of_3x3(matrices)
assert not asked
ctypes.CDLL(sys.argv[1]).flush()
assert np.float64(2.0**-1074) * 1.5 == 0.0
assert _logarithms._compiled_3x3(run, matrices, None) is None
assert np.array_equal(_logarithms.logarithms_of_3x3(matrices).entries, before)
assert len(asked) == 1
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="an instruction of x86")
def test_a_processor_that_flushes_tiny_numbers_is_left_to_numpy(extension, tmp_path):
    source, library = tmp_path / "flush.c", tmp_path / "flush.so"
    source.write_text("void flush(void) { __builtin_ia32_ldmxcsr(0x9fc0); }\n")
    try:
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    except OSError:
        pytest.skip("no compiler")
    command = [sys.executable, "-c", textwrap.dedent(FLUSHING), str(library)]
    subprocess.run(command, check=True)
