"""Records from files: the formats of this library, and those of other packages.

A package reads another format by an entry point of the group ``riemdp.readers``: the extension,
and a function from a path to an array of points, shape (n, *point_shape).

.. code-block:: toml

    [project.entry-points."riemdp.readers"]
    ".tensors" = "myimages:read"
"""

from riemdp.readers._csv import read_csv
from riemdp.readers._layouts import layouts, points_of
from riemdp.readers._nifti import write_nifti
from riemdp.readers._read import extensions, read
from riemdp.readers._records import check_names, read_records

__all__ = [
    "check_names",
    "extensions",
    "layouts",
    "points_of",
    "read",
    "read_csv",
    "read_records",
    "write_nifti",
]
