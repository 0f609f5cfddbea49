"""The private mean: the Fréchet mean, or the tangent mean where noise is in a tangent space."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from riemdp import statistics  # whose names that not every mean needs are found in use
from riemdp._checks import is_one_of, shown
from riemdp._combinations import WEIGHTS_ON_A_BALL
from riemdp._errors import InvalidParameterError, UnprovenMechanismError, UnsupportedError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.privacy import check_budget
from riemdp.release._offer import wanted_mean
from riemdp.release._options import Options, with_options
from riemdp.release._private_ball import find_ball
from riemdp.release._run import checked_offer, run
from riemdp.release._search._steps import centre_kind
from riemdp.spaces import check_ball
from riemdp.statistics import as_records

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from riemdp.privacy import Budget
    from riemdp.release._offer import Terms, Wanted
    from riemdp.release._options import ReleaseOptions
    from riemdp.release._release import Release
    from riemdp.release._search._found import PrivateBall
    from riemdp.spaces import Ball
    from riemdp.statistics import Records

#: How a mean may be released.
METHODS = ("auto", "one-shot", "adaptive", "refined")


@with_advice
@work("private_mean")
@with_options
def private_mean(
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    method: Literal["auto", "one-shot", "adaptive", "refined"] = "auto",
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release a differentially private mean of manifold-valued data.

    Records are validated, clipped to the ball one by one, and averaged; the mean is released with
    noise calibrated to the budget. Nothing but the ball, ``n``, the budget and the options sets
    the noise. Every other release has the same options.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape), or Records
        Data, n >= 1. Records outside the ball are projected onto it. Or a function without
        arguments that returns them, which is called after the charge. Or records that are read a
        part at a time, where what is released is a sum over them, or takes a public number of
        passes: a memory map, a Zarr array, an iterator of arrays, a list of paths, or
        :class:`riemdp.Chunks`.
    ball : Ball or PrivateBall
        Public ball, chosen without looking at the data; or one that :func:`riemdp.private_ball`
        found in the same records.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee that the release has to satisfy. On a ball that was found a share of what is left
        there, all of it by default.
    method : {"auto", "one-shot", "adaptive", "refined"}, default "auto"
        ``"one-shot"``, which is ``"auto"``, adds noise once, for records anywhere in the ball.
        ``"adaptive"`` looks for a smaller ball first, with a part of the budget (PureDP, ApproxDP,
        GDP or ZCDP), see :func:`riemdp.private_ball`; where the records are too few for that the
        release is the one-shot one, bit by bit. ``"refined"`` releases a tangent mean in two
        rounds, the second about the first and clipped to twice the spread that was released: noise
        follows the spread of the records, not the radius, on every manifold. For other rounds
        release :class:`riemdp.statistics.RefinedMean` with :func:`private_statistic`.
    mechanism : str, Mechanism class, Choice or Mechanism, default "auto"
        ``"auto"`` takes the mechanism with the least expected distance, decided from public
        numbers alone, among those that are proved (among all with ``allow_unproven``): for the
        Fréchet mean or for the tangent mean, whichever has less noise. The release says which
        (``release.statistic``), and ``release.reason`` what the other would have cost;
        ``private_statistic(FrechetMean(), ...)`` leaves no choice. A name
        (``"riemannian-laplace"``, ``"riemannian-gaussian"``, ``"wrapped-gaussian"``,
        ``"wrapped-laplace"`` for the Fréchet mean, ``"tangent-gaussian"``,
        ``"tangent-laplace"`` for the tangent mean) or a class is calibrated here; an instance
        has to satisfy the budget as it is.
    adjacency : {"replace-one", "add-remove", "replace-point"} or Neighbours, optional
        Whether one record is replaced, with a public ``n``, or added or removed: then the number
        of records is private, what is released is a sum with that number, and ``release.n`` is
        None. With ``users`` both are about people (``"replace-user"``, ``"add-remove-user"``).
        ``"replace-point"`` keeps labels and covariates public. By default what the budget names,
        and else ``"replace-one"``; with ``users`` and without ``people`` ``"add-remove"``.
    users : array_like of int or str, shape (n,), optional
        Whose record each is, where people are to be protected with all their records: their
        records are averaged in the tangent space at the centre of the ball, and the statistic is
        that of one mean a person. Of labels and covariates, which may differ within a person, rows
        of sums are averaged instead. What the ids are does not count, only who shares one.
    people : int or sequence of int and str, optional
        Public number of people, beside ``users``: that of a list which is not made of the records.
        Or that list of ids itself: then a record of nobody on it is an error.
        It is ``release.n``, and one person's records are replaced. Who has no record counts as the
        centre of the ball, in no class, in the middle of the range of covariates; with
        ``contribution`` not at all. Without it the number of people is private, and is never read
        off the ids.
    contribution : int, default 1
        With ``users``: how many records a person counts for at most, public. With more than 1 a
        person with more records counts for so many: the statistic is then
        :class:`riemdp.statistics.Counted`. With 1 every person counts alike.
    weights : array_like, shape (n,), optional
        A weight for each place in the data, public: finite and at least 0, not all 0. They are
        divided by the largest and rounded down to multiples of ``2^-40``. A record with a large
        weight moves the mean by more, and noise is set by the largest of all. Of records that are
        read a part at a time it has to be public how many each part holds.
    private_weights : bool, default False
        Whether each weight is as private as its point: then it has to lie in [0, 1], the number of
        records is what is public, and a sum of weights is released with the weighted sum, of
        tangent means and other statistics of sums: :class:`riemdp.statistics.Counted`. Leave out
        ``weights`` if they come with the records, or with each chunk, as ``Records(points,
        weights=...)``.
    n : int, optional
        Number of records, where it is public; of people it is ``people``. By default it is read
        off the shape of an array or the length of a list, and nothing else is looked at; it has to
        be given where ``points`` is a function, an iterator or a list of paths. Of records that
        are read a part at a time fewer may come: the centre of the ball stands for those that do
        not.
    generator : numpy.random.Generator, optional
        Source of noise; a new secure generator by default. Any other marks the release
        ``private=False``.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with the budget on public arguments alone, before the records are opened. From then
        on every failure is one :class:`riemdp.ReleaseFailedError` that says nothing: why is for the
        holder of the data, who reads the logger ``"riemdp.data_holder"``, or uses
        :func:`riemdp.check` before. What the account gives back for the charge goes with the
        release where it has an anchor: :attr:`Release.anchor`. Without an account errors tell of
        the records.
    allow_unproven : bool, default False
        Whether parts may be used whose guarantee nobody proved here, such as a mechanism, ball or
        manifold of another package; the release then says ``proven=False``.

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
        If an argument is of the wrong kind or outside its domain, users or weights are no sequence
        of one for each record, or ``adjacency`` contradicts ``budget``.
    UnsupportedNeighboursError
        If nothing is known of the statistic under the relation, or an account is about another one.
    UnprovenMechanismError
        If a part is not proved and ``allow_unproven`` is false.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021;
    Utpala, Vepakomma, Miolane, "Differentially Private Fréchet Mean on the Manifold of Symmetric
    Positive Definite (SPD) Matrices with log-Euclidean Metric", TMLR 2023. Proofs: docs/proofs;
    of whom ``adjacency``, ``users`` and weights protect docs/proofs/neighbours.md.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_mean(points, ball, riemdp.GDP(1.0))
    >>> release.value.shape, release.guarantee, release.private
    ((3,), GDP(mu=1.0), True)
    >>> round(release.expected_distance, 4)
    0.005
    """
    given = Options(**options)
    if checked_method(method) == "adaptive":
        return _adaptive(points, ball, budget, given)
    return run(mean_of(method), points, ball, budget, given, label="private_mean")


