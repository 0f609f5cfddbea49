from __future__ import annotations

import pytest

from riemdp import InvalidParameterError, PureDP
from riemdp.cli._failures import is_ours, place


def raised(call):
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        call()
    # The test itself is not part of what failed.
    return caught.value.with_traceback(caught.value.__traceback__.tb_next)


def test_an_error_of_riemdp_is_placed_where_foreign_code_called_it():
    error = raised(lambda: PureDP(-1))
    assert isinstance(error, InvalidParameterError)
    assert place(error).startswith("test_failures.py:")
    assert not is_ours(error)


def test_an_error_of_riemdp_alone_is_its_own():
    error = raised(lambda: PureDP(-1))
    error = error.with_traceback(error.__traceback__.tb_next)
    assert is_ours(error)
    assert place(error).startswith("_")


def test_a_script_that_does_not_parse_is_placed_at_its_line(tmp_path):
    (tmp_path / "script.py").write_text("x = 1\ny = = 2\n", encoding="utf-8")
    source = (tmp_path / "script.py").read_text(encoding="utf-8")
    error = raised(lambda: compile(source, tmp_path / "script.py", "exec"))
    assert place(error) == "script.py:2"
    # A name that is no file could be anything.
    assert place(raised(lambda: compile(source, "secret", "exec"))).startswith("test_failures.py")


def test_without_frames_there_is_no_place():
    assert place(ValueError("x")) == "nowhere"
