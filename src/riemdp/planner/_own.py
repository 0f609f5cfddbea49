"""Who may ask the page: a browser on this machine that shows the page itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    Application = Callable[[Any, Any, Any], Awaitable[None]]

_NAMES = ("127.0.0.1", "localhost")
_REFUSED = b"This page is for a browser on the machine that serves it."


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether a request names this machine, and was made by no other page.

    Any page that a browser shows may send requests to 127.0.0.1, and a name that it owns may lead
    there. Names of headers are in lower case.
    """
    host = headers.get("host", "")
    origin = headers.get("origin")
    return host.rsplit(":", 1)[0] in _NAMES and origin in (None, f"http://{host}")


class OwnPage:
    """An application of ASGI that answers such requests alone."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        asked = scope["type"]
        if asked in ("http", "websocket"):
            headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
            if not is_own(headers):
                if asked == "websocket":
                    await send({"type": "websocket.close", "code": 1008})
                    return
                plain = [(b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 403, "headers": plain})
                await send({"type": "http.response.body", "body": _REFUSED})
                return
        await self.application(scope, receive, send)
