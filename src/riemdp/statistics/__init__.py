"""What is released: a function of records in a public ball, with its range and sensitivity."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.statistics._answer import Prepared, Summaries, answer, of_each
    from riemdp.statistics._chunks import Chunks
    from riemdp.statistics._classes import ClassMoments
    from riemdp.statistics._counted import Counted, counted, weighted
    from riemdp.statistics._data import Records, as_records, check_extras, labels_of, without
    from riemdp.statistics._directions import DirectionalMoments
    from riemdp.statistics._frechet_mean import (
        check_rows,
        check_shape_of_rows,
        frechet_mean,
        tangent_mean,
    )
    from riemdp.statistics._means import FrechetMean, TangentMean, mean_for
    from riemdp.statistics._moments import Moments, ReleasedMoments
    from riemdp.statistics._named_values import NamedValues
    from riemdp.statistics._neighbours import (
        AddRemove,
        Groups,
        Neighbours,
        ReplaceOne,
        ReplacePoint,
        check_neighbours,
        public_size,
    )
    from riemdp.statistics._point_statistic import PointStatistic
    from riemdp.statistics._query import Answer, Metric, Pass, Query, Value
    from riemdp.statistics._recentred import Recentred, check_inference
    from riemdp.statistics._refined_mean import RefinedMean
    from riemdp.statistics._regions import (
        ConfidenceEllipsoid,
        ConfidenceRegion,
        DirectionalRegion,
        confidence_region,
        contrast_interval,
    )
    from riemdp.statistics._regression import TangentRegression
    from riemdp.statistics._robust_steps import GeometricMedian, HuberMean
    from riemdp.statistics._rotations import MeanRotation, unit_quaternions
    from riemdp.statistics._rows import Rows, shortened
    from riemdp.statistics._sensitivity import (
        frechet_mean_sensitivity,
        log_stretch,
        tangent_mean_sensitivity,
    )
    from riemdp.statistics._shapes import ProcrustesMean, preshapes
    from riemdp.statistics._statistic import (
        Outline,
        Statistic,
        check_statistic,
        outline,
        through,
    )
    from riemdp.statistics._stream import Streamed
    from riemdp.statistics._sums import SumStatistic
    from riemdp.statistics._two_samples import TwoSampleTest, two_sample_test
    from riemdp.statistics._unit_vectors import UnitVectorSum
    from riemdp.statistics._users import (
        AddRemoveUser,
        ReplaceUser,
        averages_rows,
        check_centre,
        one_for_each,
        owners_of,
    )
    from riemdp.statistics._variance import DirectVariance, Variance
    from riemdp.statistics._weighted import Weighted, largest_share
    from riemdp.statistics.curved import (  # noqa: F401 -- what the table of solvers loads
        _carried_means,
        _solvers,
        _subspace_means,
    )
    from riemdp.statistics.curved._mean_solver import CertifiedMean, MeanSolver
    from riemdp.statistics.curved._solver_of_space import register_solver
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_answer": "Prepared Summaries answer of_each",
            "_chunks": "Chunks",
            "_classes": "ClassMoments",
            "_counted": "Counted counted weighted",
            "_data": "as_records check_extras labels_of Records without",
            "_directions": "DirectionalMoments",
            "_frechet_mean": "check_rows check_shape_of_rows frechet_mean tangent_mean",
            "curved._mean_solver": "CertifiedMean MeanSolver",
            "_means": "FrechetMean TangentMean mean_for",
            "_named_values": "NamedValues",
            "_neighbours": (
                "AddRemove Groups Neighbours ReplaceOne ReplacePoint check_neighbours public_size"
            ),
            "_point_statistic": "PointStatistic",
            "_query": "Answer Metric Pass Query Value",
            "_recentred": "Recentred check_inference",
            "_refined_mean": "RefinedMean",
            "_regions": (
                "confidence_region ConfidenceEllipsoid ConfidenceRegion contrast_interval "
                "DirectionalRegion"
            ),
            "_regression": "TangentRegression",
            "_moments": "Moments ReleasedMoments",
            "_rows": "Rows shortened",
            "_robust_steps": "GeometricMedian HuberMean",
            "_rotations": "MeanRotation unit_quaternions",
            "_sensitivity": "frechet_mean_sensitivity log_stretch tangent_mean_sensitivity",
            "_shapes": "ProcrustesMean preshapes",
            "curved._solver_of_space": "register_solver",
            "_statistic": "check_statistic outline Outline Statistic through",
            "_stream": "Streamed",
            "_sums": "SumStatistic",
            "_two_samples": "TwoSampleTest two_sample_test",
            "_unit_vectors": "UnitVectorSum",
            "_users": (
                "AddRemoveUser ReplaceUser averages_rows check_centre one_for_each owners_of"
            ),
            "_variance": "DirectVariance Variance",
            "_weighted": "Weighted largest_share",
        },
    )

__all__ = [
    "AddRemove",
    "AddRemoveUser",
    "Answer",
    "CertifiedMean",
    "Chunks",
    "ClassMoments",
    "ConfidenceEllipsoid",
    "ConfidenceRegion",
    "Counted",
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
    "Outline",
    "Pass",
    "PointStatistic",
    "Prepared",
    "ProcrustesMean",
    "Query",
    "Recentred",
    "Records",
    "RefinedMean",
    "ReleasedMoments",
    "ReplaceOne",
    "ReplacePoint",
    "ReplaceUser",
    "Rows",
    "Statistic",
    "Streamed",
    "SumStatistic",
    "Summaries",
    "TangentMean",
    "TangentRegression",
    "TwoSampleTest",
    "UnitVectorSum",
    "Value",
    "Variance",
    "Weighted",
    "answer",
    "as_records",
    "averages_rows",
    "check_centre",
    "check_extras",
    "check_inference",
    "check_neighbours",
    "check_rows",
    "check_shape_of_rows",
    "check_statistic",
    "confidence_region",
    "contrast_interval",
    "counted",
    "frechet_mean",
    "frechet_mean_sensitivity",
    "labels_of",
    "largest_share",
    "log_stretch",
    "mean_for",
    "of_each",
    "one_for_each",
    "outline",
    "owners_of",
    "preshapes",
    "public_size",
    "register_solver",
    "shortened",
    "tangent_mean",
    "tangent_mean_sensitivity",
    "through",
    "two_sample_test",
    "unit_quaternions",
    "weighted",
    "without",
]
