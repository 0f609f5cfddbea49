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
from riemdp.manifolds import check_ball
from riemdp.privacy import check_budget
from riemdp.release._offer import Terms, wanted_mean
from riemdp.release._private_ball import find_ball
from riemdp.release._projection import check_project
from riemdp.release._relation import relation, says_whose, with_users
from riemdp.release._run import Options, checked_offer, run
from riemdp.release._search._found import PrivateBall
from riemdp.release._search._steps import centre_kind
from riemdp.release._weights import weighted, with_contribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball
    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Budget
    from riemdp.release._offer import Wanted
    from riemdp.release._projection import Project
    from riemdp.release._relation import Adjacency
    from riemdp.release._release import Release
    from riemdp.release._run import SupportsSpend
    from riemdp.statistics import Neighbours


@with_advice
@work("private_mean")
def private_mean(
    points: ArrayLike,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    *,
    adapt: bool = False,
    method: Literal["one-shot", "refined"] = "one-shot",
    rounds: int = 2,
    shares: Sequence[float] | None = None,
    alpha: float = 2.0,
    mechanism: str | type[Mechanism] | Choice | Mechanism = "auto",
    neighbours: Neighbours | None = None,
    adjacency: Adjacency | None = None,
    users: ArrayLike | None = None,
    people: int | Sequence[int | str] | None = None,
    contribution: int = 1,
    weights: ArrayLike | None = None,
    private_weights: bool = False,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    n: int | None = None,
    allow_unproven: bool = False,
    project: Project = "auto",
) -> Release:
    r"""Release a differentially private mean of manifold-valued data.

    Records are validated, clipped to the ball one by one, and averaged; the mean is released with
    noise calibrated to the budget. Nothing but the ball, ``n``, the budget and the options sets
    the noise.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Data, n >= 1. Records outside the ball are projected onto it. They may be read a part at a
        time, with ``n=``: see :func:`private_statistic` and :class:`riemdp.Chunks`.
    ball : Ball or PrivateBall
        Public ball, chosen without looking at the data; or one that :func:`riemdp.private_ball`
        found in the same records.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee that the release has to satisfy. On a ball that was found a share of what is left
        there, all of it by default.
    adapt : bool, default False
        Whether to look for a smaller ball first, with a part of the budget (PureDP, ApproxDP, GDP
        or ZCDP); see :func:`riemdp.private_ball`. Where nothing is there to be found, because the
        records are too few, the release is the one without, bit by bit.
    method : {"one-shot", "refined"}, default "one-shot"
        ``"refined"`` releases a tangent mean in rounds, each about the one before and clipped to
        ``alpha`` times the spread that was released: noise follows the spread of the records, not
        the radius, on every manifold. See :class:`riemdp.statistics.RefinedMean`. Its
        ``expected_distance`` is that of the noise of the last round, were it clipped to the
        radius; the bias of clipping is not bounded.
    rounds : int, default 2
        Of the refined mean. One is the tangent mean (on flat spaces the Fréchet mean).
    shares : sequence of float, optional
        Share of the budget that each round takes (of epsilon, of rho, or of mu^2), of sum 1; by
        default 0.2 together for all but the last.
    alpha : float, default 2.0
        Length that the refined mean clips to, in units of the released spread.
    mechanism : str, Mechanism class, Choice or Mechanism, default "auto"
        ``"auto"`` takes the mechanism with the least expected distance, decided from public
        numbers alone: for the Fréchet mean or for the tangent mean, whichever has less noise.
        The release says which (``release.statistic``), and ``release.reason`` what the other
        would have cost; ``private_statistic(FrechetMean(), ...)`` leaves no choice. A name
        (``"riemannian-laplace"``, ``"riemannian-gaussian"``, ``"wrapped-gaussian"``,
        ``"wrapped-laplace"`` for the Fréchet mean, ``"tangent-gaussian"``,
        ``"tangent-laplace"`` for the tangent mean) or a class is calibrated here; an instance
        has to satisfy the budget as it is.
    neighbours : Neighbours, optional
        Which data sets the guarantee is about: those that differ in one record, by default. In
        place of ``adjacency``.
    adjacency : {"replace-one", "add-remove"}, optional
        Whether one record is replaced, with a public ``n``, or added or removed: then the number
        of records is private, what is released is a sum with that number, and ``release.n`` is
        None. By default what the budget names, and else ``"replace-one"``; with ``users`` and
        without ``people`` ``"add-remove"``.
    users : array_like of int or str, shape (n,), optional
        Whose record each is, where people are to be protected with all their records: their
        records are averaged in the tangent space at the centre of the ball, and the statistic is
        that of one mean a person. What the ids are does not count, only who shares one.
    people : int or sequence of int and str, optional
        Public number of people, beside ``users``: that of a list which is not made of the records.
        Or that list of ids itself: then a record of nobody on it is an error.
        It is ``release.n``, and one person's records are replaced. Who has no record counts as the
        centre of the ball, or with ``contribution`` not at all. Without it the number of people is
        private, and is never read off the ids.
    contribution : int, default 1
        With ``users``: how many records a person counts for at most, public. More than 1 releases
        the tangent mean of all records, or the refined one, in which a person with more of them
        counts for so many: :class:`riemdp.statistics.Counted`. With 1 every person counts alike.
    weights : array_like, shape (n,), optional
        A weight for each place in the data, public: finite and at least 0, not all 0. They are
        divided by the largest and rounded down to multiples of ``2^-40``. A record with a large
        weight moves the mean by more, and noise is set by the largest of all. Of records that are
        read a part at a time it has to be public how many each part holds.
    private_weights : bool, default False
        Whether each weight is as private as its point: then it has to lie in [0, 1], the number of
        records is what is public, and a sum of weights is released with the weighted sum, for the
        tangent mean or the refined one: :class:`riemdp.statistics.Counted`. Leave out ``weights``
        if they come with the records, or with each chunk, as ``Records(points, weights=...)``.
    generator : numpy.random.Generator, optional
        Source of noise; a new secure generator by default. Any other marks the release
        ``private=False``.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with the budget before the records are opened: what is wrong with them costs it,
        and is not told, see :func:`riemdp.private_statistic`; :func:`riemdp.check` says it before.
    n : int, optional
        Number of records, where it is public and no shape or length says it.
    allow_unproven : bool, default False
        Whether a mechanism may be used whose guarantee nobody proved here, since it (or the class
        of the ball or of its manifold) is not of this library; the release then says
        ``proven=False``.
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
        If an option of the refined mean is outside its domain, or given without it; if users or
        weights are no sequence of one for each record, or ``adjacency`` contradicts ``budget``.
    UnsupportedNeighboursError
        If nothing is known of the statistic under the relation, or an account is about another one.
    UnprovenMechanismError
        If the mechanism is not proved and ``allow_unproven`` is false.

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
    if not isinstance(adapt, bool):
        raise InvalidParameterError(f"adapt must be true or false, got {shown(adapt)}")
    wanted = _wanted(method, rounds, shares, alpha)
    records = with_users(points, users)
    has_users = says_whose(records)
    said = ball.budget if isinstance(ball, PrivateBall) else budget
    asked = relation(neighbours, adjacency, said, has_users=has_users, people=people)
    asked = with_contribution(asked, contribution)
    records, weighs = weighted(records, weights, asked, wanted, private=private_weights)
    if weighs is not None and adapt:
        raise InvalidParameterError(str(WEIGHTS_ON_A_BALL))
    wanted = weighs or wanted
    options = Options(
        mechanism=mechanism,
        neighbours=asked,
        people=people,
        generator=generator,
        accountant=accountant,
        n=n,
        allow_unproven=allow_unproven,
        project=project,
    )
    if not adapt:
        return run(wanted, records, ball, budget, options, label="private_mean")
    public: Any = ball
    total: Any = budget
    check_ball(public)
    check_budget(total)
    found = find_ball(
        records,
        public,
        total,
        options,
        label="private_mean",
        check=functools.partial(_check, wanted, options),
    )
    return run(wanted, records, found, None, options, label="private_mean")


def _wanted(method: str, rounds: int, shares: Sequence[float] | None, alpha: float) -> Wanted:
    """Return which mean is released."""
    if not is_one_of(method, ("one-shot", "refined")):
        raise InvalidParameterError(
            f'method must be "one-shot" or "refined", got {shown(method)}; for a median there is '
            "private_median"
        )
    if method == "one-shot":
        if (rounds, shares, alpha) != (2, None, 2.0):
            raise InvalidParameterError(
                'rounds, shares and alpha are options of method="refined"; give them with it'
            )
        return wanted_mean
    refined = statistics.RefinedMean(rounds, () if shares is None else tuple(shares), alpha)
    return lambda *_: refined


def _check(wanted: Wanted, options: Options, ball: Ball, n: int | None, least: Budget) -> None:
    """Refuse, before anything is charged, a release that might not be possible afterwards.

    Smaller balls and larger shares of the budget take less noise; where one is refused all the
    same, for a reason of float64, the release is on the public ball.
    """
    check_project(options.project)
    neighbours: Any = options.neighbours
    terms = Terms(ball, n, least, neighbours)
    if is_one_of(options.mechanism, ("auto",)):
        # noise in a tangent space, which is always at hand, will do
        with contextlib.suppress(UnsupportedError, UnprovenMechanismError):
            checked_offer(wanted, terms, replace(options, mechanism=centre_kind(type(least))))
            return
    checked_offer(wanted, terms, options)
