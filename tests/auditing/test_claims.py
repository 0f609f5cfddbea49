from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    InsufficientSamplesError,
    InvalidParameterError,
    MeanCDP,
    PureDP,
    RaoDP,
)
from riemdp.auditing._claims import (
    check_samples,
    excess,
    is_one_number,
    samples_needed,
    tail_delta,
)
from riemdp.auditing._confidence import upper_bound
from riemdp.privacy import GaussianCurve, LaplaceCurve, PureCurve, check_claim

#: A claim, and laws that meet it exactly: rates of an event by its threshold.
CLAIMS = [
    GDP(1.0),
    PureDP(1.0),
    ApproxDP(1.0, 0.01),
    ZCDP(0.5),
    RDP(2.0, 1.0),
    KLDP(0.5),
    MeanCDP(0.5, 1.0),
    RaoDP(1.0, distance="angle"),
    GaussianCurve(1.0),
    PureCurve(1.0),
    LaplaceCurve(1.0),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_excess_has_the_sign_of_a_violation(claim):
    """Randomised response within the claim's curve is none; perfect separation is one."""
    assert excess(claim, 0.5, 0.5) < 0.0
    assert excess(claim, 1e-7, 1e-7) > 0.0
    for epsilon in (0.0, 0.3, 0.8):
        delta = min(1.0, float(claim.delta_at(epsilon)))
        # the symmetric event at which the constraint of this epsilon is tight
        rate = (1.0 - delta) / (1.0 + math.exp(epsilon))
        assert excess(claim, rate * 0.97, rate * 0.97) > 0.0
    epsilon = np.linspace(0.0, 20.0, 4001)
    tightest = np.max((1.0 - np.minimum(claim.delta_at(epsilon), 1.0)) / (1.0 + np.exp(epsilon)))
    assert excess(claim, tightest * 1.001, tightest * 1.001) <= 0.0


def test_excess_of_true_gaussian_rates():
    threshold = np.linspace(-3.0, 4.0, 57)
    fpr, fnr = scipy.stats.norm.sf(threshold), scipy.stats.norm.cdf(threshold - 1.0)
    for claim in (GDP(1.0), ZCDP(0.5), RDP(3.0, 1.5), RaoDP(1.0, distance="parametric")):
        assert np.all(excess(claim, fpr, fnr) <= 1e-12)
        assert excess(claim, fpr, fnr).shape == threshold.shape
    assert np.all(excess(GDP(0.9), fpr, fnr) > 0.09)
    assert np.max(excess(GaussianCurve(1.0), fpr, fnr)) == pytest.approx(0.0, abs=1e-12)


def test_generic_excess_sees_both_directions():
    claim = LaplaceCurve(1.0)
    assert excess(claim, 0.01, 0.9) == pytest.approx(excess(claim, 0.9, 0.01))
    assert excess(claim, 0.01, 0.9) > 0.0


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_samples_needed_is_the_least_number(claim):
    needed = samples_needed(claim, 0.95)
    trials = needed - needed // 2
    rate = upper_bound(0, trials, 0.0125)
    assert excess(claim, rate, rate) > 0.0
    rate = upper_bound(0, trials - 1, 0.0125)
    assert excess(claim, rate, rate) <= 0.0
    check_samples(needed, claim, 0.95)
    with pytest.raises(InsufficientSamplesError, match=f"at least {needed} "):
        check_samples(needed - 1, claim, 0.95)


def test_samples_needed_grows_like_the_exponential():
    assert samples_needed(GDP(1.0), 0.95) == 2 * 12 - 1
    ratio = samples_needed(PureDP(8.0), 0.95) / samples_needed(PureDP(6.0), 0.95)
    assert ratio == pytest.approx(math.exp(2.0), rel=0.01)
    assert samples_needed(PureDP(1.0), 0.99) > samples_needed(PureDP(1.0), 0.95)


def test_claims_that_nothing_refutes():
    for claim in (PureDP(60.0), RaoDP(math.pi, distance="angle"), PureDP(1000.0)):
        with pytest.raises(InvalidParameterError, match="audit_density_ratio"):
            samples_needed(claim, 0.95)


def test_a_curve_is_computed_once_for_many_rates_and_need_not_be_hashable():
    class Counted(LaplaceCurve):
        calls = 0

        def delta_at(self, epsilon):
            Counted.calls += 1
            return super().delta_at(epsilon)

    samples_needed(Counted(1.0), 0.95)
    assert Counted.calls <= 5

    class Unhashable(LaplaceCurve):
        __hash__ = None

    assert samples_needed(Unhashable(1.0), 0.95) == samples_needed(LaplaceCurve(1.0), 0.95)


def test_kinds_of_claims():
    assert [is_one_number(claim) for claim in CLAIMS] == [True] * 3 + [False] * 5 + [
        True,
        True,
        False,
    ]
    assert tail_delta(ApproxDP(1.0, 0.01)) == 0.01
    assert tail_delta(PureDP(1.0)) == 0.0
    for claim in (1.0, None, "GDP(1)", GDP):
        with pytest.raises(InvalidParameterError, match="claim must be"):
            check_claim(claim)
