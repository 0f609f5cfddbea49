"""Rows of a Zarr array, of which chunks that nobody wrote are no records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._zarr_arrays import bounded, check_written, is_zarr

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Stores of Zarr that are not in the memory of a process.
_STORES = ("LocalStore", "ZipStore", "FsspecStore", "ObjectStore")


@dataclass(frozen=True)
class RowsOfZarr:
    """Some rows of a Zarr array, as zarr sends it anywhere.

    Attributes
    ----------
    array : object
    start, stop : int

    Raises
    ------
    InvalidParameterError
        When it is called, if rows may be of a chunk that nobody wrote, a codec is not known, or a
        chunk becomes too much.
    """

    array: Any
    start: int
    stop: int

    @property
    def elsewhere(self) -> bool:
        """Whether they only say where records are: the array is not in memory."""
        return type(self.array.store).__name__ in _STORES

    def __call__(self) -> NDArray[Any]:
        """Read them."""
        found = np.asarray(bounded(self.array, "the array")[self.start : self.stop])
        if self._may_be_absent(found):
            check_written(self.array, "the array")
        return found

    def _may_be_absent(self, found: NDArray[Any]) -> bool:
        """Whether all rows of a chunk have one number in a place: that of chunks without a file.

        Which chunks have one takes longer to find out.
        """
        number, size = self.array.fill_value, self.array.chunks[0]
        if number is None:
            return True
        is_nan = found.dtype.kind == "f" and np.isnan(number)
        equal = np.isnan(found) if is_nan else found == number
        if not equal.any():
            return False
        starts = np.r_[0, np.arange(-self.start % size or size, len(found), size)]
        return bool(np.logical_and.reduceat(equal, starts, axis=0).any())


def has_zarr_rows(points: Any) -> bool:
    """Whether an array is one of Zarr, with any rows; without it is what it is in memory.

    Parameters
    ----------
    points : object

    Returns
    -------
    bool
    """
    return is_zarr(points) and len(points.shape) > 0 and 0 not in points.shape