def checked_method(method: object) -> str:
    """Return the name of a method, or raise ``InvalidParameterError``.

    Parameters
    ----------
    method : object

    Returns
    -------
    str
    """
    if is_one_of(method, METHODS):
        return str(method)
    known = ", ".join(f'"{name}"' for name in METHODS)
    raise InvalidParameterError(
        f"method must be one of {known}, got {shown(method)}; for a median there is private_median"
    )


def mean_of(method: object) -> Wanted:
    """Return which mean a method releases on a ball, once that is found."""
    if checked_method(method) == "refined":
        return lambda *_: statistics.RefinedMean()
    return wanted_mean


def _adaptive(points: Any, ball: Any, budget: Any, options: Options) -> Release:
    """Look for a smaller ball first, and release the mean there with what is left."""
    check_ball(ball)
    check_budget(budget)
    weighs = options.weights is not None or options.private_weights
    if weighs or options.contribution != 1 or as_records(points).weights is not None:
        raise InvalidParameterError(str(WEIGHTS_ON_A_BALL))
    check = functools.partial(_check, options)
    found = find_ball(points, ball, budget, options, label="private_mean", check=check)
    return run(wanted_mean, points, found, None, options, label="private_mean")


def _check(options: Options, terms: Terms) -> None:
    """Refuse, before anything is charged, a release that might not be possible afterwards.

    Smaller balls and larger shares of the budget take less noise; where one is refused all the
    same, for a reason of float64, the release is on the public ball.
    """
    if is_one_of(options.mechanism, ("auto",)):
        # noise in a tangent space, which is always at hand, will do
        with contextlib.suppress(UnsupportedError, UnprovenMechanismError):
            kind = centre_kind(type(terms.budget))
            checked_offer(wanted_mean, terms, replace(options, mechanism=kind))
            return
    checked_offer(wanted_mean, terms, options)
