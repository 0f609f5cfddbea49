"""A smaller ball where the data are, found privately and paid from the same budget."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp._checks import scale, shown
from riemdp._errors import (
    InvalidParameterError,
    LedgerError,
    UnsupportedBallError,
)
from riemdp._keywords import with_advice
from riemdp._progress import uncounted, work
from riemdp.manifolds import Ball, ball_proofs, check_ball
from riemdp.noise import source_of
from riemdp.noise.exact import exact_choice
from riemdp.privacy import Account, Reservation, adds_up, check_budget, share_of
from riemdp.release._charging import after_charge, anchored, charged, check_relation
from riemdp.release._costs import check_costs
from riemdp.release._doubt import not_proved, unproven
from riemdp.release._named import check_accountant
from riemdp.release._relation import check_searched, relation
from riemdp.release._remarks import tell
from riemdp.release._run import Options
from riemdp.release._search._answers import searched
from riemdp.release._search._found import PrivateBall
from riemdp.release._search._numbers import CENTRE_SHARES, LEAST_LEFT, Numbers
from riemdp.release._search._schedule import working_ball
from riemdp.release._search._steps import Search, centre_offer, found_ball, search_proofs
from riemdp.release._streams import no_stream
from riemdp.release._unopened import check_given, check_number, number_of, opened
from riemdp.statistics import ReplaceOne, TangentMean, as_records, check_extras, check_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.manifolds import FloatArray
    from riemdp.privacy import Anchor, Budget
    from riemdp.release._run import SupportsSpend
    from riemdp.statistics import Records

#: More centres are never worth their price.
_MOST_ROUNDS = 3
#: A ball that is found has at least this share of the public radius.
_SMALLEST = 2.0**-25


@with_advice
@work("private_ball")
def private_ball(
    points: ArrayLike,
    ball: Ball,
    budget: Budget,
    *,
    rounds: int = 3,
    axis: Literal["auto"] | None = "auto",
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    n: int | None = None,
    allow_unproven: bool = False,
) -> PrivateBall:
    r"""Look for a smaller ball that holds the data, with a small part of a budget.

    First the spread of the data, from the distances of random disjoint pairs; on SPD matrices a
    place along the scale axis; a radius; then up to three times a centre, the mean in the tangent
    space of the ball so far, and a radius about it. Which step comes next, and what it costs, is
    planned from public numbers and released ones. What is left pays for one release on the ball,
    or for several: ``private_mean(points, found)``.

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
    rounds : int, default 3
        Most centres, 0 to 3.
    axis : {"auto", None}, default "auto"
        Whether to move along the scale axis where the space has one.
    generator : numpy.random.Generator, optional
        Source of noise; a new secure generator by default. Any other marks the result,
        and every release on it, as not private.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged with the whole budget, before the records are opened; with an
        entry for each step if it is a :class:`riemdp.Accountant` or an account of a ledger.
        Releases on the ball take from that. Nothing is given back.
    n, allow_unproven
        As in :func:`private_statistic`.

    Returns
    -------
    PrivateBall
        ``found.ball`` is the public ball where the data are wide. With too few records for a
        search nothing is spent, and a release on it is the one on the public ball, bit by bit.

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
        generator=generator,
        accountant=accountant,
        n=n,
        allow_unproven=allow_unproven,
    )
    found = find_ball(points, ball, budget, options, label="private_ball", rounds=rounds, axis=axis)
    return tell(found)


def find_ball(
    points: ArrayLike | Records,
    ball: Ball,
    budget: Budget,
    options: Options,
    *,
    label: str,
    rounds: int = 3,
    axis: str | None = "auto",
    check: Callable[[Ball, int, Budget], None] | None = None,
) -> PrivateBall:
    """Do what :func:`private_ball` says under another label, for a release that is checked first.

    ``check`` raises if a release in the public ball, of so many records, with the least budget
    that can be left, is not possible.
    """
    accountant = options.accountant
    check_ball(ball)
    if ball.parts[0] is not ball:
        raise UnsupportedBallError(
            "a search starts from one ball about the whole record, not from balls of its factors; "
            "use Ball, or a product ball by rms_radius alone"
        )
    check_budget(budget)
    records = as_records(points)
    check_searched(relation(None, None, budget, has_users=records.users is not None))
    rounds, along = _rounds(rounds), _axis(axis)
    check_accountant(accountant)
    source = source_of(options.generator)
    check_relation(accountant, ReplaceOne())
    no_stream(records.points, "a search for a ball")
    check_given(records, ReplaceOne(), TangentMean(), ball.manifold, options.n)
    size = number_of(records, options.n)
    rows = functools.partial(_validated, ball, records, size)
    shared = adds_up(budget, ball.manifold.dim)
    along = along and ball.manifold.scale_axis is not None
    search = Search(ball, size, shared, rounds, along)
    possible = Numbers(shared, size, ball.manifold.dim).choice_share() is not None
    if possible:
        _check_possible(search, options.allow_unproven)
    if check is not None:
        check(ball, size, share_of(shared, LEAST_LEFT) if possible else budget)
    account: Reservation

    def charge() -> Anchor | None:
        nonlocal account
        account, anchor = _reserved(accountant, budget, label, shared)
        return anchor

    def entered(guarantee: Budget, step: str) -> None:
        account.spend(guarantee, f"{label}, {step}")

    def found(anchor: Anchor | None) -> PrivateBall:
        with uncounted(True):  # which steps there are depends on answers
            done, outcome = searched(search, rows(), source, entered)
        smaller = found_ball(ball, outcome)
        return PrivateBall(
            smaller, outcome.reason, done, budget, source is None, account, accountant, anchor
        )

    return after_charge(accountant, charge, found, read=rows, but=(LedgerError,))


def _validated(ball: Ball, records: Records, n: int) -> FloatArray:
    """Return points that are on the manifold, as many as is known."""
    given = opened(records)
    check_extras(given, (), "search for a ball")
    data = np.asarray(given.validated(ball.manifold).points)
    check_rows(data, ball.manifold)
    check_number(n, len(data))
    return data


def _check_possible(search: Search, allow_unproven: bool) -> None:
    """Refuse, by public numbers alone, what a search could not finish."""
    reach, ball = search.ball.reach, working_ball(search.ball)
    scale(reach, "the radius of the ball")
    scale(_SMALLEST * reach, "the least radius of a search")
    exact_choice([0], [0], generator=np.random.default_rng(0))  # raises without python-flint
    least = share_of(search.budget, CENTRE_SHARES[0])
    made = centre_offer(ball, search.n, least)
    check_costs(made, least)
    proofs = {**ball_proofs(search.ball), **made.proofs(least), **search_proofs(ball, least)}
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


def _rounds(rounds: object) -> int:
    whole = isinstance(rounds, (int, np.integer)) and not isinstance(rounds, bool)
    if not whole or not 0 <= rounds <= _MOST_ROUNDS:  # type: ignore[operator]
        raise InvalidParameterError(
            f"rounds, the most centres, must be an integer from 0 to {_MOST_ROUNDS}, got "
            f"{shown(rounds)}"
        )
    return int(rounds)  # type: ignore[call-overload, no-any-return]


def _axis(axis: object) -> bool:
    if axis is not None and not (isinstance(axis, str) and axis == "auto"):
        raise InvalidParameterError(
            f'axis must be "auto", or None for a search without it, got {shown(axis)}'
        )
    return axis is not None
