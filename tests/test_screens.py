"""The look at the pages finds what does not fit, in a real browser where one is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import screens

ROOT = Path(__file__).resolve().parents[1]

LINKS = "".join(f"<li class='nav-item'>{name}</li>" for name in ("Start", "Examples", "API"))
BAR = "<header class='bd-header'><ul class='navbar-nav' style='{}'>{}</ul></header>"
FRAME = (
    "<div style='overflow-x: auto'><table><tr><td style='min-width: {}px'>x</td></tr></table></div>"
)
TALL = "<div style='height: 3000px'></div>"  # so that a scroll bar takes its share
COLUMN = "<div class='bd-sidebar-secondary' style='width: 9px'><a><code>sample()</code></a></div>"


def looked_at(browser, folder, body, width):
    page = folder / "page.html"
    page.write_text(f"<!doctype html><html><body>{body}</body></html>", encoding="utf-8")
    return screens.looked_at(browser, page.as_uri(), width)


@pytest.mark.slow
def test_pages_that_fit_pass(browser, tmp_path):
    body = BAR.format("display: flex", LINKS) + "<h1>Short</h1><p>words</p>" + FRAME.format(600)
    for width in screens.WIDTHS:
        assert looked_at(browser, tmp_path, body, width) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "width", "said"),
    [
        ("<p style='width: 500px'>words</p>", 390, "scrolls sideways"),
        (f"<div class='bd-article-container' style='overflow-x: auto'><h1>{'x' * 60}</h1></div>",
         390, "scrolls sideways"),
        (f"<p style='overflow: hidden'>{'x' * 300}</p>", 390, "cut off: p"),
        (f"<div style='overflow: hidden'><h2>{'x' * 300}</h2></div>", 390, "wider than its"),
        (FRAME.format(2000), 1280, "has to be scrolled: table"),
        ("<p><span class='math'>x</span></p>", 1280, "not drawn"),
        (BAR.format("display: block", LINKS), 1280, "navigation in more than one line"),
        (BAR.format("display: flex", "<li class='nav-item'>API</li>") + TALL, 1280, "no Examples"),
        (COLUMN + TALL, 1280, "cut off: code"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_found(browser, tmp_path, body, width, said):
    assert any(problem.startswith(said) for problem in looked_at(browser, tmp_path, body, width))


def test_pages_of_the_list_are_sources_of_this_repository():
    docs = ROOT / "docs"
    for path in screens.PAGES.values():
        page = docs / path
        made = path.startswith(("gallery/", "api/generated/"))
        assert made or any(page.with_suffix(end).exists() for end in (".md", ".rst"))
