"""Releases in two files: nothing is lost, and nothing can be exchanged."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import zipfile

import numpy as np
import pytest

import riemdp
from riemdp import Euclidean, InvalidParameterError, Release, verify
from riemdp.release import _container


@pytest.fixture(scope="module")
def made():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    ball = riemdp.Ball(Euclidean(3), np.array([0.5, -0.0, 1.0]), 2.0)
    return riemdp.private_mean(rows, ball, riemdp.GDP(1.0), generator=np.random.default_rng(1))


@pytest.fixture
def certificate(made, tmp_path):
    path = tmp_path / "mean.json"
    assert made.save(path, container=True) == (tmp_path / "mean.npz", path)
    return path


def failing(path):
    return [check.name for check in verify(path).checks if not check.passed]


def document_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def change(path, by):
    document = document_of(path)
    by(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def exchange(path, **arrays):
    """Put other arrays into the container, and its true SHA-256 into the certificate.

    So is that of the whole document, where it can be put together.
    """
    container = path.with_suffix(".npz")
    with np.load(container, allow_pickle=False) as old:
        np.savez(container, **{**dict(old), **arrays})
    digest = _container.hashlib.sha256(container.read_bytes()).hexdigest()
    change(path, lambda document: document["container"].update(sha256=digest))
    with_true_digest(path)


def with_true_digest(path):
    """State the digest of the document that a reader found, if it found another one."""
    with contextlib.suppress(_container.ContainerError):
        _container.read_document(path)
        return
    try:
        _container.read_document(path)
    except _container.ContainerError as error:
        if found := re.search("digest ([0-9a-f]{64})", str(error)):
            change(path, lambda document: document.update(digest=found[1]))


def test_comes_back_bit_by_bit(made, certificate):
    assert Release.load(certificate).to_json() == made.to_json()
    document = document_of(certificate)
    assert document["release"]["value"] is None
    assert document["release"]["rounded"] is None
    assert document["release"]["header"]["ball"]["center"] is None
    with np.load(certificate.with_suffix(".npz"), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["value"], made.raw)
        assert sorted(arrays) == ["header.ball.center", "rounded", "value"]
        assert arrays["rounded"].dtype == np.int64
    # the seeded generator is the only thing that does not verify
    assert failing(certificate) == [c.name for c in verify(made).checks if not c.passed]
    assert verify(certificate).checks[0].name == "container"


def test_small_ones_are_written_as_before(made, tmp_path):
    path = tmp_path / "small.json"
    assert made.save(path) == (path,)
    assert path.read_text(encoding="utf-8") == made.to_json() + "\n"
    assert Release.load(str(path)).to_json() == made.to_json()
    assert [check.name for check in verify(path).checks] == [c.name for c in verify(made).checks]


@pytest.mark.parametrize("container", [False, True])
def test_no_release_is_overwritten_unless_somebody_says_so(made, tmp_path, container):
    path = tmp_path / "mean.json"
    written = made.save(path, container=container)
    for there in written:
        before = there.read_bytes()
        others = [each for each in written if each != there]
        for each in others:
            each.unlink()
        with pytest.raises(InvalidParameterError, match=r"is there already.*overwrite=True"):
            made.save(path, container=container)
        assert there.read_bytes() == before
        assert not any(each.exists() for each in others)  # nothing is written beside it
        assert made.save(path, container=container, overwrite=True) == written
    assert Release.load(path).to_json() == made.to_json()


def test_a_file_that_comes_meanwhile_is_not_overwritten(made, tmp_path, monkeypatch):
    path = tmp_path / "mean.json"
    fsync = os.fsync

    def meanwhile(file):
        path.write_bytes(b"another")
        fsync(file)

    monkeypatch.setattr("os.fsync", meanwhile)
    with pytest.raises(FileExistsError):
        made.save(path, container=True)
    assert path.read_bytes() == b"another"
    assert os.listdir(tmp_path) == ["mean.json"]  # nor is there an empty container


def test_long_lists_go_into_the_container_by_themselves(tmp_path):
    path, inside = tmp_path / "a.json", [0.5] * _container.SMALL
    document = {"value": [*inside, 1.0], "short": inside, "rounded": [1, -(2**64)] * 5001}
    files = _container.files_of(document, path, _container.SMALL)
    for target, content in files.items():
        target.write_bytes(content)
    assert document_of(path)["release"] == {"value": None, "short": inside, "rounded": None}
    assert _container.read_document(path)[0] == document


@pytest.mark.parametrize(
    "numbers",
    [
        [0, 1, -1],
        [2**63 - 1, -(2**63 - 1)],
        [-(2**63), 0],
        [2**63, -(2**64), 5],
        [2**127 - 1, -(2**127)],
        [3 * 2**400, -1],
    ],
)
def test_integers_of_any_length(tmp_path, numbers):
    path = tmp_path / "a.json"
    for target, content in _container.files_of({"rounded": numbers}, path, 0).items():
        target.write_bytes(content)
    assert _container.read_document(path)[0] == {"rounded": numbers}


def test_what_is_no_array_stays_in_the_certificate():
    document = {
        "mixed": [1, 2.0],
        "rows": [[1], [2.0]],
        "flags": [True, False],
        "none": [],
        "one": 1.5,
    }
    path = _container.Path("a.json")
    assert list(_container.files_of(document, path, 1)) == [path]
    assert list(_container.files_of({**document, "two": [1.0, 2.0]}, path, 1)) != [path]


def test_one_bit_of_the_container(certificate):
    container = certificate.with_suffix(".npz")
    content = bytearray(container.read_bytes())
    content[len(content) // 2] ^= 1
    container.write_bytes(content)
    assert failing(certificate) == ["container"]
    with pytest.raises(InvalidParameterError, match="SHA-256"):
        Release.load(certificate)


@pytest.mark.parametrize("damage", ["cut", "absent", "folder", "another"])
def test_container_that_is_not_there(certificate, damage):
    container = certificate.with_suffix(".npz")
    content = container.read_bytes()
    container.unlink()
    if damage == "cut":
        container.write_bytes(content[:-7])
    elif damage == "folder":
        container.mkdir()
    elif damage == "another":
        np.savez(container, value=np.zeros(3))
    assert failing(certificate) == ["container"]
    with pytest.raises(InvalidParameterError, match=r"mean\.npz"):
        Release.load(certificate)


def test_exchanged_values_do_not_fit_the_integers(certificate, made):
    exchange(certificate)  # control: the same arrays, written anew
    assert "arithmetic" not in failing(certificate)
    exchange(certificate, value=made.raw + 1e-6)
    assert "arithmetic" in failing(certificate)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"value": np.zeros(4)}, "shapes or types"),
        ({"value": np.zeros(3, dtype=np.float32)}, "shapes or types"),
        ({"more": np.zeros(3)}, "shapes or types"),
        ({"value": np.array([None, None, None])}, "Python objects"),
    ],
    ids=["shape", "type", "name", "pickle"],
)
def test_arrays_that_the_certificate_does_not_name(certificate, arrays, said):
    exchange(certificate, **arrays)
    assert failing(certificate) == ["container"]
    with pytest.raises(InvalidParameterError, match=said):
        Release.load(certificate)


def test_arrays_that_are_named_but_have_no_place(certificate):
    change(certificate, lambda document: document["release"].update(value=[0.0, 0.0, 0.0]))
    assert failing(certificate) == ["container"]


def test_numbers_that_are_not_finite(certificate):
    exchange(certificate, value=np.array([np.nan, 0.0, 0.0]))
    with pytest.raises(InvalidParameterError, match="finite"):
        Release.load(certificate)


def test_two_arrays_of_one_name(certificate):
    container = certificate.with_suffix(".npz")
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    with zipfile.ZipFile(container, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("value.npy", stream.getvalue())
    digest = _container.hashlib.sha256(container.read_bytes()).hexdigest()
    change(certificate, lambda document: document["container"].update(sha256=digest))
    assert failing(certificate) == ["container"]


def test_a_field_of_the_certificate(certificate):
    def edit(document):
        document["release"]["header"]["queries"][0]["sensitivity"] = 0.01

    change(certificate, edit)
    assert failing(certificate) == ["container"]
    with_true_digest(certificate)
    assert "sensitivity" in failing(certificate)


@pytest.mark.parametrize("digest", [None, "", "0" * 64, 3])
def test_another_digest(certificate, digest):
    change(certificate, lambda document: document.update(digest=digest))
    assert failing(certificate) == ["container"]
    with pytest.raises(InvalidParameterError, match="take both files from one release"):
        Release.load(certificate)


@pytest.mark.parametrize(
    "name", ["../mean.npz", "/tmp/mean.npz", "sub/mean.npz", "..\\mean.npz", "C:mean.npz", "", 3,
             "mean.json", ".npz", "a\0.npz"],
)  # fmt: skip
def test_names_of_other_places(certificate, name):
    folder = certificate.parent / "sub"
    folder.mkdir()
    for place in (folder, folder.parent.parent):
        (place / "mean.npz").write_bytes(certificate.with_suffix(".npz").read_bytes())
    change(certificate, lambda document: document["container"].update(file=name))
    assert failing(certificate) == ["container"]
    with pytest.raises(InvalidParameterError, match="own folder"):
        Release.load(certificate)


def test_links_to_other_places(certificate, tmp_path):
    container = certificate.with_suffix(".npz")
    place = tmp_path / "elsewhere"
    container.rename(place)
    os.symlink(place, container)
    with pytest.raises(InvalidParameterError, match="link"):
        Release.load(certificate)


def test_the_wrong_one_of_the_two_files(certificate, made, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"Release\.load"):
        Release.from_json(certificate.read_text(encoding="utf-8"))
    with pytest.raises(InvalidParameterError, match="certificate"):
        Release.load(certificate.with_suffix(".npz"))
    with pytest.raises(InvalidParameterError, match=r"\.json"):
        made.save(tmp_path / "mean.npz")
    with pytest.raises(OSError, match="absent"):
        verify(tmp_path / "absent.json")
