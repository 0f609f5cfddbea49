"""What an audit has shown, from its result or from what ``riemdp audit --json`` printed."""

from __future__ import annotations

import functools
import math
from typing import Any

from riemdp import _document
from riemdp._checks import kind_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import lookup
from riemdp.auditing import AuditResult
from riemdp.privacy import Budget
from riemdp.report._markup import Markup, facts, joined, section, tag
from riemdp.report._strength import percent_up
from riemdp.report._words import definition

_KEYS = {
    "mechanism",
    "claim",
    "samples",
    "confidence",
    "score",
    "seed",
    "mu_lower",
    "pure_epsilon_lower",
    "epsilon_lower",
    "events",
    "verdict",
}
_VERDICTS = ("consistent", "violated")


def audited(audit: object) -> dict[str, Any]:
    """Return claim, samples, confidence, score, mechanism, mu, epsilon and verdict of an audit.

    It is an ``AuditResult`` or what ``riemdp audit --json`` prints.
    """
    if isinstance(audit, AuditResult):
        return {
            "claim": audit.claim,
            "samples": audit.samples,
            "confidence": audit.confidence,
            "score": audit.score,
            "mechanism": None,
            "mu": audit.mu_lower,
            "epsilon": audit.pure_epsilon_lower,
            "verdict": audit.verdict,
        }
    if not isinstance(audit, dict):
        raise InvalidParameterError(
            f"audit must be a riemdp.AuditResult or what riemdp audit --json prints, got "
            f"{kind_of(audit)}"
        )
    fields = _document.fields(audit, _KEYS)
    if fields["verdict"] not in _VERDICTS:
        raise InvalidParameterError(f"verdict must be one of {_VERDICTS}")
    samples = _document.number(fields["samples"], "samples")
    confidence = _document.number(fields["confidence"], "confidence")
    if not (samples >= 2 and 0.0 < confidence < 1.0):
        raise InvalidParameterError("an audit has 2 samples or more, and a confidence under 1")
    return {
        "claim": _claim(fields["claim"]),
        "samples": int(samples),
        "confidence": float(confidence),
        "score": _document.text(fields["score"], "score"),
        "mechanism": _document.text(fields["mechanism"], "mechanism"),
        "mu": _bound(fields["mu_lower"], "mu_lower"),
        "epsilon": _bound(fields["pure_epsilon_lower"], "pure_epsilon_lower"),
        "verdict": fields["verdict"],
    }


def _bound(value: object, name: str) -> float:
    return math.inf if value == "inf" else float(_document.number(value, name))


def _claim(document: object) -> Budget:
    """Return the claim, which is written as the name of its class and its fields."""
    if not isinstance(document, dict):
        raise InvalidParameterError(f"claim must be an object, got {shown(document)}")
    kind = lookup(document.get("definition"), Budget.sort)
    values = {name: value for name, value in document.items() if name != "definition"}
    try:
        made: Budget = kind(**values)
    except (TypeError, AttributeError):
        raise InvalidParameterError(
            f"claim: {kind.name} has not the fields {', '.join(map(shown, values))}"
        ) from None
    return made


@functools.singledispatch
def _named(claim: object) -> str:
    """Name a claim: a curve as it shows itself, a definition by its name and numbers."""
    return str(claim)


@_named.register
def _(claim: Budget) -> str:
    return definition(claim)[0]


def audit_section(audit: object, guarantee: Budget) -> Markup:
    """Return the part of the page about an audit, held against the guarantee of the release."""
    found = audited(audit)
    violated = found["verdict"] == "violated"
    claim = found["claim"]
    same = claim == guarantee
    verdict = (
        "Violated: the outputs contradict the claim. This statement is wrong with probability at "
        f"most {percent_up(round(1.0 - found['confidence'], 9))}."
        if violated
        else "Consistent: no violation was found, which is no proof that there is none."
    )
    rows = [
        *([] if found["mechanism"] is None else [("Audited", found["mechanism"])]),
        ("Claim under test", f"{_named(claim)}, {claim.adjacency or 'replace-one'} neighbours"),
        ("Outputs", f"{found['samples']:,} on each of two neighbouring data sets"),
        (
            "Lower bounds",
            f"μ at least {found['mu']:.4g}, ε at least {found['epsilon']:.4g}, together right with "
            f"probability {found['confidence']:g}",
        ),
        ("Score", found["score"]),
    ]
    differs = "The claim under test is not the guarantee of this release. " if not same else ""
    return section(
        "Audit",
        tag("div", tag("p", verdict), class_=f"box {'bad' if violated else 'good'}"),
        facts(rows),
        tag(
            "p",
            joined(
                (
                    differs,
                    "An audit draws from a mechanism many times and tries to tell two neighbouring "
                    "data sets apart. It is about a mechanism, not about this very release: that "
                    "it was the same one is for whoever ran it to say. It bounds the loss from "
                    "below; the guarantee bounds it from above.",
                )
            ),
        ),
    )
