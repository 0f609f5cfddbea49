import builtins
import socket

import pytest

from riemdp import InvalidParameterError, UnsupportedError
from riemdp.planner import serve
from riemdp.planner._serve import HOST


@pytest.mark.parametrize("port", [-1, 65536, 80.0, "80", True])
def test_ports_are_checked(port):
    with pytest.raises(InvalidParameterError, match="65535"):
        serve(port)


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    found = builtins.__import__

    def without(name, *arguments, **options):
        if name == "shiny":
            raise ImportError(name)
        return found(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnsupportedError, match=r"riemdp\[app\]"):
        serve()


def test_only_this_machine_is_served(monkeypatch):
    shiny = pytest.importorskip("shiny")
    seen = {}
    monkeypatch.setattr(shiny, "run_app", lambda app, **options: seen.update(options))
    serve(8765, open_browser=False)
    assert seen == {"host": "127.0.0.1", "port": 8765, "launch_browser": False}
    assert HOST == "127.0.0.1"


def test_a_port_that_is_taken_is_said(monkeypatch):
    shiny = pytest.importorskip("shiny")
    monkeypatch.setattr(shiny, "run_app", lambda *_, **__: pytest.fail("it was served"))
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(InvalidParameterError, match="cannot be taken"):
            serve(other.getsockname()[1], open_browser=False)
