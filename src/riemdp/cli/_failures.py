"""How a command ends: every error one line on stderr, and an exit code that means only that."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from riemdp._errors import (
    BudgetExceededError,
    InvalidBudgetError,
    LedgerTamperedError,
    LedgerUnavailableError,
    NoConversionError,
    NotAttainableError,
    RiemdpError,
)
from riemdp.cli._output import printable, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Errors about what a budget allows, or an account that does not pay: exit code 3. All others on
#: purpose: 2.
BUDGET_ERRORS = (
    BudgetExceededError,
    InvalidBudgetError,
    LedgerTamperedError,
    LedgerUnavailableError,
    NoConversionError,
    NotAttainableError,
)
FAILED = 1
BAD_INPUT = 2
BUDGET = 3
#: Exit code of a failure that nobody foresaw, as in sysexits.h: neither a verdict nor bad input.
UNEXPECTED = 70
#: Who answers for the code of commands of other packages, by the package that was imported.
GUESTS: dict[str, str] = {}
#: Exit codes as if by the signals SIGINT and SIGPIPE.
INTERRUPTED = 130
CLOSED_PIPE = 141
_OURS = "riemdp"
#: Click's error about usage, wherever this typer keeps it.
_UsageError: type[Any] = typer.BadParameter.__bases__[0]
#: Its error that shows the help of a command without arguments.
_HELP = "NoArgsIsHelpError"


def plain_app(**options: Any) -> typer.Typer:
    """Return a :class:`typer.Typer` with these options whose errors show their text alone.

    Tracebacks decorated with local variables would show the data.
    """
    return typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, **options
    )


@contextlib.contextmanager
def failures_as_exits() -> Iterator[None]:
    """Turn errors into a line on stderr and ``typer.Exit``."""
    try:
        yield
        sys.stdout.flush()
    except typer.Exit:
        raise
    except _UsageError as error:
        # it repeats the argument, but for a help text, whose line ends are meant
        lines = error.message.split("\n") if type(error).__name__ == _HELP else [error.message]
        error.message = "\n".join(map(printable, lines))
        raise
    except BaseException as error:
        raise typer.Exit(report(error)) from None


def report(error: BaseException) -> int:
    """Say what went wrong, in one line, and return the exit code.

    The text of an error that is not riemdp's may hold data and is left out.
    """
    code, line = _explained(error)
    if line:
        with contextlib.suppress(OSError, ValueError):  # there is nobody to tell
            warn(" ".join(line.split()))
    return code


def settle(code: int) -> int:
    """Empty stdout and stderr for good, so that the end of the process cannot fail at it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            code = code or _explained(error)[0]
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def place(error: BaseException) -> str:
    """File and line where code that is not riemdp's failed, or else riemdp's."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_file():
        return f"{Path(error.filename).name}:{error.lineno}"
    frames = _frames(error)
    foreign = [where for package, where in frames if package != _OURS]
    return (foreign or [where for _, where in frames] or ["nowhere"])[-1]


def is_ours(error: BaseException) -> bool:
    """Whether no code but riemdp's was running, so that the text of the error is riemdp's too."""
    return all(package == _OURS for package, _ in _frames(error))


def _explained(error: BaseException) -> tuple[int, str]:
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return INTERRUPTED, ""
    if isinstance(error, RiemdpError):
        return BUDGET if isinstance(error, BUDGET_ERRORS) else BAD_INPUT, str(error)
    if isinstance(error, OSError):
        if error.errno == errno.EPIPE:
            return CLOSED_PIPE, ""
        what = error.strerror or type(error).__name__
        return BAD_INPUT, f"{error.filename or 'file'}: {what}"
    if isinstance(error, MemoryError):
        return BAD_INPUT, "this does not fit into memory"
    frames = _frames(error)
    guests = [package for package, _ in frames if package in GUESTS]
    owner = GUESTS[guests[-1]] if guests else _OURS
    where = " ".join(where for package, where in frames if package in (_OURS, *guests))
    return UNEXPECTED, (
        f"unexpected {type(error).__name__} at {place(error)}, an error in {owner}: please report "
        f"it with this line ({where})"
    )


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """Of every call, the outermost first, the package that the code is in, and its file and line.

    The import machinery is left out.
    """
    return [
        (
            # Not by the file: the methods of data classes have none.
            str(frame.f_globals.get("__name__")).partition(".")[0],
            f"{Path(frame.f_code.co_filename).name}:{line}",
        )
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith("<frozen")
    ]
