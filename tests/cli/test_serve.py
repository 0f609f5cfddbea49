from typer.testing import CliRunner

from riemdp.cli import _serve
from riemdp.cli._app import app


def test_it_serves_the_planner_at_the_port_that_is_asked_for(monkeypatch):
    seen = []

    def served(port, *, open_browser):
        seen.append((port, open_browser))

    monkeypatch.setattr(_serve, "serve", served)
    assert CliRunner().invoke(app, ["app", "--port", "8765", "--no-browser"]).exit_code == 0
    assert CliRunner().invoke(app, ["app"]).exit_code == 0
    assert seen == [(8765, False), (0, True)]


def test_a_port_that_is_none_is_bad_input():
    result = CliRunner().invoke(app, ["app", "--port", "70000"])
    assert result.exit_code == 2
