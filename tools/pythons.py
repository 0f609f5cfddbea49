"""Find the interpreters at hand that can run this package, besides the one in use.

    python tools/pythons.py

prints a line for each minor version: its number and the path of an interpreter that runs. Looks on
the PATH and under pyenv, whose shims are passed over where they fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
#: The version, and whether an environment can be made.
PROBE = "import sys, ensurepip, venv; print(*sys.version_info[:2], sys.version_info.releaselevel)"


def candidates(environment: dict[str, str]) -> list[Path]:
    """Paths that may be interpreters, the most specific names first."""
    folders = [Path(part) for part in environment.get("PATH", "").split(os.pathsep) if part]
    root = environment.get("PYENV_ROOT") or Path(environment.get("HOME", "")) / ".pyenv"
    folders += sorted(Path(root).glob("versions/*/bin"))
    found = [path for folder in folders for path in sorted(folder.glob("python3.*"))]
    found = [path for path in found if path.name.removeprefix("python3.").isdecimal()]
    return found + [folder / "python3" for folder in folders]


def version(path: Path) -> tuple[int, int] | None:
    """Version of a released interpreter, None if it does not run or cannot make environments."""
    try:
        done = subprocess.run(
            [path, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60
        )
        major, minor, level = done.stdout.split()
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return (int(major), int(minor)) if level == "final" else None


def others(environment: dict[str, str], own: tuple[int, int]) -> dict[tuple[int, int], Path]:
    """Interpreters by version, without the version in use."""
    found: dict[tuple[int, int], Path] = {}
    for path in candidates(environment):
        if path.exists():
            number = version(path)
            if number is not None and number >= OLDEST and number != own:
                found.setdefault(number, path)
    return dict(sorted(found.items()))


if __name__ == "__main__":
    for (major, minor), path in others(dict(os.environ), sys.version_info[:2]).items():
        print(f"{major}.{minor} {path}")
