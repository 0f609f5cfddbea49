from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from riemdp import Release
from riemdp.ledger import Ledger, _file_systems
from riemdp.ledger import _schema as schema

BALL = ("--manifold", "spd-log-euclidean", "--center", "identity", "--radius", 2, "--size", 3)
MEAN = (*BALL, "--mu", 0.5, "--n", 50)
REGISTER = ("--mu", 1, "--unit", "person", "--adjacency", "replace-one")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("RIEMDP_LEDGER", "RIEMDP_LEDGER_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def url(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def study(riemdp, url):
    """Options of the account of a data set that was registered."""
    assert riemdp("ledger", "register", "study", *REGISTER, "--ledger", url).exit_code == 0
    return ("--ledger", url, "--dataset", "study")


def test_a_ledger_from_its_start_to_its_end(riemdp, fails, url, matrices, tmp_path):
    assert "without data sets" in riemdp("ledger", "init", url).stdout
    assert "left as it is" in riemdp("ledger", "init", url).stdout
    registered = riemdp("ledger", "register", "study", *REGISTER, "--ledger", url)
    account = Ledger(url).account("study")
    assert f"registered  {account.registered.hash}" in registered.stdout
    assert "spent       nothing" in registered.stdout

    document = tmp_path / "release.json"
    on = ("--ledger", url, "--dataset", "study")
    result = riemdp("mean", matrices, *MEAN, *on, "--release", document)
    assert (result.exit_code, result.stderr) == (0, "")
    release = Release.from_json(document.read_text(encoding="utf-8"))
    (entry,) = account.entries()
    assert release.anchor == entry.anchor
    assert f"charge          entry 1 of study, hash {entry.hash}\n" in result.stdout

    shown = riemdp("ledger", "show", "--ledger", url).stdout.splitlines()
    assert shown[0].split() == [
        "data",
        "set",
        "unit",
        "adjacency",
        "total",
        "spent",
        "left",
        "state",
    ]
    assert shown[1].split() == [
        "study",
        "person",
        "replace-one",
        "μ",
        "=",
        "1",
        "μ",
        "=",
        "0.5",
        "μ",
        "=",
        "0.866025",
        "open",
    ]
    one = riemdp("ledger", "show", "study", "--ledger", url).stdout
    assert "private_mean, riemannian-gaussian" in one
    assert entry.hash[:12] in one

    verified = riemdp("ledger", "verify", document, "--ledger", url)
    assert verified.exit_code == 0
    assert verified.stdout.startswith("1 data sets, 1 entries, 1 releases\n")
    also = riemdp("verify", document, "--ledger", url)
    assert also.exit_code == 0
    assert "ok    ledger       entry 1 of study" in also.stdout
    assert "ledger" not in riemdp("verify", document).stdout

    assert "--yes" in fails(2, "ledger", "close", "study", "--ledger", url)
    assert not account.closed
    assert "closed" in riemdp("ledger", "close", "study", "--yes", "--ledger", url).stdout
    assert account.closed
    assert "closed" in fails(3, "mean", matrices, *MEAN, *on)
    assert "closed" in riemdp("ledger", "show", "--ledger", url).stdout
    assert "up to date" in riemdp("ledger", "upgrade", "--ledger", url).stdout


def test_the_same_for_machines(riemdp, url, study, matrices, tmp_path):
    document = tmp_path / "release.json"
    riemdp("mean", matrices, *MEAN, *study, "--release", document)
    (every,) = json.loads(riemdp("ledger", "show", "--ledger", url, "--json").stdout)
    assert every["total"] == {"type": "gdp", "mu": 1.0} or every["total"]["mu"] == 1.0
    assert every["spent"]["mu"] == 0.5
    assert (every["dataset"], every["unit"], every["closed"]) == ("study", "person", False)
    one = json.loads(riemdp("ledger", "show", "study", "--ledger", url, "--json").stdout)
    assert [entry["seq"] for entry in one["entries"]] == [1]
    assert one["entries"][0]["guarantee"]["mu"] == 0.5
    found = json.loads(riemdp("ledger", "verify", document, "--ledger", url, "--json").stdout)
    assert found == {
        "ok": True,
        "datasets": 1,
        "entries": 1,
        "releases": 1,
        "findings": [],
        "without_charge": [],
    }
    printed = json.loads(riemdp("ledger", "export", "--ledger", url).stdout)
    output = tmp_path / "export.json"
    assert riemdp("ledger", "export", "--ledger", url, "--output", output).stdout == ""
    assert json.loads(output.read_text(encoding="utf-8")) == printed == Ledger(url).export()
    more = json.loads(
        riemdp("ledger", "register", "b", *REGISTER, "--ledger", url, "--json").stdout
    )
    assert (more["spent"], more["entries"]) == (None, [])


def test_what_is_wrong_is_found(riemdp, url, study, matrices, tmp_path):
    paid, free = tmp_path / "paid.json", tmp_path / "free.json"
    riemdp("mean", matrices, *MEAN, *study, "--release", paid)
    riemdp("mean", matrices, *BALL[:-2], "--mu", 0.5, "--release", free)
    for command in (("ledger", "verify", free, "--ledger", url), ("verify", free, "--ledger", url)):
        result = riemdp(*command)
        assert result.exit_code == 1
        assert "free.json: no charge" in result.stdout
    both = riemdp("verify", paid, free)
    assert both.exit_code == 0
    assert both.stdout.count("holds for a frechet-mean") == 2
    changed = json.loads(paid.read_text(encoding="utf-8"))
    changed["anchor"]["hash"] = "0" * 64
    other = tmp_path / "changed.json"
    other.write_text(json.dumps(changed), encoding="utf-8")
    assert riemdp("verify", other).exit_code == 0  # only the ledger knows
    for command in (("ledger", "verify"), ("verify",)):
        result = riemdp(*command, other, "--ledger", url)
        assert result.exit_code == 1
        assert "study, entry 1: charge changed" in result.stdout
    found = json.loads(riemdp("ledger", "verify", other, free, "--ledger", url, "--json").stdout)
    assert (found["ok"], found["findings"][0]["seq"]) == (False, 1)
    assert found["without_charge"] == ["free.json"]


def test_a_seeded_release_ends_with_exit_code_3(riemdp, url, study, matrices, tmp_path):
    paid, free = tmp_path / "paid.json", tmp_path / "free.json"
    assert riemdp("mean", matrices, *MEAN, *study, "--seed", 1, "--release", paid).exit_code == 0
    assert riemdp("verify", paid).exit_code == 3
    result = riemdp("verify", paid, "--ledger", url)
    assert result.exit_code == 3
    assert "ok    ledger" in result.stdout
    assert "this release is not private" in result.stderr
    riemdp("mean", matrices, *BALL[:-2], "--mu", 0.5, "--seed", 1, "--release", free)
    assert riemdp("verify", free, "--ledger", url).exit_code == 1  # no charge, and seeded


def wrong_files(folder):
    """Names of files that are wrong in different ways, all of what could be data."""
    good = np.broadcast_to(np.eye(3), (50, 3, 3)).copy()
    nan, indefinite = good.copy(), good.copy()
    nan[7, 0, 0] = np.nan
    indefinite[7] = -np.eye(3)
    arrays = {
        "nan": nan,
        "indefinite": indefinite,
        "shape": good[:, :2],
        "size": np.broadcast_to(np.eye(4), (50, 4, 4)),
        "fewer": good[:49],
        "none": good[:0],
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "damaged.npy").write_bytes(b"\x93NUMPY")
    return [*arrays, "damaged"]


def test_whatever_is_wrong_with_a_file_is_not_said(riemdp, fails, url, study, tmp_path):
    said, told = [], []
    names = wrong_files(tmp_path)
    riemdp("ledger", "register", "wide", "--mu", 9, *REGISTER[2:], "--ledger", url)
    wide = ("--ledger", url, "--dataset", "wide")
    details = tmp_path / "details.txt"
    for name in names:
        file = tmp_path / f"{name}.npy"
        said.append(fails(2, "mean", file, *MEAN, *wide, "--details", details))
        told.append(fails(2, "mean", file, *MEAN))
    assert len(set(said)) == 1
    assert "after it was charged" in said[0]
    assert len(set(told)) == len(names)  # the control
    assert len(Ledger(url).account("wide").entries()) == len(names)
    reasons = details.read_text(encoding="utf-8")
    assert "charge 1 of 'wide'" in reasons
    assert "row 7" in reasons
    if os.name == "posix":
        assert details.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_details_are_for_one_reader(fails, url, study, matrices, tmp_path):
    details = tmp_path / "details.txt"
    details.touch(mode=0o644)
    details.chmod(0o644)
    assert "chmod 600" in fails(2, "mean", matrices, *MEAN, *study, "--details", details)
    document = tmp_path / "paid.json"  # which its owner alone can read, and may publish later
    document.touch(mode=0o600)
    assert ".log or .txt" in fails(2, "mean", matrices, *MEAN, *study, "--details", document)
    assert document.read_bytes() == b""
    assert "input" in fails(2, "mean", matrices, *MEAN, *study, "--details", matrices)
    assert Ledger(url).account("study").entries() == ()


def test_what_is_public_is_asked_for_before_the_charge(fails, url, study, matrices, tmp_path):
    for arguments, words in (
        ((matrices, *BALL, "--mu", 0.5), "n=..."),
        ((matrices, *BALL[:-2], "--mu", 0.5, "--n", 50), "needs --size"),
        ((tmp_path / "nowhere.npy", *MEAN), "no file"),
        ((matrices, *MEAN, "--unit", "record"), "unit"),
        ((matrices, *MEAN, "--adjacency", "add-remove"), ""),
    ):
        assert words in fails(2, "mean", *arguments, *study)
    assert Ledger(url).account("study").entries() == ()


def test_people_and_private_numbers(riemdp, url, matrices, tmp_path):
    users = tmp_path / "users.txt"
    users.write_text("".join(f"person {i // 2}\n" for i in range(50)), encoding="utf-8")
    for adjacency, more in (
        ("replace-user", ("--people", 25)),
        ("add-remove-user", ()),
    ):
        register = ("--mu", 1, "--unit", "person", "--adjacency", adjacency)
        assert riemdp("ledger", "register", adjacency, *register, "--ledger", url).exit_code == 0
        on = ("--ledger", url, "--dataset", adjacency, "--users", users)
        result = riemdp("mean", matrices, *BALL, "--mu", 0.5, *more, *on)
        assert result.exit_code == 0, result.stderr
        assert f"entry 1 of {adjacency}" in result.stdout


def test_a_smaller_ball_is_looked_for_after_the_charge(riemdp, url, study, matrices):
    wide = ("mean", matrices, *BALL[:4], "--radius", 100, "--size", 3, "--mu", 0.9, "--n", 50)
    document = url.with_name("release.json")
    result = riemdp(*wide, "--method", "adaptive", *study, "--release", document)
    assert result.exit_code == 0, result.stderr
    entries = Ledger(url).account("study").entries()
    assert [entry.kind for entry in entries] == ["charge"] + ["step"] * (len(entries) - 1)
    assert riemdp("ledger", "verify", document, "--ledger", url).exit_code == 0


def test_no_output_takes_the_place_of_the_ledger(riemdp, fails, matrices, tmp_path):
    path = tmp_path / "ledger.json"
    riemdp("ledger", "register", "study", *REGISTER, "--ledger", path)
    path.chmod(0o600)
    for url in (path, f"sqlite:///{path}"):
        mean = ("mean", matrices, *MEAN, "--ledger", url, "--dataset", "study")
        for command in (
            (*mean, "--release", path),
            (*mean, "--details", path),
            ("ledger", "export", "--ledger", url, "--output", path),
        ):
            assert "would be overwritten" in fails(2, *command)
    assert Ledger(path).account("study").entries() == ()


def test_the_budget_ends_with_exit_code_3(riemdp, fails, url, study, matrices):
    document = url.with_name("release.json")
    mean = ("mean", matrices, *BALL, "--n", 50, "--mu", 0.9, *study)
    assert riemdp(*mean).exit_code == 0
    assert "left is" in fails(3, *mean, "--release", document)
    assert not document.exists()
    url.write_bytes(url.read_bytes()[:4096] + bytes(4096))
    assert "nothing" in fails(3, *mean)  # the database fails


def test_a_changed_ledger_pays_for_nothing(riemdp, fails, url, study, matrices):
    import sqlite3

    riemdp("mean", matrices, *MEAN, *study)
    with sqlite3.connect(url) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE riemdp_entries SET label = 'another'")
    connection.close()
    fails(3, "mean", matrices, *MEAN, *study)
    result = riemdp("ledger", "verify", "--ledger", url)
    assert result.exit_code == 1
    assert "entry changed" in result.stdout


def test_refusals_name_what_to_do(fails, url, study, matrices, monkeypatch):
    tmp_path = url.parent
    before = url.read_bytes()
    register = ("ledger", "register", "study", *REGISTER, "--ledger", url)
    assert "second budget" in fails(2, *register)
    assert "RIEMDP_LEDGER" in fails(2, "ledger", "show")
    assert "--dataset" in fails(2, "mean", matrices, *MEAN, "--ledger", url)
    assert "--ledger" in fails(2, "mean", matrices, *MEAN, "--dataset", "study")
    assert "no data set 'other'" in fails(
        2, "mean", matrices, *MEAN, "--ledger", url, "--dataset", "other"
    )
    assert "no ledger" in fails(2, "ledger", "show", "--ledger", tmp_path / "other.db")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", "0000")
        assert "newer" in fails(2, "mean", matrices, *MEAN, *study)
        assert "newer" in fails(2, "ledger", "upgrade", "--ledger", url)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nhost:/home {tmp_path} nfs4 rw 0 0\n")
    with monkeypatch.context() as patch:
        patch.setattr(_file_systems, "_MOUNTS", mounts)
        assert "PostgreSQL" in fails(2, "mean", matrices, *MEAN, *study)
        assert "PostgreSQL" in fails(2, "ledger", "init", tmp_path / "new.db")
    assert url.read_bytes() == before
    assert not (tmp_path / "new.db").exists()


def test_the_ledger_may_be_named_by_a_variable(riemdp, fails, study, matrices, monkeypatch):
    monkeypatch.setenv("RIEMDP_LEDGER", str(study[1]))
    assert "study" in riemdp("ledger", "show").stdout
    result = riemdp("mean", matrices, *MEAN, "--dataset", "study")
    assert "entry 1 of study" in result.stdout
    # whoever set the variable wants everything charged
    assert "which data set" in fails(2, "mean", matrices, *MEAN)


def test_a_key_is_read_from_a_file(riemdp, fails, url, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef\n")
    register = ("ledger", "register", "study", *REGISTER, "--ledger", url)
    assert riemdp(*register, "--ledger-key", key).exit_code == 0
    assert Ledger(url, key=b"0123456789abcdef").verify().ok
    assert riemdp("ledger", "verify", "--ledger", url, "--ledger-key", key).exit_code == 0
    assert riemdp("ledger", "show", "study", "--ledger", url).exit_code != 0


def test_without_the_extra_it_says_what_to_install(riemdp, fails, url, matrices, monkeypatch):
    for name in [name for name in sys.modules if name.partition("riemdp.ledger")[1]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for command in (
        ("ledger", "show", "--ledger", url),
        ("mean", matrices, *MEAN, "--ledger", url, "--dataset", "study"),
    ):
        assert 'pip install "riemdp[ledger]"' in fails(2, *command)
    assert riemdp("ledger", "--help").exit_code == 0


def test_the_command_line_starts_without_a_database():
    code = (
        "import sys, riemdp.cli._app; "
        "assert not {'sqlalchemy', 'alembic', 'riemdp.ledger'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_columns_are_opened_after_the_charge_and_options_before(riemdp, fails, url, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("who,a,b\np,0.1,0.2\np,0.3,0.1\nq,-0.1,0.2\n", encoding="utf-8")
    people = (*REGISTER[:-1], "replace-user")
    assert riemdp("ledger", "register", "study", *people, "--ledger", url).exit_code == 0
    on = ("--ledger", url, "--dataset", "study", "--unit", "person", "--people", 2)
    given = (
        "--manifold",
        "euclidean",
        "--dim",
        2,
        "--center",
        "origin",
        "--radius",
        1,
        "--mu",
        0.2,
    )
    given = ("mean", table, *given, *on, "--users", "who")
    assert "--layout" in fails(2, *given, "--points", "a,b", "--layout", "tensor")
    assert "are 6 numbers each" in fails(2, *given, "--points", "a,b", "--layout", "tensor-fsl")
    assert "no points of Euclidean(dim=2)" in fails(2, *given, "--points", "a")
    assert "a mask is for .nii" in fails(2, *given, "--points", "a,b", "--mask", table)
    array = tmp_path / "rows.npy"
    np.save(array, np.zeros((2, 2)))
    assert "has no columns" in fails(2, given[0], array, *given[2:], "--points", "a,b")
    assert Ledger(url).account("study").entries() == ()
    result = riemdp(*given, "--points", "a,b")
    assert result.exit_code == 0, result.output
    assert "of n = 2 people" in result.stdout
    refused = riemdp(*given, "--points", "a,zz")
    assert "failed after it was charged" in refused.stderr
    assert "zz" not in refused.stderr
    assert len(Ledger(url).account("study").entries()) == 2


def test_columns_that_a_statistic_takes_none_of_cost_nothing(riemdp, fails, tmp_path):
    """Their names are on the command line, before the file is opened."""
    url, table = tmp_path / "ledger.db", tmp_path / "rows.csv"
    riemdp("ledger", "register", "study", *REGISTER, "--ledger", url)
    table.write_text("a,b,w\n" + "0.1,0.2,0.5\n" * 20, encoding="utf-8")
    mean = (
        "mean", table, "--manifold", "euclidean", "--center", "origin", "--radius", 1, "--dim", 2,
        "--mu", 0.1, "--points", "a,b", "--unit", "person", "--n", 20,
        "--ledger", url, "--dataset", "study",
    )  # fmt: skip
    assert "takes no labels: leave out labels" in fails(2, *mean, "--labels", "w")
    named = ("--method", "refined", "--statistic", "moments")
    assert "leave out --statistic" in fails(2, *mean, *named)
    assert (
        json.loads(riemdp("ledger", "export", "--ledger", url).stdout)["datasets"][0]["entries"]
        == []
    )
    assert riemdp(*mean, "--weights", "w").exit_code == 0
