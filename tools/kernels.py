"""Run a command as on other processors: under several kernels of OpenBLAS.

OpenBLAS, NumPy and the C library each choose among versions of their routines by what the processor
can do, and the versions round differently. This emulates processors that can do less than the one
at hand, makes sure that OpenBLAS obeys, and says what is skipped: what the processor does anyway,
too.

    python tools/kernels.py python -m pytest tests/spaces
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")

#: Prints a line per OpenBLAS in use, and NumPy's own choice among its versions.
PROBE = """
import numpy, scipy.linalg, threadpoolctl
libraries = [x for x in threadpoolctl.threadpool_info() if x["internal_api"] == "openblas"]
for library in libraries:
    print("openblas", library["architecture"])
for name in numpy.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", []):
    print("numpy", name)
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel of OpenBLAS: what the processor has to have, and what NumPy may not use with it."""

    name: str
    needs: tuple[str, ...]  # flags of /proc/cpuinfo
    without: tuple[str, ...]  # beginnings of NumPy's names for features
    libm: str  # of the C library


_AVX512 = ("AVX512", "X86_V4")
_AVX = ("AVX", "F16C", "FMA", "X86_V3", "X86_V4")
KERNELS = (
    Kernel("Haswell", ("avx2", "fma"), _AVX512, "-AVX512F"),
    Kernel("Nehalem", ("sse4_2",), _AVX, "-AVX,-AVX2,-FMA,-FMA4,-AVX512F"),
    Kernel("SkylakeX", ("avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"), (), ""),
)


def cpu_flags(cpuinfo: Path = CPUINFO) -> set[str]:
    """Return the flags of the processor; none where the system does not say."""
    if not cpuinfo.exists():
        return set()
    for line in cpuinfo.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return set(value.split())
    return set()


def probe(environment: dict[str, str]) -> dict[str, list[str]]:
    """Return the architectures of OpenBLAS and the features of NumPy in this environment."""
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, list[str]] = {"openblas": [], "numpy": []}
    for line in done.stdout.splitlines():
        kind, value = line.split()
        found[kind].append(value)
    return found


def environment_of(kernel: Kernel, features: list[str]) -> dict[str, str]:
    """Return the environment variables that emulate the processor."""
    without = [name for name in features if name.startswith(kernel.without)]
    chosen = {"OPENBLAS_CORETYPE": kernel.name}
    if kernel.without and without:
        chosen["NPY_DISABLE_CPU_FEATURES"] = " ".join(without)
    if kernel.libm:
        chosen["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={kernel.libm}"
    return chosen


def main(command: list[str]) -> int:
    """Run the command under every kernel that the processor can run; 1 if one of them fails."""
    flags = cpu_flags()
    plain = probe(dict(os.environ))
    results = {}
    for kernel in KERNELS:
        missing = [flag for flag in kernel.needs if flag not in flags]
        if not plain["openblas"] or missing:
            lacks = f"the processor lacks {', '.join(missing)}" if flags else platform.platform()
            results[kernel.name] = f"skipped: {lacks if plain['openblas'] else 'no OpenBLAS here'}"
            continue
        if set(plain["openblas"]) == {kernel.name} and not kernel.without:
            results[kernel.name] = "skipped: the processor's own, under which `make test` runs"
            continue
        chosen = environment_of(kernel, plain["numpy"])
        print(f"== {' '.join(f'{key}={value!r}' for key, value in chosen.items())}", flush=True)
        environment = os.environ | chosen
        obeyed = probe(environment)["openblas"]
        if set(obeyed) != {kernel.name}:
            results[kernel.name] = f"FAILED: OpenBLAS uses {', '.join(obeyed)} instead"
            continue
        done = subprocess.run(command, env=environment, check=False)
        results[kernel.name] = "FAILED" if done.returncode else "passed"
    for name, result in results.items():
        print(f"{name}: {result}", flush=True)
    return int(any(result.startswith("FAILED") for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
