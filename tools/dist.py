"""Build what is published, twice and byte for byte alike, and try it where nothing else is.

    python tools/dist.py [--python /usr/bin/python3.12 ...]

builds the source distribution and the wheel into ``dist``; builds both again from the unpacked
source distribution, elsewhere, under another time zone and file mask, and the wheel a third time
from the tree itself; compares them all; builds the wheel without a compiler too; installs both
wheels into fresh environments of each Python, where they are used outside the repository; and
writes down what the first of these environments is made of, as a CycloneDX bill of materials. Run
by ``make dist``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Data that the code reads, which a wheel without them would only miss when they are needed.
NEEDED = (
    "riemdp/py.typed",
    "riemdp/research/data/sinh_envelope.csv",
    "riemdp/ledger/migrations/versions/v0001.py",
    "riemdp/release/schemas/riemdp-release-3.schema.json",
)
#: What a newcomer does, in two lines, and what there has to be besides.
SMOKE = """
import json, pathlib, sys
from importlib.resources import files
import numpy as np
import riemdp
from riemdp import _compiled
repository = pathlib.Path(sys.argv[1])
assert repository not in pathlib.Path(riemdp.__file__).parents, riemdp.__file__
ball = riemdp.Ball(riemdp.SPDLogEuclidean(2), np.eye(2), 1.0)
release = riemdp.private_mean(np.array([np.eye(2)] * 200), ball, riemdp.GDP(1.0))
assert riemdp.verify(release).passed
assert (_compiled.widest() > 0) == (sys.argv[2] == "True")
release.save("release.json")
schema = files("riemdp.release") / "schemas" / "riemdp-release-3.schema.json"
assert json.loads(schema.read_text())["title"]
"""
COMMANDS = (
    ("--version",),
    ("parts",),
    ("plan", "--manifold", "spd-log-euclidean", "--size", "2", "--radius", "1", "--n", "200",
     "--mu", "1"),
    ("verify", "release.json"),
    ("report", "release.json"),
)  # fmt: skip


def build(tree: Path, out: Path, environment: dict[str, str], *what: str) -> None:
    """Build distributions of a source tree; by default both, the wheel from the other one."""
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(out)]
    done = subprocess.run(
        [*command, str(tree)], cwd=out, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def differences(first: Path, second: Path) -> list[str]:
    """Return the names of files in two folders that are not in both, or not the same bytes."""
    names = {path.name for folder in (first, second) for path in folder.iterdir()}
    return sorted(name for name in names if _content(first / name) != _content(second / name))


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def missing(wheel: Path) -> list[str]:
    """Return what a wheel should have and has not, and what it has and should not."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    absent = [name for name in NEEDED if name not in names]
    odd = [name for name in names if not name.startswith(("riemdp/", "riemdp-"))]
    compiled = sum(name.endswith(".so") for name in names)
    if compiled != (not is_pure(wheel)):
        odd.append(f"{compiled} extensions")
    return absent + odd + [name for name in names if name.endswith(".pyc")]


def source_date(environment: dict[str, str]) -> str | None:
    """Return the time that files in distributions get: that of the last commit, if there is one."""
    if given := environment.get("SOURCE_DATE_EPOCH"):
        return given
    command = ["git", "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None  # the build has a fixed time of its own then
    return done.stdout.strip() or None


def build_twice(dist: Path, work: Path) -> list[Path]:
    """Build into a folder and compare with builds elsewhere; return the wheels, a pure one last."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if date := source_date(environment):
        environment["SOURCE_DATE_EPOCH"] = date
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    build(ROOT, dist, environment)
    (sdist,) = dist.glob("*.tar.gz")
    (wheel,) = dist.glob("*.whl")
    elsewhere, again, tree_only = (work / name for name in ("elsewhere", "again", "tree"))
    for folder in (elsewhere, again, tree_only):
        folder.mkdir()
    with tarfile.open(sdist) as archive:
        archive.extractall(elsewhere, filter="data")
    (unpacked,) = elsewhere.iterdir()
    old = os.umask(0o077)
    build(unpacked, again, {**environment, "TZ": "Asia/Kathmandu", "LC_ALL": "C"})
    os.umask(old)
    build(ROOT, tree_only, environment, "--wheel")
    shutil.copy2(sdist, tree_only)
    if found := differences(dist, again) + differences(dist, tree_only):
        raise SystemExit(f"built twice, and not the same: {', '.join(found)}")
    if found := missing(wheel):
        raise SystemExit(f"{wheel.name} is not as it should be: {', '.join(found)}")
    for path in (sdist, wheel):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes, thrice the same")
    if is_pure(wheel):
        return [wheel]
    build(ROOT, dist, {**environment, "CXX": os.devnull}, "--wheel")
    (pure,) = (path for path in dist.glob("*.whl") if is_pure(path))
    if found := missing(pure):
        raise SystemExit(f"{pure.name} is not as it should be: {', '.join(found)}")
    return [wheel, pure]


def is_pure(wheel: Path) -> bool:
    """Whether a wheel is for any machine."""
    return wheel.name.endswith("-none-any.whl")


def try_out(wheel: Path, python: str, work: Path) -> Path:
    """Use a wheel in a fresh environment outside the repository; return the interpreter there."""
    start = time.monotonic()
    environment = work / f"python-{len(list(work.iterdir()))}"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    # Without pip: there is nothing but the library and what it needs.
    subprocess.run([python, "-m", "venv", "--without-pip", str(environment)], check=True, env=clean)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    interpreter = scripts / ("python.exe" if os.name == "nt" else "python")
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--quiet"]
    options = ["--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run([*pip, *options, str(wheel)], check=True, env=clean)
    place = environment / "elsewhere"
    place.mkdir()
    arguments = [str(ROOT), str(not is_pure(wheel))]
    subprocess.run([interpreter, "-c", SMOKE, *arguments], check=True, env=clean, cwd=place)
    for arguments in COMMANDS:
        done = subprocess.run(
            [str(scripts / "riemdp"), *arguments],
            env=clean, cwd=place, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"riemdp {' '.join(arguments)}: {done.stdout}{done.stderr}")
    version = subprocess.run([interpreter, "-V"], capture_output=True, text=True, check=True)
    seconds = time.monotonic() - start
    print(f"{version.stdout.strip()}: {wheel.name} installed and used, {seconds:.0f} s")
    return interpreter


def bill_of_materials(wheel: Path, interpreter: Path) -> None:
    """Write down what an environment with the wheel is made of, beside the wheel."""
    path = wheel.with_name(f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json")
    command = [sys.executable, "-m", "cyclonedx_py", "environment", str(interpreter)]
    options = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library"]
    written = ["--output-reproducible", "--output-format", "JSON", "--output-file", str(path)]
    subprocess.run([*command, *options, *written], check=True)
    found = json.loads(path.read_text(encoding="utf-8"))
    names = {component["name"] for component in found["components"]}
    if absent := {"numpy", "scipy", "randomgen", "python-flint"} - names:
        raise SystemExit(f"the bill of materials lacks {', '.join(sorted(absent))}")
    print(f"{path.relative_to(ROOT)}: {len(names)} components")


def main() -> None:
    """Build, compare, install and use."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", action="append", default=[], help="try it on these too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wheels = build_twice(given.out.resolve(), work)
        bill_of_materials(wheels[0], try_out(wheels[0], sys.executable, work))
        for python in [sys.executable, *given.python]:
            for wheel in wheels[python == sys.executable :]:
                try_out(wheel, python, work)


if __name__ == "__main__":
    main()
