"""The parts of this library: where each is, so that one is found without loading the others."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """Where a part is, and what it is a part of a release as."""

    sort: str
    module: str
    kind: str


#: By name in documents, in the order in which ``riemdp parts`` lists them.
OWN_PARTS = {
    "PureDP": Place("definition", "riemdp.privacy._pure", "PureDP"),
    "ApproxDP": Place("definition", "riemdp.privacy._approx", "ApproxDP"),
    "GDP": Place("definition", "riemdp.privacy._gdp", "GDP"),
    "RaoDP": Place("definition", "riemdp.privacy._rao", "RaoDP"),
    "KLDP": Place("definition", "riemdp.privacy._kl", "KLDP"),
    "RDP": Place("definition", "riemdp.privacy._renyi", "RDP"),
    "ZCDP": Place("definition", "riemdp.privacy._zcdp", "ZCDP"),
    "MeanCDP": Place("definition", "riemdp.privacy._mean_cdp", "MeanCDP"),
    "Sphere": Place("manifold", "riemdp.spaces._sphere", "Sphere"),
    "Aligned": Place("manifold", "riemdp.spaces._aligned", "Aligned"),
    "Euclidean": Place("manifold", "riemdp.spaces._euclidean", "Euclidean"),
    "Grassmann": Place("manifold", "riemdp.spaces._grassmann", "Grassmann"),
    "Hyperbolic": Place("manifold", "riemdp.spaces._hyperbolic", "Hyperbolic"),
    "KendallShapes": Place("manifold", "riemdp.spaces._kendall_shapes", "KendallShapes"),
    "PlanarShapes": Place("manifold", "riemdp.spaces._planar_shapes", "PlanarShapes"),
    "CurvedPower": Place("manifold", "riemdp.spaces._power", "CurvedPower"),
    "FlatPower": Place("manifold", "riemdp.spaces._power", "FlatPower"),
    "Product": Place("manifold", "riemdp.spaces._product", "Product"),
    "FlatProduct": Place("manifold", "riemdp.spaces._product", "FlatProduct"),
    "ProjectiveSpace": Place("manifold", "riemdp.spaces._projective", "ProjectiveSpace"),
    "Rotations": Place("manifold", "riemdp.spaces._rotations", "Rotations"),
    "SPDAffineInvariant": Place(
        "manifold", "riemdp.spaces._spd_affine_invariant", "SPDAffineInvariant"
    ),
    "SPDLogCholesky": Place("manifold", "riemdp.spaces._spd_log_cholesky", "SPDLogCholesky"),
    "SPDLogEuclidean": Place("manifold", "riemdp.spaces._spd_log_euclidean", "SPDLogEuclidean"),
    "SPDPower": Place("manifold", "riemdp.spaces._spd_power", "SPDPower"),
    "Torus": Place("manifold", "riemdp.spaces._torus", "Torus"),
    "riemannian-laplace": Place("mechanism", "riemdp.mechanisms._named", "RiemannianLaplace"),
    "riemannian-gaussian": Place("mechanism", "riemdp.mechanisms._named", "RiemannianGaussian"),
    "tangent-gaussian": Place("mechanism", "riemdp.mechanisms._named", "TangentGaussian"),
    "tangent-laplace": Place("mechanism", "riemdp.mechanisms._named", "TangentLaplace"),
    "wrapped-gaussian": Place("mechanism", "riemdp.mechanisms._named", "WrappedGaussian"),
    "wrapped-laplace": Place("mechanism", "riemdp.mechanisms._named", "WrappedLaplace"),
    "counted": Place("statistic", "riemdp.statistics._counted", "Counted"),
    "moments": Place("statistic", "riemdp.statistics._moments", "Moments"),
    "class-moments": Place("statistic", "riemdp.statistics._classes", "ClassMoments"),
    "directional-moments": Place(
        "statistic", "riemdp.statistics._directions", "DirectionalMoments"
    ),
    "frechet-mean": Place("statistic", "riemdp.statistics._means", "FrechetMean"),
    "tangent-mean": Place("statistic", "riemdp.statistics._means", "TangentMean"),
    "replace-one": Place("neighbours", "riemdp.statistics._neighbours", "ReplaceOne"),
    "replace-point": Place("neighbours", "riemdp.statistics._neighbours", "ReplacePoint"),
    "groups": Place("neighbours", "riemdp.statistics._neighbours", "Groups"),
    "add-remove": Place("neighbours", "riemdp.statistics._neighbours", "AddRemove"),
    "replace-user": Place("neighbours", "riemdp.statistics._users", "ReplaceUser"),
    "add-remove-user": Place("neighbours", "riemdp.statistics._users", "AddRemoveUser"),
    "point-statistic": Place("statistic", "riemdp.statistics._point_statistic", "PointStatistic"),
    "refined-mean": Place("statistic", "riemdp.statistics._refined_mean", "RefinedMean"),
    "geometric-median": Place("statistic", "riemdp.statistics._robust_steps", "GeometricMedian"),
    "huber-mean": Place("statistic", "riemdp.statistics._robust_steps", "HuberMean"),
    "recentred": Place("statistic", "riemdp.statistics._recentred", "Recentred"),
    "tangent-regression": Place("statistic", "riemdp.statistics._regression", "TangentRegression"),
    "mean-rotation": Place("statistic", "riemdp.statistics._rotations", "MeanRotation"),
    "procrustes-mean": Place("statistic", "riemdp.statistics._shapes", "ProcrustesMean"),
    "variance": Place("statistic", "riemdp.statistics._variance", "Variance"),
    "direct-variance": Place("statistic", "riemdp.statistics._variance", "DirectVariance"),
    "weighted": Place("statistic", "riemdp.statistics._weighted", "Weighted"),
}
