"""Records from files, in formats of this library and of other packages, and from raw images.

A package reads another format by an entry point of the group ``riemdp.io``: the extension,
and a function from a path to an array of points, shape (n, *point_shape).

.. code-block:: toml

    [project.entry-points."riemdp.io"]
    ".tensors" = "myimages:read"
"""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.io._covariance_descriptors import covariance_descriptors, descriptor_radius
    from riemdp.io._csv import read_csv
    from riemdp.io._layouts import layouts, points_of
    from riemdp.io._nifti import write_nifti
    from riemdp.io._read import extensions, read
    from riemdp.io._records import check_names, read_records
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_covariance_descriptors": "covariance_descriptors descriptor_radius",
            "_csv": "read_csv",
            "_layouts": "layouts points_of",
            "_nifti": "write_nifti",
            "_read": "extensions read",
            "_records": "check_names read_records",
        },
    )

__all__ = [
    "check_names",
    "covariance_descriptors",
    "descriptor_radius",
    "extensions",
    "layouts",
    "points_of",
    "read",
    "read_csv",
    "read_records",
    "write_nifti",
]
