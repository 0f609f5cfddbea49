"""The check of the built pages finds what a page loads from elsewhere, and TeX that was left."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_docs

SCRIPT = '<script defer src="_static/tex-svg-full.js?v=1"></script>'
FORMULA = r'<span class="math notranslate">\(\frac{1}{n}\)</span>'


def pages(folder, body, style=""):
    (folder / "_static").mkdir()
    (folder / "_static" / "tex-svg-full.js").write_text("")
    (folder / "_static" / "page.css").write_text(style)
    (folder / "page.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    return list(check_docs.problems(folder))


@pytest.mark.parametrize(
    "body",
    [
        SCRIPT + FORMULA,
        '<a href="https://example.org/">a link is followed by whoever wants to</a>',
        r"<pre>\frac</pre><p>costs 5$ and 6$</p><code>:math:`x`</code>",
        '<link rel="canonical" href="https://example.org/">',
        '<p>first<br>second</p><img src="data:image/png;base64,AA//BB">',
    ],
)
def test_pages_that_are_whole_pass(tmp_path, body):
    assert pages(tmp_path, body) == []


@pytest.mark.fast(4)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<script src="https://cdn.example.org/x.js"></script>', "loads https://cdn"),
        ('<script src="//cdn.example.org/x.js"></script>', "loads //cdn"),
        ('<img srcset="a.png 1x, https://example.org/b.png 2x">', "loads https://example"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "loads https://example"),
        ("<style>@import 'https://example.org/x.css';</style>", "loads https://example"),
        ('<p style="background: url(https://example.org/x)">', "loads https://example"),
        (FORMULA, "no script beside the pages"),
        ('<script src="_static/gone/tex-svg.js"></script>' + FORMULA, "no script beside the pages"),
        (r"<pre>x</pre><p>with \frac12 of it</p>", r"raw TeX: \frac"),
        (SCRIPT + FORMULA + "<p>and $x_1$ too</p>", "raw TeX: $x_1$"),
    ],
)
def test_what_is_missing_without_a_network_is_found(tmp_path, body, said):
    (found,) = pages(tmp_path, body)
    assert said in found


def test_styles_are_read_too(tmp_path):
    (found,) = pages(tmp_path, "", "@font-face { src: url('https://example.org/font') }")
    assert found.startswith(str(Path("_static", "page.css")))


def test_a_folder_without_pages_does_not_pass(tmp_path):
    assert list(check_docs.problems(tmp_path))
