"""The one way that data takes: validate, calibrate, charge, clip, summarise, draw."""

from __future__ import annotations

import contextlib
import functools
import pickle
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._combinations import FOUND_ELSEWHERE
from riemdp._discreet import discreetly
from riemdp._errors import (
    InvalidParameterError,
    UnsupportedError,
    UnsupportedNeighboursError,
)
from riemdp._keywords import with_advice
from riemdp._part import both_proved, changes, is_own_throughout
from riemdp._progress import ticks, uncounted, work
from riemdp._versions import installed_versions
from riemdp.mechanisms import MECHANISMS, calibrated
from riemdp.noise import source_of
from riemdp.noise.exact import Rounded
from riemdp.privacy import Budget, check_budget
from riemdp.release._charging import after_charge, charged, check_relation
from riemdp.release._costs import check_costs
from riemdp.release._least_error import check_accountant, kinds, least_error, named
from riemdp.release._offer import (
    Asked,
    Offer,
    Terms,
    computed_sensitivity,
    not_proved,
    passes,
    wanted_mean,
)
from riemdp.release._options import (
    Options,
    check_searched,
    list_of_people,
    says_whose,
    stated_number,
    with_options,
    with_users,
)
from riemdp.release._projection import with_projection
from riemdp.release._release import Release
from riemdp.release._remarks import tell
from riemdp.release._rounded_value import answer_of
from riemdp.release._search._found import PrivateBall
from riemdp.release._serialise import header_of, new_nonce
from riemdp.release._streams import Stream, is_file_of_array, is_stream
from riemdp.release._unopened import Unopened
from riemdp.release._weights import weighted
from riemdp.spaces import Ball, check_ball, clip_norm
from riemdp.statistics import (
    Answer,
    Prepared,
    Query,
    Statistic,
    Summaries,
    Value,
    answer,
    check_centre,
    check_statistic,
    through,
)

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from riemdp.privacy import Anchor
    from riemdp.release._offer import AnyMechanism, Wanted
    from riemdp.release._options import ReleaseOptions, SupportsSpend
    from riemdp.release._unopened import Source
    from riemdp.statistics import Records

    FloatArray = NDArray[np.float64]


