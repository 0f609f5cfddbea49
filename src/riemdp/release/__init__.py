"""The one way that data takes, from an array to a release."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.release._advise_ball import BallAdvice, RadiusRow, advise_ball
    from riemdp.release._charging import is_durable
    from riemdp.release._check import check
    from riemdp.release._combine import Combination, combine
    from riemdp.release._denoise import Denoised
    from riemdp.release._group_releases import PrivateMeans
    from riemdp.release._least_error import named
    from riemdp.release._offer import Offer, offer, wanted_mean
    from riemdp.release._options import Adjacency, ReleaseOptions, relation
    from riemdp.release._plan import Plan, PlanRow, plan
    from riemdp.release._plan_grid import PlanGrid, plan_grid
    from riemdp.release._private_ball import private_ball
    from riemdp.release._private_directions import (
        private_directional_summary,
        private_procrustes_mean,
        private_rotation_mean,
    )
    from riemdp.release._private_mean import checked_method, private_mean
    from riemdp.release._private_means import private_means
    from riemdp.release._private_moments import private_moments, private_variance
    from riemdp.release._private_steps import private_huber, private_median
    from riemdp.release._rayleigh import RayleighTest, rayleigh_test, two_sample_test
    from riemdp.release._release import Release
    from riemdp.release._run import private_statistic
    from riemdp.release._search._found import PrivateBall
    from riemdp.release._streams import chunks_of
    from riemdp.release._verify import Check, Verification, read_checked, verify
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_advise_ball": "advise_ball BallAdvice RadiusRow",
            "_charging": "is_durable",
            "_check": "check",
            "_combine": "Combination combine",
            "_denoise": "Denoised",
            "_group_releases": "PrivateMeans",
            "_least_error": "named",
            "_offer": "Offer offer wanted_mean",
            "_plan": "Plan PlanRow plan",
            "_plan_grid": "PlanGrid plan_grid",
            "_private_ball": "private_ball",
            "_private_directions": (
                "private_directional_summary private_procrustes_mean private_rotation_mean"
            ),
            "_private_mean": "checked_method private_mean",
            "_private_means": "private_means",
            "_private_moments": "private_moments private_variance",
            "_private_steps": "private_huber private_median",
            "_options": "Adjacency relation ReleaseOptions",
            "_release": "Release",
            "_run": "private_statistic",
            "_search._found": "PrivateBall",
            "_streams": "chunks_of",
            "_rayleigh": "rayleigh_test RayleighTest two_sample_test",
            "_verify": "Check Verification read_checked verify",
        },
    )

__all__ = [
    "Adjacency",
    "BallAdvice",
    "Check",
    "Combination",
    "Denoised",
    "Offer",
    "Plan",
    "PlanGrid",
    "PlanRow",
    "PrivateBall",
    "PrivateMeans",
    "RadiusRow",
    "RayleighTest",
    "Release",
    "ReleaseOptions",
    "Verification",
    "advise_ball",
    "check",
    "checked_method",
    "chunks_of",
    "combine",
    "is_durable",
    "named",
    "offer",
    "plan",
    "plan_grid",
    "private_ball",
    "private_directional_summary",
    "private_huber",
    "private_mean",
    "private_means",
    "private_median",
    "private_moments",
    "private_procrustes_mean",
    "private_rotation_mean",
    "private_statistic",
    "private_variance",
    "rayleigh_test",
    "read_checked",
    "relation",
    "two_sample_test",
    "verify",
    "wanted_mean",
]
