"""A smaller ball where the data are, found privately and paid from the same budget."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._checks import is_one_of, scale, shown
from riemdp._errors import InvalidParameterError, LedgerError, UnsupportedBallError
from riemdp._keywords import with_advice
from riemdp._progress import uncounted, work
from riemdp.noise import source_of
from riemdp.noise.exact import exact_choice
from riemdp.privacy import Account, Reservation, adds_up, check_budget, share_of
from riemdp.release._charging import after_charge, anchored, charged, check_relation
from riemdp.release._least_error import check_accountant
from riemdp.release._offer import Offer, Terms, not_proved, unproven
from riemdp.release._options import (
    Options,
    check_searched,
    list_of_people,
    says_whose,
    stated_number,
    with_users,
)
from riemdp.release._remarks import tell
from riemdp.release._search._adaptive import LEAST_LEFT, Numbers
from riemdp.release._search._found import PrivateBall
from riemdp.release._search._steps import Search, found_ball, search_proofs, working_ball
from riemdp.release._search._units import Units, made_of, searched
from riemdp.release._streams import no_stream
from riemdp.release._unopened import Unopened
from riemdp.spaces import Ball, ball_proofs, check_ball
from riemdp.statistics import TangentMean, Value, check_centre

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy import Anchor, Budget
    from riemdp.release._options import Adjacency, SupportsSpend
    from riemdp.release._search._adaptive import Outcome
    from riemdp.statistics import Neighbours, Records

#: A ball that is found has at least this share of the public radius.
_SMALLEST = 2.0**-25


@with_advice
@work("private_ball")
def private_ball(
    points: ArrayLike,
    ball: Ball,
    budget: Budget,
    *,
    axis: Literal["auto"] | None = "auto",
    adjacency: Adjacency | Neighbours | None = None,
    users: ArrayLike | None = None,
    people: int | Sequence[int | str] | None = None,
    n: int | None = None,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    allow_unproven: bool = False,
) -> PrivateBall:
    r"""Look for a smaller ball that holds the data, with a small part of a budget.

    First the spread of the data, from the distances of random disjoint pairs; on SPD matrices a
    place along the scale axis; a radius; then up to twice a centre, by up to three means in the
    tangent space, and a radius about it; at last how much of the data lies outside. Which query
    comes next, and what it costs, is planned from public numbers and released ones. What is left
    pays for one release on the ball, or for several: ``private_mean(points, found)``.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Private records. Those outside the ball are projected onto it.
    ball : Ball
        Public ball, chosen without looking at the data.
    budget : PureDP, ApproxDP, GDP or ZCDP
        Of the search and of what is released on its ball, together.
        ``ApproxDP`` is run as its epsilon without delta in low dimensions, and else as the
        Gaussian guarantee that implies it.
    axis : {"auto", None}, default "auto"
        Whether to move along the scale axis where the space has one.
    generator : numpy.random.Generator, optional
        Source of noise; a new secure generator by default. Any other marks the result,
        and every release on it, as not private.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with the whole budget, once, before the records are opened. Releases on the ball
        take from that. Nothing is given back.
    adjacency, users, people, n, allow_unproven
        As in :func:`private_mean`.

    Returns
    -------
    PrivateBall
        ``found.ball`` is the public ball where the data are wide. With too few records for a
        search nothing is spent, and a release on it is the one on the public ball, bit by bit; if
        their number is private, it is asked for first, which costs 0.01 or 0.02 of the budget.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not on the manifold.
    UnsupportedBudgetError
        For other definitions.
    UnsupportedBallError
        If the public radius is so small or large that balls within it leave float64.
    UnsupportedError
        If no exact arithmetic is known of the mean on the space.
    InvalidParameterError
        If an argument is of the wrong kind or outside its domain.
    UnprovenMechanismError
        If a part is not proved and ``allow_unproven`` is false.

    References
    ----------
    docs/proofs/private-ball.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> public = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 100.0)  # generous
    >>> points = np.random.default_rng(0).normal(20.0, 1.0, (2000, 2))
    >>> found = riemdp.private_ball(points, public, riemdp.GDP(1.0))
    >>> found.reason, found.ball.radius < 30.0  # ('back', False) once in some 200 times
    ('found', True)
    >>> release = riemdp.private_mean(points, found)  # spends what is left
    """
    options = Options(
        adjacency=adjacency,
        users=users,
        people=people,
        n=n,
        generator=generator,
        accountant=accountant,
        allow_unproven=allow_unproven,
    )
    found = find_ball(points, ball, budget, options, label="private_ball", axis=axis)
    return tell(found)


def find_ball(
    points: ArrayLike | Records,
    ball: Ball,
    budget: Budget,
    options: Options,
    *,
    label: str,
    axis: str | None = "auto",
    check: Callable[[Terms], None] | None = None,
) -> PrivateBall:
    """Do what :func:`private_ball` says under another label, for a release that is checked first.

    ``check`` raises if a release in the public ball with the least budget that can be left is not
    possible.
    """
    accountant = options.accountant
    check_ball(ball)
    if ball.parts[0] is not ball:
        raise UnsupportedBallError(
            "a search starts from one ball about the whole record, not from balls of its factors; "
            "use Ball, or a product ball by rms_radius alone"
        )
    check_budget(budget)
    records = with_users(points, options.users)
    neighbours = options.relation(budget, has_users=says_whose(records))
    check_searched(neighbours)
    budget = budget.under(neighbours.adjacency)
    if axis is not None and not is_one_of(axis, ("auto",)):
        raise InvalidParameterError(
            f'axis must be "auto", or None for a search without it, got {shown(axis)}'
        )
    along = axis is not None and ball.manifold.scale_axis is not None
    check_accountant(accountant)
    source = source_of(options.generator)
    check_relation(accountant, neighbours)
    no_stream(records.points, "a search for a ball")
    if "users" in neighbours.takes:
        check_centre(ball)
    listed = list_of_people(options.people)
    data = Unopened(records, ball.manifold, ball, neighbours, listed=listed)
    n = data.size(stated_number(neighbours, options.n, options.people))
    asked = Offer(TangentMean(), ball, n, neighbours, (), Value(ball.center, ball))
    data.check(asked)
    shared = adds_up(budget, ball.manifold.dim)
    search = Search(ball, n, shared, along)
    possible = n is None or Numbers(shared, n, ball.manifold.dim).choice_share() is not None
    if possible:
        _check_possible(search, options.allow_unproven)
    if check is not None:
        least = share_of(shared, float(LEAST_LEFT)) if possible else budget
        check(Terms(ball, n, least, neighbours))
    account: Reservation

    def charge() -> Anchor | None:
        nonlocal account
        account, anchor = _reserved(accountant, budget, label, shared)
        return anchor

    def found(anchor: Anchor | None) -> PrivateBall:
        with uncounted(True):  # which queries there are depends on answers
            end, done = _searched(search, data.seen(asked), source)
        if done.steps:
            account.spend(done.spent, f"{label}, search")
        smaller = found_ball(ball, end.ball)
        bias = end.bias_at_most if smaller != ball else 0.0
        private = source is None
        return PrivateBall(
            smaller, end.reason, done, budget, private, account, accountant, anchor, bias
        )

    read = functools.partial(data.opened, asked)
    return after_charge(accountant, charge, found, read=read, but=(LedgerError,))


def _searched(
    search: Search, records: Any, source: np.random.Generator | None
) -> tuple[Outcome, Search]:
    """Search among valid units, inside or outside the public ball, on the space of the search."""
    ball, points = working_ball(search.ball), np.asarray(records.points)
    chart = search.ball.manifold.chart
    if chart is not None:
        points = made_of(search.ball, chart.to_chart, points)[0]
    axis = search.direction
    units = Units(ball, points, counted=search.n is None, axis=axis)
    outcome, steps = searched(ball, search.budget, search.n, units, axis=axis, source=source)
    return outcome, replace(search, steps=tuple(steps))


def _check_possible(search: Search, allow_unproven: bool) -> None:
    """Refuse, by public numbers alone, what a search could not finish."""
    reach, ball = search.ball.reach, search.ball
    scale(reach, "the radius of the ball")
    scale(_SMALLEST * reach, "the least radius of a search")
    exact_choice([0], [0], generator=np.random.default_rng(0))  # raises without python-flint
    proofs = {**ball_proofs(ball), **search_proofs(ball, search.budget)}
    if (missing := unproven(proofs)) and not allow_unproven:
        raise not_proved(missing)


def _reserved(
    accountant: SupportsSpend | None, budget: Budget, label: str, shared: Budget
) -> tuple[Reservation, Anchor | None]:
    """Charge the whole budget, and return what steps are taken from, with the anchor of that."""
    if isinstance(accountant, Account):
        reserved = accountant.reserve(budget, label, shared)
        return reserved, anchored(getattr(reserved, "entry", None))
    # what others may mean by other names than spend is not known
    return Reservation(budget, label, shared), charged(accountant, budget, label)
