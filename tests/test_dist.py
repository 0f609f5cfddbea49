"""The script that builds what is published: what it compares, and what it would miss."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import dist

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


def wheel(tmp_path, names):
    path = tmp_path / "riemdp-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def test_what_a_wheel_lacks_or_should_not_have(tmp_path):
    whole = [*dist.NEEDED, "riemdp/__init__.py", "riemdp-1.0.dist-info/METADATA"]
    assert dist.missing(wheel(tmp_path, whole)) == []
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
    exec(compile(code, "smoke", "exec"), {})
    assert (tmp_path / "release.json").exists()
