"""``riemdp verify``: recompute the guarantee of a written release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._files import read_text
from riemdp.cli._output import describe, say, warn
from riemdp.release import Release
from riemdp.release import verify as check


def verify(
    file: Annotated[Path, typer.Argument(help="A release that riemdp mean --release wrote.")],
) -> None:
    """Recompute the guarantee of a release from its public fields.

    It shows that the stated guarantee follows from ball, n, mechanism and sigma. It cannot show
    that the value was drawn that way, nor that the ball was chosen without looking at the data.
    """
    try:
        release = Release.from_json(read_text(file))
    except RiemdpError as error:  # whatever is wrong, the file is
        raise InvalidParameterError(str(error)) from None
    except (ValueError, OverflowError, RecursionError):  # not text, or numbers that are none
        raise InvalidParameterError(f"{file.name} is not a release") from None
    verification = check(release)
    for item in verification.checks:
        say(f"{'ok  ' if item.passed else 'FAIL'}  {item.name:<12} {item.detail}")
    if not verification.passed:
        warn("the release does not verify")
        raise typer.Exit(1)
    say(f"{describe(release.guarantee)} holds for a {release.statistic.name} drawn that way")
    if not release.private:
        warn("the noise was seeded: this release is not private")
