"""The one way that data takes: validate, clip, summarise, calibrate, draw."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Protocol

import numpy as np

from riemdp._checks import positive, shown
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnprovenMechanismError,
)
from riemdp.manifolds import Ball, FlatManifold
from riemdp.mechanisms import MECHANISMS, Mechanism
from riemdp.noise import is_secure, resolve_generator
from riemdp.privacy import Budget
from riemdp.release._candidates import (
    Candidate,
    calibrated,
    check_accountant,
    computed_sensitivity,
    least_error,
)
from riemdp.release._proofs import proofs, unproven
from riemdp.release._release import Release
from riemdp.statistics import clipped_frechet_mean, clipped_tangent_mean
from riemdp.statistics._frechet_mean import check_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SupportsSpend(Protocol):
    """Anything that keeps the account of a total budget."""

    def spend(self, guarantee: Budget, label: str) -> object:
        """Charge a guarantee, or raise and change nothing."""


def private_mean(
    points: ArrayLike,
    ball: Ball,
    budget: Budget,
    *,
    mechanism: str | type[Mechanism] | Mechanism = "auto",
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    allow_unproven: bool = False,
    tol: float | None = None,
) -> Release:
    r"""Release a differentially private mean of manifold-valued data.

    Records are validated, clipped to the ball one by one, and averaged; the mean is released
    with noise calibrated to the budget, then projected onto the ball. Neighbouring data sets have
    the same ``n`` and differ in one record. Nothing but the ball, ``n``, the budget and the
    options sets the noise.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Data, n >= 1. Records outside the ball are projected onto it.
    ball : Ball
        Public ball, chosen without looking at the data.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee that the release has to satisfy.
    mechanism : str or Mechanism class or Mechanism, default "auto"
        ``"auto"`` takes the mechanism with the least expected distance for the Fréchet mean (for
        the tangent mean where the space has none), decided from public numbers alone. A name
        (``"riemannian-laplace"``, ``"riemannian-gaussian"``, ``"tangent-gaussian"``,
        ``"tangent-laplace"``) or a class is calibrated here; an instance has to satisfy the
        budget as it is.
    generator : numpy.random.Generator, optional
        Source of noise; this process's secure generator by default. Any other marks the release
        ``reproducible=True, private=False``.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with the budget after all checks and before the mean is computed.
    allow_unproven : bool, default False
        Whether a mechanism may be used whose guarantee nobody proved here, since it (or the class
        of the ball or of its manifold) is not of this library or draws by a Metropolis chain; the
        release then says ``proven=False``.
    tol : float, optional
        Public tolerance of the mean; ``2 tol`` is added to the sensitivity. By default a tiny
        fraction of it. Fix it before seeing the data. What float64 cannot carry for every data set
        in the ball is refused.

    Returns
    -------
    Release

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not on the manifold.
    UnsupportedBallError
        If the ball is too large for the curvature.
    UnsupportedManifoldError
        If the mechanism is not available on the space.
    InvalidBudgetError
        If the mechanism cannot satisfy this kind of budget.
    NotAttainableError
        If no noise attains the budget, or an instance has too little noise.
    InvalidParameterError
        If ``tol`` is smaller than what float64 carries for every data set in the ball.
    UnprovenMechanismError
        If the mechanism is not proved and ``allow_unproven`` is false.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021;
    Utpala, Vepakomma, Miolane, "Differentially Private Fréchet Mean on the Manifold of Symmetric
    Positive Definite (SPD) Matrices with log-Euclidean Metric", TMLR 2023. Proofs: docs/proofs.
    """
    if not isinstance(ball, Ball):
        raise InvalidParameterError(f"ball must be a riemdp.Ball, got {type(ball).__name__}")
    if not isinstance(budget, Budget):
        raise InvalidParameterError(
            f"budget must be a privacy definition such as PureDP, got {type(budget).__name__}"
        )
    tol = None if tol is None else positive(tol, "tol")
    check_accountant(accountant)
    source = resolve_generator(generator)
    data = ball.manifold.validate(points)
    check_rows(data, ball.manifold)
    n = len(data)
    chosen, reason = _choose(mechanism, ball, n, budget, tol)
    missing = unproven(proofs(ball, chosen.mechanism.summary, chosen.mechanism, budget))
    if missing and not allow_unproven:
        raise UnprovenMechanismError(
            f"the guarantee is not proved: no proof is known of {missing}. Pass "
            "allow_unproven=True to rely on it all the same, and the release will say so"
        )
    # Charged before the data are used: nothing that happens to them afterwards is free of charge.
    if accountant is not None:
        accountant.spend(budget, f"private_mean, {chosen.mechanism.name}")
    with np.errstate(all="ignore"):  # a warning would tell of the data
        if chosen.mechanism.summary == "tangent-mean":
            footpoint = clipped_tangent_mean(ball, data, chosen.tol)
        else:
            footpoint = clipped_frechet_mean(ball, data, chosen.tol)
    value = chosen.mechanism.sample_from_coordinates(footpoint, ball, source)
    value.flags.writeable = False
    return Release(
        value=value,
        guarantee=budget,
        mechanism=chosen.mechanism,
        summary=chosen.mechanism.summary,
        reason=reason,
        sensitivity=chosen.sensitivity,
        tol=chosen.tol,
        ball=ball,
        n=n,
        proven=not missing,
        private=is_secure(source),
        reproducible=not is_secure(source),
    )


def _choose(
    mechanism: object,
    ball: Ball,
    n: int,
    budget: Budget,
    tol: float | None,
) -> tuple[Candidate, str]:
    """Return the calibrated mechanism and why it was taken."""
    if isinstance(mechanism, Mechanism):
        return _as_given(mechanism, ball, n, budget, tol), "given by the caller, calibrated"
    if isinstance(mechanism, str):
        if mechanism == "auto":
            return least_error(ball, n, budget, tol)
        if mechanism not in MECHANISMS:
            raise InvalidParameterError(
                f"unknown mechanism {shown(mechanism)}; known: auto, {', '.join(MECHANISMS)}"
            )
        kind = MECHANISMS[mechanism]
    elif (
        isinstance(mechanism, type)
        and issubclass(mechanism, Mechanism)
        and not inspect.isabstract(mechanism)
    ):
        kind = mechanism
    else:
        raise InvalidParameterError(
            "mechanism must be a name, a Mechanism class or a calibrated Mechanism, "
            f"got {type(mechanism).__name__}"
        )
    return calibrated(kind, ball, n, budget, tol), "named by the caller"


def _as_given(
    mechanism: Mechanism, ball: Ball, n: int, budget: Budget, tol: float | None
) -> Candidate:
    """Check that an instance belongs to the ball and satisfies the budget."""
    if mechanism.manifold != ball.manifold:
        raise InvalidParameterError(
            f"the mechanism is for {mechanism.manifold}, the ball for {ball.manifold}"
        )
    base = getattr(mechanism, "base", None)
    flat = isinstance(ball.manifold, FlatManifold)
    if base is not None and not flat and not np.array_equal(base, ball.center):
        raise InvalidParameterError(
            "the base of a tangent mechanism must be the centre of the ball, where the "
            "sensitivity of the tangent mean is proved"
        )
    restriction = getattr(mechanism, "ball", None)
    if restriction is not None and restriction != ball:
        raise InvalidParameterError("the mechanism is restricted to another ball than the data's")
    sensitivity, used = computed_sensitivity(ball, n, mechanism.summary, tol)
    if not mechanism.satisfies(sensitivity, budget):
        raise NotAttainableError(
            f"sigma = {mechanism.sigma:.6g} is too little noise for {budget} at sensitivity "
            f"{sensitivity:.6g}; calibrate it, or name the mechanism and let it be calibrated"
        )
    return Candidate(mechanism, sensitivity, used)
