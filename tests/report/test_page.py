from __future__ import annotations

import base64
import hashlib
import re

from riemdp.report._page import page


def test_a_page_may_load_nothing_and_run_nothing():
    found = page("<title>", "<body>")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', found)[1]
    assert policy.startswith("default-src &#x27;none&#x27;; style-src &#x27;sha256-")
    style = re.search(r"<style>(.*?)</style>", found, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"sha256-{digest}&#x27;" in policy
    assert "url(" not in style
    assert "@import" not in style
    assert "&lt;title&gt;" in found
    assert "<main>&lt;body&gt;</main>" in found
