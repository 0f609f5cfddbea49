"""Privacy definitions, privacy curves and calibration. Numbers only: no points, no noise."""

from riemdp.privacy._accountant import Accountant, LedgerEntry
from riemdp.privacy._affine_invariant_curve import AffineInvariantGaussianCurve
from riemdp.privacy._certified import certified_available, certified_delta
from riemdp.privacy._compose import compose
from riemdp.privacy._composed import BudgetCurve, ComposedCurve
from riemdp.privacy._conversions import convert, within
from riemdp.privacy._curve import (
    GaussianCurve,
    PrivacyCurve,
    PureCurve,
    gaussian_to_pure,
    pure_to_gaussian,
)
from riemdp.privacy._definitions import GDP, ZCDP, ApproxDP, Budget, PureDP
from riemdp.privacy._divergences import KLDP, MeanCDP
from riemdp.privacy._fisher_rao import normal_fisher_rao_distance
from riemdp.privacy._gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from riemdp.privacy._hyperbolic_floor import delta_floor, gaussian_floor
from riemdp.privacy._isotropic_curve import IsotropicCurve
from riemdp.privacy._laplace import LaplaceCurve
from riemdp.privacy._pld import accounting_available, compose_budgets, compose_curves
from riemdp.privacy._rao import RaoDP
from riemdp.privacy._renyi import RDP
from riemdp.privacy._score_bound import score_bound

__all__ = [
    "GDP",
    "KLDP",
    "RDP",
    "ZCDP",
    "Accountant",
    "AffineInvariantGaussianCurve",
    "ApproxDP",
    "Budget",
    "BudgetCurve",
    "ComposedCurve",
    "GaussianCurve",
    "IsotropicCurve",
    "LaplaceCurve",
    "LedgerEntry",
    "MeanCDP",
    "PrivacyCurve",
    "PureCurve",
    "PureDP",
    "RaoDP",
    "accounting_available",
    "certified_available",
    "certified_delta",
    "compose",
    "compose_budgets",
    "compose_curves",
    "convert",
    "delta_floor",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_floor",
    "gaussian_mu",
    "gaussian_to_pure",
    "normal_fisher_rao_distance",
    "pure_to_gaussian",
    "score_bound",
    "within",
]
