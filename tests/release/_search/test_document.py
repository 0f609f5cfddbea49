from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from riemdp import GDP, Ball, InvalidParameterError, Release, Sphere, private_mean
from riemdp.release._search._document import search_from_dict, search_to_dict

from .conftest import cluster


def test_a_receipt_comes_back_bit_by_bit(release):
    text = release.to_json()
    again = Release.from_json(text)
    assert again.search == release.search
    assert again.to_json() == text
    document = json.loads(text)
    assert document["format"] == "riemdp-release/3"
    assert document["header"]["guarantee"] == {"type": "GDP", "mu": 1.0}
    first = document["search"]["steps"][0]
    assert first["query"] == "pairs"
    assert first["share"] == [1, 100]


def test_a_release_without_a_search_has_no_such_key(plane):
    release = private_mean(cluster(50, 2), plane, GDP(1.0))
    assert "search" not in json.loads(release.to_json())


def test_a_whole_space_comes_back():
    space = Sphere(2)
    points = Ball(space, space.origin, 0.05).point(np.zeros((800, 2)))
    release = private_mean(points, Ball.whole(space), GDP(2.0), method="adaptive")
    again = Release.from_json(release.to_json())
    assert again.search == release.search
    assert again.search.ball.is_whole


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("steps",), []),
        (("steps",), "x"),
        (("axis",), 1),
        (("budget",), {"type": "GDP"}),
        (("release",), 3),
        (("other",), 3),
        (("public_ball", "radius"), "x"),
        (("steps", 0), 1.0),
        (("steps", 0, "share"), 0.01),
        (("steps", 0, "share"), [1, 0]),
        (("steps", 0, "share"), [1, 1]),
        (("steps", 0, "share"), [True, 2]),
    ],
)
def test_what_is_no_receipt_is_refused(release, path, value):
    document = copy.deepcopy(search_to_dict(release.search))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InvalidParameterError):
        search_from_dict(document, release.ball.manifold, release.n)
