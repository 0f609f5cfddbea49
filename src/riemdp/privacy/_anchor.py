"""What a release keeps of its charge in a ledger."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from riemdp import _document
from riemdp._checks import shown
from riemdp._errors import InvalidParameterError


class Anchor(NamedTuple):
    """One charge in a durable ledger, as a release carries it.

    The chain of hashes in a ledger cannot tell that all of it was replaced by an older copy of
    itself. What was released since can.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    seq : int
        Number of the charge among those of its data set, from 1 on; 0 is the registration.
    charge_id : str
        Unique to the charge.
    hash : str
        Over the charge and everything before it, in hexadecimal digits.
    part : int, default 0
        Which one of several releases that one charge paid for, from 1 on, as of disjoint groups;
        0 where it paid for one.

    Examples
    --------
    >>> import tempfile
    >>> from riemdp import PureDP
    >>> from riemdp.ledger import Ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/ledger.db")
    >>> account = ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")
    >>> anchor = account.spend(PureDP(0.25), "first mean").anchor
    >>> anchor.dataset, anchor.seq, len(anchor.hash)
    ('study', 1, 64)
    >>> folder.cleanup()
    """

    dataset: str
    seq: int
    charge_id: str
    hash: str
    part: int = 0

    def document(self) -> dict[str, Any]:
        """Return a dictionary that JSON can write.

        Returns
        -------
        dict
        """
        found = self._asdict()
        if not self.part:
            del found["part"]
        return found

    @classmethod
    def from_document(cls, document: object) -> Anchor:
        """Return the anchor that :meth:`document` wrote.

        Parameters
        ----------
        document : object
            What a JSON parser returned.

        Returns
        -------
        Anchor

        Raises
        ------
        InvalidParameterError
            If it describes none.
        """
        given = _document.fields(document, set(cls._fields) - {"part"}, {"part"})
        numbers = {"seq": given["seq"], "part": given.get("part", 0)}
        for name, number in numbers.items():
            if type(number) is not int or number < 0:
                raise InvalidParameterError(
                    f"{name} must be an integer of at least 0, got {shown(number)}"
                )
        texts = [_document.text(given[name], name) for name in ("dataset", "charge_id", "hash")]
        return cls(texts[0], numbers["seq"], texts[1], texts[2], numbers["part"])


def label_of_groups(name: str, groups: int) -> str:
    """Return the label of a charge that pays for disjoint groups at once.

    Parameters
    ----------
    name : str
        Of what is released.
    groups : int

    Returns
    -------
    str
        It is hashed in a ledger, so that releases cannot name more parts than there were groups.
    """
    return f"{name} of {groups} groups"


def parts_paid(label: str) -> int:
    """Return how many parts a charge paid for, by :func:`label_of_groups`; 0 of one release.

    Parameters
    ----------
    label : str

    Returns
    -------
    int
    """
    found = re.fullmatch(r".* of ([1-9][0-9]{0,17}) groups", label, re.DOTALL)
    return 0 if found is None else int(found[1])
