"""Guarantees and parts in plain words. What has none here says what its class says of itself."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Any

from riemdp._part import Part
from riemdp.report._strength import up

if TYPE_CHECKING:
    from riemdp.privacy import Budget
    from riemdp.release import Release
    from riemdp.statistics import Neighbours

_GREEK = {
    "epsilon": "ε",
    "delta": "δ",
    "mu": "μ",
    "rho": "ρ",
    "xi": "ξ",
    "theta": "θ",
    "alpha": "α",
    "tau": "τ",
}
#: Whom a relation protects, and what it says to everybody.
_PROTECTED = {
    "replace-one": (
        "each single record: what it says. Data sets of the same size are compared that differ in "
        "one record, replaced by any other.",
        "That somebody's record is among the data is not hidden, nor is the number of records.",
    ),
    "replace-point": (
        "the point of each single record.",
        "Labels and covariates of the records are public, and so is the number of records.",
    ),
    "groups": (
        "any group of so many records at once.",
        "That somebody's records are among the data is not hidden, nor is the number of records.",
    ),
    "add-remove": (
        "each single record, and whether it is there at all. The number of records is private.",
        "",
    ),
    "replace-user": (
        "each person with all of his or her records: what they say.",
        "That somebody is among the people is not hidden, nor is the number of people.",
    ),
    "add-remove-user": (
        "each person with all of his or her records, and whether he or she is there at all. The "
        "number of people is private.",
        "",
    ),
}
_DEFINITIONS = {
    "PureDP": "Pure differential privacy: no outcome becomes more than e^ε times as likely.",
    "ApproxDP": (
        "Approximate differential privacy: no outcome becomes more than e^ε times as likely, but "
        "for outcomes of total probability δ."
    ),
    "GDP": (
        "Gaussian differential privacy: no test tells two data sets apart better than the best "
        "test tells one draw of a standard normal law from one shifted by μ."
    ),
    "ZCDP": "Zero-concentrated differential privacy: Rényi divergences of at most ξ + ρ times the "
    "order.",
}


def sentence(part: Part) -> str:
    """Return what a class says that it is, in one sentence."""
    first = (inspect.getdoc(type(part)) or part.name).partition("\n\n")[0]
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", " ".join(first.split())).replace("`", "")


def named(part: Part) -> str:
    """Return the name of a part, with its numbers and the parts inside it."""
    inside = [named(value) for _, value in _fields(part) if isinstance(value, Part)]
    numbers = parameters(part)
    words = [*([numbers] if numbers else []), *inside]
    return f"{part.name} ({'; '.join(words)})" if words else part.name


def parameters(part: Part, without: tuple[str, ...] = ()) -> str:
    """Return the numbers and words of a part, as ``"μ = 1"``; long ones and parts are left out."""
    found = []
    for name, value in _fields(part):
        if name not in without and isinstance(value, (int, float, str)):
            number = up(value) if isinstance(value, float) else value
            found.append(f"{_GREEK.get(name, name)} = {number}")
    return ", ".join(found)


def _fields(part: Any) -> list[tuple[str, Any]]:
    """Return what a part is made of, of those that are data classes."""
    found = dataclasses.fields(part) if dataclasses.is_dataclass(part) else ()
    return [(field.name, getattr(part, field.name)) for field in found if field.init]


def definition(guarantee: Budget) -> tuple[str, str]:
    """Return a guarantee as its name with its numbers, and what it means."""
    numbers = parameters(guarantee, without=("adjacency",))
    return f"{guarantee.name}, {numbers}", _DEFINITIONS.get(guarantee.name, sentence(guarantee))


def protected(neighbours: Neighbours) -> tuple[str, str]:
    """Return whom a relation protects, and what it leaves open, maybe nothing."""
    return _PROTECTED.get(neighbours.name, (sentence(neighbours), ""))


def asked(neighbours: Neighbours) -> str:
    """Return what an adversary wants to find out."""
    if neighbours.name not in _PROTECTED:
        return "which of two neighbouring data sets it was"
    whom = {"groups": "a group of records"}.get(neighbours.name, "a record")
    whom = "a person" if of_people(neighbours) else whom
    if neighbours.size_is_public:
        return f"whether {whom} says one thing rather than another"
    return f"whether {whom} is among the data"


def of_people(neighbours: Neighbours) -> bool:
    """Whether the guarantee is about people, with all their records."""
    return "users" in neighbours.takes


def number(release: Release) -> str:
    """Return of how many records, or people; where that is private, as it was released."""
    whom = "people" if of_people(release.neighbours) else "records"
    if release.n is not None:
        return f"{release.n:,} {whom}"
    about = "" if release.count is None else f" (released with noise: {release.count:.6g})"
    return f"a private number of {whom}{about}"


def figure(value: float) -> str:
    """Return a number as people write it: 1e-6, not 1e-06."""
    return re.sub(r"e([+-])0*", r"e\1", f"{value:g}")
