"""Algorithms and experiments of the papers, to compare with. Nothing private uses them.

The command ``riemdp reproduce`` makes their figures and tables again, next to the exact answers.
"""

from riemdp_papers._conformal import PublishedConformalLaplace
from riemdp_papers._jiang import jiang_algorithm_1, jiang_algorithm_2
from riemdp_papers._release import PublishedMean, published_mean
from riemdp_papers._report import PAPERS

__version__ = "0.1.0"

__all__ = [
    "PAPERS",
    "PublishedConformalLaplace",
    "PublishedMean",
    "jiang_algorithm_1",
    "jiang_algorithm_2",
    "published_mean",
]
