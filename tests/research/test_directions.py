from __future__ import annotations

import numpy as np
import pytest

from riemdp.research._directions import direction_count, direction_net


@pytest.mark.fast("0.2-1", "0.2-2", "0.2-3", "0.7-4")
@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("angle", [0.2, 0.7])
def test_directions_cover_the_sphere(dim, angle):
    directions, shares, covered = direction_net(dim, angle)
    assert len(directions) == direction_count(dim, angle)
    assert covered <= angle * (1 + 1e-12)
    assert shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=-1), 1.0)
    random = np.random.default_rng(2).normal(size=(5000, dim))
    random /= np.linalg.norm(random, axis=-1, keepdims=True)
    worst = np.arccos(np.clip((random @ directions.T).max(axis=-1), -1, 1)).max()
    assert worst <= covered + 1e-7
    assert worst >= 0.7 * covered
