"""``riemdp app``: the planner in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from riemdp.app import serve


def app(
    *,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the default browser.")] = True,
) -> None:
    """Plan a study in the browser, from public numbers alone.

    The page is served to this machine alone, until it is interrupted with Ctrl-C.
    """
    serve(port, open_browser=browser)
