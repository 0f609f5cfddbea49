"""Look at the pages as a reader does: pictures of them, and what does not fit.

    python tools/screens.py docs/_build/html screens [--all]

Opens the built pages, a report and the planner in chromium without a network, at the width of a
laptop and of a telephone, keeps a picture of each and says what is wrong: a page that scrolls
sideways, a navigation in more than one line, a table that is wider than a laptop, a formula that
is not drawn. With ``--all`` every built page is looked at, of which no picture is kept; that takes
minutes. Needs selenium, chromium, chromedriver and ``riemdp[app]``.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTHS = 1280, 390
PAGES = {
    "home": "index.html",
    "quickstart": "quickstart.html",
    "study": "study.html",
    "enough": "is_my_data_enough.html",
    "mechanisms": "mechanisms.html",
    "proof": "proofs/riemannian-laplace.html",
    "api": "api/index.html",
    "class": "api/generated/riemdp.RiemannianLaplace.html",
    "function": "api/generated/riemdp.private_mean.html",
    "gallery": "gallery/index.html",
    "example": "gallery/plot_eeg_classifier.html",
}
#: Pictures end here; a page of proofs is twenty times as long as a screen.
TALLEST = 4000
PATIENCE = 120.0
#: What every page is asked. Whatever scrolls by itself, or is hidden, may be wider than the page.
FOUND = """
const wide = document.documentElement.clientWidth, found = [];
const style = (item) => getComputedStyle(item);
const seen = (item) => item.getClientRects().length && style(item).visibility != 'hidden';
const right = (item) => item.getBoundingClientRect().right;
const outside = (item) => right(item) > wide + 1;
const scrolls = (item) => /auto|scroll/.test(style(item).overflowX);
const within = (item) => {
    while ((item = item.parentElement) && !item.matches('body, .bd-article-container'))
        if (scrolls(item)) return true;
    return false;
};
const words = (item) => item.tagName.toLowerCase() + ' '
    + item.textContent.trim().replace(/\\s+/g, ' ').slice(0, 40);
for (const item of [document.scrollingElement, document.querySelector('.bd-article-container')])
    if (item && item.scrollWidth > item.clientWidth)
        found.push('scrolls sideways by ' + (item.scrollWidth - item.clientWidth) + ' px');
const shown = (item) => seen(item) && !item.closest('dialog, .bd-sidebar');
const text = 'h1, h2, h3, p, li, dt, dd, td, th, pre, img, button, label, input, select';
for (const item of document.querySelectorAll(text)) {
    const whole = !/hidden|clip/.test(style(item).overflowX)
        || item.scrollWidth <= item.clientWidth + 1 || !item.clientWidth;
    if (shown(item) && (!whole || outside(item) && !within(item)))
        found.push('cut off: ' + words(item));
}
for (const item of document.querySelectorAll('h1, h2, h3, p, dt, dd, th'))
    if (shown(item) && !scrolls(item) && !within(item)
            && item.scrollWidth > item.clientWidth + 1 && style(item).display != 'inline')
        found.push('wider than its place: ' + words(item));
for (const item of document.querySelectorAll('table')) {
    const frame = item.parentElement;
    if (seen(item) && wide > 1000 && frame.scrollWidth > frame.clientWidth + 1)
        found.push('has to be scrolled: ' + words(item));
}
for (const item of document.querySelectorAll('.bd-sidebar-secondary a code, .bd-sidebar-primary a'))
    if (seen(item) && wide > 1000 && right(item) > right(item.closest('div')) + 1)
        found.push('cut off: ' + words(item));
for (const item of document.querySelectorAll('.math'))
    if (!item.querySelector('mjx-container')) found.push('not drawn: ' + words(item));
if (document.querySelector('.bd-header') && wide > 1000) {
    const links = [...document.querySelectorAll('.bd-header .navbar-nav > .nav-item')].filter(seen);
    const names = links.map((item) => item.textContent.trim());
    for (const name of ['Examples', 'API'])
        if (!names.includes(name)) found.push('no ' + name + ' in the navigation');
    if (new Set(links.map((item) => item.getBoundingClientRect().top)).size > 1)
        found.push('navigation in more than one line');
}
return found;
"""


def chromium() -> Any:
    """Start the browser, without a window and without a network."""
    from selenium import webdriver  # noqa: PLC0415  (optional)

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--proxy-server=127.0.0.1:9"):
        options.add_argument(argument)
    return webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )


def looked_at(driver: Any, url: str, width: int) -> list[str]:
    """Open a page at a width, wait for its formulas, and say what is wrong with it."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 1300, "deviceScaleFactor": 1, "mobile": False},
    )
    driver.get(url)
    driver.execute_async_script(
        "const done = arguments[0], drawn = window.MathJax && MathJax.startup"
        " && MathJax.startup.promise; Promise.resolve(drawn).then(done, done);"
    )
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and driver.execute_script(
        "return !!document.querySelector('html.shiny-busy, .recalculating')"
    ):
        time.sleep(0.2)
    return list(driver.execute_script(FOUND))


def picture(driver: Any, path: Path, width: int) -> None:
    """Keep what the page looks like, from its beginning."""
    tall = driver.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(tall, TALLEST), "scale": 1}
    taken = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    path.write_bytes(base64.b64decode(taken["data"]))


def write_report(path: Path) -> None:
    """Write the report of a release of made-up directions."""
    import numpy as np  # noqa: PLC0415  (slow)

    import riemdp  # noqa: PLC0415
    from riemdp import report  # noqa: PLC0415

    ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    release = riemdp.private_mean(points, ball, riemdp.GDP(1.0))
    path.write_text(report.html(release, unit="one direction"), encoding="utf-8")


@contextlib.contextmanager
def planner() -> Iterator[str]:
    """Serve the planner from a process of its own, and say where."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "riemdp", "app", "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > end:
                        raise
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def screens(driver: Any, folder: Path, into: Path) -> Iterator[str]:
    """Keep a picture of each of the chosen pages, and say what is wrong with them."""
    with tempfile.TemporaryDirectory() as temporary, planner() as served:
        report = Path(temporary, "report.html")
        write_report(report)
        urls = {name: (folder / path).resolve().as_uri() for name, path in PAGES.items()}
        urls |= {"report": report.as_uri(), "planner": served}
        for name, url in urls.items():
            for width in WIDTHS:
                found = looked_at(driver, url, width)
                picture(driver, into / f"{name}-{width}.png", width)
                yield from (f"{name} at {width} px: {problem}" for problem in found)


def main() -> int:
    """Make the pictures; 1 if something does not fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="built pages")
    parser.add_argument("into", type=Path, help="folder of the pictures")
    parser.add_argument("--all", action="store_true", help="look at every built page, too")
    chosen = parser.parse_args()
    chosen.into.mkdir(parents=True, exist_ok=True)
    driver = chromium()
    try:
        found = list(screens(driver, chosen.folder, chosen.into))
        for path in sorted(chosen.folder.rglob("*.html")) if chosen.all else ():
            for width in WIDTHS:
                name = f"{path.relative_to(chosen.folder)} at {width} px"
                at = looked_at(driver, path.resolve().as_uri(), width)
                found += [f"{name}: {problem}" for problem in at]
    finally:
        driver.quit()
    print(*found, f"{chosen.into}: {len(found)} problems", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
