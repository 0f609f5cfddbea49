"""What a solver returns, and what is a weighted mean without weights."""

from __future__ import annotations

import numpy as np

import riemdp
from riemdp import Euclidean


def test_certified_means_are_compared_by_their_numbers():
    first, again, other = (
        riemdp.frechet_mean(Euclidean(2), np.array([[x, 0.0], [1.0, 2.0]])) for x in (0.0, 0.0, 1.0)
    )
    assert first == again
    assert hash(first) == hash(again)
    assert first != other
