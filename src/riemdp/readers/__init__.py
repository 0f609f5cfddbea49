"""Records from files: the formats of this library, and those of other packages.

A package reads another format by an entry point of the group ``riemdp.readers``: the extension,
and a function from a path to an array of points, shape (n, *point_shape).

.. code-block:: toml

    [project.entry-points."riemdp.readers"]
    ".nii" = "myimages:read"
"""

from riemdp.readers._csv import read_csv
from riemdp.readers._read import extensions, read

__all__ = ["extensions", "read", "read_csv"]
