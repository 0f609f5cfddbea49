"""Checks of what must hold of any part: of this library's own, and of those of other packages."""

from riemdp.testing._check import check_part, part_checks

__all__ = ["check_part", "part_checks"]
