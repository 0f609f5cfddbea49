"""Algorithms and experiments of the papers, to compare with. Nothing private uses them."""

from riemdp.reproduce._jiang import jiang_algorithm_1, jiang_algorithm_2

__all__ = ["jiang_algorithm_1", "jiang_algorithm_2"]
