from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from riemdp import GDP, ZCDP, Ball, Euclidean, PureDP, SPDLogEuclidean, Sphere
from riemdp.privacy import rest_of
from riemdp.release._search._steps import Search, found_ball, working_ball


@pytest.mark.parametrize("budget", [PureDP(0.3), GDP(1.7), ZCDP(0.1)], ids=str)
def test_what_steps_take_is_rounded_up(budget):
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    shares = [Fraction(1, 100), Fraction(3, 200), Fraction(1, 600)]
    steps = tuple({"share": [x.numerator, x.denominator]} for x in shares)
    search = Search(ball, 100, budget, False, steps)
    whole, taken = (Fraction(x.price()[0]) for x in (budget, search.spent))
    assert sum(shares) * whole <= taken <= sum(shares) * whole * Fraction(1 + 1e-12)
    left = rest_of(budget, [search.spent])
    assert Fraction(left.price()[0]) <= (1 - sum(shares)) * whole


def test_its_proofs_are_named(found):
    proofs = found.search.proofs()
    assert proofs["private ball"] == "docs/proofs/private-ball.md"
    assert all(proof.startswith("docs/proofs/") for proof in proofs.values())
    assert found.search.direction is None


def test_on_flat_spaces_the_chart_is_searched():
    manifold = SPDLogEuclidean(2)
    public = Ball(manifold, 2.0 * np.eye(2), 1.5)
    working = working_ball(public)
    assert (working.manifold, working.radius) == (Euclidean(3), 1.5)
    center = working.center + np.array([0.1, 0.0, 0.2])
    ball = found_ball(public, Ball(working.manifold, center, 0.3))
    assert ball.radius == 0.3
    np.testing.assert_allclose(manifold.to_chart(ball.center), center, atol=1e-14)
    assert found_ball(public, working) is public
    sphere = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    assert working_ball(sphere) is sphere
