"""The page as a whole: nothing is asked for, nothing runs, and no text of a document is markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    PrivateMeans,
    Release,
    private_mean,
    private_means,
    report,
)

BALL = Ball(Euclidean(2), [0.0, 0.0], 1.0)
ROWS = np.zeros((50, 2))
HOSTILE = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>\"' & \u202e"
STORED = sorted((Path(__file__).resolve().parents[1] / "data" / "release-3").glob("*.json"))


class Reader(HTMLParser):
    """What a browser makes of a page: elements, attributes, text; and whether they are closed."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


#: All that a page is made of.
TAGS = frozenset(
    """
    html head meta title style body main section div p h1 h2 h3 dl dt dd ul li table thead tbody
    tr th td code span strong q footer svg rect polyline circle text
    """.split()  # noqa: SIM905
)
ATTRIBUTES = frozenset(
    """
    lang charset http-equiv content name class scope viewbox role x y cx cy r width height points
    transform
    """.split()  # noqa: SIM905
)


def check_harmless(page):
    found = read(page)
    assert found.tags <= TAGS
    assert found.attributes <= ATTRIBUTES
    assert not re.search(r"(?<!urn:)https?:|url\(|@import", page)
    return found


@pytest.fixture(scope="module")
def release():
    return private_mean(ROWS, BALL, GDP(1.0))


def test_a_page_is_one_file_that_asks_for_nothing(release):
    found = check_harmless(report.html(release))
    text = "".join(found.text)
    for words in ("GDP, μ = 1", "50 records", "frechet-mean", "Proofs and versions", "holds"):
        assert words in text
    assert "Document" not in text  # there is no file


def hostile(release):
    document = json.loads(release.to_json())
    document["header"]["reason"] = HOSTILE
    document["header"]["proofs"] |= {HOSTILE: None, "part": HOSTILE}
    document["anchor"] = {"dataset": HOSTILE, "seq": 1, "charge_id": HOSTILE, "hash": HOSTILE}
    return document


def test_no_text_of_a_document_becomes_markup(release, tmp_path):
    audit = {
        "mechanism": HOSTILE, "claim": {"definition": "GDP", "mu": 1.0}, "samples": 10,
        "confidence": 0.9, "score": HOSTILE, "seed": None, "mu_lower": 0.0,
        "pure_epsilon_lower": 0.0, "epsilon_lower": {}, "events": [], "verdict": "consistent",
    }  # fmt: skip
    read_back = Release.from_json(json.dumps(hostile(release)))
    page = report.html(read_back, unit=HOSTILE, audit=audit)
    assert page.isprintable() or "\u202e" not in page
    text = "".join(check_harmless(page).text)
    assert text.count("<script>alert(1)</script>") >= 7
    path = tmp_path / "a<b>&.json"
    path.write_text(json.dumps(hostile(release)), encoding="utf-8")
    check_harmless(report.html(path))


def test_what_is_not_escaped_is_seen(release, monkeypatch):
    from riemdp.report import _sections
    from riemdp.report._markup import Markup

    monkeypatch.setattr(_sections, "_code", lambda text: Markup(f"<code>{text}</code>"))
    with pytest.raises(AssertionError):
        check_harmless(report.html(Release.from_json(json.dumps(hostile(release)))))


def test_groups_have_one_guarantee_and_a_part_each():
    means = private_means({HOSTILE: ROWS, "b": ROWS + 0.5}, BALL, GDP(1.0))
    text = "".join(check_harmless(report.html(means)).text)
    assert text.count("What was released") == 2
    assert text.count("Under which guarantee") == 1
    assert "public" in text


def test_files_are_named_with_their_hash(release, tmp_path):
    small, large, groups = (tmp_path / f"{name}.json" for name in ("small", "large", "groups"))
    release.save(small)
    release.save(large, container=True)
    means = private_means({"a": ROWS, "b": ROWS + 0.5}, BALL, GDP(1.0))
    groups.write_text(means.to_json(), encoding="utf-8")
    for path in (small, str(large), groups):
        text = "".join(check_harmless(report.html(path)).text)
        assert Path(path).name in text
        assert re.search(r"SHA-256 [0-9a-f]{64}", text)
    assert "large.npz" in report.html(large)
    assert len(PrivateMeans.from_json(groups.read_text())) == 2
    (tmp_path / "large.npz").write_bytes(b"")
    with pytest.raises(InvalidParameterError, match=r"large\.npz"):
        report.html(large)


def test_it_shows_no_more_than_the_document_holds(release):
    """Every number on the page is one of the document, or is computed from these."""
    again = Release.from_json(release.to_json())
    assert report.html(again) == report.html(release)


@pytest.mark.fast(2)
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_document_has_a_page(path):
    assert "FAILS" not in "".join(check_harmless(report.html(path)).text)


@pytest.mark.parametrize("wrong", [None, 3, b"release.json", ["release.json"]])
def test_what_is_no_release_is_refused(wrong):
    with pytest.raises(InvalidParameterError):
        report.html(wrong)


def test_what_a_unit_is_has_to_be_a_text(release):
    with pytest.raises(InvalidParameterError, match="unit"):
        report.html(release, unit=3)
