"""Entries of a ledger, as they are handed out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from riemdp import _document
from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError
from riemdp._part_document import decode, encode
from riemdp.ledger._chain import Row, read_amounts, written
from riemdp.privacy import Anchor

if TYPE_CHECKING:
    from riemdp.privacy import Budget

#: Kinds of entries: a charge, a step within one, and the end of an account.
CHARGE, STEP, CLOSE = "charge", "step", "close"
#: Characters that a name or a label may have.
LONGEST_TEXT = 1000


class Entry(NamedTuple):
    """One entry in the ledger of a data set.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    seq : int
        Number of the entry, from 1 on.
    charge_id : str
        Unique in the ledger.
    hash : str
        Over the entry and everything before it.
    kind : str
        ``"charge"``; ``"step"`` of a charge that paid for several releases at once, and costs
        nothing more; ``"close"`` for the end of the account.
    label : str
        What the release is.
    guarantee : Budget or None
        What was charged, or the share of a step; None for the end.
    price : tuple of float
        What it added to the sums, rounded.
    parent : str
        Of a step the ``charge_id`` of what paid for it; otherwise empty.
    created : str
        When, in UTC, by the clock of the machine that charged.

    Examples
    --------
    >>> import tempfile
    >>> from riemdp import PureDP
    >>> from riemdp.ledger import Ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/ledger.db")
    >>> account = ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")
    >>> entry = account.spend(PureDP(0.25), "first mean")
    >>> entry.seq, entry.kind, entry.label, entry.guarantee
    (1, 'charge', 'first mean', PureDP(epsilon=0.25))
    >>> folder.cleanup()
    """

    dataset: str
    seq: int
    charge_id: str
    hash: str
    kind: str
    label: str
    guarantee: Budget | None
    price: tuple[float, ...]
    parent: str
    created: str

    @property
    def anchor(self) -> Anchor:
        """What a release that was paid by this entry carries."""
        return Anchor(self.dataset, self.seq, self.charge_id, self.hash)


def entry_of(row: Row, adjacency: str) -> Entry:
    """Return a stored row as an entry."""
    return Entry(
        dataset=row.dataset,
        seq=row.seq,
        charge_id=row.charge_id,
        hash=row.hash,
        kind=row.kind,
        label=row.label,
        guarantee=read_budget(row.guarantee, adjacency) if row.guarantee else None,
        price=tuple(map(float, read_amounts(row.price))),
        parent=row.parent,
        created=row.created,
    )


def written_budget(budget: Budget) -> str:
    """Return the text of a budget; its relation is that of the data set."""
    return written(encode(budget))


def read_budget(text: str, adjacency: str) -> Budget:
    """Return what :func:`written_budget` wrote."""
    budget: Budget = decode(_document.load(text), "definition")
    return budget.under(adjacency)


def check_text(value: object, name: str) -> None:
    """Refuse what a database may not keep as it is."""
    if not isinstance(value, str):
        raise InvalidParameterError(f"{name} must be a string, got {kind_of(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidParameterError(f"{name} must be a text of Unicode") from None
    if not 0 < len(value) <= LONGEST_TEXT or "\0" in value:
        raise InvalidParameterError(
            f"{name} must have 1 to {LONGEST_TEXT} characters, no null character among them"
        )
