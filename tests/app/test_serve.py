import builtins
import contextlib
import http.client
import json
import logging
import re
import socket
import subprocess
import sys
import threading

import pytest

from riemdp import InvalidParameterError, UnsupportedError
from riemdp.app import serve
from riemdp.app._serve import HOST


@pytest.mark.parametrize("port", [-1, 65536, 80.0, "80", True])
def test_ports_are_checked(port):
    with pytest.raises(InvalidParameterError, match="65535"):
        serve(port)


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    found = builtins.__import__

    def without(name, *arguments, **options):
        if name == "uvicorn":
            raise ImportError(name)
        return found(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnsupportedError, match=r"riemdp\[app\]"):
        serve()


def test_a_browser_is_opened_where_the_port_listens(monkeypatch, capsys):
    pytest.importorskip("shiny")
    import webbrowser

    import uvicorn

    seen, done = [], threading.Event()

    def opened(address):
        host, port = re.fullmatch(r"http://([\d.]+):(\d+)/\?token=[\w-]{43}", address).groups()
        socket.create_connection((host, int(port)), timeout=9.0).close()
        seen.append(address)
        done.set()

    def run(server, sockets):
        assert done.wait(60)
        seen.append(sockets[0].getsockname()[0])
        assert server.config.ws_max_size == 2**16
        raise KeyboardInterrupt

    monkeypatch.setattr(webbrowser, "open", opened)
    monkeypatch.setattr(uvicorn.Server, "run", run)
    serve(0)
    assert seen[1] == HOST == "127.0.0.1"
    assert seen[0] in capsys.readouterr().out
    serve(0, open_browser=False)
    assert seen[0] not in capsys.readouterr().out  # another token
    assert seen[2:] == [HOST]


def test_handlers_of_the_process_stay_open(monkeypatch, capsys):
    pytest.importorskip("shiny")
    import uvicorn

    class Handler(logging.Handler):
        closed = False

        def close(self):
            self.closed = True
            super().close()

    handler = Handler()
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    serve(0, open_browser=False)
    assert not handler.closed
    handler.close()


def test_a_port_that_is_taken_is_said(monkeypatch):
    pytest.importorskip("shiny")
    import uvicorn

    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: pytest.fail("it was served"))
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(InvalidParameterError, match="cannot be taken"):
            serve(other.getsockname()[1], open_browser=False)


class Client:
    """A program that asks the page, and may say whatever it likes."""

    def __init__(self, address):
        self.port, self.token = re.search(r":(\d+)/(\?token=\S+)", address).groups()
        self.origin = f"http://{HOST}:{self.port}"
        self.cookie = ""

    def ask(self, path="/", method="GET", body=None, **headers):
        connection = http.client.HTTPConnection(HOST, int(self.port), timeout=60)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers={"cookie": self.cookie} | given)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def talk(self, *, origin=True, cookie=True):
        from websockets.sync.client import connect

        return connect(
            f"ws://{HOST}:{self.port}/websocket/",
            origin=self.origin if origin else None,
            additional_headers={"cookie": self.cookie} if cookie else {},
            open_timeout=60,
            proxy=None,
        )


@pytest.fixture(scope="module")
def client():
    """The planner in a process of its own, and a program that was given its address."""
    pytest.importorskip("shiny")
    command = [sys.executable, "-m", "riemdp", "app", "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield Client(process.stdout.readline())
        finally:
            process.terminate()
            process.wait()


def test_strangers_and_uploads_are_refused(client):
    exceptions = pytest.importorskip("websockets.exceptions")
    assert client.ask()[0] == 403
    assert client.ask(f"/{client.token}", sec_fetch_site="cross-site")[0] == 403
    status, headers, _ = client.ask(f"/{client.token}", sec_fetch_site="none")
    assert (status, headers["location"]) == (303, "/")
    assert client.ask(f"/{client.token}")[0] == 403  # it works once
    client.cookie = headers["set-cookie"].split(";")[0]
    status, headers, text = client.ask()
    assert status == 200
    assert "Is my data enough?" in text
    assert headers["x-frame-options"] == "DENY"
    assert client.ask(sec_fetch_site="cross-site", sec_fetch_dest="iframe")[0] == 403
    assert client.ask(host="evil.example")[0] == 403
    for options in ({"origin": False}, {"cookie": False}):
        with pytest.raises(exceptions.InvalidStatus, match="403"):
            client.talk(**options).close()
    with client.talk() as page:
        session = json.loads(page.recv(timeout=60))["config"]["sessionId"]
        page.send(json.dumps({"method": "init", "data": {}}))
        page.recv(timeout=60)
        upload = f"/session/{session}/upload/job"
        assert client.ask(upload, "POST", body=b"x" * 10**6)[0] == 405
        call = {"method": "uploadInit", "args": [[{"name": "a", "size": 1, "type": ""}]], "tag": 1}
        page.send(json.dumps(call))
        with contextlib.suppress(exceptions.ConnectionClosed):
            for message in page:
                assert "uploadUrl" not in message
        assert page.close_code == 1008
    with client.talk() as page, contextlib.suppress(exceptions.ConnectionClosed):
        page.send(json.dumps({"method": "init", "data": "x" * 20 * 10**6}))
        for message in page:
            assert "values" not in message
    assert page.close_code != 1000
    assert client.ask()[0] == 200  # and it goes on


def test_inputs_are_answered(client):
    """The negative control: what the page itself sends."""
    pytest.importorskip("websockets")
    if not client.cookie:
        client.cookie = client.ask(f"/{client.token}")[1]["set-cookie"].split(";")[0]
    data = {"space": "Sphere", "size:shiny.number": 2, "n:shiny.number": 500, "means": 1}
    data |= {"radius": 1.0, "budget": "GDP", "parameter": 1.0, "effect": 0.3}
    data |= {".clientdata_output_verdict_hidden": False, ".clientdata_output_code_hidden": False}
    with client.talk() as page:
        page.send(json.dumps({"method": "init", "data": data}))
        while True:
            message = page.recv(timeout=60)
            if "Useful" in message:
                break
        page.send(json.dumps({"method": "update", "data": {"n:shiny.number": 2}}))
        while "Hopeless" not in page.recv(timeout=60):
            pass
