"""Releases with the published conformal noise, which guarantee nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp._errors import InvalidBudgetError, InvalidParameterError, UnprovenMechanismError
from riemdp.mechanisms._conformal_published import PublishedConformalLaplace
from riemdp.mechanisms._published_noise import PublishedNoise
from riemdp.noise import is_secure
from riemdp.privacy import PureDP
from riemdp.release._candidates import computed_sensitivity
from riemdp.release._release import Release
from riemdp.summaries import clipped_frechet_mean

if TYPE_CHECKING:
    import numpy as np

    from riemdp.manifolds import Ball
    from riemdp.manifolds._manifold import FloatArray
    from riemdp.privacy import Budget


def published_release(
    data: FloatArray,
    ball: Ball,
    budget: Budget,
    *,
    tol: float | None,
    generator: np.random.Generator,
    accountant: object,
    allow_unproven: bool,
) -> Release:
    """Mean of validated records with the published noise, which guarantees nothing."""
    name = PublishedConformalLaplace.name
    if not allow_unproven:
        raise UnprovenMechanismError(
            f"{name} is not private: its noise depends on the private data by more than epsilon "
            "pays for; pass allow_unproven=True to compare with it all the same, or use "
            '"riemannian-laplace", which has less error and a proof'
        )
    if not isinstance(budget, PureDP):
        raise InvalidBudgetError(f"{name} takes a nominal PureDP(epsilon), got {budget}")
    if accountant is not None:
        raise InvalidParameterError(
            f"{name} has no guarantee that an accountant could charge; leave the accountant out"
        )
    n = len(data)
    sensitivity, tol = computed_sensitivity(ball, n, "frechet-mean", tol)
    law = PublishedConformalLaplace(data, ball, budget.epsilon, sensitivity)
    footpoint = ball.point(clipped_frechet_mean(ball, data, tol))
    return Release(
        value=law.sample(ball.project(footpoint), generator=generator),
        guarantee=None,
        mechanism=PublishedNoise(ball.manifold, budget.epsilon),
        summary="frechet-mean",
        reason="named by the caller, for comparison: nothing is guaranteed",
        sensitivity=sensitivity,
        tol=tol,
        ball=ball,
        n=n,
        proven=False,
        private=False,
        reproducible=not is_secure(generator),
    )
