import asyncio
import json

import pytest

from riemdp.app._own import MOST_BYTES, OwnPage, is_own

HOST = {"host": ["127.0.0.1:8000"]}
OWN = HOST | {"origin": ["http://127.0.0.1:8000"], "sec-fetch-site": ["same-origin"]}


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        (HOST, True),
        ({"host": ["localhost:8000"]}, True),
        (OWN, True),
        (HOST | {"sec-fetch-site": ["none"]}, True),
        (OWN | {"origin": ["http://127.0.0.1:9000"]}, False),
        (OWN | {"origin": ["https://evil.example"]}, False),
        (OWN | {"origin": ["null"]}, False),
        (OWN | {"origin": [*OWN["origin"], "https://evil.example"]}, False),
        (OWN | {"sec-fetch-site": ["cross-site"]}, False),
        (HOST | {"sec-fetch-site": ["cross-site"]}, False),
        (HOST | {"sec-fetch-site": ["same-site"]}, False),
        (HOST | {"sec-fetch-site": ["same-origin", "cross-site"]}, False),
        ({"host": ["evil.example"]}, False),
        ({"host": ["127.0.0.1.evil.example:8000"]}, False),
        ({"host": ["evil.example:8000"], "origin": ["http://evil.example:8000"]}, False),
        ({"host": ["127.0.0.1:8000", "evil.example"]}, False),
        ({}, False),
    ],
)
def test_other_pages_and_other_names_are_not_its_own(headers, own):
    assert is_own(headers) is own


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        (OWN, True),
        ({name: value for name, value in OWN.items() if name != "sec-fetch-site"}, True),
        (HOST, False),
        (HOST | {"sec-fetch-site": ["same-origin"]}, False),
        (OWN | {"sec-fetch-site": ["none"]}, False),
        (OWN | {"sec-fetch-site": ["same-site"]}, False),
    ],
)
def test_a_websocket_says_which_page_it_is_of(headers, own):
    assert is_own(headers, websocket=True) is own


class Browser:
    """What a browser sends to the page, in this process, and what it gets."""

    def __init__(self, token="t" * 20):
        self.seen, self.got, self.cookie = [], [], None
        self.page = OwnPage(self.application, token)

    async def application(self, scope, receive, send):
        self.seen.append(scope["type"])
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})
            await send({"type": "http.response.body", "body": b"page"})
        while scope["type"] == "websocket":
            message = await receive()
            self.got.append(message)
            if message["type"] == "websocket.disconnect":
                return

    def ask(self, path="/", headers=None, method="GET", messages=None):
        """Return status, headers and body; of a WebSocket what was sent."""
        headers = dict(OWN if headers is None else headers)
        if self.cookie:
            headers["cookie"] = ["other=1; " + self.cookie]
        pairs = [(k.encode(), each.encode()) for k, v in headers.items() for each in v]
        path, _, query = path.partition("?")
        scope = {"type": "http" if messages is None else "websocket", "headers": pairs}
        scope |= {"method": method, "path": path, "query_string": query.encode()}
        sent, left = [], list(messages or ())

        async def send(message):
            sent.append(message)

        async def receive():
            return left.pop(0) if left else {"type": "websocket.disconnect", "code": 1000}

        asyncio.run(self.page(scope, receive, send))
        if messages is not None:
            return sent
        start, body = sent
        return start["status"], dict(start["headers"]), body["body"]

    def login(self):
        _, headers, _ = self.ask("/?token=" + "t" * 20, HOST | {"sec-fetch-site": ["none"]})
        self.cookie = headers[b"set-cookie"].decode().split(";")[0]
        return headers


def text(message):
    return {"type": "websocket.receive", "text": json.dumps(message)}


INIT, UPDATE = text({"method": "init", "data": {}}), text({"method": "update", "data": {"n": 2}})


