"""The script that builds what is published: what it compares, and what it would miss."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dist
from riemdp import _compiled

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def folders(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.whl").write_bytes(b"1")
        (tmp_path / name / "b.tar.gz").write_bytes(b"2")
    return tmp_path / "first", tmp_path / "second"


def test_folders_that_are_alike(folders):
    assert dist.differences(*folders) == []


def test_a_byte_that_differs_and_a_file_too_many_are_seen(folders):
    (folders[1] / "a.whl").write_bytes(b"3")
    (folders[0] / "c").write_bytes(b"")
    assert dist.differences(*folders) == ["a.whl", "c"]
    assert dist.differences(*folders[::-1]) == ["a.whl", "c"]


def wheel(tmp_path, names, tag="py3-none-any"):
    path = tmp_path / f"riemdp-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def test_what_a_wheel_lacks_or_should_not_have(tmp_path):
    whole = [*dist.NEEDED, "riemdp/__init__.py", "riemdp-1.0.dist-info/METADATA"]
    assert dist.missing(wheel(tmp_path, whole)) == []
    extension = [*whole, "riemdp/_lanes.abi3.so"]
    assert dist.missing(wheel(tmp_path, extension)) == ["1 extensions"]
    assert dist.missing(wheel(tmp_path, extension, "cp311-abi3-linux_x86_64")) == []
    assert dist.missing(wheel(tmp_path, whole, "cp311-abi3-linux_x86_64")) == ["0 extensions"]
    odd = [*whole[1:], "tests/test_dist.py", "riemdp/x.pyc"]
    assert dist.missing(wheel(tmp_path, odd)) == [whole[0], "tests/test_dist.py", "riemdp/x.pyc"]


def test_what_is_needed_is_there():
    assert [name for name in dist.NEEDED if not (ROOT / "src" / name).exists()] == []


def test_the_time_of_files_is_given_or_that_of_the_last_commit(monkeypatch, tmp_path):
    assert dist.source_date({"SOURCE_DATE_EPOCH": "7"}) == "7"
    monkeypatch.setattr(dist, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert dist.source_date({}) is None


def test_the_two_lines_of_the_trial_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = dist.SMOKE.replace("sys.argv[1]", repr(str(tmp_path)))
    code = code.replace("sys.argv[2]", repr(str(_compiled.widest() > 0)))
    exec(compile(code, "smoke", "exec"), {})
    assert (tmp_path / "release.json").exists()


BUILD = [sys.executable, str(ROOT / "native" / "build.py")]


@pytest.mark.parametrize("compiler", ["/nonexistent", "false"])
def test_without_a_compiler_nothing_is_compiled_and_one_line_is_said(tmp_path, compiler):
    found = subprocess.run(
        [*BUILD, tmp_path], env={**os.environ, "CXX": compiler}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert found.stdout.startswith("not compiled: ")
    assert found.stdout.count("\n") == 1
    assert not found.stderr
    assert not list(tmp_path.iterdir())


def skip_without_compiler(folder, build=BUILD):
    said = subprocess.check_output([*build, folder], text=True)
    if "not compiled" in said:
        pytest.skip(said)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", [None, "/nonexistent"])
def test_wheels_are_compiled_or_pure(tmp_path, compiler):
    pytest.importorskip("hatchling")
    if compiler is None and "not compiled" in subprocess.check_output(
        [*BUILD, tmp_path], text=True
    ):
        pytest.skip("no compiler")
    given = {} if compiler is None else {"CXX": compiler}
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | given, capture_output=True, text=True, check=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert dist.missing(wheel) == []
    assert dist.is_pure(wheel) == (compiler is not None)
    said = [line for line in done.stderr.splitlines() if "pure" in line]
    assert len(said) == (compiler is not None)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "all")
    code = "from riemdp import _compiled; print(_compiled.__file__, _compiled.widest())"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "all")}
    run = [sys.executable, "-c", code]
    where, lanes = subprocess.check_output(run, text=True, env=environment).split()
    assert Path(where).parents[1] == tmp_path / "all"
    assert (int(lanes) > 0) == (compiler is None)


def test_what_is_compiled_is_the_same_everywhere(tmp_path):
    copy, folders = tmp_path / "copy", (tmp_path / "first", tmp_path / "second")
    shutil.copytree(ROOT / "native", copy / "native")
    for folder, source in zip(folders, (ROOT, copy), strict=True):
        folder.mkdir()
        skip_without_compiler(folder, [sys.executable, str(source / "native" / "build.py")])
    assert dist.differences(*folders) == []
    (extension,) = folders[0].iterdir()
    assert str(tmp_path).encode() not in extension.read_bytes()
    assert str(ROOT).encode() not in extension.read_bytes()
