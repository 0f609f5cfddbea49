from __future__ import annotations

import pytest

from riemdp.report._markup import Markup, escaped, facts, joined, section, table, tag


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>", "&lt;script&gt;"),
        ("a & b", "a &amp; b"),
        ('" onload="x', "&quot; onload=&quot;x"),
        ("it's", "it&#x27;s"),
        ("line\nend", "line\\nend"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\ud800", "\\ud800"),
        ("μ = 1, Fréchet", "μ = 1, Fréchet"),
        (1.5, "1.5"),
    ],
)
def test_texts_are_escaped(text, shown):
    assert escaped(text) == shown
    assert isinstance(escaped(text), Markup)
    assert tag("p", text) == f"<p>{shown}</p>"
    assert tag("p", title=str(text)) == f'<p title="{shown}"></p>'
    shown.encode("utf-8")


def test_markup_stays_and_is_nothing_that_a_text_becomes_by_itself():
    inner = tag("b", "<")
    assert tag("p", inner) == "<p><b>&lt;</b></p>"
    assert tag("p", str(inner) + "") == "<p>&lt;b&gt;&amp;lt;&lt;/b&gt;</p>"
    assert joined(["<", inner]) == "&lt;<b>&lt;</b>"


def test_attributes_names_and_lists():
    assert tag("rect", class_="a", font_size="2") == '<rect class="a" font-size="2"></rect>'
    assert facts([("a", "<")]) == "<dl><dt>a</dt><dd>&lt;</dd></dl>"
    assert "<h2>&lt;</h2>" in section("<", "x")
    found = table(("<", "b"), [("1", "<2>")])
    assert '<th scope="col">&lt;</th>' in found
    assert "<td>1</td><td>&lt;2&gt;</td>" in found
