"""Relations between data sets ask the statistic what it knows of itself."""

from __future__ import annotations

import pytest

from riemdp import Ball, Sphere, frechet_mean_sensitivity, tangent_mean_sensitivity
from riemdp._part import decode, encode
from riemdp.statistics import FrechetMean, ReplaceOne, TangentMean

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_replacing_one_record_moves_a_statistic_by_what_it_says(n):
    relation = ReplaceOne()
    found = relation.sensitivity(FrechetMean(), BALL, n, "distance")
    assert found == frechet_mean_sensitivity(BALL, n)
    found = relation.sensitivity(TangentMean(), BALL, n, "coordinates")
    assert found == tangent_mean_sensitivity(BALL, n)


def test_documents_name_the_relation():
    assert encode(ReplaceOne()) == {"type": "replace-one"}
    assert decode({"type": "replace-one"}, "neighbours") == ReplaceOne()
