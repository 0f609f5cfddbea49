"""Who may ask the page: the browser, on this machine, that was given its address."""

from __future__ import annotations

import hmac
import json
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    Application = Callable[[Any, Any, Any], Awaitable[None]]
    Headers = Mapping[str, Sequence[str]]

#: Bytes that a message of the page may have; its own have a few hundred.
MOST_BYTES = 2**16
_NAMES = ("127.0.0.1", "localhost")
#: Methods of Shiny's messages that set inputs; all others are calls, such as of an upload.
_INPUTS = ("init", "update")
_HEADERS = [
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
]
_REFUSED = (
    b"This page is for the browser that riemdp app was opened in. Its address works once: run "
    b"riemdp app again for a new one, and enter it in the address bar."
)


def is_own(headers: Headers, *, websocket: bool = False) -> bool:
    """Whether a request names this machine, and was made by no other page.

    Any page that a browser shows may send requests to 127.0.0.1, and a name that it owns may lead
    there. Names of headers are in lower case, each with all its values.
    """
    host, origin, site = (headers.get(name, ()) for name in ("host", "origin", "sec-fetch-site"))
    if len(host) != 1 or host[0].rsplit(":", 1)[0] not in _NAMES:
        return False
    own = [f"http://{host[0]}"]
    return (list(origin) == own or (not origin and not websocket)) and (
        list(site) in ([], ["same-origin"]) or (list(site) == ["none"] and not websocket)
    )


class OwnPage:
    """An application of ASGI for one browser, which shows the page in no frame and takes no files.

    Parameters
    ----------
    application : callable
        Of ASGI.
    token : str
        Secret in the address that is opened first. It works once: the answer has a cookie, without
        which nothing else is answered.
    """

    def __init__(self, application: Application, token: str) -> None:
        self._application = application
        self._token, self._is_used = token, False
        self._cookie = secrets.token_urlsafe(32)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        websocket = scope["type"] == "websocket"
        own = is_own(headers, websocket=websocket)
        known = own and self._is_known(headers)
        if websocket:
            await (self._talk(scope, receive, send) if known else _close(send))
        elif known and scope["method"] in ("GET", "HEAD"):
            await self._application(scope, receive, _with_headers(send))
        elif own and not known and self._takes(scope):
            cookie = f"{_name(headers)}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(send, 303, [(b"location", b"/"), (b"set-cookie", cookie.encode())])
        else:
            await _answer(send, 405 if known else 403, [(b"content-type", b"text/plain")])

    def _is_known(self, headers: Headers) -> bool:
        """Whether a request has the cookie."""
        wanted = f"{_name(headers)}={self._cookie}".encode()
        given = [each.strip() for line in headers.get("cookie", ()) for each in line.split(";")]
        return any(hmac.compare_digest(each.encode(), wanted) for each in given)

    def _takes(self, scope: Any) -> bool:
        """Whether a request is the first with the token."""
        if scope["method"] != "GET" or scope["path"] != "/" or self._is_used:
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        self._is_used = hmac.compare_digest(given[0].encode(), self._token.encode())
        return self._is_used

    async def _talk(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass messages on that set inputs; end at any other."""

        async def checked() -> Any:
            message = await receive()
            if message["type"] == "websocket.receive" and not _is_input(message.get("text")):
                await _close(send)
                return {"type": "websocket.disconnect", "code": 1008}
            return message

        await self._application(scope, checked, send)


def _name(headers: Headers) -> str:
    """Name of the cookie: browsers tell no ports of a machine apart."""
    return f"riemdp-{headers['host'][0].rpartition(':')[2]}"


def _is_input(text: object) -> bool:
    if not isinstance(text, str) or len(text) > MOST_BYTES:
        return False
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(asked, dict) and asked.get("method") in _INPUTS


def _with_headers(send: Any) -> Any:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        await send(message)

    return sent


async def _answer(send: Any, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    start = {"type": "http.response.start", "status": status, "headers": headers}
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": b"" if status == 303 else _REFUSED})


async def _close(send: Any) -> None:
    await send({"type": "websocket.close", "code": 1008})
