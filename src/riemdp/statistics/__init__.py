"""What is released: a function of records in a public ball, with its range and sensitivity."""

from riemdp.statistics import (  # noqa: F401 -- register the solvers of our spaces
    _carried_means,
    _solvers,
    _subspace_means,
)
from riemdp.statistics._answer import Prepared, answer, exact_answer
from riemdp.statistics._classes import ClassMoments
from riemdp.statistics._data import Records, as_records
from riemdp.statistics._directions import DirectionalMoments
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
from riemdp.statistics._moments import Moments
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._neighbours import (
    Groups,
    Neighbours,
    ReplaceOne,
    ReplacePoint,
    check_neighbours,
)
from riemdp.statistics._point_statistic import PointStatistic
from riemdp.statistics._question import Question
from riemdp.statistics._recentred import Recentred
from riemdp.statistics._regions import (
    ConfidenceEllipsoid,
    ConfidenceRegion,
    DirectionalRegion,
    confidence_region,
    contrast_interval,
)
from riemdp.statistics._regression import TangentRegression
from riemdp.statistics._released_moments import ReleasedMoments
from riemdp.statistics._rotations import MeanRotation, unit_quaternions
from riemdp.statistics._sensitivity import (
    frechet_mean_sensitivity,
    log_stretch,
    tangent_mean_sensitivity,
)
from riemdp.statistics._shapes import ProcrustesMean, preshapes
from riemdp.statistics._statistic import (
    Metric,
    Statistic,
    Summary,
    check_statistic,
)
from riemdp.statistics._steps import GeometricMedian, HuberMean, RefinedMean
from riemdp.statistics._sums import SumStatistic
from riemdp.statistics._two_samples import TwoSampleTest, two_sample_test
from riemdp.statistics._unit_vectors import UnitVectorSum
from riemdp.statistics._variance import DirectVariance, Variance

__all__ = [
    "CertifiedMean",
    "ClassMoments",
    "ConfidenceEllipsoid",
    "ConfidenceRegion",
    "DirectVariance",
    "DirectionalMoments",
    "DirectionalRegion",
    "FrechetMean",
    "GeometricMedian",
    "Groups",
    "HuberMean",
    "MeanRotation",
    "MeanSolver",
    "Metric",
    "Moments",
    "NamedValues",
    "Neighbours",
    "PointStatistic",
    "Prepared",
    "ProcrustesMean",
    "Question",
    "Recentred",
    "Records",
    "RefinedMean",
    "ReleasedMoments",
    "ReplaceOne",
    "ReplacePoint",
    "Statistic",
    "SumStatistic",
    "Summary",
    "TangentMean",
    "TangentRegression",
    "TwoSampleTest",
    "UnitVectorSum",
    "Variance",
    "answer",
    "as_records",
    "check_neighbours",
    "check_rows",
    "check_statistic",
    "clipped_frechet_mean",
    "clipped_tangent_mean",
    "confidence_region",
    "contrast_interval",
    "exact_answer",
    "frechet_mean",
    "frechet_mean_sensitivity",
    "is_average",
    "log_stretch",
    "mean_for",
    "preshapes",
    "public_tolerance",
    "register_solver",
    "tangent_mean",
    "tangent_mean_sensitivity",
    "tolerance_floor",
    "two_sample_test",
    "unit_quaternions",
]
