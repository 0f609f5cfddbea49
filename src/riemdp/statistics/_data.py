"""Records: points, and what belongs to each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import plain_array, real_entries
from riemdp._errors import InvalidParameterError, NotOnManifoldError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds import Manifold


@dataclass(frozen=True, eq=False)
class Records:
    r"""Points with what belongs to each of them, in the same order.

    It goes where an array of points goes, for statistics that take more than points.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Points of the manifold.
    labels : array_like of int or str, shape (n,), optional
        A class for each record.
    covariates : array_like, shape (n,), optional
        A real number for each record.
    """

    points: ArrayLike
    labels: ArrayLike | None = None
    covariates: ArrayLike | None = None

    def __len__(self) -> int:
        return len(np.asarray(self.points))

    @property
    def extras(self) -> tuple[str, ...]:
        """Names of what is given beside the points."""
        named = {"labels": self.labels, "covariates": self.covariates}
        return tuple(name for name, values in named.items() if values is not None)

    def validated(self, manifold: Manifold) -> Self:
        """Return the same as arrays, after checks of every row.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        Records

        Raises
        ------
        NotOnManifoldError
            If a row is not on the manifold, or a covariate is not finite.
        InvalidParameterError
            If labels or covariates are of another kind, or not one for each point.
        """
        points = np.ascontiguousarray(manifold.validate(self.points))
        rows = len(points) if points.ndim == 1 + len(manifold.point_shape) else None
        labels, covariates = self.labels, self.covariates
        if labels is not None:
            array = _one_each(plain_array(labels, "labels"), rows, "labels")
            # NumPy would make texts of all labels where one of a sequence is a text
            labels = _plain_labels(labels if isinstance(labels, (list, tuple)) else array)
        if covariates is not None:
            covariates = _one_each(real_entries(covariates, "covariates"), rows, "covariates")
            with np.errstate(all="ignore"):  # what float64 cannot hold is not finite there
                covariates = covariates.astype(np.float64)
            wrong = np.flatnonzero(~np.isfinite(covariates))
            if len(wrong):
                raise NotOnManifoldError(f"row {wrong[0]}: its covariate is not finite")
        return replace(self, points=points, labels=labels, covariates=covariates)

    def at(self, rows: slice) -> Self:
        """Return some of the records.

        Parameters
        ----------
        rows : slice

        Returns
        -------
        Records
        """
        given = {name: np.asarray(getattr(self, name))[rows] for name in ("points", *self.extras)}
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


def _one_each(values: NDArray[Any] | None, rows: int | None, name: str) -> NDArray[Any]:
    if values is None or values.ndim != 1 or rows is None or len(values) != rows:
        raise InvalidParameterError(f"{name} must be one for each point, a sequence of that length")
    return values


def _plain_labels(labels: Sequence[Any] | NDArray[Any]) -> NDArray[np.object_]:
    """Return labels as integers and texts of Python: a copy, read once."""
    found = np.empty(len(labels), dtype=object)
    for row, label in enumerate(labels):
        plain = label.item() if issubclass(type(label), (np.integer, np.str_)) else label
        if type(plain) is not int and type(plain) is not str:
            raise InvalidParameterError(
                f"row {row}: labels must be integers or texts, one a record"
            )
        found[row] = plain
    return found


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
        raise InvalidParameterError(
            f"the {name} takes no {' or '.join(sorted(more))}; give the points alone"
        )
