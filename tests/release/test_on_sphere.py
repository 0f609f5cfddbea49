"""Unit vectors as they are given: at once, after the charge, a part at a time."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Chunks,
    InvalidParameterError,
    NotOnManifoldError,
    private_directional_summary,
)


def seeded(seed=0):
    return np.random.default_rng(seed)


def directions(n, dim, seed=0):
    found = np.random.default_rng(seed).normal(size=(n, dim))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_the_way_in_makes_no_difference():
    points = directions(12, 3)
    chunks = Chunks([points[:5], points[5:]], n=12, shape=(3,))
    ways = [
        private_directional_summary(points, GDP(1.0), generator=seeded()),
        private_directional_summary(
            points,
            GDP(1.0),
            generator=seeded(),
            accountant=Accountant(GDP(1.0)),
        ),
        private_directional_summary(chunks, GDP(1.0), generator=seeded()),
    ]
    assert len({release.raw.tobytes() for release in ways}) == 1
    other = private_directional_summary(-points, GDP(1.0), generator=seeded())
    assert other.raw.tobytes() != ways[0].raw.tobytes()


def test_how_many_entries_a_row_has_is_public_before_the_charge():
    account = Accountant(GDP(1.0))
    with pytest.raises(InvalidParameterError, match="only the shape of the data"):
        private_directional_summary(directions(4, 3).tolist(), GDP(1.0), accountant=account)
    with pytest.raises(InvalidParameterError, match="say the public shape"):
        private_directional_summary(Chunks([directions(4, 3)], n=4), GDP(1.0))
    assert account.ledger == ()


def test_containers_make_no_difference(container):
    points = directions(12, 3)
    found = private_directional_summary(container(points), GDP(1.0), generator=seeded())
    wanted = private_directional_summary(points, GDP(1.0), generator=seeded())
    assert found.raw.tobytes() == wanted.raw.tobytes()


def test_masks_are_refused(refused):
    with pytest.raises(NotOnManifoldError, match=r"masked|real numbers"):
        private_directional_summary(refused(directions(6, 3)), GDP(1.0))
