"""A smaller ball where the data are dense, found privately."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import positive
from riemdp._errors import (
    InvalidBudgetError,
    InvalidParameterError,
    NotAttainableError,
    UnsupportedBallError,
)
from riemdp.manifolds import Ball, check_ball
from riemdp.mechanisms._conformal_density import checked_records
from riemdp.noise import resolve_generator
from riemdp.noise.exact import FlatDraw, default_grid
from riemdp.privacy import PureDP
from riemdp.release._least_error import least_error
from riemdp.release._named import check_accountant
from riemdp.release._offer import wanted_mean
from riemdp.release._run import asked, drawn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.manifolds import FloatArray
    from riemdp.release._run import SupportsSpend

#: Shells of the histogram; each radius is sqrt(2) times the next smaller one.
_SHELLS = 14
#: Share of the records that may seem to lie outside before the radius is expanded.
_OUTSIDE = 0.1


def private_ball(
    points: ArrayLike,
    ball: Ball,
    epsilon: float,
    *,
    expansion: float = 2.0,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
) -> Ball:
    r"""Ball about the dense part of the data, for a release with less noise.

    Half of epsilon goes to a private mean, the centre, and half to counts of the records in shells
    about it. Of the radii ``R, R/sqrt(2), R/2, ...``, R that of the public ball, the smallest is
    taken that leaves at most a tenth of the records outside by a margin for the noise, and it is
    multiplied by ``expansion``. Where that is no smaller than the public ball, the public ball is
    returned. The result may be published and passed to :func:`riemdp.private_mean`; the two
    together cost the sum of their epsilons.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Private records.
    ball : Ball
        Public ball, chosen without looking at the data.
    epsilon : float
        Privacy of the result; a fifth of the total is a fair share.
    expansion : float, default 2.0
        At least 1. Twice the radius of nine tenths holds all but a few records of a cluster with
        light tails; with heavy ones the mean of the shortened records is biased.
    generator : numpy.random.Generator, optional
        Source of noise; this process's secure generator by default. A seeded one makes the noise
        predictable, hence the ball not private; no later release can know that.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with ``PureDP(epsilon)`` before the records are used.

    Returns
    -------
    Ball
        Records outside it are moved to its boundary by :func:`riemdp.private_mean`.

    Raises
    ------
    InvalidBudgetError
        If epsilon is not positive and finite.
    InvalidParameterError
        If ``ball`` is no ball, or ``expansion`` under 1.
    NotOnManifoldError
        If a record is not on the manifold.
    NotAttainableError, UnprovenMechanismError, UnsupportedBallError
        If no mechanism is available for the centre, or none that is proved; before the charge.

    References
    ----------
    docs/proofs/conformal-laplace.md, Proposition 6
    """
    check_ball(ball)
    epsilon = positive(epsilon, "epsilon", error=InvalidBudgetError)
    expansion = positive(expansion, "expansion")
    if expansion < 1.0:
        raise InvalidParameterError(f"expansion must be at least 1, got {expansion}")
    source = resolve_generator(generator)
    check_accountant(accountant)
    records = checked_records(ball, points)
    half = 0.5 * epsilon
    # Decided from public numbers, before the charge.
    chosen, _ = least_error(wanted_mean, ball, len(records), PureDP(half))
    start = chosen.statistic.start(ball)
    question = asked(chosen.statistic, ball, start, 0)
    scale = 2.0 / half
    if math.isinf(scale):
        raise NotAttainableError(
            f"the noise of the counts at epsilon = {epsilon:g} exceeds float64; choose a larger one"
        )
    if accountant is not None:
        accountant.spend(PureDP(epsilon), "private_ball")
    center, _ = drawn(chosen, start, question, records, source)
    counts = shell_counts(ball, center, records)
    law = FlatDraw("laplace", 1, scale)
    noisy = [law.draw([count], default_grid(scale), generator=source) for count in counts]
    counts = np.concatenate([count.values() for count in noisy])
    radius = expansion * _dense_radius(ball.reach, counts, len(records), half)
    if radius >= ball.reach:
        return ball
    try:
        return Ball(ball.manifold, center, radius)
    except UnsupportedBallError:  # about this centre; all of it is released
        return ball


def shell_counts(ball: Ball, center: FloatArray, records: FloatArray) -> FloatArray:
    r"""Numbers of records in shells about a centre, outermost first.

    Shell i lies between ``R 2^(-i/2)`` and ``R 2^(-(i-1)/2)``; the first has no outer radius, the
    last no inner one. Each record is in one shell, so that replacing it changes two counts by one.

    Parameters
    ----------
    ball : Ball
        Its radius is R.
    center : ndarray, shape (\*point_shape,)
    records : ndarray, shape (n, \*point_shape)

    Returns
    -------
    ndarray, shape (14,)
    """
    radii = _radii(ball.reach)
    shell = np.searchsorted(-radii, -ball.manifold.dist(center, records), side="right")
    return np.bincount(shell, minlength=_SHELLS).astype(float)


def _dense_radius(radius: float, counts: FloatArray, n: int, epsilon: float) -> float:
    """Smallest radius that leaves few records outside, by noisy counts and public numbers."""
    found = radius
    deviation = math.sqrt(2.0) * 2.0 / epsilon
    outside = 0.0
    for i, candidate in enumerate(_radii(radius)):
        outside += counts[i]
        if outside + 2.0 * deviation * math.sqrt(i + 1.0) > _OUTSIDE * n:
            break
        found = float(candidate)
    return found


def _radii(radius: float) -> FloatArray:
    return np.asarray(radius * 2.0 ** (-0.5 * np.arange(_SHELLS - 1)), dtype=np.float64)
