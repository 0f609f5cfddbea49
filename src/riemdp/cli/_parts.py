"""``riemdp parts``: what a release can be put together from, and on what proofs."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated

import typer

from riemdp._part import catalogue
from riemdp.cli._output import print_rows, say


def parts(
    *, as_json: Annotated[bool, typer.Option("--json", help="As JSON, a list of objects.")] = False
) -> None:
    """List spaces, mechanisms and privacy definitions, of riemdp and of installed packages.

    A part without a proof needs allow_unproven, and its releases say so.
    """
    found = catalogue()
    if as_json:
        say(json.dumps([dataclasses.asdict(part) for part in found]))
        return
    rows = [
        (
            part.name,
            part.sort or "?",
            part.package,
            f"cannot be loaded: {part.problem}" if part.problem else part.proof or "not proved",
        )
        for part in found
    ]
    print_rows([("name", "sort", "package", "proof"), *rows])
