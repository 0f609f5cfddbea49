"""The script that runs the tests as on other processors."""

from __future__ import annotations

import sys

import pytest

import kernels

EVERYTHING = {flag for kernel in kernels.KERNELS for flag in kernel.needs}
FOUND = ["SSE42", "AVX", "F16C", "FMA3", "AVX2", "AVX512F", "AVX512_SKX", "X86_V3", "X86_V4"]


@pytest.fixture
def machine(monkeypatch):
    """A machine with these flags, whose OpenBLAS obeys or does not."""

    def make(flags, libraries=2, obeys=True, own="Best"):
        monkeypatch.setattr(kernels, "cpu_flags", lambda: set(flags))

        def probe(environment):
            name = environment.get("OPENBLAS_CORETYPE", own) if obeys else own
            return {"openblas": [name] * libraries, "numpy": FOUND}

        monkeypatch.setattr(kernels, "probe", probe)
        monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)

    return make


def script(text):
    return [sys.executable, "-c", text]


def test_every_kernel_runs_in_its_environment(machine, tmp_path, capsys):
    machine(EVERYTHING)
    text = f"""if True:
        import os
        with open({str(tmp_path / "log")!r}, "a") as log:
            names = "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"
            print([os.environ.get(name) for name in names], file=log)
    """
    assert kernels.main(script(text)) == 0
    assert (tmp_path / "log").read_text(encoding="utf-8").splitlines() == [
        "['Haswell', 'AVX512F AVX512_SKX X86_V4']",
        "['Nehalem', 'AVX F16C FMA3 AVX2 AVX512F AVX512_SKX X86_V3 X86_V4']",
        "['SkylakeX', None]",
    ]
    out = capsys.readouterr().out
    assert out.endswith("Haswell: passed\nNehalem: passed\nSkylakeX: passed\n")


@pytest.mark.parametrize(("own", "skipped"), [("SkylakeX", 1), ("Haswell", 0), ("Best", 0)])
def test_what_runs_anyway_is_skipped_if_nothing_else_is_switched_off(machine, own, skipped, capsys):
    machine(EVERYTHING, own=own)
    assert kernels.main(script("")) == 0
    assert capsys.readouterr().out.count("skipped: the processor's own") == skipped


def test_a_kernel_that_fails_is_named_and_does_not_stop_the_others(machine, capsys):
    machine(EVERYTHING)
    text = "import os; raise SystemExit(os.environ['OPENBLAS_CORETYPE'] == 'Haswell')"
    assert kernels.main(script(text)) == 1
    out = capsys.readouterr().out
    assert out.endswith("Haswell: FAILED\nNehalem: passed\nSkylakeX: passed\n")


def test_what_the_processor_cannot_run_is_skipped_and_said(machine, capsys):
    machine({"sse4_2", "avx2", "fma"})
    assert kernels.main(script("")) == 0
    skipped = "avx512f, avx512dq, avx512cd, avx512bw, avx512vl"
    assert f"SkylakeX: skipped: the processor lacks {skipped}\n" in capsys.readouterr().out
    machine(())
    assert kernels.main(script("raise SystemExit(1)")) == 0
    assert capsys.readouterr().out.count("skipped") == 3
    machine(EVERYTHING, libraries=0)
    assert kernels.main(script("raise SystemExit(1)")) == 0
    assert capsys.readouterr().out.count("skipped: no OpenBLAS here") == 3


def test_a_variable_without_effect_is_a_failure(machine, capsys):
    machine(EVERYTHING, obeys=False)
    assert kernels.main(script("")) == 1
    assert "Nehalem: FAILED: OpenBLAS uses Best, Best instead" in capsys.readouterr().out


def test_flags_are_read(tmp_path):
    assert kernels.cpu_flags(tmp_path / "missing") == set()
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nflags\t\t: fpu sse4_2 avx2\n\nprocessor\t: 1\n")
    assert kernels.cpu_flags(file) == {"fpu", "sse4_2", "avx2"}
    file.write_text("processor : 0\nFeatures : fp asimd\n")
    assert kernels.cpu_flags(file) == set()


def test_the_probe_sees_what_openblas_uses():
    pytest.importorskip("threadpoolctl")
    import os

    if "sse4_2" not in kernels.cpu_flags():
        pytest.skip("no x86 processor")
    found = kernels.probe(os.environ | {"OPENBLAS_CORETYPE": "Nehalem"})
    assert set(found["openblas"]) <= {"Nehalem"}
