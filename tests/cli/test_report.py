from __future__ import annotations

import json
import re

import pytest

from riemdp import GDP, Ball, Euclidean, private_mean


@pytest.fixture
def release(tmp_path):
    path = tmp_path / "release.json"
    private_mean([[0.0, 0.1]] * 40, Ball(Euclidean(2), [0.0, 0.0], 1.0), GDP(1.0)).save(path)
    return path


def test_the_page_is_beside_the_release_or_where_it_is_wanted(riemdp, release, tmp_path):
    result = riemdp("report", release)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(tmp_path / "release.html")
    page = (tmp_path / "release.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "release.json" in page
    wanted = tmp_path / "for the board.html"
    assert riemdp("report", release, "--output", wanted, "--unit", "one patient").exit_code == 0
    assert "one patient" in wanted.read_text(encoding="utf-8")
    assert "one patient" not in page


AUDIT = """
mechanism = "riemannian-laplace"
manifold = { name = "sphere", dim = 2 }
sensitivity = 0.2
claim = { epsilon = 1.0 }
seed = 0
"""


def test_an_audit_is_shown(riemdp, release, tmp_path):
    printed = {
        "mechanism": "riemannian-gaussian", "claim": {"definition": "GDP", "mu": 1.0},
        "samples": 400, "confidence": 0.95, "score": "LogLikelihoodRatio", "seed": 0,
        "mu_lower": 0.5, "pure_epsilon_lower": 0.4,
        "epsilon_lower": {"delta": 1e-6, "epsilon": 0.0}, "events": [], "verdict": "violated",
    }  # fmt: skip
    audit = tmp_path / "audit.json"
    audit.write_text(json.dumps(printed))
    assert riemdp("report", release, "--audit", audit).exit_code == 0
    assert "Violated" in (tmp_path / "release.html").read_text(encoding="utf-8")


def test_what_audit_prints_is_what_report_reads(riemdp, release, tmp_path):
    spec = tmp_path / "audit.toml"
    spec.write_text(AUDIT)
    printed = riemdp("audit", spec, "--samples", 400, "--json")
    assert printed.exit_code == 0, printed.output
    audit = tmp_path / "audit.json"
    audit.write_text(printed.stdout)
    result = riemdp("report", release, "--audit", audit)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "release.html").read_text(encoding="utf-8")
    assert "Consistent" in page
    assert "400 on each" in page


def test_a_release_that_does_not_verify_has_a_page_that_says_so(riemdp, release, tmp_path):
    document = json.loads(release.read_text())
    release.write_text(json.dumps(document | {"header": document["header"] | {"n": 30}}))
    assert riemdp("report", release).exit_code == 0
    assert "does not verify" in (tmp_path / "release.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "riemdp-release/9"}', "NaN"])
def test_what_is_no_release_is_one_line_and_no_page(fails, tmp_path, text):
    path = tmp_path / "release.json"
    path.write_text(text)
    fails(2, "report", path)
    assert not (tmp_path / "release.html").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"verdict": "fine"}'])
def test_what_is_no_audit_is_one_line_and_no_page(fails, release, tmp_path, text):
    audit = tmp_path / "audit.json"
    audit.write_text(text)
    fails(2, "report", release, "--audit", audit)
    assert not (tmp_path / "release.html").exists()


def test_the_release_is_not_written_over(fails, release):
    assert re.search("html", fails(2, "report", release, "--output", release))


def test_a_missing_file_is_one_line(fails, tmp_path):
    fails(2, "report", tmp_path / "missing.json")
