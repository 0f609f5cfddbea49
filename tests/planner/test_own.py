import asyncio

import pytest

from riemdp.planner._own import OwnPage, is_own

HERE = {"host": "127.0.0.1:8000"}


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        (HERE, True),
        ({"host": "localhost:8000"}, True),
        (HERE | {"origin": "http://127.0.0.1:8000"}, True),
        (HERE | {"origin": "http://127.0.0.1:9000"}, False),
        (HERE | {"origin": "https://evil.example"}, False),
        (HERE | {"origin": "null"}, False),
        ({"host": "evil.example"}, False),
        ({"host": "127.0.0.1.evil.example:8000"}, False),
        ({"host": "evil.example:8000", "origin": "http://evil.example:8000"}, False),
        ({}, False),
    ],
)
def test_other_pages_and_other_names_are_not_its_own(headers, own):
    assert is_own(headers) is own


def answered(kind, headers):
    """What is sent to a request, and whether the page saw it."""
    sent, seen = [], []

    async def page(scope, receive, send):
        seen.append(scope["type"])

    async def send(message):
        sent.append(message)

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(OwnPage(page)({"type": kind, "headers": pairs}, None, send))
    return sent, seen


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_they_are_refused_before_the_page_sees_them(kind):
    assert answered(kind, HERE) == ([], [kind])
    sent, seen = answered(kind, {"host": "evil.example"})
    assert seen == []
    assert sent[0].get("status", sent[0].get("code")) in (403, 1008)
    assert answered("lifespan", {})[1] == ["lifespan"]
