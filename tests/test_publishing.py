"""Files for publishing: they say what the package says, and call what the Makefile has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="in the extra `test`")

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def bounds(requirements):
    """Lowest versions by name, of requirements as pip or conda writes them."""
    found = (re.fullmatch(r"([\w-]+)\s*>=\s*([\d.]+)", each) for each in requirements)
    return {match[1]: match[2] for match in found if match}


def test_the_recipe_has_the_bounds_of_the_package():
    recipe = read("recipe/recipe.yaml")
    needed = bounds(PROJECT["dependencies"]) | bounds([f"python{PROJECT['requires-python']}"])
    assert len(needed) == len(PROJECT["dependencies"]) + 1
    assert bounds(recipe["requirements"]["run"]) == needed
    assert len(recipe["requirements"]["run"]) == len(needed)
    assert recipe["context"]["version"] == PROJECT["version"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    # the extension is compiled for each platform
    assert "noarch" not in recipe["build"]
    assert "${{ compiler('cxx') }}" in recipe["requirements"]["build"]
    # a bound that differs is seen
    other = ["numpy >=1.25", *recipe["requirements"]["run"][2:]]
    assert bounds(other) != needed


def steps(path):
    for job in read(path)["jobs"].values():
        yield from job["steps"]


def targets_called(text):
    return set(re.findall(r"\bmake((?: +\w+=\S+)*) +([\w-]+)", text))


def targets():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    return {name for line in phony for name in line.split()}


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ".ci" / "run"], ids=lambda path: path.name)
def test_what_is_called_is_a_target(path):
    called = {name for _, name in targets_called(path.read_text(encoding="utf-8"))}
    assert called
    assert called <= targets()


def test_the_whole_check_is_in_the_workflow():
    local = {name for _, name in targets_called((ROOT / ".ci" / "run").read_text())}
    there = {name for _, name in targets_called((WORKFLOWS[0]).read_text(encoding="utf-8"))}
    assert WORKFLOWS[0].name == "ci.yml"
    assert local - {"test-pythons"} <= there  # the matrix has them


def test_the_matrix_has_every_python_of_the_package():
    matrix = read(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    minor = re.compile(r"Programming Language :: Python :: (3\.\d+)")
    stated = [m[1] for each in PROJECT["classifiers"] if (m := minor.fullmatch(each))]
    assert set(stated) <= set(matrix["python"])
    assert set(matrix["python"]) - set(stated) <= {"3.14"}  # allowed to fail
    assert {each.partition("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert f">={stated[0]}" == PROJECT["requires-python"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_may_do_no_more_than_they_need(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        more = {key for key, value in job.get("permissions", {}).items() if value == "write"}
        assert more <= {"id-token", "attestations"}, name
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert all(re.fullmatch(r"(actions|pypa)/[\w-]+@[\w/.]+", each) for each in used)
    assert not re.search(r"secrets\.|password|token:", path.read_text().replace("id-token:", ""))


def test_read_the_docs_builds_with_our_target():
    commands = read(".readthedocs.yaml")["build"]["commands"]
    assert {name for each in commands for _, name in targets_called(each)} == {"docs"}


def test_the_paper_cites_what_is_in_its_bibliography():
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{([\w]+),", (ROOT / "paper" / "paper.bib").read_text("utf-8"),
                         re.MULTILINE)  # fmt: skip
    cited = set(re.findall(r"@(\w+)", paper.partition("# Summary")[2]))
    assert cited == set(entries)
    assert len(entries) == len(set(entries))
    words = len(re.sub(r"\$[^$]*\$", "x", paper.partition("# Summary")[2]).split())
    assert 250 < words < 1000
    for heading in ("Summary", "Statement of need", "References"):
        assert f"\n# {heading}\n" in paper


def test_the_constant_in_the_paper_is_the_one_that_is_used():
    import numpy as np

    from riemdp import Ball, Sphere, frechet_mean_sensitivity

    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    exact = 1000 * frechet_mean_sensitivity(Ball(Sphere(2), [0.0, 0.0, 1.0], np.pi / 8), 1000)
    assert f"{exact:.3f}".lstrip("0") in paper
    assert f"{exact:.3f}" == "0.828"