@with_advice
@work("private_statistic")
@with_options
def private_statistic(
    statistic: Statistic,
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None = None,
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release a differentially private statistic of manifold-valued data.

    Parameters
    ----------
    statistic : Statistic
        What is computed; see :mod:`riemdp.statistics`.
    points : array_like, shape (n, \*point_shape), or Records
        Data, as of :func:`private_mean`. With labels or covariates, where the statistic takes
        them, as :class:`riemdp.Records`.
    ball, budget, **options
        As in :func:`private_mean`.

    Returns
    -------
    Release

    Raises
    ------
    RiemdpError
        What :func:`private_mean` raises.

    References
    ----------
    docs/proofs/index.md; docs/proofs/neighbours.md for adjacency and users

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> mean = riemdp.statistics.FrechetMean()
    >>> release = riemdp.private_statistic(mean, points, ball, riemdp.GDP(1.0))
    >>> release.statistic.name, release.guarantee
    ('frechet-mean', GDP(mu=1.0))
    """
    check_statistic(statistic)
    chosen = Options(**options)
    return run(lambda *_: statistic, points, ball, budget, chosen, label="private_statistic")


def run(
    wanted: Wanted,
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None,
    options: Options,
    *,
    label: str,
) -> Release:
    """Release the statistic that is wanted with a mechanism; see :func:`private_statistic`."""
    ready = prepared(wanted, points, ball, budget, options)
    charge = functools.partial(ready.charge, label)
    return tell(after_charge(ready.accountant, charge, ready.release, read=ready.opened))


@dataclass(frozen=True, eq=False)
class Ready:
    """A release that nothing stands in the way of but the account.

    The offer is proved or allowed, ``reason`` says why this mechanism, ``guarantee`` is that of the
    part that is drawn here, with its relation, ``found`` what the ball was found by. ``source`` is
    None for a secure generator, so that every draw makes one, after its data were read. The
    ``accountant`` is that of the search, if there was one.
    """

    offer: Offer
    reason: str
    guarantee: Budget
    found: PrivateBall | None
    data: Source
    source: np.random.Generator | None
    accountant: SupportsSpend | None
    nonce: str = field(default_factory=new_nonce)

    @functools.cached_property
    def stated(self) -> dict[str, Any]:
        """What a release states of itself before a record is read, beside the offer."""
        found, limit = self.found, self.guarantee
        guarantee = limit if found is None else found.budget
        proofs = self.offer.proofs(guarantee)
        if found is not None and (search := found.receipt(limit)) is not None:
            proofs = both_proved(proofs, search.proofs())
        return {
            "guarantee": guarantee,
            "reason": self.reason,
            "private": self.source is None and (found is None or found.private),
            "proofs": proofs,
            "versions": dict(installed_versions()),
            "nonce": self.nonce,
        }

    @property
    def header(self) -> dict[str, Any]:
        """The header of the document, which is complete before a record is read."""
        return header_of(self.offer, **self.stated)

    def opened(self) -> Any:
        """Read all records, and return what the statistic sees where they are all together."""
        return self.data.opened(self.offer)

    def charge(self, label: str) -> Anchor | None:
        """Charge the account, where there is one, and return what a release keeps of that."""
        label = f"{label}, {self.offer.mechanism.name}"
        if self.found is not None:
            account: Any = self.found.account  # one in a ledger enters every step
            return charged(account, self.guarantee, label) or self.found.anchor
        return charged(self.accountant, self.guarantee, label)

    def release(self, anchor: Anchor | None = None) -> Release:
        """Read the records and draw, once, after it was charged for."""
        chosen, found, limit = self.offer, self.found, self.guarantee
        stated = self.stated  # before a record is read
        data = self.data.seen(chosen)
        with uncounted(chosen.n is None):
            value, integers = drawn(chosen, data, self.source, limit=limit)
        return Release._of_offer(
            chosen,
            value,
            guarantee=stated["guarantee"],
            reason=self.reason,
            private=stated["private"],
            rounded=integers,
            search=None if found is None else found.receipt(limit),
            anchor=anchor,
            stated_proofs=tuple(stated["proofs"].items()),
            stated_versions=tuple(stated["versions"].items()),
            nonce=self.nonce,
        )


def prepared(
    wanted: Wanted,
    points: ArrayLike | Records,
    ball: Ball | PrivateBall,
    budget: Budget | None,
    options: Options,
    *,
    together: bool = False,
) -> Ready:
    """Check everything that can be checked before the account is charged.

    With ``together`` records are in memory all at once, also those of an array in a file.
    """
    found = ball if isinstance(ball, PrivateBall) else None
    public: Ball = ball.ball if isinstance(ball, PrivateBall) else ball
    check_ball(public)
    records, accountant = with_users(points, options.users), options.accountant
    has_users = says_whose(records)
    said = budget
    if found is not None:
        asks = options.adjacency is not None or options.people is not None
        of_people = found.budget.adjacency.endswith("-user")
        # another relation than the search's is refused below, in its own words
        said = None if asks or has_users != of_people else found.budget
    neighbours = options.relation(said, has_users=has_users)
    records, wanted = weighted(records, wanted, neighbours, options)
    if found is not None:
        check_searched(neighbours)
        if neighbours.adjacency != found.budget.adjacency:
            raise UnsupportedNeighboursError(f"{neighbours.name}: {FOUND_ELSEWHERE}")
    if has_users and "users" in neighbours.takes and not options.averaged:
        check_centre(public)
    limit: Any = budget if found is None else found.part(budget)
    check_budget(limit)
    limit = limit.under(neighbours.adjacency)
    check_accountant(accountant)
    streams = not together and is_stream(records.points, neighbours)
    source = source_of(options.generator)
    units = public if found is None else found.public
    listed = list_of_people(options.people)
    all_of_them = Unopened(
        records, public.manifold, units, neighbours, averaged=options.averaged, listed=listed
    )
    data: Source = Stream(records, neighbours, listed) if streams else all_of_them
    n = stated_number(neighbours, options.n, options.people)
    if found is not None and n is None and (streams or callable(records.points)):
        n = found.n
    n = data.size(n)
    if found is not None:
        _check_found(found, n, accountant)
    in_chunks = streams and not is_file_of_array(records.points)
    terms = Terms(public, n, limit, neighbours, streams=in_chunks)
    try:
        chosen, reason = checked_offer(wanted, terms, options)
    except UnsupportedError:
        if found is None or found.public == public:
            raise
        terms = replace(terms, ball=found.public)  # which was checked before the search
        chosen, reason = checked_offer(wanted, terms, options)
    check_costs(chosen, limit)
    check_relation(accountant, neighbours)
    if streams and not all(passes(each, chosen.ball) for each in chosen.asked):
        data = all_of_them  # of an array in a file, as it would be without chunks
    data.check(chosen)
    payer: Any = accountant if found is None else found.accountant
    return Ready(chosen, reason, limit, found, data, source, payer)


def checked_offer(wanted: Wanted, terms: Terms, options: Options) -> tuple[Offer, str]:
    """Return what a release would be drawn from, and why; by public numbers alone.

    Of records in chunks the statistic is one that can be computed of these: by itself one that
    takes a single pass, if there is any; one of several passes too where a mechanism is named.
    ``UnsupportedError`` if there is none, ``UnprovenMechanismError`` if a part is not proved and
    that is not allowed.
    """
    mechanism, allowed = options.mechanism, options.allow_unproven
    own = type(mechanism) is str and (
        mechanism in MECHANISMS or (mechanism == "auto" and kinds().keys() == MECHANISMS.keys())
    )
    if own and wanted is wanted_mean and is_own_throughout(terms):
        return _kept(str(mechanism), terms, pickle.dumps(terms.ball), allowed, changes())
    return _checked(wanted, mechanism, terms, allow_unproven=allowed)


@functools.lru_cache(maxsize=64)
def _kept(
    mechanism: str, terms: Terms, _ball: bytes, allowed: bool, _changes: int
) -> tuple[Offer, str]:
    """Keep the offer of a mean, of public values of this library alone, until a table changes.

    Balls are told apart by their bits: -0.0 equals 0.0, and a release states the one given.
    """
    return _checked(wanted_mean, mechanism, terms, allow_unproven=allowed)


def _checked(
    wanted: Wanted, mechanism: AnyMechanism | str, terms: Terms, *, allow_unproven: bool
) -> tuple[Offer, str]:
    if isinstance(mechanism, str) and mechanism == "auto":
        chosen, reason = _in_fewest_passes(wanted, terms, allow_unproven=allow_unproven)
    else:
        kind = named(mechanism)
        statistic = wanted(terms.ball, kind)
        chosen = replace(terms, rereads=True).offer(statistic, kind)
        known = calibrated(kind) is None
        reason = "named by the caller" if known else "given by the caller, calibrated"
        if not allow_unproven and (missing := chosen.unproven(terms.budget)):
            raise not_proved(missing)
    return with_projection(chosen), reason


def _in_fewest_passes(wanted: Wanted, terms: Terms, *, allow_unproven: bool) -> tuple[Offer, str]:
    """Return the best offer; of records in chunks one of one pass an answer, or else of several."""
    if terms.streams:
        with contextlib.suppress(UnsupportedError):
            return least_error(wanted, terms, allow_unproven=allow_unproven)
        terms = replace(terms, rereads=True)
    return least_error(wanted, terms, allow_unproven=allow_unproven)


def _check_found(found: PrivateBall, n: int | None, accountant: SupportsSpend | None) -> None:
    """Refuse what a search made in these records says nothing about."""
    if n != found.n:
        raise InvalidParameterError(
            f"the ball was found in {found.n} records, and these are {n}; release of the same "
            "ones, or on found.ball with a budget of its own"
        )
    if accountant is not None and accountant is not found.accountant:
        raise InvalidParameterError(
            "a release on a ball that was found is paid from the budget of the search: give the "
            "accountant to private_ball, and leave it out here"
        )


#: An answer this much longer than its ball's radius, relatively, breaks what its query says.
_LONGER = 1.0 + 1e-9


def drawn(
    chosen: Offer,
    data: FloatArray | Records | Summaries,
    source: np.random.Generator | None,
    *,
    limit: Budget,
) -> tuple[Value, tuple[int, ...]]:
    """Answer each query with noise; return the value and the integers.

    The offer is proved or allowed, and the limit charged for; the data are valid, inside or outside
    the ball. The integers are the noisy answers, one after the other, on the grids that they were
    drawn on. Whatever was checked before, nothing is drawn that costs more than the limit.
    """
    check_costs(chosen, limit)
    kept = data if isinstance(data, Summaries) else Prepared(chosen.ball, data)
    steps = len(chosen.asked)
    planned = iter(ticks(chosen.asked, steps if steps > 1 else None, "answers"))
    integers: list[int] = []

    def answered(query: Query) -> Answer:
        asked = next(planned, None)
        if asked is None:
            raise _other_queries(chosen)
        check_as_planned(chosen, asked, query)
        exact = answer(query, chosen.ball, kept, asked.tol)
        if len(exact) != asked.answers.manifold.dim:
            raise InvalidParameterError(  # how many there are may tell of the data
                f"{chosen.statistic.name} must answer with {asked.answers.manifold.dim} "
                f"coordinates of {asked.answers.manifold}"
            )
        draw = functools.partial(_draw, asked, exact, source)
        noisy = discreetly(asked.mechanism.name, draw)
        integers.extend(noisy.integers)
        return answer_of(chosen, asked, noisy)

    value = through(chosen.statistic, chosen.ball, answered)
    if next(planned, None) is not None:
        raise _other_queries(chosen)
    return value, tuple(integers)


def check_as_planned(chosen: Offer, asked: Asked, query: Query) -> None:
    """Refuse a query that follows on answers with other public numbers than the plan's."""
    answers, share = query.answers(chosen.ball), asked.query.share
    move, tol = computed_sensitivity(
        chosen.statistic, query, chosen.ball, chosen.n, asked.mechanism.metric, chosen.neighbours
    )
    farther = move > asked.sensitivity or tol > asked.tol
    if answers != asked.answers or query.share != share or farther:
        raise _other_queries(chosen)


def _other_queries(chosen: Offer) -> InvalidParameterError:
    return InvalidParameterError(
        f"{chosen.statistic.name} asks other queries than of typical answers: how many there are, "
        "and how far their answers move, must not depend on answers"
    )


def _draw(
    asked: Asked, footpoint: tuple[Fraction, ...], source: np.random.Generator | None
) -> Rounded:
    answers, grid = asked.answers, asked.grid
    numbers = np.array([float(x) for x in footpoint])
    if not np.linalg.norm(numbers) <= answers.reach * _LONGER:
        footpoint = tuple(map(Fraction, clip_norm(numbers, answers.reach).tolist()))
    assert asked.draw is not None  # of what is drawn from
    noisy: object = asked.draw.draw(footpoint, grid, generator=source)
    wanted = (grid, *answers.manifold.dim * (int,))
    if not isinstance(noisy, Rounded) or (noisy.grid, *map(type, noisy.integers)) != wanted:
        raise InvalidParameterError(  # what else it is may tell of the data
            f"the exact draw of {asked.mechanism.name} must return {answers.manifold.dim} "
            "integers on the grid that it is given, as riemdp.noise.exact.Rounded"
        )
    return noisy
