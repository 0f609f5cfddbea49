"""What is released: a function of records in a public ball, with its range and sensitivity."""

from riemdp.statistics import _solvers  # noqa: F401 -- registers the solvers of our spaces
from riemdp.statistics._answer import Prepared, answer, exact_answer
from riemdp.statistics._frechet_mean import (
    check_rows,
    clipped_frechet_mean,
    clipped_tangent_mean,
    frechet_mean,
    tangent_mean,
)
from riemdp.statistics._mean_solver import CertifiedMean, MeanSolver, register_solver
from riemdp.statistics._means import (
    FrechetMean,
    TangentMean,
    is_average,
    mean_for,
    public_tolerance,
    tolerance_floor,
)
from riemdp.statistics._neighbours import Groups, Neighbours, ReplaceOne, check_neighbours
from riemdp.statistics._point_statistic import PointStatistic
from riemdp.statistics._sensitivity import (
    frechet_mean_sensitivity,
    log_stretch,
    tangent_mean_sensitivity,
)
from riemdp.statistics._statistic import (
    Metric,
    Question,
    Statistic,
    Summary,
    check_statistic,
)
from riemdp.statistics._steps import GeometricMedian, HuberMean, RefinedMean

__all__ = [
    "CertifiedMean",
    "FrechetMean",
    "GeometricMedian",
    "Groups",
    "HuberMean",
    "MeanSolver",
    "Metric",
    "Neighbours",
    "PointStatistic",
    "Prepared",
    "Question",
    "RefinedMean",
    "ReplaceOne",
    "Statistic",
    "Summary",
    "TangentMean",
    "answer",
    "check_neighbours",
    "check_rows",
    "check_statistic",
    "clipped_frechet_mean",
    "clipped_tangent_mean",
    "exact_answer",
    "frechet_mean",
    "frechet_mean_sensitivity",
    "is_average",
    "log_stretch",
    "mean_for",
    "public_tolerance",
    "register_solver",
    "tangent_mean",
    "tangent_mean_sensitivity",
    "tolerance_floor",
]