def test_the_token_works_once_and_the_cookie_from_then_on():
    browser = Browser()
    for path in ("/", "/?token=", "/?token=" + "u" * 20, "/session/x?token=" + "t" * 20):
        assert browser.ask(path)[0] == 403
    assert browser.ask("/?token=" + "t" * 20, method="POST")[0] == 403
    headers = browser.login()
    assert headers[b"location"] == b"/"
    cookie = headers[b"set-cookie"].decode()
    assert cookie.startswith("riemdp-8000=")
    assert cookie.endswith("; HttpOnly; SameSite=Strict; Path=/")
    assert "t" * 20 not in cookie
    assert browser.seen == []
    assert browser.ask()[0] == 200
    assert browser.ask("/?token=" + "t" * 20)[0] == 200  # as after a reload
    browser.cookie = None
    status, _, body = browser.ask("/?token=" + "t" * 20)
    assert status == 403
    assert b"run riemdp app again" in body
    browser.cookie = cookie.split(";")[0][:-1]
    assert browser.ask()[0] == 403
    assert browser.ask(messages=[INIT]) == [{"type": "websocket.close", "code": 1008}]
    assert browser.seen == ["http", "http"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": ["evil.example"]},
        OWN | {"origin": ["https://evil.example"]},
        HOST | {"sec-fetch-site": ["cross-site"], "sec-fetch-dest": ["iframe"]},
        HOST | {"sec-fetch-site": ["same-site"]},
    ],
)
def test_other_pages_are_refused_with_the_cookie_too(headers):
    browser = Browser()
    assert browser.ask("/?token=" + "t" * 20, headers)[0] == 403
    browser.login()  # nothing used the token up
    assert browser.ask("/", headers)[0] == 403
    assert browser.ask("/websocket/", headers, messages=[INIT])[0]["code"] == 1008
    assert browser.ask("/websocket/", HOST, messages=[INIT])[0]["code"] == 1008  # without Origin
    assert browser.seen == []
    # negative control: the page itself
    assert browser.ask("/websocket/", messages=[INIT]) == []
    assert browser.seen == ["websocket"]


@pytest.mark.parametrize("known", [True, False])
def test_no_answer_may_be_framed(known):
    browser = Browser()
    answers = [browser.login()] if known else []
    answers += [browser.ask(path)[1] for path in ("/", "/?token=x")]
    answers.append(browser.ask(method="POST")[1])
    for headers in answers:
        assert headers[b"x-frame-options"] == b"DENY"
        assert headers[b"content-security-policy"] == b"frame-ancestors 'none'"
        assert headers[b"referrer-policy"] == b"no-referrer"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_is_posted(method):
    browser = Browser()
    browser.login()
    assert browser.ask("/session/x/upload/y", method=method)[0] == 405
    assert browser.seen == []
    assert browser.ask("/session/x/upload/y", method="HEAD")[0] == 200


CALLS = {
    "upload": text({"method": "uploadInit", "args": [[{"name": "a", "size": 9}]], "tag": 1}),
    "end of an upload": text({"method": "uploadEnd", "args": ["job", "n"], "tag": 2}),
    "no method": text({"data": {}}),
    "no object": text(["init"]),
    "a list": text({"method": ["init"]}),
    "no JSON": {"type": "websocket.receive", "text": "{"},
    "deep": {"type": "websocket.receive", "text": "[" * 60_000},
    "bytes": {"type": "websocket.receive", "bytes": b'{"method": "init"}'},
    "long": text({"method": "update", "data": "x" * MOST_BYTES}),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_page_sets_inputs_and_calls_nothing(call):
    browser = Browser()
    browser.login()
    sent = browser.ask("/websocket/", messages=[INIT, UPDATE, call, UPDATE])
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert browser.got == [INIT, UPDATE, {"type": "websocket.disconnect", "code": 1008}]


def test_what_is_no_request_is_passed_on():
    browser = Browser()

    async def nothing(*_):
        return None

    asyncio.run(browser.page({"type": "lifespan"}, nothing, nothing))
    assert browser.seen == ["lifespan"]
