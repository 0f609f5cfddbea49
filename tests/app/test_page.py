"""The page in a real browser, where one is installed."""

import os
import re
import subprocess
import sys
import time

import pytest

pytest.importorskip("shiny")

By = pytest.importorskip("selenium.webdriver.common.by").By

pytestmark = pytest.mark.slow

WAIT = 120.0


@pytest.fixture(scope="module")
def address(browser):
    """Where the planner is served by a process of its own, to the browser that has the cookie."""
    command = [sys.executable, "-m", "riemdp", "app", "--no-browser"]
    with subprocess.Popen(
        command, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            found = re.search(r"(http://\S+)/\?token=\S+", process.stdout.readline())
            browser.get(found[0])
            yield found[1]
        finally:
            process.terminate()
            process.wait()


def text_of(browser, name, holds):
    """Wait for an output that is made again until its text holds a word."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        text = browser.find_element(By.ID, name).text
        if holds(text) and not browser.find_elements(By.CSS_SELECTOR, "html.shiny-busy"):
            return text
        time.sleep(0.2)
    raise AssertionError(f"{name} was not made: {text!r}")


def give(browser, name, value):
    field = browser.find_element(By.ID, name)
    browser.execute_script(
        "arguments[0].value = arguments[1];"
        "arguments[0].dispatchEvent(new Event('input', {bubbles: true}));"
        "arguments[0].dispatchEvent(new Event('change', {bubbles: true}));",
        field,
        str(value),
    )


def test_the_verdict_follows_the_numbers(browser, address):
    browser.set_window_size(1280, 1000)
    browser.get(address)
    assert "Useful" in text_of(browser, "verdict", lambda text: "noise is" in text)
    give(browser, "n", 20)
    said = text_of(browser, "verdict", lambda text: "n = " in text)
    assert "Borderline" in said
    assert "would be a third" in said
    give(browser, "n", 2)
    assert "Hopeless" in text_of(browser, "verdict", lambda text: "Hopeless" in text)
    assert "SPDLogEuclidean(3)" in text_of(browser, "code", lambda text: "GDP(1)" in text)
    assert "--mu 1" in text_of(browser, "command", lambda text: "riemdp mean" in text)
    # what is not available is said on the page, in the words of the library
    give(browser, "radius", 0)
    assert "radius" in text_of(browser, "verdict", lambda text: "Not available" in text)
    give(browser, "radius", 1)
    text_of(browser, "verdict", lambda text: "Hopeless" in text)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_off(browser, address, width):
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get(address)
    text_of(browser, "verdict", lambda text: "noise is" in text)
    assert browser.execute_script("return window.innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.find_elements(By.CSS_SELECTOR, "#errors img")


def test_no_other_machine_is_asked(browser, address):
    browser.get_log("performance")
    browser.get(address)
    text_of(browser, "verdict", lambda text: "noise is" in text)
    import json

    asked = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    assert len(asked) > 3
    strangers = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    assert strangers == []
