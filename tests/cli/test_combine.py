from __future__ import annotations

import json

import numpy as np
import pytest

from riemdp import Release, combine


@pytest.fixture
def releases(riemdp, tmp_path):
    paths = []
    for site in range(3):
        data, path = tmp_path / f"{site}.npy", tmp_path / f"{site}.json"
        np.save(data, np.random.default_rng(site).normal(size=(30, 2)))
        result = riemdp(
            "mean", data, "--manifold", "Euclidean:dim=2", "--center", "origin",
            "--radius", 3, "--mu", 1, "--release", path,
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        paths.append(path)
    return paths


def test_it_prints_what_the_function_returns(riemdp, releases):
    result = riemdp("combine", *releases)
    assert result.exit_code == 0, result.output
    found = combine([Release.from_json(path.read_text(encoding="utf-8")) for path in releases])
    with np.printoptions(floatmode="unique"):
        assert result.stdout.splitlines()[-1] == str(found.value)
    assert "μ = 1, replace-one" in result.stdout
    assert "no person is in two" in result.stdout
    result = riemdp("combine", *releases, "--overlapping", "--weights", "sizes")
    assert "μ = 1.73205" in result.stdout


def test_what_does_not_verify_is_not_combined(riemdp, releases):
    document = json.loads(releases[1].read_text(encoding="utf-8"))
    document["header"]["guarantee"]["mu"] = 0.5
    releases[1].write_text(json.dumps(document), encoding="utf-8")
    result = riemdp("combine", *releases)
    assert result.exit_code == 1
    assert "1.json does not verify" in result.stderr
    assert result.stdout == ""


def test_bad_input(fails, releases, tmp_path):
    assert "same draw" in fails(2, "combine", releases[0], releases[0])
    assert "weights" in fails(2, "combine", *releases, "--weights", "equal")
    (tmp_path / "no.json").write_text("{", encoding="utf-8")
    fails(2, "combine", releases[0], tmp_path / "no.json")
