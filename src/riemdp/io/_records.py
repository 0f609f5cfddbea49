"""Records from a file, with what belongs to each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._files import ADVICE, path_of
from riemdp.io._layouts import check_layout, points_of
from riemdp.io._nifti import read_nifti
from riemdp.io._parquet import read_parquet
from riemdp.io._read import read
from riemdp.io._table import TEXTS, read_table
from riemdp.io._zarr import read_zarr
from riemdp.statistics import Records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_IMAGES = (".nii", ".nii.gz")
#: Formats whose columns or arrays go by name.
_NAMED = {".csv": read_table, ".parquet": read_parquet, ".zarr": read_zarr}
_LONGEST_UNIT = 40


def read_records(
    path: Path | str,
    points: Sequence[str] = (),
    *,
    unit: str | None = None,
    layout: str | None = None,
    labels: str | None = None,
    covariates: str | None = None,
    weights: str | None = None,
    users: str | None = None,
    mask: Path | str | None = None,
    most: int | None = None,
    advice: str = ADVICE,
) -> Records:
    r"""Read records from a file; its extension, in any case, decides the format.

    What becomes of a row depends on that row and on the arguments alone.

    Parameters
    ----------
    path : Path or str
        ``.csv``, ``.parquet``, ``.zarr`` (a folder), ``.nii``, ``.nii.gz``, ``.npy``, ``.npz``, or
        what an installed package reads.
    points : sequence of str
        The columns whose numbers make a point, in the order of ``layout``; of an ``.npz`` or a
        Zarr group the array of points. None for an array without a name, and for a ``.csv``
        without a header.
    unit : str, optional
        What a row is: ``"person"``, ``"epoch"``, ``"voxel"``, ... The guarantee is about rows, and
        only the caller knows whether these are people. To be left out only where ``users`` says
        whose each row is. Of an image ``"voxel"`` makes a record of each voxel, and all others one
        record of the whole image. It is recorded in ``Records.unit``.
    layout : str, optional
        How the numbers of a row make a point: see :func:`riemdp.io.points_of`.
    labels, covariates, weights, users : str, optional
        The column, or array, of each. Labels and users are texts in a ``.csv``.
    mask : Path or str, optional
        Of an image: another one, public, that is not zero where voxels are taken.
    most : int, optional
        Most numbers that the file may become in memory, counted before it is decoded: by default
        2**26, and of a compressed file no more than 2**24, or 25 for each of its bytes where that
        is more.
    advice : str
        Way out, for the message about too many numbers.

    Returns
    -------
    Records
        Not yet validated as points of a manifold.

    Raises
    ------
    InvalidParameterError
        If the file is damaged, not of its format or too large, a column is not there, or the
        arguments do not go together. Messages name the file, the row (from 0, without the header)
        and the condition, never what stands there.
    NotOnManifoldError
        If a number is not finite or out of the range of its layout.
    UnsupportedError
        If a library of the extra ``io`` is needed and not installed.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from riemdp.io import read_records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "places.csv")
    ...     written = path.write_text("person,lon,lat\n1,90,0\n2,91,1\n")
    ...     records = read_records(path, ["lon", "lat"], layout="lonlat-degrees", users="person")
    >>> records.points.shape, len(records.users)
    ((2, 3), 2)
    """
    extras = {"labels": labels, "covariates": covariates, "weights": weights, "users": users}
    named = {field: (name,) for field, name in extras.items() if name is not None}
    path, mask = path_of(path), None if mask is None else path_of(mask, "mask")
    suffix = path.suffix.lower()
    check_layout(layout)
    _check_unit(unit, path, has_users=users is not None)
    check_names(path, points, has_extras=bool(named), has_mask=mask is not None)
    if _is_image(path):
        if unit is None:
            raise InvalidParameterError(f"{path.name} is an image: give its unit")
        return Records(
            read_nifti(path, most, advice, layout=layout, unit=unit, mask=mask), unit=unit
        )
    found: dict[str, Any]
    if suffix in _NAMED and (points or named or suffix != ".csv"):
        found = _NAMED[suffix](path, {"points": tuple(points), **named}, most, advice)
    elif suffix == ".npz":
        key = points[0] if points else None
        found = {"points": read(path, key, most, advice)}
        found |= {field: read(path, name, most, advice) for field, (name,) in named.items()}
    else:
        found = {"points": read(path, None, most, advice)}
    given = {name: values for name, values in found.items() if name != "points"}
    for name in given.keys() - set(TEXTS):
        given[name] = given[name].reshape(-1) if given[name].ndim == 2 else given[name]
    return Records(points_of(found["points"], layout, path), **given, unit=unit)


def check_names(path: Path, points: Sequence[str], *, has_extras: bool, has_mask: bool) -> None:
    """Check names of columns against a format; no file is read.

    Parameters
    ----------
    path : Path
    points : sequence of str
        Columns of the points.
    has_extras : bool
        Whether columns of users, labels, covariates or weights are named, too.
    has_mask : bool
        Whether there is a mask.

    Raises
    ------
    InvalidParameterError
        If the format has no such names, or needs some.

    Examples
    --------
    >>> from pathlib import Path
    >>> from riemdp.io import check_names
    >>> check_names(Path("a.npy"), ["x"], has_extras=False, has_mask=False)
    Traceback (most recent call last):
        ...
    riemdp._errors.InvalidParameterError: a.npy has no columns or arrays with names
    """
    suffix, named = path.suffix.lower(), bool(points) or has_extras
    if isinstance(points, str):
        raise InvalidParameterError("points must be a sequence of names, got a text")
    if _is_image(path):
        if named:
            raise InvalidParameterError(
                f"{path.name} is an image, which has no columns: give its unit, and users beside it"
            )
    elif has_mask:
        raise InvalidParameterError(f"a mask is for {' or '.join(_IMAGES)}, got {path.name}")
    elif suffix in _NAMED:
        if not points and suffix != ".zarr" and (has_extras or suffix != ".csv"):
            raise InvalidParameterError(f"name the columns of {path.name} that make a point")
    elif suffix == ".npz":
        if len(points) > 1:
            raise InvalidParameterError(f"{path.name} must have all points in one array")
    elif named:
        raise InvalidParameterError(f"{path.name} has no columns or arrays with names")


def _is_image(path: Path) -> bool:
    return any(path.name.lower().endswith(image) for image in _IMAGES)


def _check_unit(unit: object, path: Path, *, has_users: bool) -> None:
    if unit is None and not has_users:
        raise InvalidParameterError(
            f'say what a row of {path.name} is, unit="person" for one person each, or name the '
            "users whose rows they are: the guarantee is about rows otherwise, which may be "
            "epochs or voxels"
        )
    if unit is not None and not (
        isinstance(unit, str) and unit.isprintable() and 0 < len(unit.strip()) <= _LONGEST_UNIT
    ):
        raise InvalidParameterError(
            f"unit must be a word of at most {_LONGEST_UNIT} characters, got {shown(unit)}"
        )
