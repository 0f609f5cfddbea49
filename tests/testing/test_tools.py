"""How checks fail: by a message that says what should hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import Euclidean, InvalidParameterError, Sphere, UnsupportedBallError
from riemdp.testing import _tools


def test_requirements():
    _tools.require(np.ones(3, dtype=bool), "all hold")
    with pytest.raises(AssertionError, match="one does not"):
        _tools.require([True, False], "one does not")
    _tools.require_close([1.0, 2.0], [1.0, 2.0 + 1e-9], "close")
    with pytest.raises(AssertionError, match=r"numbers.*1e-05"):
        _tools.require_close([1.0], [1.0 + 1e-5], "numbers")
    with pytest.raises(AssertionError, match="shapes"):
        _tools.require_close([1.0], 1.0, "numbers")
    with pytest.raises(AssertionError, match="differ by nan"):
        _tools.require_close([math.nan], [1.0], "numbers")


def test_what_is_not_available_is_no_failure():
    with _tools.available():
        raise UnsupportedBallError("no room")
    with pytest.raises(InvalidParameterError), _tools.available():
        raise InvalidParameterError("a mistake")


def test_refusals():
    def refuse():
        raise UnsupportedBallError("no room")

    _tools.refuses(UnsupportedBallError, refuse, "it refuses")
    with pytest.raises(AssertionError, match="it raised nothing"):
        _tools.refuses(UnsupportedBallError, list, "it refuses")
    with pytest.raises(AssertionError, match="it raised UnsupportedBallError"):
        _tools.refuses(TypeError, refuse, "it refuses")


@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2), Sphere(2, 100.0)], ids=str)
def test_points_lie_in_a_ball_with_room(manifold):
    radius = _tools.working_radius(manifold)
    assert 0.0 < radius < 0.5 * manifold.injectivity_radius
    points = _tools.points_in_ball(manifold, 50, radius)
    assert manifold.dist(manifold.origin, points).max() <= radius * (1.0 + 1e-9)
