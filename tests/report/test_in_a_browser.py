"""The page in a real browser, where one is installed: it fits, loads nothing and runs nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Release,
    SPDLogEuclidean,
    private_mean,
    private_means,
    private_moments,
    report,
)

pytestmark = pytest.mark.slow

HOSTILE = "<script>document.title='ran'</script><img src='http://127.0.0.1:9/x.png'>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    space = SPDLogEuclidean(8)
    ball = Ball(space, np.eye(8), 1.0)
    rows = np.array([np.eye(8)] * 100)
    mean = private_mean(rows, ball, GDP(1.0))
    document = json.loads(mean.to_json())
    document["header"]["reason"] = HOSTILE
    document["header"]["proofs"] |= {HOSTILE: HOSTILE * 5}
    line = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    found = {
        "mean": mean,
        "moments": private_moments(np.zeros((50, 2)), line, GDP(1.0), second="matrix"),
        "groups": private_means({"a" * 80: rows[:50], HOSTILE: 1.1 * rows[:50]}, ball, GDP(1.0)),
        "hostile": Release.from_json(json.dumps(document)),
    }
    for name, release in found.items():
        page = report.html(release, unit=HOSTILE)
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    # the same page as it would be without escaping, and wider than a screen
    page = page.replace("&lt;", "<").replace("&gt;", ">").replace("&#x27;", "'")
    page = page.replace("</main>", '<svg width="3000" height="9"></svg></main>')
    (folder / "broken.html").write_text(page, encoding="utf-8")
    return folder


def seen(browser, path, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.get(path.as_uri())
    elements = "return document.querySelectorAll('script, img, link, iframe').length"
    wider = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
    loaded = "return performance.getEntriesByType('resource').length"
    return {
        "title": browser.title,
        "too wide": browser.execute_script(wider),
        "elements": browser.execute_script(elements),
        "loaded": browser.execute_script(loaded),
        "complaints": [entry["message"] for entry in browser.get_log("browser")],
    }


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["mean", "moments", "groups", "hostile"])
def test_a_page_fits_and_asks_for_nothing(browser, pages, name, width):
    assert seen(browser, pages / f"{name}.html", width) == {
        "title": "Privacy report",
        "too wide": 0,
        "elements": 0,
        "loaded": 0,
        "complaints": [],
    }


def test_what_is_not_escaped_would_be_seen_and_the_policy_would_stop_it(browser, pages):
    found = seen(browser, pages / "broken.html", 1280)
    assert found["elements"] > 0
    assert found["too wide"] > 0
    assert found["title"] == "Privacy report"  # the script did not run
    assert any("Content Security Policy" in message for message in found["complaints"])
