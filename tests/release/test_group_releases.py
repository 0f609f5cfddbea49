"""Releases of groups together: their names, their documents, what belongs together."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    PrivateMeans,
    UnsupportedNeighboursError,
    private_mean,
    private_means,
)
from riemdp.statistics import Groups

PLANE = Ball(Euclidean(2), [0.0, 0.0], 2.0)


def groups(sizes=(30, 40, 50), seed=0, ball=PLANE):
    rng = np.random.default_rng(seed)
    return {f"g{k}": ball.point(rng.normal(0.1 * k, 0.3, (n, ball.manifold.dim)))
            for k, n in enumerate(sizes)}  # fmt: skip


def test_names_may_be_integers_and_their_texts():
    one, two, *_ = groups().values()
    means = private_means({np.int64(1): one, "1": two}, PLANE, GDP(1.0))
    assert means.names == (1, "1")
    assert (means[1].n, means["1"].n) == (30, 40)
    assert 2 not in means
    assert (means[np.int64(1)].n, means[np.str_("1")].n) == (30, 40)
    assert np.str_("2") not in means
    assert np.True_ not in means
    for names in ({1.5: one}, {True: one}, {}):
        with pytest.raises(InvalidParameterError):
            private_means(names, PLANE, GDP(1.0))
    with pytest.raises(InvalidParameterError, match="mapping"):
        private_means([one, two], PLANE, GDP(1.0))


def test_groups_are_about_the_same_neighbours():
    """Also where what these are called does not tell them apart."""
    data = groups()
    whose = {name: [f"{name} {row}" for row in range(len(x))] for name, x in data.items()}
    draw = functools.partial(private_means, data, PLANE, GDP(1.0), users=whose)
    one, two = draw(contribution=1)["g0"], draw(contribution=2)["g0"]
    assert one.guarantee == two.guarantee
    with pytest.raises(InvalidParameterError, match="or for other neighbours"):
        PrivateMeans(("a", "b"), (one, two), one.guarantee)


def test_documents_that_say_something_else_are_refused():
    document = json.loads(private_means(groups((9, 9)), PLANE, GDP(1.0)).to_json())
    header = document["header"]
    for change in (
        {"format": "x"},
        {"header": {**header, "names": ["g0"]}},
        {"header": {**header, "names": ["g0", "g0"]}},
        {"header": {**header, "names": "g0"}},
        {"header": {**header, "headers": header["headers"][::-1]}},
        {"header": {**header, "more": 1}},
        {"releases": []},
        {"more": 1},
    ):
        with pytest.raises(InvalidParameterError):
            PrivateMeans.from_json(json.dumps({**document, **change}))
    stronger = {**header, "guarantee": {**header["guarantee"], "mu": 0.5}}
    with pytest.raises(InvalidParameterError, match="does not follow"):
        PrivateMeans.from_json(json.dumps({**document, "header": stronger}))


def test_releases_whose_neighbours_may_be_in_several_groups_have_no_guarantee_together():
    found = [private_mean(data, PLANE, GDP(1.0), adjacency=Groups(2)) for data in groups().values()]
    with pytest.raises(UnsupportedNeighboursError, match="several groups"):
        PrivateMeans(tuple(groups()), tuple(found), GDP(1.0))
