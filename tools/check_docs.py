"""Check the built pages: nothing from another host is loaded, and no formula stays raw TeX.

    python tools/check_docs.py docs/_build/html [--browser]

A page may link to other hosts, but has to be readable without any. Formulas are drawn by a script
that lies beside the pages; a page with formulas has to load it. With ``--browser`` every such page
is opened in chromium without a network as well, and no formula may be left or be in error; that
needs selenium, chromium and chromedriver, and takes minutes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What a browser loads without being asked, by tag; a link's ``rel`` says whether it does.
LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "link": ("href",),
}
NOT_LOADED = {"canonical", "next", "prev", "index", "search", "author", "license", "copyright"}
ELSEWHERE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
IN_STYLES = re.compile(
    r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)|@import\s+['\"]((?:https?:)?//[^'\"]+)"
)
#: TeX that would only stand in running text where nobody turned it into a formula.
RAW = re.compile(
    r"\\(?:frac|tfrac|sqrt|sum|int|rho|sigma|mu|varepsilon|epsilon|delta|Delta|le|ge|lambda|mathbb|"
    r"mathrm|operatorname|log|max|min)(?![A-Za-z])|\$[^$\s][^$]*[\\^_][^$]*\$|:math:`"
)
#: Counts of formulas, once they are drawn: left as they were, in error, drawn.
COUNTS = """
const done = arguments[0], all = (selector) => [...document.querySelectorAll(selector)];
MathJax.startup.promise.then(() => done([
    all('.math').filter((item) => !item.querySelector('mjx-container')).length,
    all('mjx-merror, [data-mjx-error], [data-mml-node=merror]').length,
    all('mjx-container').length,
]));
"""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
LITERAL = {"code", "pre", "script", "style", "title", "textarea", "tt", "kbd", "samp"}
MATH = {"math", "MathJax"}


class Page(HTMLParser):
    """What one page loads, and the TeX in its running text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.loaded: list[str] = []
        self.raw: list[str] = []
        self.formulas = 0
        self._open: list[tuple[str, bool]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag loads, and whether a formula begins."""
        given = {name: value or "" for name, value in attrs}
        if tag != "link" or not set(given.get("rel", "").split()) & NOT_LOADED:
            for name in LOADED.get(tag, ()):
                self.loaded += [
                    part.split()[0] for part in given.get(name, "").split(",") if part.strip()
                ]
        self.loaded += [a or b for a, b in IN_STYLES.findall(given.get("style", ""))]
        formula = bool(MATH & set(given.get("class", "").split()))
        self.formulas += formula
        if tag not in VOID:
            self._open.append((tag, formula))

    def handle_endtag(self, tag: str) -> None:
        """Close the tag, and those in it that nobody closed."""
        while any(name == tag for name, _ in self._open):
            if self._open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        """Look at text by where it stands."""
        if any(tag == "style" for tag, _ in self._open):
            self.loaded += [a or b for a, b in IN_STYLES.findall(data)]
        if not any(formula or tag in LITERAL for tag, formula in self._open):
            self.raw += [found.group() for found in RAW.finditer(data)]


def problems(folder: Path) -> Iterator[str]:
    """Tell what is wrong with the pages and styles in a folder, a line each."""
    pages = sorted(folder.rglob("*.html"))
    if not pages:
        yield f"{folder}: no pages"
    for path in pages:
        name, page = path.relative_to(folder), Page(path.read_text(encoding="utf-8"))
        yield from (f"{name}: loads {url}" for url in page.loaded if ELSEWHERE.match(url))
        yield from (f"{name}: raw TeX: {text}" for text in page.raw)
        if page.formulas and not _draws(path, page):
            yield f"{name}: {page.formulas} formulas, and no script beside the pages to draw them"
    for path in sorted(folder.rglob("*.css")):
        for pair in IN_STYLES.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(folder)}: loads {pair[0] or pair[1]}"


def _draws(path: Path, page: Page) -> bool:
    scripts = [url.split("?")[0] for url in page.loaded if "tex-svg" in url]
    return any((path.parent / url).is_file() for url in scripts if not ELSEWHERE.match(url))


def problems_in_browser(folder: Path) -> Iterator[str]:
    """Open every page with formulas, without a network, and look for those that were not drawn."""
    from selenium import webdriver  # noqa: PLC0415  (optional)
    from selenium.webdriver.support.ui import WebDriverWait  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--proxy-server=127.0.0.1:9"):
        options.add_argument(argument)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        for path in sorted(folder.rglob("*.html")):
            if not Page(path.read_text(encoding="utf-8")).formulas:
                continue
            driver.get(path.resolve().as_uri())
            WebDriverWait(driver, 120).until(
                lambda browser: browser.execute_script(
                    "return !!(window.MathJax && MathJax.startup && MathJax.startup.promise)"
                )
            )
            undrawn, errors, drawn = driver.execute_async_script(COUNTS)
            if undrawn or errors or not drawn:
                name = path.relative_to(folder)
                yield f"{name}: {undrawn} formulas not drawn, {errors} in error, {drawn} drawn"
    finally:
        driver.quit()


def main() -> int:
    """Print the problems; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--browser", action="store_true", help="also draw every formula, offline")
    chosen = parser.parse_args()
    found = list(problems(chosen.folder))
    if chosen.browser:
        found += problems_in_browser(chosen.folder)
    pages = len(list(chosen.folder.rglob("*.html")))
    print(*found, f"{pages} pages, {len(found)} problems", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
