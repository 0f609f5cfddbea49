"""Ids of records: that none comes twice, without keeping them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: Bytes of a digest: two of 2^40 ids have the same one with probability 2^-49.
_BYTES = 16
_DIGEST = np.dtype(f"V{_BYTES}")


def first_twice(ids: Iterable[Any]) -> int | None:
    """Return the first place of an id that was there before; None if there is none."""
    seen: set[tuple[type, Any]] = set()
    for place, one in enumerate(ids):
        if (type(one), one) in seen:
            return place
        seen.add((type(one), one))
    return None


def digests(ids: Iterable[Any], key: bytes) -> NDArray[np.void]:
    """Return a number of 16 bytes for each id, the same for the same one, under a secret key.

    The key is random, of one pass: nobody can look for ids that have the same digest.
    """
    found = bytearray()
    for one in ids:
        text = f"{type(one).__name__}:{one}".encode("utf-8", "surrogatepass")
        found += hashlib.blake2b(text, digest_size=_BYTES, key=key).digest()
    return np.frombuffer(bytes(found), dtype=_DIGEST)


def has_twice(found: list[NDArray[np.void]]) -> bool:
    """Whether two digests are the same."""
    numbers = _sorted(found)
    return bool((numbers[1:] == numbers[:-1]).all(axis=1).any())


def has_unknown(found: list[NDArray[np.void]], known: NDArray[np.void]) -> bool:
    """Whether a digest is none of those known; none of either may be there twice."""
    both = _sorted([*found, known])
    twice = int((both[1:] == both[:-1]).all(axis=1).sum())
    return twice != sum(map(len, found))


def _sorted(found: list[NDArray[np.void]]) -> NDArray[np.uint64]:
    numbers = np.concatenate([*found, np.empty(0, _DIGEST)]).view(np.uint64).reshape(-1, 2)
    return numbers[np.lexsort(numbers.T)]
