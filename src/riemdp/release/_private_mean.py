"""The private mean: the Fréchet mean, or the tangent mean where noise is in a tangent space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp.release._offer import wanted_mean
from riemdp.release._run import run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball
    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Budget
    from riemdp.release._offer import Arithmetic, Project
    from riemdp.release._release import Release
    from riemdp.release._run import SupportsSpend
    from riemdp.statistics import Neighbours


def private_mean(
    points: ArrayLike,
    ball: Ball,
    budget: Budget,
    *,
    mechanism: str | type[Mechanism] | Choice | Mechanism = "auto",
    neighbours: Neighbours | None = None,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    allow_unproven: bool = False,
    tol: float | None = None,
    arithmetic: Arithmetic = "exact",
    project: Project = "auto",
) -> Release:
    r"""Release a differentially private mean of manifold-valued data.

    Records are validated, clipped to the ball one by one, and averaged; the mean is released
    with noise calibrated to the budget. Neighbouring data sets have
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
    mechanism : str, Mechanism class, Choice or Mechanism, default "auto"
        ``"auto"`` takes the mechanism with the least expected distance, decided from public
        numbers alone: for the Fréchet mean or for the tangent mean, whichever has less noise.
        The release says which (``release.statistic``), and ``release.reason`` what the other
        would have cost; ``private_statistic(FrechetMean(), ...)`` leaves no choice. A name
        (``"riemannian-laplace"``, ``"riemannian-gaussian"``, ``"wrapped-gaussian"``,
        ``"wrapped-laplace"`` for the Fréchet mean, ``"tangent-gaussian"``,
        ``"tangent-laplace"`` for the tangent mean) or a class is calibrated here; an instance
        has to satisfy the budget as it is. On Euclidean spaces also
        ``"generalized-gaussian:power=1.5"``, with any power.
    neighbours : Neighbours, optional
        Which data sets the guarantee is about: those that differ in one record, by default.
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
    arithmetic : {"exact", "float64"}, default "exact"
        ``"exact"`` draws the ideal noise, rounded to a public grid, about a mean in exact
        arithmetic, and the release says ``numerical_delta=0.0``; it says None where one of the two
        is not proved. ``"float64"`` asks for neither: its low bits tell neighbours apart.
    project : {"auto", True, False}, default "auto"
        Whether the draw is projected onto the ball; see :func:`riemdp.private_statistic`.

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
    return run(
        wanted_mean,
        points,
        ball,
        budget,
        label="private_mean",
        mechanism=mechanism,
        neighbours=neighbours,
        generator=generator,
        accountant=accountant,
        allow_unproven=allow_unproven,
        tol=tol,
        arithmetic=arithmetic,
        project=project,
    )
