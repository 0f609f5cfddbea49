"""What a ledger says about itself, and what releases say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from riemdp._checks import kind_of
from riemdp._errors import (
    InvalidParameterError,
    LedgerTamperedError,
    RiemdpError,
    UnknownDatasetError,
)
from riemdp._part_document import decode
from riemdp.ledger._chain import read_amounts, written, written_sums
from riemdp.ledger._entry import CHARGE, CLOSE, STEP, Entry, read_budget
from riemdp.ledger._store import State, read_names, read_owners, read_rows, read_state
from riemdp.privacy import Anchor, Filter, added, parts_paid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from fractions import Fraction

    from riemdp.ledger._backend import Backend
    from riemdp.ledger._chain import Chain, Dataset, Row

#: More of one data set are counted, not listed.
_MOST = 20
#: What a price may differ by on another machine.
_ROUNDING = 1e-9
#: What a release and its document have, and nothing else does.
_NAMED = {"anchor", "guarantee", "header"}
#: What texts that were changed by hand raise.
_UNREADABLE = (RiemdpError, ValueError, OverflowError, RecursionError)


class Finding(NamedTuple):
    """Something that is wrong.

    Attributes
    ----------
    kind : str
        Of the ledger itself: ``"registration changed"``, ``"entry missing"``, ``"entry changed"``,
        ``"tip changed"``, ``"overspent"``, ``"charge after the end"``. Of a release:
        ``"no charge"``, ``"charge changed"``, ``"older copy"``, ``"charge used twice"``,
        ``"guarantee changed"``.
    dataset : str
    seq : int
        Number of the entry that it is about; 0 for the registration.
    text : str
        What it means.

    Examples
    --------
    >>> from riemdp.ledger import Finding
    >>> Finding("overspent", "study", 3, "more was charged than PureDP(epsilon=1.0)").kind
    'overspent'
    """

    kind: str
    dataset: str
    seq: int
    text: str


@dataclass(frozen=True)
class Verification:
    """Result of :meth:`riemdp.ledger.Ledger.verify`.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong.
    datasets, entries, releases : int
        How many were checked.

    Examples
    --------
    >>> from riemdp.ledger import Finding, Verification
    >>> wrong = Finding("overspent", "study", 3, "more was charged than PureDP(epsilon=1.0)")
    >>> Verification((wrong,), datasets=1, entries=3, releases=0).ok
    False
    """

    findings: tuple[Finding, ...]
    datasets: int
    entries: int
    releases: int

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        head = (
            f"{self.datasets} data sets, {self.entries} entries, {self.releases} releases: "
            f"{'nothing is wrong' if self.ok else f'{len(self.findings)} findings'}"
        )
        lines = [f"  {one.dataset!r}, {one.seq}: {one.kind}: {one.text}" for one in self.findings]
        return "\n".join([head, *lines])


def verified(backend: Backend, chain: Chain, releases: Iterable[object]) -> Verification:
    """Check a ledger, and releases against it; all in one view of the database."""
    every = (one for release in releases for one in _each(release))
    anchors = [(anchor_of(release), release) for release in every]
    states: dict[str, State] = {}
    rows: dict[str, list[Row]] = {}
    findings: list[Finding] = []
    with backend.reading() as connection:
        names = read_names(connection)
        for name in names:
            try:
                state, found = read_state(connection, name, lock=False), read_rows(connection, name)
            except UnknownDatasetError:
                findings.append(Finding("tip changed", name, 0, "there is no tip"))
            except LedgerTamperedError as error:
                findings.append(Finding("entry changed", name, 0, str(error)))
            else:
                states[name], rows[name] = state, found
        for name in read_owners(connection).difference(names):
            findings.append(
                Finding("registration changed", name, 0, "what it charged is there, and not it")
            )
    for name, state in states.items():
        chain.check_algorithm(state.dataset)
        wrong = list(_of_dataset(chain, state, rows[name]))
        findings += wrong[:_MOST]
        if len(wrong) > _MOST:
            findings.append(
                Finding(wrong[_MOST].kind, name, wrong[_MOST].seq, f"and {len(wrong) - _MOST} more")
            )
    findings += _of_releases(states, rows, anchors)
    count = sum(map(len, rows.values()))
    return Verification(tuple(findings), len(names), count, len(anchors))


def _each(release: object) -> Iterable[object]:
    """Return the releases of all groups, or of their document, where that is what is given."""
    groups = getattr(release, "groups", None)
    if groups is None and isinstance(release, Mapping):
        groups = release.get("releases")
    return groups if isinstance(groups, (tuple, list)) else (release,)


def anchor_of(release: object) -> Anchor | None:
    """Return the anchor of a release or of its document, or the one given; None where it has none.

    Anything else is an ``InvalidParameterError``.
    """
    found: object = release
    if not _NAMED.isdisjoint(dir(release)):
        found = getattr(release, "anchor", None)
    elif isinstance(release, Mapping) and not _NAMED.isdisjoint(release):
        found = release.get("anchor")
    if found is None and release is not None:  # a release that no ledger was charged for
        return None
    if isinstance(found, Anchor):
        return found
    if isinstance(found, Mapping):
        return Anchor.from_document(dict(found))
    raise InvalidParameterError(
        f"a release that was charged to a ledger carries an anchor; {kind_of(release)} is neither "
        "a release nor an anchor"
    )


def _of_dataset(chain: Chain, state: State, rows: list[Row]) -> Iterator[Finding]:
    """Go through a chain from its start: no stored sum is believed."""
    dataset, tip = state.dataset, state.tip
    name, genesis = dataset.name, dataset.genesis
    if chain.genesis(dataset) != genesis:
        yield Finding(
            "registration changed", name, 0, "total, unit or adjacency are not what was registered"
        )
    try:
        sums = (0,) * len(read_amounts(dataset.limits))
    except _UNREADABLE:
        yield Finding("registration changed", name, 0, "the limits cannot be read")
        return
    previous = genesis
    ended, expected = False, 1
    prices, charges = _Prices(dataset), set[str]()
    for row in rows:
        if row.seq != expected:
            yield Finding("entry missing", name, row.seq - 1, "the numbers have a gap here")
        expected = row.seq + 1
        try:
            sums = added(sums, read_amounts(row.price))
        except _UNREADABLE:
            yield Finding("entry changed", name, row.seq, "its price cannot be read")
        made = chain.entry(genesis, row, written_sums(sums))
        if row.previous != previous or row.hash != made:
            yield Finding(
                "entry changed", name, row.seq, "its hash is not that of it and what is before it"
            )
        elif why := _not_paid(row, prices, charges):
            yield Finding("entry changed", name, row.seq, why)
        if row.kind == CHARGE:
            charges.add(row.charge_id)
        if ended:
            yield Finding("charge after the end", name, row.seq, "the account was closed before")
        ended = ended or row.kind == CLOSE
        previous = row.hash
    if (tip.seq, tip.hash) != (rows[-1].seq if rows else 0, previous):
        yield Finding("tip changed", name, tip.seq, "the tip is not at the last entry")
    if tip.sums != written_sums(sums):
        yield Finding("tip changed", name, tip.seq, "the sums are not those of what was charged")
    yield from _over(state, sums)


class _Prices:
    """What guarantees cost, each worked out once; empty where that is not known here."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._known: dict[str, tuple[float | Fraction, ...]] = {}

    def __call__(self, guarantee: str) -> tuple[float | Fraction, ...]:
        if guarantee not in self._known:
            adjacency = self._dataset.adjacency
            try:
                total = Filter(read_budget(self._dataset.total, adjacency))
                self._known[guarantee] = total.price(read_budget(guarantee, adjacency))
            except _UNREADABLE:  # of a package that is not installed
                self._known[guarantee] = ()
        return self._known[guarantee]


