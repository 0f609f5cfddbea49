import math

import pytest

from riemdp.privacy import PureDP


def test_pure_guarantee_at_its_corners():
    assert PureDP(1.0).delta_at(0.0) == pytest.approx(math.tanh(0.5), rel=1e-14)
    assert PureDP(1.0).delta_at(1.0) == 0.0
    assert PureDP(1.0).epsilon_at(0.0) == 1.0
    assert PureDP(800.0).delta_at(0.0) == 1.0
    assert PureDP(800.0).epsilon_at(0.5) == pytest.approx(800.0 - math.log(2.0))
    small = PureDP(1e-9).delta_at(0.5e-9)
    assert small == pytest.approx(0.25e-9, rel=1e-8)
