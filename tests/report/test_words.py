from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from riemdp import (
    GDP,
    RDP,
    ZCDP,
    ApproxDP,
    Ball,
    Euclidean,
    Part,
    PureDP,
    SPDLogEuclidean,
    Sphere,
    private_mean,
    statistics,
)
from riemdp._part import registered
from riemdp.report import _words

BALL = Ball(Euclidean(1), [0.0], 1.0)


@pytest.mark.parametrize("sort", ["definition", "manifold", "mechanism", "neighbours", "statistic"])
def test_every_part_says_what_it_is_in_one_sentence(sort):
    for name, kind in registered(sort).items():
        found = _words.sentence(object.__new__(kind))
        assert found.endswith("."), name
        assert not {"`", "\n"} & set(found), name


def test_roles_of_the_documentation_are_left_out():
    assert _words.sentence(statistics.ReplaceOne()).startswith("Data sets of one public size")
    assert "Power makes it" in _words.sentence(object.__new__(registered("manifold")["FlatPower"]))


@pytest.mark.parametrize(
    ("guarantee", "name"),
    [
        (PureDP(1.0), "PureDP, ε = 1"),
        (ApproxDP(0.5, 1e-6), "ApproxDP, ε = 0.5, δ = 1e-6"),
        (GDP(1 / 3), "GDP, μ = 0.3334"),
        (ZCDP(0.1), "ZCDP, ρ = 0.1, ξ = 0"),
        (RDP(order=2.0, epsilon=0.5), "RDP, order = 2, ε = 0.5"),
    ],
)
def test_definitions_have_their_numbers_rounded_up(guarantee, name):
    assert _words.definition(guarantee.under("add-remove"))[0] == name
    assert _words.definition(guarantee)[1]


def test_parts_are_named_with_those_inside():
    moments = statistics.Moments(second="matrix")
    counted = statistics.Counted(moments, 1.5)
    assert (
        _words.named(counted) == "counted (weight = 1.5, weighs = False; moments (second = matrix))"
    )
    assert _words.named(statistics.FrechetMean()) == "frechet-mean"
    assert _words.named(Sphere(2)) == "Sphere (dim = 2, curvature = 1)"


def test_of_parts_that_are_no_data_classes_only_the_name_is_known():
    class Plain(Part):
        name = "plain"

    assert _words.named(Plain()) == "plain"


def test_whom_it_protects_is_said_of_every_relation():
    for name, kind in registered("neighbours").items():
        relation = object.__new__(kind)
        whom, left_open = _words.protected(relation)
        assert whom, name
        assert bool(left_open) == kind.size_is_public, name
        assert _words.of_people(relation) == ("user" in name)
        assert ("is among the data" in _words.asked(relation)) == ("add" in name)
        assert ("person" in _words.asked(relation)) == ("user" in name)

    @dataclasses.dataclass(frozen=True)
    class Foreign(statistics.Neighbours):
        """Data sets that differ in a household."""

        name = "outside.household"

        def sensitivity(self, statistic, ball, n, metric):
            return 1.0

    assert "neighbouring data sets" in _words.asked(Foreign())
    assert _words.protected(Foreign()) == ("Data sets that differ in a household.", "")


def test_numbers_of_records():
    rows = np.zeros((6, 1))
    assert _words.number(private_mean(rows, BALL, GDP(1.0))) == "6 records"
    users = private_mean(rows, BALL, GDP(1.0), users=[1, 1, 2, 2, 3, 3], people=3)
    assert _words.number(users) == "3 people"
    hidden = _words.number(private_mean(rows, BALL, GDP(1.0), adjacency="add-remove"))
    assert hidden.startswith("a private number of records (released with noise: ")
    assert SPDLogEuclidean(2)  # names of spaces are their own


def test_figures():
    assert _words.figure(1e-6) == "1e-6"
    assert _words.figure(0.0) == "0"