def _not_paid(row: Row, prices: _Prices, charges: set[str]) -> str:
    """Say why an entry, whose hash may be right, was made by nobody who pays; else nothing."""
    try:
        paid = read_amounts(row.price)
    except _UNREADABLE:
        return ""  # which is said elsewhere
    if not all(amount >= 0.0 for amount in paid):
        return "its price gives budget back"
    if row.kind not in (CHARGE, STEP, CLOSE):
        return "it is of no kind"
    if row.kind == STEP and row.parent not in charges:
        return "it is a step of no charge before it"
    asked = prices(row.guarantee) if row.kind == CHARGE else ()
    if asked and not (len(asked) == len(paid) and _at_most(asked, paid)):
        return "its price is not that of its guarantee"
    return ""


def _over(state: State, sums: tuple[int, ...]) -> Iterator[Finding]:
    """Say whether more was charged than the total, or that nobody can tell."""
    dataset = state.dataset
    try:
        total = Filter(read_budget(dataset.total, dataset.adjacency))
        fits = len(sums) == len(total.limits) and total.covers(sums)
    except _UNREADABLE as error:
        fits, why = False, str(error)
    else:
        why = f"more was charged than {total.total} and 1e-12 of it"
    if not fits:
        yield Finding("overspent", dataset.name, state.tip.seq, why)


