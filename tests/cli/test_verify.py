from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture(params=[("--epsilon", 1), ("--mu", 1), ("--epsilon", 1, "--delta", 1e-6)])
def release(request, riemdp, matrices, tmp_path):
    path = tmp_path / "release.json"
    result = riemdp(
        "mean", matrices, "--manifold", "spd-log-euclidean", "--center", "identity",
        "--radius", 2, *request.param, "--release", path,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return path


def change(path, *keys, by):
    document = json.loads(path.read_text(encoding="utf-8"))
    part = document
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = by(part[keys[-1]])
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.fast(1)
def test_round_trip(riemdp, release):
    result = riemdp("verify", release)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "FAIL" not in result.stdout
    assert "= 1" in result.stdout.splitlines()[-1]
    (stated,) = (line for line in result.stdout.splitlines() if "not checked" in line)
    assert "nonce" in stated
    assert "sigma" not in stated


@pytest.mark.fast(
    "auto",
    "riemannian-gaussian",
)
@pytest.mark.parametrize("mechanism", ["auto", "riemannian-laplace", "riemannian-gaussian"])
def test_affine_invariant_round_trip(riemdp, matrices, tmp_path, mechanism):
    path = tmp_path / "release.json"
    result = riemdp(
        "mean", matrices, "--manifold", "spd-affine-invariant", "--center", "identity",
        "--radius", 1, "--mu", 1, "--mechanism", mechanism, "--release", path,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "frechet-mean" in path.read_text(encoding="utf-8")
    result = riemdp("verify", path)
    assert result.exit_code == 0
    assert "FAIL" not in result.stdout
    change(path, "header", "queries", 0, "sigma", by=lambda x: 0.999 * x)
    assert riemdp("verify", path).exit_code == 1


@pytest.mark.parametrize(
    ("keys", "by", "check"),
    [
        (("header", "queries", 0, "sigma"), lambda x: 0.99 * x, "guarantee"),
        (("header", "n"), lambda x: x - 1, "sensitivity"),
        (("header", "ball", "radius"), lambda x: 1.01 * x, "sensitivity"),
        (("header", "queries", 0, "sensitivity"), lambda x: 0.99 * x, "sensitivity"),
        (("header", "queries", 0, "tol"), lambda x: 2 * x + 1e-6, "sensitivity"),
        (("header", "proofs", "replace-one"), lambda _: None, "proof"),
        (("value",), lambda _: [[100.0, 0, 0], [0, 100, 0], [0, 0, 100]], "arithmetic"),
    ],
)
def test_tampered(riemdp, release, keys, by, check):
    change(release, *keys, by=by)
    result = riemdp("verify", release)
    assert result.exit_code == 1
    assert f"FAIL  {check}" in result.stdout
    assert "does not verify" in result.stderr


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    "text",
    ["replace-one\nok    guarantee    all\x1b[2K\u202e[red]", "x" * 10**6],
    ids=["forged", "long"],
)
def test_a_document_cannot_forge_lines(riemdp, fails, release, text):
    before = riemdp("verify", release).stdout.splitlines()
    change(release, "header", "proofs", by=lambda found: {**found, text: None})
    result = riemdp("verify", release)
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    assert [line[:14] for line in result.stdout.splitlines()] == [
        line[:14].replace("ok    proof", "FAIL  proof") for line in before[:-1]
    ]
    assert len(result.output) < 5000
    document = json.loads(release.read_text(encoding="utf-8"))
    for key, value in document["header"].items():
        header = {**document["header"], (key if isinstance(value, str) else text): text}
        wrong = {**document, "header": header}
        release.write_text(json.dumps(wrong), encoding="utf-8")
        result = riemdp("verify", release)
        assert "\x1b" not in result.output
        assert len(result.output) < 5000


def test_stronger_claim(riemdp, release):
    parameter = "mu" if "mu" in release.read_text(encoding="utf-8") else "epsilon"
    change(release, "header", "guarantee", parameter, by=lambda x: 0.99 * x)
    result = riemdp("verify", release)
    assert result.exit_code == 1
    assert "FAIL  guarantee" in result.stdout


@pytest.mark.fast(1)
def test_seeded_release(riemdp, release, matrices):
    release.unlink()
    riemdp(
        "mean", matrices, "--manifold", "spd-log-euclidean", "--center", "identity",
        "--radius", 2, "--epsilon", 1, "--release", release, "--seed", 1,
    )  # fmt: skip
    result = riemdp("verify", release)
    assert result.exit_code == 3
    assert "not private" in result.stderr
    assert "FAIL" not in result.stdout
    other = release.with_name("other.json")
    other.write_bytes(release.read_bytes())
    assert riemdp("verify", release, other).exit_code == 3
    change(other, "header", "queries", 0, "sensitivity", by=lambda x: 0.99 * x)
    assert riemdp("verify", release, other).exit_code == 1  # what fails counts most
    change(other, "header", "queries", 0, "sensitivity", by=lambda x: x / 0.99)
    change(release, "header", "queries", 0, "sensitivity", by=lambda x: 0.99 * x)
    assert riemdp("verify", release).exit_code == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"no json", b"[]", b"{}", b"3", b'{"format": "other"}', b"\xff\xfe", b"[" * 100000],
)
def test_no_release(fails, tmp_path, content):
    (tmp_path / "release.json").write_bytes(content)
    fails(2, "verify", tmp_path / "release.json")


@pytest.mark.fast(4)
@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("header", "n"), "many"),
        (("header", "n"), 1e999),
        (("header", "mechanism", "type"), "none"),
        (("header", "queries", 0, "sigma"), -1.0),
        (("header", "private"), "false"),
        (("header", "guarantee"), {"type": "PureDP", "epsilon": -1.0}),
        (("header", "ball", "radius"), "wide"),
        (("header", "guarantee", "type"), "None"),
        (("header", "manifold", "k"), 4),
        (("value",), [1.0]),
    ],
)
def test_broken_fields(fails, release, keys, value):
    change(release, *keys, by=lambda _: value)
    fails(2, "verify", release)


def test_missing_file(fails, tmp_path):
    assert "No such file" in fails(2, "verify", tmp_path / "none.json")


LARGE = ("--manifold", "euclidean", "--center", "origin", "--radius", 2, "--mu", 1)


def test_large_releases_have_their_arrays_beside_them(riemdp, fails, tmp_path):
    rows, path = tmp_path / "rows.npy", tmp_path / "mean.json"
    np.save(rows, np.zeros((2, 10_001)))
    for output in (tmp_path / "mean.npz", rows):
        fails(2, "mean", rows, *LARGE, "--release", path, "--output", output)
    value = tmp_path / "value.npz"
    result = riemdp("mean", rows, *LARGE, "--release", path, "--output", value)
    assert result.exit_code == 0, result.output
    container = tmp_path / "mean.npz"
    with np.load(container, allow_pickle=False) as arrays, np.load(value) as written:
        np.testing.assert_array_equal(arrays["value"], written["value"])
    result = riemdp("verify", path)
    assert result.exit_code == 0, result.output
    assert "ok    container" in result.stdout
    container.write_bytes(container.read_bytes()[:-1])
    result = riemdp("verify", path)
    assert result.exit_code == 1
    assert "FAIL  container" in result.stdout
    assert "does not verify" in fails(1, "combine", path, path)
