"""Records with their labels, covariates, weights and ids."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import kind_of, plain_array, real_entries
from riemdp._combinations import NO_WEIGHTS
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._part import is_own_throughout
from riemdp._zarr_arrays import check_codecs, is_zarr
from riemdp.kernel import places_are_alike, rows_for, tiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import Manifold


# Ids of records: that none comes twice, without keeping them.

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


# Records: points, and what belongs to each of them.

#: What may belong to points, by the name of the field.
_EXTRAS = ("labels", "covariates", "weights", "users")


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    r"""Points with what belongs to each of them, in the same order.

    It goes where an array of points goes, for statistics that take more than points. Its text
    names what it holds, and neither values nor how many there are, which may be private.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Points of the manifold.
    labels : array_like of int or str, shape (n,), optional
        A class for each record.
    covariates : array_like, shape (n,), optional
        A real number for each record.
    weights : array_like, shape (n,), optional
        A nonnegative number for each record.
    users : array_like of int or str, shape (n,), optional
        Whose record it is. Only who shares one counts, not what it is.
    unit : str, optional
        What a record is, in a word, where somebody said so: ``"person"``, ``"epoch"``. Nothing is
        computed from it.
    ids : array_like of int or str, shape (n,), optional
        An id for each record: the same one twice is an error. Nothing is computed from it.

    Raises
    ------
    InvalidParameterError
        If one of them is a Zarr array with an unknown codec, which may run code.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> points = np.full((4, 2), 0.5)
    >>> records = riemdp.Records(points, users=["a", "a", "b", "c"], unit="person")
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> riemdp.private_mean(records, ball, riemdp.GDP(1.0)).adjacency
    'add-remove-user'
    """

    points: ArrayLike
    labels: ArrayLike | None = None
    covariates: ArrayLike | None = None
    weights: ArrayLike | None = None
    users: ArrayLike | None = None
    unit: str | None = None
    ids: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("points", *_EXTRAS, "ids"):
            if is_zarr(getattr(self, name)):
                check_codecs(getattr(self, name), f"the array of {name}")

    def __len__(self) -> int:
        return len(np.asarray(self.points))

    def __repr__(self) -> str:
        shape: Any = getattr(self.points, "shape", None)
        is_array = isinstance(shape, tuple) and len(shape) > 0
        held = [f"points of shape {shape[1:]}" if is_array else kind_of(self.points)]
        held += [*self.extras, *(["ids"] if self.ids is not None else [])]
        return f"{type(self).__name__}({', '.join(held)})"

    @property
    def extras(self) -> tuple[str, ...]:
        """Names of what is given beside the points."""
        return tuple(name for name in _EXTRAS if getattr(self, name) is not None)

    def validated(self, manifold: Manifold, *, tells_number: bool = True) -> Self:
        """Return the same as arrays, after checks of every row, each by itself.

        Parameters
        ----------
        manifold : Manifold
        tells_number : bool, default True
            Whether an error about the shape of all rows may say how many there are.

        Returns
        -------
        Records

        Raises
        ------
        NotOnManifoldError
            If a row is not on the manifold, a covariate is not finite, or a weight not finite and
            at least 0.
        InvalidParameterError
            If what belongs to points is of another kind, or not one for each point, or an id comes
            twice. Ids are left out then: they are of no other use.
        """
        given: Any = self.points
        if not tells_number:
            if isinstance(given, (list, tuple)) and len(given) == 0:  # which has no shape
                given = np.empty((0, *manifold.point_shape))
            _check_first(manifold, given)
        points = validated_points(manifold, given)
        rows = len(points) if points.ndim == 1 + len(manifold.point_shape) else None
        return replace(self.checked_beside(rows), points=points)

    def checked_beside(self, rows: int | None) -> Self:
        """Return the same with all that belongs to points as arrays, after checks of every row.

        Parameters
        ----------
        rows : int or None
            Number of points, at which nothing looks; None where they are no rows.

        Returns
        -------
        Records

        Raises
        ------
        NotOnManifoldError, InvalidParameterError
            See :meth:`validated`.
        """
        found: dict[str, Any] = {}
        for name in ("labels", "users"):
            values = getattr(self, name)
            if values is not None:
                found[name] = labels_of(values, rows, name)
        if self.covariates is not None:
            found["covariates"] = _numbers(self.covariates, rows, "covariates", "covariate")
        if self.weights is not None:
            found["weights"] = weights = _numbers(self.weights, rows, "weights", "weight")
            if len(wrong := np.flatnonzero(weights < 0.0)):
                raise NotOnManifoldError(f"row {wrong[0]}: its weight is negative")
        if self.ids is not None:
            twice = first_twice(labels_of(self.ids, rows, "ids"))
            if twice is not None:
                raise InvalidParameterError(
                    f"row {twice}: its id is that of an earlier row, and no record may be counted "
                    "twice"
                )
            found["ids"] = None
        return replace(self, **found)

    def at(self, rows: slice | NDArray[np.intp]) -> Self:
        """Return some of the records.

        Parameters
        ----------
        rows : slice, or ndarray of int

        Returns
        -------
        Records
        """
        names = ("points", *self.extras)
        names = names if self.ids is None else (*names, "ids")
        given: dict[str, Any] = {name: np.asarray(getattr(self, name))[rows] for name in names}
        return replace(self, **given)

    def with_points(self, points: NDArray[np.float64]) -> Self:
        """Return the same with other points, in the same order.

        Parameters
        ----------
        points : ndarray, shape (n, ...)

        Returns
        -------
        Records
        """
        return replace(self, points=points)


def _check_first(manifold: Manifold, points: ArrayLike) -> None:
    """Refuse what has another shape in words that do not say how many rows there are."""
    given = plain_array(points, "points", error=NotOnManifoldError)
    if given is not None and given.ndim > 0:
        manifold.validate(given[:1])


def validated_points(manifold: Manifold, points: ArrayLike) -> NDArray[np.float64]:
    r"""Return points as a manifold's own method validates them, each by itself.

    Parameters
    ----------
    manifold : Manifold
    points : array_like, shape (n, \*point_shape)

    Returns
    -------
    ndarray, shape (n, \*point_shape)
        A copy, in C order.

    Raises
    ------
    NotOnManifoldError
        See :meth:`Manifold.validate`.
    """
    given = plain_array(points, "points", error=NotOnManifoldError)
    if given is None or given.dtype.kind not in "fiuc" or not _are_rows(manifold, given):
        return np.array(manifold.validate(points))
    plain = given.shape[1:] == manifold.point_shape and given.dtype.kind != "c"
    fill = manifold.origin if plain else given[0]  # in its own format, where there are several
    rows, found = _rows_of_a_tile(manifold, given.shape[1:]), []
    for place, ((tile,), number) in enumerate(tiles([given], [fill], rows)):
        try:
            found.append(manifold.validate(tile)[:number])
        except NotOnManifoldError as error:
            raise NotOnManifoldError(_at_row(str(error), place * rows)) from None
    return np.concatenate(found)


def _rows_of_a_tile(manifold: Manifold, shape: tuple[int, ...]) -> int:
    """Return one of code of other packages, and where places are not alike."""
    return _rows_of_our_own(manifold, shape) if is_own_throughout(manifold) else 1


@functools.lru_cache(maxsize=64)
def _rows_of_our_own(manifold: Manifold, shape: tuple[int, ...]) -> int:
    rows = rows_for(shape)
    alike = all(
        # as it is, and moved onto the manifold
        places_are_alike(manifold.validate, [share * manifold.origin], rows)
        for share in (1.0, 1.0 + 1e-9)
    )
    return rows if alike else 1


def _are_rows(manifold: Manifold, given: NDArray[Any]) -> bool:
    """Whether there are rows, in a format that the manifold knows."""
    if given.ndim == 0 or len(given) == 0:
        return False
    if given.shape[1:] == manifold.point_shape:
        return True
    try:
        return manifold.validate(given[:1]).shape == (1, *manifold.point_shape)
    except NotOnManifoldError:
        return False


def _at_row(text: str, start: int) -> str:
    """Return the text of an error about a row of a tile that starts at a row."""
    return re.sub(r"^row (\(?)(\d+)", lambda x: f"row {x[1]}{int(x[2]) + start}", text)


def _one_each(values: NDArray[Any] | None, rows: int | None, name: str) -> NDArray[Any]:
    if values is None or values.ndim != 1 or rows is None or len(values) != rows:
        raise InvalidParameterError(f"{name} must be one for each point, a sequence of that length")
    return values


def _numbers(values: ArrayLike, rows: int | None, name: str, one: str) -> NDArray[np.float64]:
    found = _one_each(real_entries(values, name), rows, name)
    with np.errstate(all="ignore"):  # what float64 cannot hold is not finite there
        found = found.astype(np.float64)
    if len(wrong := np.flatnonzero(~np.isfinite(found))):
        raise NotOnManifoldError(f"row {wrong[0]}: its {one} is not finite")
    return found


def labels_of(values: ArrayLike, rows: int | None, name: str) -> NDArray[np.object_]:
    """Return one label for each record, as integers and texts of Python: a copy, read once.

    Parameters
    ----------
    values : array_like of int or str, shape (n,)
    rows : int or None
        How many records there are, if that is known.
    name : str
        Of the parameter.

    Returns
    -------
    ndarray of int and str, shape (n,)

    Raises
    ------
    InvalidParameterError
        If they are something else, or not one for each record.
    """
    array = _one_each(plain_array(values, name), rows, name)
    # NumPy would make texts of all labels where one of a sequence is a text
    listed = values if isinstance(values, (list, tuple)) else array
    labels = listed.tolist() if array.dtype.kind in "iuU" and listed is array else listed
    found = np.empty(len(labels), dtype=object)
    if {int, str}.issuperset(map(type, labels)):
        found[:] = labels
        return found
    for row, label in enumerate(labels):
        plain = label.item() if issubclass(type(label), (np.integer, np.str_)) else label
        if type(plain) is not int and type(plain) is not str:
            raise InvalidParameterError(
                f"row {row}: {name} must be integers or texts, one a record; convert them, and "
                "leave out records that have none"
            )
        found[row] = plain
    return found


def without(records: Records, names: Sequence[str]) -> Records:
    """Return records without some of what belongs to their points.

    Parameters
    ----------
    records : Records
    names : sequence of str
        Of :attr:`Records.extras`.

    Returns
    -------
    Records
    """
    gone: dict[str, Any] = {name: None for name in names if getattr(records, name) is not None}
    return replace(records, **gone) if gone else records


def as_records(points: object) -> Records:
    r"""Return records as they are, and points as records without anything else.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape), or Records

    Returns
    -------
    Records
    """
    given: Any = points
    return given if isinstance(points, Records) else Records(given)


def check_extras(records: Records, takes: Sequence[str], name: str) -> None:
    """Raise ``InvalidParameterError`` where records hold more than a statistic takes, or less.

    Parameters
    ----------
    records : Records
    takes : sequence of str
        Of :attr:`Records.extras`.
    name : str
        Of the statistic.
    """
    given = set(records.extras)
    if missing := set(takes) - given:
        raise InvalidParameterError(
            f"the {name} takes {' and '.join(sorted(missing))} too: give "
            f"Records(points, {', '.join(f'{each}=...' for each in sorted(missing))})"
        )
    if more := given - set(takes):
        named = " and ".join(sorted(more))
        advice = NO_WEIGHTS if "weights" in more else f"leave out {named}"
        raise InvalidParameterError(f"the {name} takes no {named}: {advice}")
