"""Manifolds: points, tangent vectors, exp, log, distance, curvature. No privacy, no randomness."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.spaces._aligned import Aligned, QuotientBall
    from riemdp.spaces._ball import Ball, ball_proofs, check_ball
    from riemdp.spaces._euclidean import Euclidean, FlatManifold
    from riemdp.spaces._grassmann import Grassmann
    from riemdp.spaces._hyperbolic import Hyperbolic
    from riemdp.spaces._kendall_shapes import KendallShapes
    from riemdp.spaces._landmarks import (
        checked_preshape,
        complex_landmarks,
        landmark_pairs,
        landmarks_of,
    )
    from riemdp.spaces._manifold import Manifold, check_manifold
    from riemdp.spaces._planar_shapes import PlanarShapes
    from riemdp.spaces._points import (
        VALIDATION_TOLERANCE,
        Degrees,
        Unit,
        as_floats,
        check_broadcast,
        check_points,
        clip_norm,
        in_units,
        raise_first,
    )
    from riemdp.spaces._points import FloatArray as FloatArray
    from riemdp.spaces._power import CurvedPower, FlatPower, Power, ProductBall
    from riemdp.spaces._product import BoxBall, Combined, FlatProduct, Product
    from riemdp.spaces._projective import ProjectiveSpace
    from riemdp.spaces._quotient import DiscreteQuotient, Quotient
    from riemdp.spaces._rotations import Rotations
    from riemdp.spaces._slice import Slice, SphereSlice, WholeSlice
    from riemdp.spaces._spd_affine_invariant import (
        SPDAffineInvariant,
        as_affine_invariant,
        inverse_factor,
        logarithms_from,
    )
    from riemdp.spaces._spd_log_cholesky import SPDLogCholesky
    from riemdp.spaces._spd_log_euclidean import SPDLogEuclidean
    from riemdp.spaces._spd_power import SPDPower
    from riemdp.spaces._sphere import Sphere
    from riemdp.spaces._symmetric import above_diagonal, unvecd
    from riemdp.spaces._torus import Torus
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_aligned": "Aligned QuotientBall",
            "_ball": "Ball ball_proofs check_ball",
            "_product": "BoxBall Combined FlatProduct Product",
            "_euclidean": "Euclidean FlatManifold",
            "_grassmann": "Grassmann",
            "_hyperbolic": "Hyperbolic",
            "_kendall_shapes": "KendallShapes",
            "_landmarks": "checked_preshape complex_landmarks landmark_pairs landmarks_of",
            "_manifold": "Manifold check_manifold",
            "_points": (
                "as_floats check_broadcast check_points clip_norm Degrees in_units "
                "raise_first Unit VALIDATION_TOLERANCE"
            ),
            "_planar_shapes": "PlanarShapes",
            "_power": "CurvedPower FlatPower Power ProductBall",
            "_projective": "ProjectiveSpace",
            "_quotient": "DiscreteQuotient Quotient",
            "_rotations": "Rotations",
            "_slice": "Slice SphereSlice WholeSlice",
            "_spd_affine_invariant": (
                "SPDAffineInvariant as_affine_invariant inverse_factor logarithms_from"
            ),
            "_spd_log_cholesky": "SPDLogCholesky",
            "_spd_log_euclidean": "SPDLogEuclidean",
            "_spd_power": "SPDPower",
            "_sphere": "Sphere",
            "_symmetric": "above_diagonal unvecd",
            "_torus": "Torus",
        },
    )

__all__ = [
    "VALIDATION_TOLERANCE",
    "Aligned",
    "Ball",
    "BoxBall",
    "Combined",
    "CurvedPower",
    "Degrees",
    "DiscreteQuotient",
    "Euclidean",
    "FlatManifold",
    "FlatPower",
    "FlatProduct",
    "Grassmann",
    "Hyperbolic",
    "KendallShapes",
    "Manifold",
    "PlanarShapes",
    "Power",
    "Product",
    "ProductBall",
    "ProjectiveSpace",
    "Quotient",
    "QuotientBall",
    "Rotations",
    "SPDAffineInvariant",
    "SPDLogCholesky",
    "SPDLogEuclidean",
    "SPDPower",
    "Slice",
    "Sphere",
    "SphereSlice",
    "Torus",
    "Unit",
    "WholeSlice",
    "above_diagonal",
    "as_affine_invariant",
    "as_floats",
    "ball_proofs",
    "check_ball",
    "check_broadcast",
    "check_manifold",
    "check_points",
    "checked_preshape",
    "clip_norm",
    "complex_landmarks",
    "in_units",
    "inverse_factor",
    "landmark_pairs",
    "landmarks_of",
    "logarithms_from",
    "raise_first",
    "unvecd",
]
