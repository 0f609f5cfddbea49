"""Means with the published conformal noise, which guarantee nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp import InvalidParameterError
from riemdp.noise import is_secure, resolve_generator
from riemdp.spaces import Ball
from riemdp.statistics import FrechetMean, answer
from riemdp_papers._checks import positive
from riemdp_papers._conformal import PublishedConformalLaplace, computed_sensitivity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp_papers._experiment import FloatArray


@dataclass(frozen=True, eq=False)
class PublishedMean:
    r"""What :func:`published_mean` gives. It is **not private** and no :class:`riemdp.Release`.

    Scale and error of the noise depend on the private data and are not stated.

    Attributes
    ----------
    value : ndarray, shape (\*point_shape,)
        Noisy mean.
    epsilon : float
        Nominal.
    sensitivity : float
        Largest effect of one record on the mean as computed.
    tol : float
        Tolerance of the mean.
    ball : Ball
        To which records were clipped.
    n : int
        Number of records.
    reproducible : bool
        Whether the noise came from a generator of the caller.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean
    >>> from riemdp_papers import published_mean
    >>> ball = Ball(Euclidean(1), [0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.2, (100, 1))
    >>> mean = published_mean(points, ball, 1.0, generator=np.random.default_rng(1))
    >>> mean.epsilon, mean.guarantee, mean.private
    (1.0, None, False)
    """

    value: FloatArray
    epsilon: float
    sensitivity: float
    tol: float
    ball: Ball = field(repr=False)
    n: int
    reproducible: bool

    mechanism: ClassVar[str] = PublishedConformalLaplace.name
    guarantee: ClassVar[None] = None
    proven: ClassVar[bool] = False
    private: ClassVar[bool] = False


def published_mean(
    points: ArrayLike,
    ball: Ball,
    epsilon: float,
    *,
    tol: float | None = None,
    generator: np.random.Generator | None = None,
) -> PublishedMean:
    r"""Mean with the noise of :class:`PublishedConformalLaplace`, which is **not private**.

    The steps are those of :func:`riemdp.private_mean`: records are validated, clipped to the ball
    and averaged, and the noise is drawn about their Fréchet mean.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Data, n >= 2. Records outside the ball are projected onto it.
    ball : Ball
        Ball of a space of constant curvature.
    epsilon : float
        Nominal. It is no guarantee, so there is nothing that an accountant could charge.
    tol : float, optional
        Tolerance of the mean; at least, and by default, that of :func:`riemdp.private_mean`.
    generator : numpy.random.Generator, optional
        Source of noise; a new secure generator by default.

    Returns
    -------
    PublishedMean

    Raises
    ------
    InvalidBudgetError, InvalidParameterError
        If a number is outside its domain, or there are fewer than two records.
    NotOnManifoldError
        If a row is not on the manifold.
    UnsupportedBallError
        If the ball is too large for the curvature.
    UnsupportedManifoldError
        If the curvature is not constant.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean
    >>> from riemdp_papers import published_mean
    >>> ball = Ball(Euclidean(1), [0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.2, (100, 1))
    >>> mean = published_mean(points, ball, 1.0, generator=np.random.default_rng(1))
    >>> mean.value.shape, mean.private
    ((1,), False)
    """
    if not isinstance(ball, Ball):
        raise InvalidParameterError(f"ball must be a riemdp.Ball, got {type(ball).__name__}")
    source = resolve_generator(generator)
    data = ball.manifold.validate(points)
    n = max(len(data), 1)  # the mechanism refuses too few
    least = 0.0 if tol is None else positive(tol, "tol")
    sensitivity, used = computed_sensitivity(ball, n, least)
    law = PublishedConformalLaplace(data, ball, epsilon, sensitivity)
    query = next(FrechetMean().queries(ball))
    footpoint = ball.point(np.array(answer(query, ball, data, used), dtype=float))
    value = law.sample(ball.project(footpoint), generator=source)
    value.flags.writeable = False
    return PublishedMean(
        value=value,
        epsilon=law.epsilon,
        sensitivity=sensitivity,
        tol=used,
        ball=ball,
        n=n,
        reproducible=not is_secure(source),
    )
