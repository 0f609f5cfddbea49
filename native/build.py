"""Compile the kernels in this folder into one extension, for every Python from 3.11 on.

    python native/build.py [FOLDER]

writes ``_lanes.abi3.so`` there, by default beside the sources of the package, where it is found by
whatever imports these; and says so, or why not. Nothing needs it: see :mod:`riemdp._compiled`.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NAME = "_lanes.abi3.so"
HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "src" / "riemdp"
#: Lanes, and what a processor must have for them.
WIDTHS = {2: []}
if platform.machine() in {"x86_64", "AMD64"}:
    WIDTHS |= {4: ["-mavx2"], 8: ["-mavx512f"]}
#: No operation is contracted, reordered, or left to libm; the same bytes wherever it is compiled.
FLAGS = [
    "-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti",
    "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno", "-g0",
    f"-ffile-prefix-map={HERE}=.",
]  # fmt: skip
LINKED = {
    "darwin": ["-bundle", "-undefined", "dynamic_lookup", "-Wl,-x"],
    "linux": ["-shared", "-Wl,--as-needed", "-Wl,--build-id=none", "-Wl,--strip-all"],
}


def compiler() -> list[str]:
    """Return the command of the C++ compiler: ``CXX``, Python's own, or one by a usual name."""
    if given := os.environ.get("CXX"):
        return shlex.split(given)
    for name in (sysconfig.get_config_var("CXX") or "", "c++", "g++", "clang++"):
        command = shlex.split(name)
        if command and shutil.which(command[0]):
            return command
    raise OSError("no C++ compiler")


def compiled(folder: Path) -> Path:
    """Write the extension into a folder.

    Raises
    ------
    OSError, subprocess.CalledProcessError
        Where there is no compiler, or not all that it needs.
    """
    if sys.platform not in LINKED or sys.implementation.name != "cpython":
        raise OSError(f"not on {sys.platform} with {sys.implementation.name}")
    command = [*compiler(), *FLAGS]
    include = f"-I{sysconfig.get_path('include')}"
    with tempfile.TemporaryDirectory() as work:

        def run(source: str, object_: str, *options: str) -> str:
            to = os.path.join(work, object_)
            subprocess.run(
                [*command, *options, "-c", source, "-o", to],
                cwd=HERE, check=True, capture_output=True, text=True,
            )  # fmt: skip
            return to

        with ThreadPoolExecutor() as pool:
            parts = [pool.submit(run, "module.cpp", "module.o", include)]
            for lanes, options in WIDTHS.items():
                given = "width.cpp", f"width_{lanes}.o", f"-DLANES={lanes}", *options
                parts.append(pool.submit(run, *given))
        objects = [part.result() for part in parts]
        path = Path(work) / NAME
        subprocess.run(
            [*compiler(), *LINKED[sys.platform], *objects, "-o", str(path)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        (folder / NAME).unlink(missing_ok=True)  # one that is loaded keeps its bytes
        return Path(shutil.copy(path, folder))


def tag() -> str:
    """Return what wheels with the extension are for: of glibc, it needs none newer than 2.17."""
    of = sysconfig.get_platform().replace("universal2", platform.machine())
    if of in {"linux-x86_64", "linux-aarch64"} and platform.libc_ver()[0] == "glibc":
        of = of.replace("linux", "manylinux_2_17")
    return f"cp311-abi3-{of.replace('-', '_').replace('.', '_')}"


def reason(error: Exception) -> str:
    """Return the first line that says why there is no extension."""
    said = getattr(error, "stderr", None) or str(error)
    return next((line for line in said.splitlines() if "error" in line), said.strip())


if __name__ == "__main__":
    try:
        print(compiled(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"not compiled: {reason(error)}")
