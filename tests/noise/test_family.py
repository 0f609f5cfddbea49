from __future__ import annotations

import math

import pytest

from riemdp import NotAttainableError
from riemdp.noise import bisected


def test_scales_by_bisection():
    assert bisected(lambda sigma: sigma >= 0.3, 1.0) == pytest.approx(0.3, rel=1e-11)
    assert bisected(lambda sigma: sigma >= 300.0, 1.0) == pytest.approx(300.0, rel=1e-11)
    with pytest.raises(NotAttainableError, match="tangent-gaussian"):
        bisected(lambda _: False, 1.0)
    assert math.isfinite(bisected(lambda sigma: sigma >= 1e-9, 1.0))
