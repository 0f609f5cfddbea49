from __future__ import annotations

import pytest

from riemdp import Euclidean, UnprovenMechanismError
from riemdp.mechanisms import MECHANISMS, PublishedConformalLaplace
from riemdp.mechanisms._published_noise import PublishedNoise


def test_nothing_is_guaranteed_and_nothing_private_is_stated():
    noise = PublishedNoise(Euclidean(1), 0.1)
    assert not noise.proven
    assert noise.guarantee is None
    assert noise.name == PublishedConformalLaplace.name
    assert noise.name not in MECHANISMS
    for ask in (lambda: noise.sigma, noise.expected_distance, lambda: noise.error_quantile(0.5)):
        with pytest.raises(UnprovenMechanismError, match="private data"):
            ask()
