"""The page, in the reader's browser and on this machine alone."""

from __future__ import annotations

import os
import socket
from typing import Any

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, UnsupportedError

#: No other machine reaches the page.
HOST = "127.0.0.1"


def serve(port: int = 0, *, open_browser: bool = True) -> None:
    """Show the planner in a browser until the process is interrupted.

    It listens on 127.0.0.1 alone, answers no other page that a browser shows, takes no files, and
    asks nothing of other machines.

    Parameters
    ----------
    port : int, default 0
        0 takes a free one.
    open_browser : bool, default True
        Whether to open the page in the default browser.

    Raises
    ------
    InvalidParameterError
        If the port is no number from 0 to 65535, or cannot be taken.
    UnsupportedError
        If shiny, of the extra ``app``, is not installed.
    """
    if type(port) is not int or not 0 <= port <= 65535:
        raise InvalidParameterError(
            f"port must be a whole number from 0 (any that is free) to 65535, got {shown(port)}"
        )
    os.environ.setdefault("MPLBACKEND", "Agg")  # pictures are made in the background
    try:
        from shiny import run_app
    except ImportError:
        raise UnsupportedError('the planner needs an extra: pip install "riemdp[app]"') from None
    from riemdp.planner._page import page

    _check_free(port)
    run: Any = run_app  # which shiny types as optional
    run(page(), host=HOST, port=port, launch_browser=open_browser)


def _check_free(port: int) -> None:
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            free.bind((HOST, port))
        except OSError as error:
            raise InvalidParameterError(
                f"port {port} cannot be taken ({error.strerror}); another program may have it: "
                "give another one, or 0 for any that is free"
            ) from None
