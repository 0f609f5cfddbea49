"""Images in NIfTI, by nibabel."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import real_array, shown
from riemdp._errors import InvalidParameterError
from riemdp._files import (
    ADVICE,
    check_output,
    most_numbers,
    numbers_of,
    opened,
    path_of,
    too_many,
    write_files,
)
from riemdp.io._layouts import points_of, rows_of
from riemdp.io._optional import library, said_plainly

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Code of NIfTI for symmetric matrices, whose order the standard fixes.
_SYMMETRIC = 1005
#: Most difference of the places of voxels in two images, in their unit, mostly mm.
_SAME_PLACE = 1e-3
#: Codes of CIFTI, whose images have no axes of space.
_CIFTI = range(3000, 3100)
#: Most bytes before the numbers, where extensions may stand.
_LONGEST_START = 2**24
#: Bytes of a header of either version.
_HEADER = 540
#: What a row is where every voxel is to be a record of its own.
VOXEL = "voxel"


def read_nifti(
    path: Path, most: int | None, advice: str, *, layout: str | None, unit: str, mask: Path | None
) -> FloatArray:
    r"""Read the points of an image: one record of all its voxels, or a record for each.

    The first three axes are space, the others of length over 1 are the numbers of a voxel, of which
    ``layout`` makes a point. The shape is (1, V, \*point_shape), or (V, \*point_shape) for the unit
    ``"voxel"``, in the order of the array, the last axis fastest. ``mask`` is an image of the same
    space that is not zero where voxels are taken. It must be public, and the same for all people.

    What the header declares is checked before the image is read. Errors are those of
    :func:`riemdp.io.read_records`; refused is also a mask of another space, and a header that
    says that the six numbers have another order than the layout.
    """
    header, numbers = _image(path, most, advice)
    if header["intent_code"] == _SYMMETRIC and layout != "tensor-nifti":
        raise InvalidParameterError(
            f"the header of {path.name} says that its numbers are the lower triangle of a matrix, "
            f"the layout is {shown(layout)}: it must be 'tensor-nifti'"
        )
    rows = numbers.reshape(-1, *(length for length in numbers.shape[3:] if length > 1))
    if mask is not None:
        other, inside = _image(mask, most, advice)
        affines = other.get_best_affine(), header.get_best_affine()
        if (
            inside.size != len(rows)
            or inside.shape[:3] != numbers.shape[:3]
            or not np.allclose(*affines, rtol=0.0, atol=_SAME_PLACE)
        ):
            raise InvalidParameterError(f"{mask.name} is of another space than {path.name}")
        rows = rows[inside.reshape(-1) != 0.0]
    points = points_of(rows, layout, path)
    return points if unit == VOXEL else points[None]


def write_nifti(
    path: Path | str,
    points: ArrayLike,
    like: Path | str,
    *,
    layout: str | None = None,
    masked: bool = True,
) -> None:
    r"""Write the points of voxels as an image, to look at; a certificate it is not.

    Parameters
    ----------
    path : Path or str
        ``.nii`` or ``.nii.gz``; a file of that name is replaced.
    points : array_like, shape (V, \*point_shape)
        One for each voxel, in the order of :func:`read_nifti`: the value of an atlas.
    like : Path or str
        Image whose grid is taken; the mask, where the records were read with one.
    layout : str, optional
        Order of the six numbers of a symmetric 3 x 3 matrix, ``"tensor-fsl"`` and so on; by
        default all numbers of a point, row by row.
    masked : bool, default True
        Whether only voxels where ``like`` is not zero have points; the others are written as 0.

    Raises
    ------
    InvalidParameterError
        If the number of points is not that of the voxels, the layout does not fit the points, or
        the file cannot be written there.
    UnsupportedError
        If nibabel is not installed.
    OSError
        If a file cannot be opened or written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import nibabel
    >>> from riemdp.io import write_nifti
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     like, path = Path(folder, "like.nii"), Path(folder, "mean.nii")
    ...     nibabel.save(nibabel.Nifti1Image(np.ones((2, 2, 1)), np.eye(4)), like)
    ...     write_nifti(path, np.tile(np.eye(3), (4, 1, 1)), like, layout="tensor-fsl")
    ...     nibabel.load(path).shape
    (2, 2, 1, 6)
    """
    path, like = path_of(path), path_of(like, "like")
    if not path.name.lower().endswith((".nii", ".nii.gz")):
        raise InvalidParameterError(f"{path.name} must end in .nii or .nii.gz")
    grid, inside = _image(like, None, ADVICE)
    if inside.ndim != 3 and masked:
        raise InvalidParameterError(f"{like.name} must have one number a voxel to be a mask")
    kept = inside != 0.0 if masked else np.ones(inside.shape[:3], dtype=bool)
    given = real_array(points, "points")
    if given.ndim == 0:
        raise InvalidParameterError("points must be one for each voxel, got a single number")
    rows = rows_of(given, layout)
    if len(rows) != np.count_nonzero(kept):
        raise InvalidParameterError(
            f"{like.name} has {np.count_nonzero(kept)} voxels to write, got {len(rows)} points"
        )
    numbers = np.zeros((*kept.shape, rows.shape[1]))
    numbers[kept] = rows
    is_standard = layout == "tensor-nifti"
    numbers = numbers[..., None, :] if is_standard else numbers
    image = library("nibabel", path).Nifti1Image(numbers, grid.get_best_affine())
    image.header["intent_code"] = _SYMMETRIC if is_standard else 0
    content = image.to_bytes()
    if path.suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)
    write_files({check_output(path, [like]): lambda file: file.write(content)})


def _image(path: Path, most: int | None, advice: str) -> tuple[Any, FloatArray]:
    """Return the header and the numbers of an image; extensions are not read."""
    nibabel = library("nibabel", path)
    with opened(path) as file, said_plainly(path):
        stream: Any = gzip.GzipFile(fileobj=file) if path.suffix.lower() == ".gz" else file
        header = _header(nibabel, stream.read(_HEADER))
        shape = header.get_data_shape()
        if len(shape) < 3 or int(header["intent_code"]) in _CIFTI:
            raise InvalidParameterError(f"{path.name} must have three axes of space")
        if header.get_data_dtype().kind not in "fiu":
            raise InvalidParameterError(f"{path.name} must hold real numbers")
        least = header.single_vox_offset
        if not least <= header.get_data_offset() <= _LONGEST_START:
            raise InvalidParameterError(
                f"the numbers of {path.name} must start at a byte from {least} to {_LONGEST_START}"
            )
        limit = most_numbers(most, path.stat().st_size)
        if numbers_of(shape) > limit:
            raise too_many(path, limit, advice)
        numbers = np.asarray(nibabel.arrayproxy.ArrayProxy(stream, header, mmap=False))
        return header, numbers.astype(np.float64, copy=False)


def _header(nibabel: Any, start: bytes) -> Any:
    """Return the header that an image starts with, of the version that its length is of."""
    second = _HEADER in (int.from_bytes(start[:4], order) for order in ("little", "big"))
    kind = nibabel.Nifti2Header if second else nibabel.Nifti1Header
    return kind(start[: kind.template_dtype.itemsize])
