"""What would be wrong with a release, for whoever holds the data: nothing is spent or drawn."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riemdp.privacy import GDP
from riemdp.release._charging import Checked, DryRun
from riemdp.release._private_mean import private_mean
from riemdp.release._private_means import private_means
from riemdp.release._run import private_statistic
from riemdp.release._search._found import PrivateBall

if TYPE_CHECKING:
    from riemdp.privacy import Budget
    from riemdp.spaces import Ball
    from riemdp.statistics import Statistic


def check(
    points: Any,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    statistic: Statistic | None = None,
    accountant: object = None,
    **options: Any,
) -> None:
    """Read all that a release would read, and raise what is wrong with it in plain words.

    A release with an account does not say what is wrong with its records, and costs its budget all
    the same. This one spends nothing and draws nothing. **Its errors tell of the data**: it is no
    release, and what it raises, or that it raises nothing, is for the eyes of their holder alone.

    Parameters
    ----------
    points : array_like, Records, or what is read a part at a time
        As for the release; a mapping, as for :func:`riemdp.private_means`.
    ball : Ball or PrivateBall
    budget : Budget, optional
        That of the release. What is wrong with records does not depend on it.
    statistic : Statistic, optional
        What :func:`riemdp.private_statistic` would release; the mean by default.
    accountant : object, optional
        Is not looked at, so that the options of the release can be given as they are.
    **options
        Every other keyword of :func:`riemdp.private_mean`, or of that function.

    Raises
    ------
    RiemdpError
        What the release would raise without an account.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> riemdp.check(points, ball)
    >>> points[7] = np.nan
    >>> riemdp.check(points, ball)
    Traceback (most recent call last):
    ...
    riemdp._errors.NotOnManifoldError: row 7 has entries that are NaN or infinite
    """
    del accountant
    dry = DryRun()
    release: Any = private_means if isinstance(points, Mapping) else private_mean
    if statistic is not None:
        release = functools.partial(private_statistic, statistic)
    if isinstance(ball, PrivateBall):
        ball = replace(ball, accountant=dry)
    elif budget is None:
        budget = GDP(1.0)
    with contextlib.suppress(Checked):
        release(points, ball, budget, accountant=dry, **options)
