"""The one way that data takes, from an array to a release."""

from riemdp.release._conformal import ConformalLaplace
from riemdp.release._plan import Plan, PlanRow, plan
from riemdp.release._private_ball import private_ball
from riemdp.release._private_mean import private_mean
from riemdp.release._release import Release
from riemdp.release._verify import Check, Verification, verify

__all__ = [
    "Check",
    "ConformalLaplace",
    "Plan",
    "PlanRow",
    "Release",
    "Verification",
    "plan",
    "private_ball",
    "private_mean",
    "verify",
]
