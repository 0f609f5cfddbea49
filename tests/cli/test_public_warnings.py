"""Commands print what is to be known of the releases that they make or read."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import typer

from riemdp import GDP, Ball, Euclidean, PrivateMeans, PublicWarning, private_means
from riemdp.cli import app

ON = ("--manifold", "euclidean", "--center", "origin", "--radius", 1, "--mu", 1)
SAID = "riemdp: the value lies 1 from the centre of a ball of radius 1, at its boundary"
SEEDED = "riemdp: the noise was seeded: this release is not private"
#: Commands that neither make nor read a release. The demo's warnings are in test_demo.py.
OTHERS = {"app", "audit", "calibrate", "demo", "parts", "plan"}


@pytest.fixture
def far(tmp_path):
    """Records that are all outside of the ball."""
    np.save(tmp_path / "far.npy", np.tile([69.0, 0.0], (2000, 1)))
    return tmp_path / "far.npy"


@pytest.fixture
def document(riemdp, far, tmp_path):
    path = tmp_path / "release.json"
    assert riemdp("mean", far, *ON, "--seed", 1, "--release", path).exit_code == 0
    return path


@pytest.fixture
def charged(riemdp, far, tmp_path):
    """A ledger, and a release that was charged to it."""
    url, path = tmp_path / "ledger.db", tmp_path / "charged.json"
    riemdp("ledger", "init", url)
    register = ("--mu", 5, "--unit", "person", "--adjacency", "replace-one")
    riemdp("ledger", "register", "study", *register, "--ledger", url)
    on = ("--ledger", url, "--dataset", "study", "--dim", 2, "--n", 2000, "--seed", 1)
    assert riemdp("mean", far, *ON, *on, "--release", path).exit_code == 0
    return url, path


@pytest.fixture
def of_command(far, document, charged):
    """Arguments of every command, by name."""
    url, path = charged
    return {
        "mean": ("mean", far, *ON, "--seed", 1),
        "verify": ("verify", document),
        "combine": ("combine", document),
        "report": ("report", document),
        "ledger": ("ledger", "verify", path, "--ledger", url),
    }


def test_every_command_is_among_these(of_command):
    assert set(typer.main.get_command(app).commands) == {*of_command, *OTHERS}


@pytest.mark.parametrize("name", ["mean", "verify", "combine", "report", "ledger"])
def test_each_prints_the_warnings_once(riemdp, of_command, name):
    lines = riemdp(*of_command[name]).stderr.replace("release 0: ", "").splitlines()
    for said in (SAID, SEEDED):
        assert sum(line.startswith(said) for line in lines) == 1
    assert all(line.startswith("riemdp: ") for line in lines)


def test_files_are_told_apart(riemdp, document, tmp_path):
    (tmp_path / "other.json").write_bytes(document.read_bytes())
    told = riemdp("verify", document, tmp_path / "other.json").stderr
    assert "riemdp: release.json: the noise was seeded" in told
    assert "riemdp: other.json: the noise was seeded" in told


def test_a_report_of_groups_has_theirs(riemdp, tmp_path):
    ball, groups = Ball(Euclidean(2), np.zeros(2), 1.0), {"a": np.full((500, 2), 69.0)}
    means = private_means(groups, ball, GDP(1.0))
    path = tmp_path / "means.json"
    path.write_text(means.to_json(), encoding="utf-8")
    assert isinstance(means, PrivateMeans)
    told = riemdp("report", path).stderr
    assert "riemdp: group 'a': the value lies" in told


@pytest.mark.parametrize("action", ["error", "ignore"])
def test_filters_of_python_neither_hide_nor_raise_them(riemdp, of_command, action):
    with warnings.catch_warnings():
        warnings.simplefilter(action, PublicWarning)
        result = riemdp(*of_command["mean"])
    assert result.exit_code == 0
    assert SAID in result.stderr


def test_what_fits_well_has_none(riemdp, tmp_path):
    np.save(tmp_path / "near.npy", np.tile([0.3, 0.0], (2000, 1)))
    result = riemdp("mean", tmp_path / "near.npy", *ON)
    assert result.exit_code == 0
    assert result.stderr == ""
