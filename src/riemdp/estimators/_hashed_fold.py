"""Folds that each id decides for itself: a record more or less moves no other."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import LARGEST_COUNT, count, shown
from riemdp._errors import InvalidParameterError
from riemdp.estimators._scikit_learn import BaseCrossValidator, _num_samples
from riemdp.statistics import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


class HashedFold(BaseCrossValidator):  # type: ignore[misc]
    """Cross-validator that puts a record into the fold of its own id, by a public hash.

    The fold depends on the id, ``n_splits`` and ``key`` alone. One record more or less, or one
    person with all records, changes one fold and leaves all others where they are. The splitters
    of scikit-learn place records by their number, their order, their labels or the sizes of
    groups, so that one record may move many others.

    Without ``ids`` the sizes of the folds depend on the data, so the fits have to be under
    add-remove. With ``ids``, a public list, the folds share the list as evenly as possible, and
    their sizes are public.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds, at least 2.
    key : int, default 0
        Public key of the hash, at least 0. Another key makes other folds. Choose it without
        looking at the data.
    ids : array_like of int or str, optional
        Public list of all people, or of all records, that there may be. Other ids are an error.

    Attributes
    ----------
    sizes : tuple of int or None
        How many ids of the list each fold has; None without a list.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain, or an id is listed twice.

    See Also
    --------
    private_cross_validate

    Notes
    -----
    An id belongs to its record or to its person. The number of the row is no id: if a record is
    removed, the rows after it have other numbers. The integer 1 and the text ``"1"`` are one id,
    so that one text among integers, of which NumPy and pandas make texts, changes no fold.

    References
    ----------
    docs/proofs/neighbours.md, claim 10.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.estimators import HashedFold
    >>> folds = HashedFold(2, ids=["Ann", "Bob", "Cleo", "Dan"])
    >>> folds.sizes
    (2, 2)
    >>> whose = np.array(["Cleo", "Ann", "Cleo", "Bob"])  # Dan has no record
    >>> for train, test in folds.split(whose, groups=whose):
    ...     print(whose[train], whose[test])
    ['Ann' 'Bob'] ['Cleo' 'Cleo']
    ['Cleo' 'Cleo'] ['Ann' 'Bob']
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012  # as scikit-learn has it

    def __init__(self, n_splits: int = 5, *, key: int = 0, ids: ArrayLike | None = None) -> None:
        self.n_splits = count(n_splits, "n_splits")
        if self.n_splits < 2:
            raise InvalidParameterError(f"n_splits must be at least 2, got {self.n_splits}")
        given: object = key
        whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
        if not whole or not 0 <= key <= LARGEST_COUNT:
            raise InvalidParameterError(
                f"key must be an integer from 0 to under 2^63, got {shown(key)}"
            )
        self.key = int(key)
        self.ids: tuple[str, ...] | None = None
        self.sizes: tuple[int, ...] | None = None
        self._listed: dict[str, int] = {}
        if ids is not None:
            self._list(ids)

    def _list(self, ids: Any) -> None:
        """Deal a public list to the folds, in the order of hashes."""
        texts = _texts(ids, len(ids) if hasattr(ids, "__len__") else None, "ids")
        order = sorted(texts, key=lambda text: (self._hash(text), text))
        self._listed = {text: place % self.n_splits for place, text in enumerate(order)}
        if len(self._listed) < len(texts):
            raise InvalidParameterError("ids must list each id once; leave out those that repeat")
        if len(texts) < self.n_splits:
            raise InvalidParameterError(
                f"ids must be at least as many as the folds: got {len(texts)} for "
                f"n_splits={self.n_splits}; take fewer folds"
            )
        self.ids = tuple(texts)
        self.sizes = tuple(
            len(range(fold, len(texts), self.n_splits)) for fold in range(self.n_splits)
        )

    def _hash(self, text: str) -> int:
        """Return a number of 64 bits that depends on the text and the public key alone."""
        said, key = text.encode("utf-8", "surrogatepass"), str(self.key).encode()
        return int.from_bytes(hashlib.blake2b(said, digest_size=8, key=key).digest(), "big")

    def _fold(self, row: int, text: str) -> int:
        if self.ids is None:
            return self._hash(text) % self.n_splits
        if text not in self._listed:
            raise InvalidParameterError(f"row {row}: its id is not in the public list of ids")
        return self._listed[text]

    def _iter_test_indices(
        self,
        X: Any = None,
        y: object = None,  # noqa: ARG002  # as scikit-learn has it
        groups: ArrayLike | None = None,
    ) -> Iterator[NDArray[np.intp]]:
        if groups is None:
            raise InvalidParameterError(
                "HashedFold needs an id of each record, or of its person: groups=... in functions "
                "of scikit-learn, ids=... or users=... in private_cross_validate"
            )
        texts = _texts(groups, _num_samples(X), "groups")
        folds = np.array([self._fold(row, text) for row, text in enumerate(texts)], dtype=np.intp)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds == fold)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:  # noqa: ARG002
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Not used.

        Returns
        -------
        int
        """
        return self.n_splits


def _texts(ids: ArrayLike, rows: int | None, name: str) -> list[str]:
    """Return ids as texts, in their order."""
    return [str(one) for one in labels_of(ids, rows, name)]
