from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from riemdp import (
    ApproxDP,
    Ball,
    Euclidean,
    InvalidBudgetError,
    InvalidParameterError,
    PureDP,
    Release,
    UnprovenMechanismError,
    private_mean,
    verify,
)
from riemdp.mechanisms import PublishedConformalLaplace

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)
PUBLISHED = "conformal-laplace-published"


def _cluster(n):
    return np.random.default_rng(0).normal(0.15, 0.1, (n, 2))


class Ledger:
    def __init__(self):
        self.spent = []

    def spend(self, guarantee, label):
        self.spent.append((guarantee, label))


def test_published_is_refused_without_allow_unproven():
    points, ledger = _cluster(30), Ledger()
    generator = np.random.default_rng(0)
    state = generator.bit_generator.state
    with pytest.raises(UnprovenMechanismError, match="allow_unproven"):
        private_mean(
            points,
            PLANE,
            PureDP(1.0),
            mechanism=PUBLISHED,
            generator=generator,
            accountant=ledger,
        )
    # before anything is drawn or charged
    assert generator.bit_generator.state == state
    assert not ledger.spent
    release = private_mean(points, PLANE, PureDP(1.0), mechanism=PUBLISHED, allow_unproven=True)
    assert not release.proven
    assert not release.private
    assert release.guarantee is None
    assert release.mechanism.name == PUBLISHED
    assert PLANE.contains(release.value)
    assert "points" not in vars(release.mechanism)
    with pytest.raises(UnprovenMechanismError, match="no guarantee"):
        release.to_json()
    with pytest.raises(InvalidParameterError, match="no guarantee"):
        verify(release)


def test_published_takes_a_pure_budget_and_no_accountant():
    points = _cluster(30)
    with pytest.raises(InvalidBudgetError, match="PureDP"):
        private_mean(points, PLANE, ApproxDP(1.0, 1e-6), mechanism=PUBLISHED, allow_unproven=True)
    ledger = Ledger()
    with pytest.raises(InvalidParameterError, match="accountant"):
        private_mean(
            points,
            PLANE,
            PureDP(1.0),
            mechanism=PUBLISHED,
            allow_unproven=True,
            accountant=ledger,
        )
    assert not ledger.spent


def test_a_published_release_cannot_pass_for_a_private_one():
    points = _cluster(30)
    options = {"mechanism": PUBLISHED, "allow_unproven": True}
    seeded = private_mean(points, PLANE, PureDP(1.0), generator=np.random.default_rng(0), **options)
    assert seeded.reproducible
    assert not private_mean(points, PLANE, PureDP(1.0), **options).reproducible
    claimed = dataclasses.replace(seeded, guarantee=PureDP(1.0), proven=True, private=True)
    with pytest.raises(UnprovenMechanismError, match="no guarantee"):
        claimed.to_json()
    with pytest.raises(InvalidParameterError, match="no guarantee"):
        verify(claimed)
    document = json.loads(private_mean(points, PLANE, PureDP(1.0)).to_json())
    assert Release.from_json(json.dumps(document)).proven
    document["mechanism"]["name"] = PUBLISHED
    with pytest.raises(InvalidParameterError, match="unknown mechanism"):
        Release.from_json(json.dumps(document))
    law = PublishedConformalLaplace(points, PLANE, 1.0, 0.1)
    for mechanism in (PublishedConformalLaplace, law):
        with pytest.raises(InvalidParameterError, match="mechanism must be"):
            private_mean(points, PLANE, PureDP(1.0), mechanism=mechanism, allow_unproven=True)
