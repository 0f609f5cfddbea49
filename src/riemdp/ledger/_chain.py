"""Rows as they are stored, and the chain of hashes through them."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riemdp import _document
from riemdp._errors import InvalidParameterError, LedgerTamperedError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Begins everything that is hashed.
_FORMAT = "riemdp-ledger/2"
#: Characters of an amount, and its power of two: amounts are multiples of 2^-2148.
_LONGEST_AMOUNT, _LARGEST_POWER = 1000, 2148
_SHORTEST_KEY = 16
#: Kept, as making one takes longer than an entry.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
#: Variable of the environment that names the file with the key, as on the command line.
KEY_VARIABLE = "RIEMDP_LEDGER_KEY"


@dataclass(frozen=True)
class Dataset:
    """What was registered. All but ``genesis`` is what that is the hash of."""

    name: str
    total: str
    limits: str
    unit: str
    adjacency: str
    algorithm: str
    nonce: str
    created: str
    genesis: str = ""


@dataclass(frozen=True)
class Row:
    """One entry. ``hash`` is over all others, what was registered, and the sums after it."""

    dataset: str
    seq: int
    charge_id: str
    kind: str
    label: str
    guarantee: str
    price: str
    parent: str
    created: str
    previous: str
    hash: str = ""


@dataclass(frozen=True)
class Tip:
    """Number and hash of the last entry, and the sums up to it."""

    dataset: str
    seq: int
    hash: str
    sums: str


class Chain:
    """Hashes of rows: SHA-256, or HMAC with it where a key is given."""

    def __init__(self, key: bytes | None) -> None:
        _check_key(key)
        self._key = key
        self.algorithm = "sha256" if key is None else "hmac-sha256"

    @property
    def keyed(self) -> bool:
        """Whether hashes need a key."""
        return self.algorithm != "sha256"

    def __getstate__(self) -> dict[str, object]:
        """Return what is pickled: everything but the key."""
        return {"_key": None, "algorithm": self.algorithm}

    def genesis(self, dataset: Dataset) -> str:
        """Return the hash of what was registered."""
        return self._hash(["registered", *_but_last(dataset), ""])

    def entry(self, genesis: str, row: Row, sums: str) -> str:
        """Return the hash of an entry, of a data set with this hash, and of the sums after it."""
        return self._hash(["entered", genesis, *_but_last(row), "", sums])

    def check_algorithm(self, dataset: Dataset) -> None:
        """Refuse a key where there is none, and the reverse."""
        if dataset.algorithm != self.algorithm:
            way = "open the ledger with key="
            if self.keyed:
                way = "open it without a key, unless you know that it had one: then it was changed"
            raise InvalidParameterError(
                f"the data set {dataset.name!r} is said to have {dataset.algorithm} hashes; {way}"
            )

    def check_tip(self, dataset: Dataset, tip: Tip, last: Row | None) -> None:
        """Trust a tip only if its hash can be made again of the last entry and of its own sums."""
        genesis = self.genesis(dataset)
        if dataset.genesis != genesis:
            good = False
        elif last is None:
            good = tip == start_of(dataset)
        else:
            made = self.entry(genesis, last, tip.sums)
            good = tip.seq == last.seq and tip.hash == made and last.hash == made
        if not good:
            raise LedgerTamperedError(
                f"the ledger of {dataset.name!r} was changed at entry {tip.seq} or at its "
                "registration: the hashes do not match. Nothing can be charged; Ledger.verify() "
                "says where, and a back-up what was there"
            )

    def _hash(self, values: Sequence[object]) -> str:
        text = written([_FORMAT, *values]).encode("ascii")
        if not self.keyed:
            return hashlib.sha256(text).hexdigest()
        if self._key is None:  # it comes out of a pickle
            self._key = _key_of_environment()
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()


def _but_last(row: Dataset | Row) -> list[str]:
    """Return the values of all fields but the last, which is the hash of them."""
    return [*vars(row).values()][:-1]


def _key_of_environment() -> bytes:
    """Return the key in the file that a variable of the environment names."""
    path = os.environ.get(KEY_VARIABLE)
    if not path:
        raise InvalidParameterError(
            "the key of this ledger is in no pickle: name the file that holds it in the variable "
            f"{KEY_VARIABLE}, or open the ledger with Ledger(url, key=...) and take its account, "
            "which an estimator gets by set_params(accountant=...)"
        )
    try:
        key = Path(path).read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise InvalidParameterError(
            f"the file that {KEY_VARIABLE} names cannot be read: {error.strerror}"
        ) from None
    _check_key(key)
    return key


def _check_key(key: object) -> None:
    if key is not None and not (isinstance(key, bytes) and len(key) >= _SHORTEST_KEY):
        raise InvalidParameterError(
            f"key must be at least {_SHORTEST_KEY} random bytes, such as those of "
            "secrets.token_bytes(32), or None"
        )


def start_of(dataset: Dataset) -> Tip:
    """Return the tip before the first entry."""
    nothing = written_sums((0,) * len(read_amounts(dataset.limits)))
    return Tip(dataset.name, 0, dataset.genesis, nothing)


def written(value: object) -> str:
    """Return the one JSON text of a value."""
    return _ENCODER.encode(value)


def written_amounts(amounts: Sequence[float | Fraction]) -> str:
    """Return the text of a price or of limits: ``"0x3p-2"`` for 3/4, exactly."""
    ratios = (amount.as_integer_ratio() for amount in amounts)
    return written([f"{above:#x}p{1 - below.bit_length()}" for above, below in ratios])


def read_amounts(text: str) -> tuple[Fraction, ...]:
    """Return what :func:`written_amounts` wrote."""
    return tuple(map(_amount, _texts(text)))


def _amount(text: str) -> Fraction:
    number, _, power = text.partition("p")
    if len(text) > _LONGEST_AMOUNT or abs(int(power)) > _LARGEST_POWER:
        raise InvalidParameterError(f"expected an amount, got a text of {len(text)} characters")
    amount = int(number, 16) * Fraction(2) ** int(power)
    float(amount)  # raises OverflowError beyond float64
    return amount


def written_sums(sums: Sequence[int]) -> str:
    """Return the text of exact sums, as hexadecimal multiples of 2^-2148."""
    return written([format(one, "x") for one in sums])


def read_sums(text: str) -> tuple[int, ...]:
    """Return what :func:`written_sums` wrote."""
    return tuple(int(one, 16) for one in _texts(text))


def _texts(text: str) -> list[str]:
    found: Any = _document.load(text)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidParameterError("expected a list of texts")
    return found
