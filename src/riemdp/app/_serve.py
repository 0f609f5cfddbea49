"""The page, in the reader's browser and on this machine alone."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
import webbrowser

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp.app._own import MOST_BYTES, OwnPage

#: No other machine reaches the page.
HOST = "127.0.0.1"


def serve(port: int = 0, *, open_browser: bool = True) -> None:
    """Show the planner in a browser until the process is interrupted.

    It listens on 127.0.0.1 alone, takes no files, and asks nothing of other machines. The address
    that is printed has a token, which works once: the browser that opens it first gets a cookie,
    and requests without the cookie are refused.

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
        import uvicorn

        from riemdp.app._page import page
    except ImportError:
        raise UnsupportedError('the planner needs an extra: pip install "riemdp[app]"') from None
    token = secrets.token_urlsafe(32)
    config = uvicorn.Config(
        OwnPage(page(), token),
        ws_max_size=MOST_BYTES,
        log_config=None,  # its own would close the handlers of the process
        log_level="warning",  # a log of requests would have the token
        lifespan="on",
        loop="asyncio",
    )
    with _listening(port) as listening, contextlib.suppress(KeyboardInterrupt):
        address = f"http://{HOST}:{listening.getsockname()[1]}/?token={token}"
        print(f"The planner is at {address} until Ctrl-C; the address works once.", flush=True)
        if open_browser:  # beside the server: some browsers end before this call does
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        uvicorn.Server(config).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    """Return a socket that takes connections, which wait until they are answered."""
    found = socket.socket()
    try:
        if os.name == "posix":  # elsewhere it would share the port with another program
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        found.listen()
    except OSError as error:
        found.close()
        raise InvalidParameterError(
            f"port {port} cannot be taken ({error.strerror}); another program may have it: "
            "give another one, or 0 for any that is free"
        ) from None
    return found
