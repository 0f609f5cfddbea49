"""The parts of a report about one release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.mechanisms import if_known
from riemdp.report import _strength, _words
from riemdp.report._markup import Markup, facts, joined, section, table, tag
from riemdp.report._picture import trade_off

if TYPE_CHECKING:
    from collections.abc import Iterable

    from riemdp.privacy import Budget
    from riemdp.release import Check, Release
    from riemdp.spaces import Manifold
    from riemdp.statistics import Neighbours

#: Values of more numbers stay in their file.
_MOST_NUMBERS = 150
#: False positive rate at which the strength of a guarantee is told.
_RATE = 0.05
_DELTAS = (1e-5, 1e-6)


def verdict(release: Release, checks: Iterable[Check]) -> Markup:
    """Return whether the release can be relied on, and what to know before it is."""
    failed = [check.name for check in checks if not check.passed]
    boxes = []
    if failed:
        said = f"This release does not verify: {', '.join(failed)}. Do not rely on its guarantee."
        boxes.append(_box("bad", said))
    elif not release.private:
        said = "The noise was seeded: whoever knows the seed knows the exact value. Not private."
        boxes.append(_box("bad", said))
    else:
        said = "The stated guarantee follows from the public numbers of this release."
        boxes.append(_box("good", said))
    notes = [release.statistic.caveat] if release.statistic.caveat else []
    boxes += [_box("note", note) for note in (*notes, *release.warnings)]
    return joined(boxes)


def _box(kind: str, text: str) -> Markup:
    return tag("div", tag("p", text), class_=f"box {kind}")


def released(release: Release) -> Markup:
    """Return what was released."""
    statistic, ball = release.statistic, release.ball
    rows = [
        ("Statistic", joined((f"{_words.sentence(statistic)} ", _code(_words.named(statistic))))),
        ("Of", _words.number(release)),
        ("Space", joined((f"{_words.sentence(ball.manifold)} ", _code(str(ball.manifold))))),
        ("Dimension", f"{ball.manifold.dim:,}"),
        ("Public ball", _ball(release)),
        *_search(release),
        (
            "Noise",
            joined(
                (
                    f"{_words.sentence(release.mechanism)} ",
                    _code(f"{release.mechanism.name}, sigma = {release.sigma:.6g}"),
                )
            ),
        ),
        ("Error that the noise makes", _error(release)),
    ]
    return section("What was released", facts(rows), *_value(release))


def _code(text: str) -> Markup:
    return tag("code", text)


def _ball(release: Release) -> str:
    ball = release.ball
    if ball.is_whole:
        return "the whole space: no record is moved"
    return (
        f"radius {ball.radius:.6g}{_units(ball.manifold, ball.radius)} about a public centre. "
        "Records farther away count as the nearest point of the ball."
    )


def _units(space: Manifold, distance: float) -> str:
    """Say a distance in the units of those who measured the records, in brackets."""
    units = space.in_units(distance)
    return f" ({units})" if units else ""


def _search(release: Release) -> list[tuple[object, object]]:
    if release.search is None:
        return []
    said = (
        f"in {len(release.search.steps)} private steps in a public ball of radius "
        f"{release.search.ball.radius:.6g}; the guarantee is about these and the value together"
    )
    return [("How it was found", said)]


def _error(release: Release) -> str:
    known = {
        "expected error": if_known(lambda: release.expected_distance),
        "95 % quantile": if_known(release.error_quantile, 0.95),
    }
    space = release.offer.value.ball.manifold
    said = ", ".join(
        f"{name} {x:.4g}{_units(space, x)}" for name, x in known.items() if x is not None
    )
    return f"{said} (a distance in the space; clipping and sampling are not in it)" if said else (
        "its law is not known"
    )  # fmt: skip


def _value(release: Release) -> list[Markup]:
    """Return the value by its parts, where it is short."""
    value: Any = release.value
    parts = {"Value": value} if isinstance(value, np.ndarray) else dict(value)
    numbers = sum(np.size(part) for part in parts.values())
    if numbers > _MOST_NUMBERS:
        said = f"The value has {numbers:,} numbers, which are in the document of the release."
        return [tag("p", said)]
    arrays = {name: np.asarray(part) for name, part in parts.items() if np.ndim(part)}
    single = [(_title(name), _number(part)) for name, part in parts.items() if not np.ndim(part)]
    found = []
    for name, part in arrays.items():
        rows = part.reshape(1 if part.ndim == 1 else len(part), -1)
        cells = (tag("tr", *(tag("td", _number(entry)) for entry in row)) for row in rows)
        body = tag("table", tag("tbody", *cells), class_="numbers")
        found += [tag("h3", _title(name)), tag("div", body, class_="scroll")]
    return [*found, *([facts(single)] if single else [])]


def _title(name: str) -> str:
    return name.replace("_", " ")


def _number(entry: Any) -> str:
    if isinstance(entry, (float, complex, np.floating, np.complexfloating)):
        return f"{entry:.6g}"
    return str(entry)


def guaranteed(guarantee: Budget, neighbours: Neighbours, release: Release | None) -> Markup:
    """Return the guarantee in words and numbers, of one release with its arithmetic."""
    name, meaning = _words.definition(guarantee)
    whom, left_open = _words.protected(neighbours)
    rows: list[tuple[object, object]] = [
        ("Definition", joined((tag("span", name, class_="big"), tag("p", meaning)))),
        ("It protects", joined((whom, *([tag("p", left_open)] if left_open else [])))),
        ("Relation", _code(neighbours.title)),
    ]
    if release is not None:
        said = "The noise was drawn by exact arithmetic on a public grid: nothing is added to δ "
        rows.append(("Arithmetic", said + "for rounding."))
    words, picture = _in_numbers(guarantee, neighbours)
    beside = tag("div", words, *([] if picture is None else [picture]), class_="beside")
    return section("Under which guarantee", facts(rows), beside)


def _in_numbers(guarantee: Budget, neighbours: Neighbours) -> tuple[Markup, Markup | None]:
    """Return what an adversary can do at most, and the other common numbers."""
    rates = _strength.largest_true_positive_rates(guarantee, np.array([_RATE]))
    text = []
    if rates is None:
        text.append("No bound on the error rates of tests follows from this definition.")
    else:
        text += [
            f"Somebody knows the program, this page and all other data, and wants to find out "
            f"{_words.asked(neighbours)}.",
            f"If they accept to be wrong in {_percent(_RATE)} of the cases where the answer is no, "
            f"they are right in at most {_strength.percent_up(rates[0])} of the cases where it is "
            f"yes. Without the release it would be {_percent(_RATE)}.",
        ]
    pairs = []
    for delta in (0.0, *_DELTAS):
        epsilon = _strength.epsilon_at(guarantee, delta)
        if epsilon is not None:
            pairs.append((_words.figure(delta), _strength.up(epsilon)))
        elif delta:
            pairs.append((_words.figure(delta), "none follows"))
    return (
        tag(
            "div",
            *(tag("p", line) for line in text),
            tag("p", "The same guarantee as pairs of ε and δ:"),
            table(("δ", "ε at most"), pairs),
        ),
        trade_off(guarantee, _RATE),
    )


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def assumed(release: Release, unit: str | None) -> Markup:
    """Return what the guarantee takes for granted, which no document can show."""
    people = _words.of_people(release.neighbours)
    what = "person" if people else "record"
    stated = (
        f"A {what} is: {unit} (as stated for this report; the release does not hold it)."
        if unit
        else f"What a {what} is was stated by nobody in this document: ask for it."
    )
    several = (
        "All records of a person were given as that person's."
        if people
        else "Who gave several records is protected for one of them at a time; the others tell of "
        "them too."
    )
    ball = "the ball's centre and radius" if release.search is None else "the ball of the search"
    public = f"{ball}, the budget, the mechanism and all options"
    size = "" if release.n is None else ", and how many there are"
    items = [
        f"Public: {public}{size}. They were chosen without looking at the data.",
        stated,
        several,
        "Whoever ran the library is trusted, saw the data, and published nothing else from them "
        "than what was accounted for. Guarantees of several releases from the same data add up.",
        "The adversary may know this page, the document, the program, and all records but those "
        "that the guarantee is about.",
        "The noise is secret. It came from "
        + (
            "the secure generator (ChaCha20, keyed by the operating system)."
            if release.private
            else "a generator of the caller, which can be repeated: THIS RELEASE IS NOT PRIVATE."
        ),
        "How long the release took, and how much memory, is not protected.",
    ]
    return section("What was assumed", tag("ul", *(tag("li", item) for item in items)))


def charged(release: Release) -> Markup:
    """Return the charge in a ledger."""
    anchor = release.anchor
    if anchor is None:
        said = "This release names no charge in a durable ledger: what else was released from the "
        return section("Account", tag("p", f"{said}same data, it does not say."))
    rows = [
        ("Data set", anchor.dataset),
        ("Entry", f"{anchor.seq}" + (f", part {anchor.part}" if anchor.part else "")),
        ("Charge", _code(anchor.charge_id)),
        ("Hash", _code(anchor.hash)),
    ]
    how = joined(("Not held against the ledger here: ", _code("riemdp ledger verify"), " does."))
    return section("Account", facts(rows), tag("p", how))


def checked(checks: Iterable[Check]) -> Markup:
    """Return what was recomputed."""
    rows = [
        ("holds" if check.passed else tag("strong", "FAILS"), check.name, check.detail)
        for check in checks
    ]
    said = (
        "Recomputed for this report from the public numbers. It cannot show that the value was "
        "drawn this way, nor that the public numbers were chosen without the data."
    )
    return section("Checks", tag("p", said), table(("", "check", "what was found"), rows))


def proved(release: Release) -> Markup:
    """Return proofs and versions."""
    notes = [
        (part, tag("strong", "not proved") if proof is None else _code(proof))
        for part, proof in release.known_proofs().items()
    ]
    versions = list(release.versions.items())
    return section(
        "Proofs and versions",
        tag("p", "Where it is proved that the guarantee holds, as riemdp knows it now:"),
        table(("part", "proof"), notes),
        table(("drawn with, as stated (not checked)", "version"), versions)
        if versions
        else tag("p", "The document states no versions."),
        tag("p", "Why this mechanism, in words of whoever released it (not checked): ",
            tag("q", release.reason)),
    )  # fmt: skip
