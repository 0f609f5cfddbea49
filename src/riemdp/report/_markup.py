"""Small pieces of HTML. What is no markup already is escaped: it may come from a file."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Markup(str):
    """HTML of this package's own."""

    __slots__ = ()


def escaped(text: object) -> Markup:
    """Return a text as HTML; what is not printable (directions, line ends) is named by its number.

    Markup stays as it is.
    """
    if isinstance(text, Markup):
        return text
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text)
    )
    # What encodes no character, as half a surrogate pair, could not be written to a file.
    known = shown.encode("utf-8", "backslashreplace").decode("utf-8")
    return Markup(html.escape(known, quote=True))


def tag(name: str, *children: object, **attributes: str) -> Markup:
    """Return an element of texts, which are escaped, and markup.

    An underscore at the end of an attribute's name is dropped (``class_``), others become hyphens.
    """
    words = (
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{''.join(words)}>{joined(children)}</{name}>")


def joined(children: Iterable[object]) -> Markup:
    """Return texts and markup one after the other."""
    return Markup("".join(escaped(child) for child in children))


def facts(rows: Sequence[tuple[object, object]]) -> Markup:
    """Return names and values, one pair a line."""
    pairs = (joined((tag("dt", name), tag("dd", value))) for name, value in rows)
    return tag("dl", *pairs)


def table(columns: Sequence[object], rows: Iterable[Sequence[object]], **attributes: str) -> Markup:
    """Return a table, which scrolls by itself where it is wider than the page."""
    head = tag("thead", tag("tr", *(tag("th", column, scope="col") for column in columns)))
    body = tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    return tag("div", tag("table", head, body, **attributes), class_="scroll")


def section(title: str, *children: object) -> Markup:
    """Return a part of the page under a heading."""
    return tag("section", tag("h2", title), *children)
