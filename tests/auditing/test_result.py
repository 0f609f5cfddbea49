"""What an audit has shown."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import GDP, ApproxDP, Euclidean, InvalidParameterError, PureDP, TangentGaussian
from riemdp.auditing import audit


def gaussian_audit(mu, seed, claim=None):
    """Audit of a law that is GDP of this mu."""
    law, claim = TangentGaussian(Euclidean(1), 1.0), GDP(max(mu, 0.1)) if claim is None else claim
    return audit(law, [mu], [0.0], claim, samples=4000, generator=np.random.default_rng(seed))


@pytest.mark.parametrize("claim", [GDP(0.5), PureDP(0.5), ApproxDP(0.5, 1e-2)])
def test_verdict_follows_the_bounds(claim):
    weak, strong = gaussian_audit(0.05, 0, claim), gaussian_audit(3.0, 0, claim)
    assert (weak.verdict, strong.verdict) == ("consistent", "violated")
    match claim:
        case GDP(mu):
            assert weak.mu_lower <= mu < strong.mu_lower
        case PureDP(epsilon):
            assert weak.pure_epsilon_lower <= epsilon < strong.pure_epsilon_lower
        case ApproxDP(epsilon, delta):
            assert weak.epsilon_lower(delta) <= epsilon < strong.epsilon_lower(delta)


def test_result_is_consistent_with_itself():
    result = gaussian_audit(1.0, 0)
    assert result.confidence == 0.95
    assert result.samples == 4000
    assert result.score == "LogLikelihoodRatio"
    assert result.claim == GDP(1.0)
    assert result.epsilon_lower(0.0) == result.pure_epsilon_lower
    assert result.epsilon_lower(0.1) < result.pure_epsilon_lower
    epsilon = np.array([0.0, 0.5, 1.0])
    delta = result.delta_lower(epsilon)
    assert np.all(np.diff(delta) < 0.0)
    assert np.all(delta < GDP(1.0).delta_at(epsilon))
    assert len(result.events) == 2
    with pytest.raises(InvalidParameterError, match="delta"):
        result.epsilon_lower(1.0)


def test_an_audit_says_its_verdict_and_bounds_first():
    found = gaussian_audit(1.0, 5)
    assert f"{found.verdict!r}" in repr(found)
    assert f"mu_lower={found.mu_lower:.4g}" in repr(found)
    assert str(found).splitlines()[0] == f"Audit of {found.claim}: {found.verdict}"
    assert "no proof" in str(found)
