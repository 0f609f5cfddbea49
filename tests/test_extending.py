"""The pages on adding parts: what they show is installed as a package, and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[1] / "docs" / "extending"
BLOCK = re.compile(r"^```(python|toml|{literalinclude} \S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"# (\S+)\.py\n")
# What a release says of itself is meant, and no error of the page.
QUIET = """import warnings
import riemdp
warnings.simplefilter("ignore", riemdp.PublicWarning)
"""


def install(page, directory):
    """Write the modules and entry points of a page; return the code that uses them."""
    code, entry_points = [], {}
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language.startswith("{"):
            shutil.copy(PAGES / language.split()[1], directory)
        elif language == "toml":
            entry_points |= tomllib.loads(block)["project"]["entry-points"]
        elif found := MODULE.match(block):
            path = directory / f"{found[1]}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")
        else:
            code.append(block)
    described = directory / "mylab-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: mylab\nVersion: 1.0\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items())])
        for group, points in entry_points.items()
    ]
    (described / "entry_points.txt").write_text("\n\n".join(groups))
    return "\n".join(code)


def run(code, directory, *arguments):
    source = Path(__file__).resolve().parents[1] / "src"
    path = os.pathsep.join([str(directory), str(source)])
    return subprocess.run(
        [sys.executable, "-W", "error", *(arguments or ("-c", code))],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.fast("statistic")
@pytest.mark.parametrize("name", sorted(path.stem for path in PAGES.glob("*.md")))
def test_what_a_page_shows_works(name, tmp_path):
    code = install(PAGES / f"{name}.md", tmp_path)
    assert code
    found = run(QUIET + code, tmp_path)
    assert found.returncode == 0, found.stderr


def test_every_kind_of_part_has_a_page():
    names = {path.stem for path in PAGES.glob("*.md")}
    assert names == {"index", "space", "statistic", "mechanism", "definition", "format"}


def test_a_page_that_says_wrong_things_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text((PAGES / "format.md").read_text().replace("(5, 3, 3)", "(5, 9)"))
    code = install(page, tmp_path)
    assert "AssertionError" in run(code, tmp_path).stderr


def test_the_command_line_lists_installed_parts(tmp_path):
    install(PAGES / "definition.md", tmp_path)
    found = run("", tmp_path, "-m", "riemdp", "parts", "--json")
    assert found.returncode == 0, found.stderr
    assert "mylab.TotalVariation" in found.stdout
