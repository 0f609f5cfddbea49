"""What the shared test tools promise to the tests themselves."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).with_name("conftest.py")
DRAWS_AT_COLLECTION = """
import pytest
import riemdp
@pytest.mark.parametrize("number", riemdp.secure_generator().random(2))
def test_drawn_early(number):
    pass
"""
DRAWS_IN_A_TEST = """
import riemdp
def test_drawn_late():
    riemdp.secure_generator().random(2)
"""


def test_a_secure_draw_at_collection_is_an_error(tmp_path):
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_early.py").write_text(DRAWS_AT_COLLECTION, encoding="utf-8")
    (tmp_path / "test_late.py").write_text(DRAWS_IN_A_TEST, encoding="utf-8")
    options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "-rA"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, tmp_path],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "ERROR test_early.py" in run.stdout
    assert "while tests were collected" in run.stdout
    assert "PASSED test_late.py::test_drawn_late" in run.stdout
    assert run.stdout.rstrip().splitlines()[-1].startswith("1 passed, 1 error")