def _of_releases(
    states: dict[str, State],
    rows: dict[str, list[Row]],
    anchors: list[tuple[Anchor | None, object]],
) -> Iterator[Finding]:
    there = {name: {row.seq: row for row in found} for name, found in rows.items()}
    seen: dict[tuple[str, str, int], object] = {}
    for anchor, release in anchors:
        if anchor is None:
            yield Finding("no charge", "", 0, "a release carries no anchor of any ledger")
            continue
        name, seq = anchor.dataset, anchor.seq
        if name not in states:
            yield Finding("no charge", name, seq, "no such data set is registered")
            continue
        if found := _not_charged(anchor, release, states[name], there[name]):
            yield Finding(found[0], name, seq, found[1])
        if seen.setdefault((name, anchor.charge_id, anchor.part), release) is not release:
            yield Finding("charge used twice", name, seq, "two releases name the one charge")


def _not_charged(
    anchor: Anchor, release: object, state: State, there: Mapping[int, Row]
) -> tuple[str, str] | None:
    """Return the kind and the text of what is wrong with the charge that a release names."""
    row, last = there.get(anchor.seq), state.tip.seq
    if anchor.seq > last:
        return "older copy", (
            f"a release was charged as entry {anchor.seq}, and the ledger ends at {last}: it is an "
            "older copy, or entries were removed"
        )
    if row is None or row.kind == CLOSE:
        return "no charge", "a release names an entry that charges nothing"
    if row.charge_id != anchor.charge_id:
        return "older copy", (
            "a release was charged here, and the entry is another one: the ledger went on from an "
            "older copy, or the charge was never made"
        )
    if row.hash != anchor.hash:
        return "charge changed", "the entry is not what the release saw"
    if anchor.part > parts_paid(row.label):
        return "no charge", f"the entry paid for no part {anchor.part}"
    of_one = (
        "mechanism" in release if isinstance(release, Mapping) else hasattr(release, "mechanism")
    )
    if parts_paid(row.label) and not anchor.part and of_one:
        return "no charge", "the entry paid for groups, not for one release"
    if not _covers(state, row, there, release):
        return "guarantee changed", "a release says more than was charged"
    return None


def _covers(state: State, row: Row, there: Mapping[int, Row], release: object) -> bool:
    """Whether what a release promises, where it says it, costs at most what was charged for it."""
    try:
        guarantee = _promised(release, state.dataset.adjacency)
    except _UNREADABLE:
        return False
    if guarantee is None or isinstance(release, Entry):  # of a step it is that of the step
        return True
    try:
        total = Filter(read_budget(state.dataset.total, state.dataset.adjacency))
        if guarantee.adjacency != total.total.adjacency:
            return False
        asked = total.price(guarantee)
        if row.kind != STEP:
            return _at_most(asked, read_amounts(row.price))
        # Steps cost nothing by themselves. A release with the receipt of a search promises what
        # all steps do together, and its own part is that of its step.
        step = read_budget(row.guarantee, total.total.adjacency)
        part = _part_of_search(release, step.adjacency)
        if part is None:
            return _at_most(asked, total.price(step))
        if type(part) is not type(step) or not _at_most(part.price(), step.price()):
            return False
        paid = [one for one in there.values() if one.charge_id == row.parent]
        return any(_at_most(asked, read_amounts(one.price)) for one in paid)
    except _UNREADABLE:
        return False


def _part_of_search(release: object, adjacency: str) -> Any:
    """Return what a release takes of the budget of its search; None if there was no search."""
    if isinstance(release, Mapping) and _NAMED.isdisjoint(dir(release)):
        search = release.get("search")
        found = search.get("release") if isinstance(search, Mapping) else None
        return None if found is None else read_budget(written(found), adjacency)
    own = getattr(getattr(release, "search", None), "release", None)
    return None if own is None else own.under(adjacency)


def _promised(release: object, adjacency: str) -> Any:
    """Return the guarantee that a release, or its document, states; None where it states none."""
    if _NAMED.isdisjoint(dir(release)) and isinstance(release, Mapping):
        header = release.get("header")
        stated = header if isinstance(header, Mapping) else {}
        found, between = stated.get("guarantee"), stated.get("neighbours")
        if between is not None:  # the relation of the guarantee, in a document
            from riemdp.statistics import Neighbours

            adjacency = decode(between, Neighbours.sort).adjacency
        return None if found is None else read_budget(written(found), adjacency)
    return getattr(release, "guarantee", None)


def _at_most(asked: tuple[float | Fraction, ...], paid: tuple[float | Fraction, ...]) -> bool:
    return all(one <= other * (1.0 + _ROUNDING) for one, other in zip(asked, paid, strict=True))
