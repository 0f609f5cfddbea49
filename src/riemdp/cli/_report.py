"""``riemdp report``: a release as a page for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from riemdp import _document
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._files import read_text, write_files
from riemdp.cli._io import check_output
from riemdp.cli._output import say, warn_of, working
from riemdp.cli._verify import read_any
from riemdp.report import html


def report(
    file: Annotated[
        Path, typer.Argument(help="A release that riemdp mean --release wrote: the .json.")
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(help="Write the page there (.html); beside the release by default."),
    ] = None,
    audit: Annotated[
        Path | None, typer.Option(help="What riemdp audit --json printed about the mechanism.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="What a record is, in your words: no release says it.")
    ] = None,
) -> None:
    """Write a release as one HTML page for a data protection officer.

    What was released, under which guarantee in words and numbers, on which assumptions, with which
    proofs and versions, and what riemdp verify recomputes. No scripts, no requests, nothing that
    is not in the release. A release that does not verify has a page that says so.
    """
    page_file = check_output(output or file.with_suffix(".html"), (".html", ".htm"), (file,))
    assert page_file is not None  # a path was given
    found = None if audit is None else _audit(audit)
    try:
        with working("Verifying"):
            page = html(file, audit=found, unit=unit)
        warn_of(read_any(file))
    except RiemdpError as error:  # whatever is wrong, the file is
        raise InvalidParameterError(str(error)) from None
    except (ValueError, OverflowError, RecursionError):
        raise InvalidParameterError(f"{file.name} is not a release") from None
    write_files({page_file: lambda opened: opened.write(page.encode())})
    say(f"{page_file}")


def _audit(path: Path) -> Any:
    try:
        return _document.load(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, RiemdpError):
            raise
        raise InvalidParameterError(f"{path.name} is not what riemdp audit --json prints") from None
