"""The one way that data takes: validate, calibrate, charge, clip, summarise, draw."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from riemdp._checks import positive
from riemdp._discreet import discreetly
from riemdp._errors import (
    InvalidParameterError,
    UnsupportedError,
    UnsupportedNeighboursError,
)
from riemdp.manifolds import Ball, check_ball, clip_norm
from riemdp.mechanisms import Choice, Mechanism, calibrated
from riemdp.noise import is_secure, resolve_generator
from riemdp.noise.exact import Rounded, default_grid
from riemdp.privacy import Budget, check_budget
from riemdp.release._doubt import not_proved, unproven
from riemdp.release._least_error import least_error
from riemdp.release._named import check_accountant, named
from riemdp.release._offer import (
    Offer,
    check_arithmetic,
    noise_length,
    offer,
)
from riemdp.release._projection import check_project, with_projection
from riemdp.release._release import Release
from riemdp.release._rounded_value import rounded_point
from riemdp.release._search._found import PrivateBall
from riemdp.statistics import (
    Prepared,
    Question,
    ReplaceOne,
    Statistic,
    answer,
    as_records,
    check_neighbours,
    check_rows,
    check_statistic,
    exact_answer,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from riemdp.release._offer import Arithmetic, Wanted
    from riemdp.release._projection import Project
    from riemdp.statistics import Neighbours, Records

    FloatArray = NDArray[np.float64]


class SupportsSpend(Protocol):
    """Anything that keeps the account of a total budget."""

    def spend(self, guarantee: Budget, label: str) -> object:
        """Charge a guarantee, or raise and change nothing."""


def private_statistic(
    statistic: Statistic,
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
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
    r"""Release a differentially private statistic of manifold-valued data.

    Records are validated and clipped to the ball one by one; the statistic of the clipped records
    is released with noise calibrated to the budget, on the space of its answers. Nothing but the
    ball, ``n``, the budget and the options sets the noise.

    Parameters
    ----------
    statistic : Statistic
        What is computed; see :mod:`riemdp.statistics`.
    points : array_like, shape (n, \*point_shape), or Records
        Data, n >= 1. Records outside the ball are projected onto it. With labels or covariates,
        where the statistic takes them, as :class:`riemdp.statistics.Records`.
    ball : Ball or PrivateBall
        Public ball, chosen without looking at the data; or one that :func:`riemdp.private_ball`
        found in the same records.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee that the release has to satisfy. On a ball that was found a share of what is left
        there, all of it by default.
    mechanism : str, Mechanism class, Choice or Mechanism, default "auto"
        ``"auto"`` takes the mechanism with the least expected distance, decided from public
        numbers alone, among those that are proved (among all with ``allow_unproven``). A name or a
        class is calibrated here; an instance has to satisfy the budget as it is.
    neighbours : Neighbours, optional
        Which data sets the guarantee is about: those that differ in one record, by default.
    generator : numpy.random.Generator, optional
        Source of noise; this process's secure generator by default. Any other marks the release
        ``reproducible=True, private=False``.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with the budget after all checks and before the statistic is computed.
    allow_unproven : bool, default False
        Whether parts may be used whose claims nobody proved; the release then says
        ``proven=False``.
    tol : float, optional
        Public tolerance of the statistic; ``2 tol`` is added to the sensitivity. By default the
        statistic's own. Fix it before seeing the data.
    arithmetic : {"exact", "float64"}, default "exact"
        ``"exact"`` draws the ideal noise, rounded to a public grid, about a statistic in exact
        arithmetic, and the release says ``numerical_delta=0.0``; it says None where one of the two
        is not proved. ``"float64"`` asks for neither: its low bits tell neighbours apart.
    project : {"auto", True, False}, default "auto"
        Whether the draw is projected onto the ball of answers, which costs no privacy. It makes
        one release better where the noise is shorter than the radius, and any average of
        releases, or of the factors of one, worse. ``"auto"`` projects in the first case alone,
        and never on products. The release says which: :attr:`Release.projected`.

    Returns
    -------
    Release

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not on the manifold.
    UnsupportedError
        If the statistic, the mechanism or the definition is not available here.
    NotAttainableError
        If no noise attains the budget, or an instance has too little noise.
    InvalidParameterError
        If an argument is of the wrong kind or outside its domain.
    UnprovenMechanismError
        If a part is not proved and ``allow_unproven`` is false.
    """
    check_statistic(statistic)
    return run(
        lambda *_: statistic,
        points,
        ball,
        budget,
        label="private_statistic",
        mechanism=mechanism,
        neighbours=neighbours,
        generator=generator,
        accountant=accountant,
        allow_unproven=allow_unproven,
        tol=tol,
        arithmetic=arithmetic,
        project=project,
    )


def run(
    wanted: Wanted,
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None,
    *,
    label: str,
    mechanism: str | type[Mechanism] | Choice | Mechanism,
    neighbours: Neighbours | None = None,
    generator: np.random.Generator | None,
    accountant: SupportsSpend | None,
    allow_unproven: bool,
    tol: float | None,
    arithmetic: Arithmetic,
    project: Project,
) -> Release:
    """Release the statistic that is wanted with a mechanism; see :func:`private_statistic`."""
    found = ball if isinstance(ball, PrivateBall) else None
    public: Ball = ball.ball if isinstance(ball, PrivateBall) else ball
    check_ball(public)
    limit: Any = budget if found is None else found.part(budget)
    check_budget(limit)
    neighbours = ReplaceOne() if neighbours is None else neighbours
    check_neighbours(neighbours)
    tol = None if tol is None else positive(tol, "tol")
    check_arithmetic(arithmetic)
    check_project(project)
    check_accountant(accountant)
    source = resolve_generator(generator)
    data = as_records(points).validated(public.manifold)
    check_rows(np.asarray(data.points), public.manifold)
    n = len(data)
    if found is not None:
        _check_found(found, n, neighbours, accountant)
    offered = functools.partial(
        checked_offer,
        wanted,
        n=n,
        budget=limit,
        mechanism=mechanism,
        neighbours=neighbours,
        allow_unproven=allow_unproven,
        tol=tol,
        arithmetic=arithmetic,
        project=project,
    )
    try:
        chosen, reason = offered(public)
    except UnsupportedError:
        if found is None or found.public == public:
            raise
        chosen, reason = offered(found.public)  # which was checked before the search
    if accountant is not None and not neighbours.implies_replace_one:
        raise UnsupportedNeighboursError(
            f"an account adds up guarantees for data sets that differ in one record, which "
            f"{neighbours.name} does not promise; release without an account, or with ReplaceOne()"
        )
    checked = chosen.statistic  # of another package it may fail in ways that tell of the data
    discreetly(checked.name, lambda: checked.check_records(data))
    start = chosen.statistic.begin(chosen.ball, lambda: noise_length(chosen.mechanism))
    first = asked(chosen.statistic, chosen.ball, start, 0)
    # Charged before the data are used: nothing that happens to them afterwards is free of charge.
    if found is not None:
        found.account.spend(limit, f"{label}, {chosen.mechanism.name}")
    elif accountant is not None:
        accountant.spend(limit, f"{label}, {chosen.mechanism.name}")
    value, rounded = drawn(chosen, start, first, data, source)
    private = is_secure(source) and (found is None or found.private)
    release = Release(
        value=value,
        guarantee=limit if found is None else found.budget,
        mechanism=chosen.mechanism,
        statistic=chosen.statistic,
        reason=reason,
        sensitivity=chosen.sensitivity,
        tol=chosen.tol,
        ball=chosen.ball,
        n=n,
        neighbours=neighbours,
        private=private,
        reproducible=not private,
        projected=chosen.projected,
        grid=None if rounded is None else rounded.grid,
        rounded=None if rounded is None else rounded.integers,
        search=None if found is None else found.receipt(limit),
    )
    return replace(release, stated_proofs=tuple(release.proofs.items()))


def checked_offer(
    wanted: Wanted,
    ball: Ball,
    *,
    n: int,
    budget: Budget,
    mechanism: str | type[Mechanism] | Choice | Mechanism,
    neighbours: Neighbours,
    allow_unproven: bool,
    tol: float | None,
    arithmetic: Arithmetic,
    project: Project,
) -> tuple[Offer, str]:
    """Return what a release would be drawn from, and why; by public numbers alone.

    Raises
    ------
    UnsupportedError
        If it is not available.
    UnprovenMechanismError
        If a part is not proved and that is not allowed.
    """
    if isinstance(mechanism, str) and mechanism == "auto":
        chosen, reason = least_error(
            wanted,
            ball,
            n,
            budget,
            neighbours=neighbours,
            tol=tol,
            allow_unproven=allow_unproven,
            arithmetic=arithmetic,
        )
    else:
        kind = named(mechanism)
        statistic = wanted(ball.manifold, kind)
        chosen = offer(
            statistic,
            kind,
            ball,
            n,
            budget,
            neighbours=neighbours,
            tol=tol,
            arithmetic=arithmetic,
        )
        known = calibrated(kind) is None
        reason = "named by the caller" if known else "given by the caller, calibrated"
    chosen = with_projection(chosen, project)
    if (missing := unproven(chosen.proofs(budget))) and not allow_unproven:
        raise not_proved(missing)
    return chosen, reason


def _check_found(
    found: PrivateBall, n: int, neighbours: Neighbours, accountant: SupportsSpend | None
) -> None:
    """Refuse what a search made in these records says nothing about."""
    if n != found.n:
        raise InvalidParameterError(
            f"the ball was found in {found.n} records, and these are {n}; release of the same "
            "ones, or on found.ball with a budget of its own"
        )
    if neighbours != ReplaceOne():
        raise UnsupportedNeighboursError(
            f"what a search costs is known for data sets that differ in one record, not for "
            f"{neighbours.name}; use ReplaceOne()"
        )
    if accountant is not None and accountant is not found.accountant:
        raise InvalidParameterError(
            "a release on a ball that was found is paid from the budget of the search: give the "
            "accountant to private_ball, and leave it out here"
        )


#: An answer this much longer than its ball's radius, relatively, breaks what its statistic says.
_LONGER = 1.0 + 1e-9


def asked(statistic: Statistic, ball: Ball, point: Any, step: int) -> Question:
    r"""Return what a statistic asks next, which has to be a question.

    Parameters
    ----------
    statistic : Statistic
    ball : Ball
        Public ball of the records.
    point : ndarray, shape (\*point_shape,)
        Released, or public.
    step : int

    Returns
    -------
    Question

    Raises
    ------
    InvalidParameterError
        If it is none.
    """
    found = statistic.ask(ball, point, step)
    if not isinstance(found, Question):
        raise InvalidParameterError(
            f"{statistic.name}.ask must return a riemdp.statistics.Question, got "
            f"{type(found).__name__}"
        )
    return found


def drawn(
    chosen: Offer,
    point: Any,
    question: Question,
    data: FloatArray | Records,
    source: np.random.Generator,
) -> tuple[FloatArray, Rounded | None]:
    r"""Answer, add noise and move, as often as the budget was shared.

    Parameters
    ----------
    chosen : Offer
        Proved or allowed, and charged for.
    point : ndarray, shape (\*point_shape,)
        Where the statistic starts, public.
    question : Question
        What it asks there.
    data : ndarray, shape (n, \*point_shape), or Records
        Valid, inside or outside the ball.
    source : numpy.random.Generator

    Returns
    -------
    value : ndarray, shape (\*point_shape,)
    rounded : Rounded or None
        The noisy answers, one after the other, on the grid that they were drawn on; None of draws
        in float64.
    """
    statistic, ball = chosen.statistic, chosen.ball
    answers = statistic.answers(ball)
    integers: tuple[int, ...] = ()
    grid = default_grid(chosen.mechanism.sigma)
    prepared = Prepared(ball, data)
    for step in range(chosen.steps or 1):
        if step > 0:
            question = asked(statistic, ball, point, step)
        ask: Any = answer if chosen.draw is None else exact_answer
        footpoint = ask(question, ball, prepared, chosen.tol)
        if len(footpoint) != answers.manifold.dim:
            raise InvalidParameterError(  # how many there are may tell of the data
                f"{statistic.name} must answer with {answers.manifold.dim} coordinates of "
                f"{answers.manifold}"
            )
        draw = functools.partial(_draw, chosen, footpoint, answers, grid, source)
        noisy = discreetly(chosen.mechanism.name, draw)
        if isinstance(noisy, Rounded):
            integers += noisy.integers
            noisy = rounded_point(answers, noisy, projected=chosen.projected)
        point = statistic.move(ball, point, noisy, step)
    value = statistic.value_at(ball, point)
    return value, None if chosen.draw is None else Rounded(integers, grid)


def _draw(
    chosen: Offer,
    footpoint: FloatArray | tuple[Fraction, ...],
    answers: Ball,
    grid: int,
    source: np.random.Generator,
) -> FloatArray | Rounded:
    numbers = np.array([float(x) for x in footpoint])
    if not np.linalg.norm(numbers) <= answers.reach * _LONGER:
        footpoint = numbers = clip_norm(numbers, answers.reach)
    if chosen.draw is None:
        mechanism = chosen.mechanism
        draw = mechanism.sample_from_coordinates if chosen.projected else mechanism.sample_about
        return draw(numbers, answers, source)
    noisy: object = chosen.draw.draw(tuple(footpoint), grid, generator=source)
    wanted = (grid, *answers.manifold.dim * (int,))
    if not isinstance(noisy, Rounded) or (noisy.grid, *map(type, noisy.integers)) != wanted:
        raise InvalidParameterError(  # what else it is may tell of the data
            f"the exact draw of {chosen.mechanism.name} must return {answers.manifold.dim} "
            "integers on the grid that it is given, as riemdp.noise.exact.Rounded"
        )
    return noisy
