"""What the shared test tools promise to the tests themselves."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "test_early.py": """
import pytest, riemdp
@pytest.mark.parametrize("number", riemdp.secure_generator().random(2))
def test_drawn_early(number):
    pass
""",
    "test_late.py": """
import riemdp
def test_drawn_late():
    riemdp.secure_generator().random(2)
""",
    "test_cases.py": """
import pytest
@pytest.mark.fast("2")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_cases(number):
    pass
""",
    "test_renamed.py": """
import pytest
@pytest.mark.fast("2", "4")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_renamed(number):
    pass
""",
    "test_spread.py": """
import pytest
@pytest.mark.fast(3)
@pytest.mark.parametrize("number", range(9))
def test_spread(number):
    pass
""",
    "test_grid.py": """
import pytest
@pytest.mark.parametrize("letter", "abc")
@pytest.mark.parametrize("number", [1, 2])
def test_grid(number, letter):
    pass
""",
    "pytest.ini": "[pytest]\nmarkers =\n fast\n slow\n",
}


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """What pytest prints for tests like these under the shared conftest."""
    folder = tmp_path_factory.mktemp("tests")
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    options = ["-rA", "-m", "not slow", "--continue-on-collection-errors"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.stdout


def test_a_secure_draw_at_collection_is_an_error(output):
    assert "ERROR test_early.py - AssertionError: the secure generator was asked for" in output
    assert "PASSED test_late.py::test_drawn_late" in output


def ran(output, test):
    return re.findall(rf"PASSED \S+::{test}\[(.*)\]", output)


def test_cases_that_are_not_fast_are_slow(output):
    assert ran(output, "test_cases") == ["2"]
    assert ran(output, "test_spread") == ["0", "4", "8"]
    assert "test_renamed has no case ['4']" in output


def test_every_value_of_every_parameter_is_in_a_case(output):
    chosen = ran(output, "test_grid")
    assert len(chosen) == 3
    assert set("".join(chosen)) == set("-12abc")
