from __future__ import annotations

import copy

import pytest

from riemdp import GDP, Euclidean, InvalidParameterError, PureDP, RiemannianGaussian, audit
from riemdp.report._audit import audit_section, audited

PRINTED = {
    "mechanism": "riemannian-gaussian on Euclidean(dim=1)",
    "claim": {"definition": "GDP", "mu": 1.0, "adjacency": "replace-one"},
    "samples": 4000,
    "confidence": 0.95,
    "score": "LogLikelihoodRatio",
    "seed": None,
    "mu_lower": 0.8,
    "pure_epsilon_lower": "inf",
    "epsilon_lower": {"delta": 1e-6, "epsilon": 0.5},
    "events": [],
    "verdict": "consistent",
}


def test_what_was_printed_is_read():
    found = audited(copy.deepcopy(PRINTED))
    assert found["claim"] == GDP(1.0)
    assert (found["mu"], found["epsilon"]) == (0.8, float("inf"))
    section = audit_section(PRINTED, GDP(1.0))
    assert "no proof that there is none" in section
    assert "is not the guarantee of this release" not in section
    for other in (GDP(0.9), PureDP(1.0), GDP(1.0).under("add-remove")):
        assert "is not the guarantee of this release" in audit_section(PRINTED, other)


def test_a_violation_is_said_first():
    section = audit_section(PRINTED | {"verdict": "violated"}, GDP(1.0))
    assert 'class="box bad"' in section
    assert "at most 5 %" in section
    assert 'class="box bad"' not in audit_section(PRINTED, GDP(1.0))


def test_a_result_is_taken_too():
    mechanism = RiemannianGaussian(Euclidean(1), 1.0)
    result = audit(mechanism, [0.0], [1.0], GDP(1.0), samples=400)
    found = audited(result)
    assert found["mu"] == result.mu_lower
    assert "400 on each" in audit_section(result, GDP(1.0))
    curve = audit(mechanism, [0.0], [1.0], mechanism.privacy(1.0), samples=400)
    assert "replace-one" in audit_section(curve, GDP(1.0))


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "fine"},
        {"verdict": "<b>"},
        {"samples": "4000"},
        {"samples": 1},
        {"confidence": 1.0},
        {"confidence": True},
        {"mu_lower": "much"},
        {"claim": "GDP"},
        {"claim": {"definition": "Blessing"}},
        {"claim": {"definition": "Sphere", "dim": 2}},
        {"claim": {"definition": "GDP", "nu": 1.0}},
        {"claim": {"definition": "GDP", "mu": -1.0}},
        {"more": 1},
    ],
)
def test_what_is_no_audit_is_refused(change):
    with pytest.raises(InvalidParameterError):
        audited(PRINTED | change)


@pytest.mark.parametrize("audit", [None, [], "audit.json", {}])
def test_other_things_are_refused(audit):
    with pytest.raises(InvalidParameterError):
        audited(audit)
