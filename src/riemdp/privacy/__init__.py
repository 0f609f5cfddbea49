"""Privacy definitions, privacy curves and calibration. Numbers only: no points, no noise."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.privacy._accountant import Accountant
    from riemdp.privacy._adjacency import check_adjacency, check_same
    from riemdp.privacy._affine_invariant_curve import (
        AffineInvariantGaussianCurve,
        affine_invariant_sigma,
        affine_invariant_slope,
    )
    from riemdp.privacy._affordable import (
        affordable_epsilon,
        affordable_mu,
        classical_mu,
        implied_epsilon,
    )
    from riemdp.privacy._anchor import Anchor, label_of_groups, parts_paid
    from riemdp.privacy._approx import ApproxDP
    from riemdp.privacy._bounded_range import (
        adds_up,
        bounded_range,
        largest_range,
        mean_noise,
        noise_kind,
        rest_of,
        share_of,
        within_total,
    )
    from riemdp.privacy._budget import Budget, check_budget, check_delta, check_epsilon
    from riemdp.privacy._certified import certified_available, certified_delta
    from riemdp.privacy._closed_curves import GaussianCurve, LaplaceCurve, PureCurve
    from riemdp.privacy._compose import compose, compose_budgets, compose_curves
    from riemdp.privacy._composed import BudgetCurve, ComposedCurve
    from riemdp.privacy._conversions import convert, within
    from riemdp.privacy._curve import PrivacyCurve, check_claim
    from riemdp.privacy._filter import Filter, added
    from riemdp.privacy._fisher_rao import normal_fisher_rao_distance
    from riemdp.privacy._gdp import GDP, gaussian_delta, gaussian_epsilon, gaussian_mu
    from riemdp.privacy._generalized_gaussian_curve import GeneralizedGaussianCurve
    from riemdp.privacy._hyperbolic_floor import delta_floor, gaussian_floor
    from riemdp.privacy._isotropic_curve import IsotropicCurve, score_bound
    from riemdp.privacy._kl import KLDP
    from riemdp.privacy._mean_cdp import MeanCDP
    from riemdp.privacy._pld import accounting_available
    from riemdp.privacy._pure import PureDP, gaussian_to_pure, pure_to_gaussian
    from riemdp.privacy._rao import (
        RaoDP,
        angle_of_response,
        angle_of_separation,
        check_distance,
    )
    from riemdp.privacy._renyi import RDP
    from riemdp.privacy._reservation import Account, LedgerEntry, Reservation
    from riemdp.privacy._rounding import (
        ELEMENTARY,
        on_grid,
        product_up,
        quotient_up,
        root_of_squares_up,
        up,
    )
    from riemdp.privacy._zcdp import ZCDP
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_accountant": "Accountant",
            "_adjacency": "check_adjacency check_same",
            "_affine_invariant_curve": (
                "AffineInvariantGaussianCurve affine_invariant_sigma affine_invariant_slope"
            ),
            "_affordable": "affordable_epsilon affordable_mu classical_mu implied_epsilon",
            "_anchor": "Anchor label_of_groups parts_paid",
            "_approx": "ApproxDP",
            "_bounded_range": (
                "adds_up bounded_range largest_range mean_noise noise_kind rest_of share_of "
                "within_total"
            ),
            "_budget": "Budget check_budget check_delta check_epsilon",
            "_certified": "certified_available certified_delta",
            "_closed_curves": "GaussianCurve LaplaceCurve PureCurve",
            "_compose": "compose compose_budgets compose_curves",
            "_composed": "BudgetCurve ComposedCurve",
            "_conversions": "convert within",
            "_curve": "check_claim PrivacyCurve",
            "_filter": "Filter added",
            "_fisher_rao": "normal_fisher_rao_distance",
            "_gdp": "gaussian_delta gaussian_epsilon gaussian_mu GDP",
            "_generalized_gaussian_curve": "GeneralizedGaussianCurve",
            "_hyperbolic_floor": "delta_floor gaussian_floor",
            "_kl": "KLDP",
            "_mean_cdp": "MeanCDP",
            "_pld": "accounting_available",
            "_rao": "RaoDP angle_of_response angle_of_separation check_distance",
            "_renyi": "RDP",
            "_reservation": "Account LedgerEntry Reservation",
            "_pure": "gaussian_to_pure pure_to_gaussian PureDP",
            "_rounding": "ELEMENTARY on_grid product_up quotient_up root_of_squares_up up",
            "_isotropic_curve": "IsotropicCurve score_bound",
            "_zcdp": "ZCDP",
        },
    )

__all__ = [
    "ELEMENTARY",
    "GDP",
    "KLDP",
    "RDP",
    "ZCDP",
    "Account",
    "Accountant",
    "AffineInvariantGaussianCurve",
    "Anchor",
    "ApproxDP",
    "Budget",
    "BudgetCurve",
    "ComposedCurve",
    "Filter",
    "GaussianCurve",
    "GeneralizedGaussianCurve",
    "IsotropicCurve",
    "LaplaceCurve",
    "LedgerEntry",
    "MeanCDP",
    "PrivacyCurve",
    "PureCurve",
    "PureDP",
    "RaoDP",
    "Reservation",
    "accounting_available",
    "added",
    "adds_up",
    "affine_invariant_sigma",
    "affine_invariant_slope",
    "affordable_epsilon",
    "affordable_mu",
    "angle_of_response",
    "angle_of_separation",
    "bounded_range",
    "certified_available",
    "certified_delta",
    "check_adjacency",
    "check_budget",
    "check_claim",
    "check_delta",
    "check_distance",
    "check_epsilon",
    "check_same",
    "classical_mu",
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
    "implied_epsilon",
    "label_of_groups",
    "largest_range",
    "mean_noise",
    "noise_kind",
    "normal_fisher_rao_distance",
    "on_grid",
    "parts_paid",
    "product_up",
    "pure_to_gaussian",
    "quotient_up",
    "rest_of",
    "root_of_squares_up",
    "score_bound",
    "share_of",
    "up",
    "within",
    "within_total",
]
