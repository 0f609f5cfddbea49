"""What a release would be drawn from: statistic, mechanisms, scales, claims."""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from riemdp._checks import count, is_one_of, positive, real, scale, shown
from riemdp._combinations import LABELS_HAVE_PLACES, NEEDS_ALL, WEIGHTS_HAVE_PLACES
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnprovenMechanismError,
    UnsupportedBudgetError,
    UnsupportedError,
    UnsupportedNeighboursError,
)
from riemdp._part import borrowed, both_proved, is_proof
from riemdp.mechanisms import Choice, Mechanism, as_choice, calibrated, check_mechanism
from riemdp.noise import part_of
from riemdp.noise.exact import ExactDraw, default_grid
from riemdp.privacy import certified_available, product_up
from riemdp.release._shrink import mean_square_bound
from riemdp.spaces import Ball, ball_proofs
from riemdp.statistics import Neighbours, Query, ReplaceOne, Statistic, Value, mean_for, outline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from riemdp._part import Part
    from riemdp.noise import FactorLaw
    from riemdp.privacy import Budget
    from riemdp.statistics import Metric, Outline

    #: One that is to be calibrated, or is.
    AnyMechanism = type[Mechanism] | Choice | Mechanism

    #: Which statistic in a ball is released with a mechanism.
    Wanted = Callable[[Ball, AnyMechanism], Statistic]


# Which parts of a guarantee have no proof here, in words.

#: Names that a message lists, and how long one is printed.
_MOST_NAMES, _LONGEST_NAME = 9, 80


def unproven(proofs: dict[str, str | None]) -> str:
    """Return the names without a proof, the first few of them; empty if there is none."""
    missing = [_named(name) for name, proof in proofs.items() if not is_proof(proof)]
    return ", ".join(missing[:_MOST_NAMES])


def doubt(known: dict[str, str | None], stated: dict[str, str | None]) -> str:
    """Say why a guarantee does not count as proved; empty where it does.

    From its proofs as of this version, and as a document states them: these have to be the same.
    """
    if missing := unproven(known) or unproven(stated):
        return f"no proof is known of {missing}"
    other = [_named(name) for name, proof in known.items() if stated.get(name) != proof]
    if names := ", ".join(other[:_MOST_NAMES]):
        return f"none, or another one than is known here, is stated for {names}"
    names = ", ".join([_named(name) for name in stated if name not in known][:_MOST_NAMES])
    return f"a proof is stated for {names}, on which the guarantee does not rest" if names else ""


def _named(name: str) -> str:
    """Name as it may be printed: a document may have any."""
    return name if name.isprintable() and len(name) <= _LONGEST_NAME else shown(name)


def not_proved(missing: str) -> UnprovenMechanismError:
    """Error for parts without a proof."""
    return UnprovenMechanismError(
        f"the guarantee is not proved: no proof is known of {missing}. Pass "
        "allow_unproven=True to rely on it all the same, and the release will say so"
    )


# Whether the answers of one release are together within one budget.

#: Relative error of prices: those of angles are logarithms.
_ROUNDED = Fraction(1, 10**14)


def parts_of(budget: Budget, shares: Sequence[float]) -> list[Budget]:
    """Return the part of a budget for each share, of all together no more than the whole.

    ``UnsupportedBudgetError`` if the definition has no parts.
    """
    if len(shares) == 1:
        return [budget]
    whole = max(Fraction(1), sum(map(Fraction, shares), Fraction(0)))
    known = {share: budget.part(Fraction(share) / whole) for share in set(shares)}
    return [known[share] for share in shares]


def within(
    mechanisms: Sequence[Mechanism],
    sensitivities: Sequence[float],
    shares: Sequence[float],
    budget: Budget,
) -> bool:
    """Whether noise of several scales, each drawn after the answers before, is within a budget.

    As one draw where the mechanism knows how its draws compose, or each within its share.
    """
    last = mechanisms[-1]
    if len(mechanisms) == 1:
        return last.satisfies(sensitivities[0], budget)
    ratios = [
        product_up(move, math.nextafter(last.sigma / each.sigma, math.inf))
        for move, each in zip(sensitivities, mechanisms, strict=True)
    ]
    joint = type(last).joint_weight(ratios)
    if joint is not None and last.satisfies(joint, budget):
        return True
    try:
        parts = parts_of(budget, shares)
    except UnsupportedBudgetError:
        return False
    return _add_up(parts, budget) and all(
        each.satisfies(move, part)
        for each, move, part in set(zip(mechanisms, sensitivities, parts, strict=True))
    )


def _add_up(parts: Sequence[Budget], whole: Budget) -> bool:
    """Whether parts are within a budget, by their prices; of other packages that is believed."""
    times = Counter(parts)
    try:
        columns = list(zip(whole.price(), *(part.price() for part in times), strict=True))
    except UnsupportedError:
        return True
    return all(
        most == math.inf
        or sum(n * Fraction(price) for n, price in zip(times.values(), prices, strict=True))
        <= Fraction(most) * (1 + _ROUNDED)
        for most, *prices in columns
    )


# How far one record can move a statistic as it is computed, from public numbers.


def exact_sensitivity(  # noqa: PLR0917
    statistic: Statistic,
    query: Query,
    ball: Ball,
    n: int | None,
    neighbours: Neighbours,
    metric: Metric,
) -> float:
    """Sensitivity of the exact answer; ``UnsupportedError`` if none is known on this ball."""
    by_place = set(statistic.by_place)
    kept = neighbours.keeps_beside or not by_place - {"weights"}
    if by_place and not (neighbours.keeps_places and kept):
        row = WEIGHTS_HAVE_PLACES if "weights" in by_place else LABELS_HAVE_PLACES
        raise UnsupportedNeighboursError(f"{neighbours.name}: {row}")
    if neighbours.size_is_public:
        n = count(n, "n, the number of points,")
        statistic.check_size(n)
    found = neighbours.sensitivity(query, ball, n, metric)
    return scale(found, f"the sensitivity of {statistic.name}")


def computed_sensitivity(  # noqa: PLR0917
    statistic: Statistic,
    query: Query,
    ball: Ball,
    n: int | None,
    metric: Metric,
    neighbours: Neighbours,
) -> tuple[float, float]:
    """Sensitivity of an answer as computed, and its public tolerance: twice that is added.

    See docs/proofs/frechet-mean-certificate.md.
    """
    exact = exact_sensitivity(statistic, query, ball, n, neighbours, metric)
    name = f"the tolerance of {statistic.name}"
    tol = real(query.tolerance(ball, exact), name)
    if not 0.0 <= tol < math.inf:  # a negative one would take noise away
        raise InvalidParameterError(f"{name} must be finite and at least 0, got {tol}")
    return with_tolerance(query, ball, metric, exact, tol), tol


def with_tolerance(query: Query, ball: Ball, metric: Metric, exact: float, tol: float) -> float:
    """``exact + 2 tol``, rounded up, where tol may be longer in the metric."""
    name = f"the stretch of {type(query).__name__}"
    stretch = real(query.stretch(ball, metric), name)
    if not 1.0 <= stretch < math.inf:
        raise InvalidParameterError(f"{name} must be finite and at least 1, got {stretch}")
    return math.nextafter(exact + 2.0 * (stretch * tol), math.inf)


# What can be released of a ball, n and a budget, from public numbers only.


@dataclass(frozen=True)
class Asked:
    """A query with the noise for its answer.

    Attributes
    ----------
    query : Query
        As it is asked of typical answers: others may lead to another one with these numbers.
    answers : Ball
        Public ball of the answers.
    mechanism : Mechanism
        On its space.
    sensitivity : float
        Of the answer as computed: that of the exact one plus ``2 tol``.
    tol : float
        Public tolerance.
    draw : ExactDraw or None
        How ideal draws are rounded to a public grid; None of what is not drawn from.
    """

    query: Query
    answers: Ball
    mechanism: Mechanism
    sensitivity: float
    tol: float
    draw: ExactDraw | None = None

    @property
    def grid(self) -> int:
        """Minus the binary logarithm of the step of the grid that answers are drawn on."""
        return default_grid(self.mechanism.sigma)


@dataclass(frozen=True)
class Offer:
    """A statistic with a mechanism that is calibrated for each of its queries.

    It is what ``plan`` lists, ``"auto"`` chooses among, a release is drawn from and :func:`verify`
    computes again.

    Attributes
    ----------
    statistic : Statistic
    ball : Ball
        Public ball of the records.
    n : int or None
        Number of records, where it is public; of a plan one that is supposed.
    neighbours : Neighbours
    asked : tuple of Asked
        One for each query, in turn.
    value : Value
        What typical answers lead to.
    projected : bool
        Whether the draw is projected onto the ball of answers.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> release = riemdp.private_mean(np.full((500, 2), 0.3), ball, riemdp.GDP(1.0))
    >>> offer = release.offer
    >>> offer.statistic.name, offer.mechanism.name
    ('frechet-mean', 'riemannian-gaussian')
    """

    statistic: Statistic
    ball: Ball
    n: int | None
    neighbours: Neighbours
    asked: tuple[Asked, ...]
    value: Value
    projected: bool = True

    @property
    def last(self) -> Asked:
        """The last query, whose noise is that of the value."""
        return self.asked[-1]

    @property
    def mechanism(self) -> Mechanism:
        """That of the last query."""
        return self.last.mechanism

    @property
    def answers(self) -> Ball:
        """Public ball of the last answer."""
        return self.last.answers

    @property
    def sensitivity(self) -> float:
        """That of the last query."""
        return self.last.sensitivity

    @property
    def tol(self) -> float:
        """That of the last query."""
        return self.last.tol

    def proofs(self, budget: Budget) -> dict[str, str | None]:
        """Return where the claims that a guarantee rests on are proved; None where nowhere.

        Two parts of one name are proved if both are; one that is not registered under its name, or
        has one of this library, is not.

        Parameters
        ----------
        budget : Budget
            Definition of the guarantee.

        Returns
        -------
        dict of str to (str or None)
            By the part that makes the claim.
        """
        before, after = self._other_proofs
        return both_proved(before, _claims(budget, budget.proofs()), after)

    @functools.cached_property
    def _other_proofs(self) -> tuple[dict[str, str | None], dict[str, str | None]]:
        """Claims of all parts but the budget: those that are named before it, and after it."""
        statistic, ball = self.statistic, self.ball
        distinct = {id(each.mechanism): each for each in self.asked}.values()  # many are alike
        mechanisms = [each.mechanism for each in distinct]
        claims: list[Mapping[str, str | None]] = [ball_proofs(ball)]
        claims += [_claims(each, each.proofs()) for each in mechanisms]
        claims += [{"exact draw": each.draw.proof} for each in distinct if each.draw is not None]
        after = [_claims(self.neighbours, self.neighbours.proofs())]
        after.append(_claims(statistic, statistic.proofs_on(ball)))
        others = (self.value.ball, *(each.answers for each in self.asked))
        after += [ball_proofs(other) for other in others if other is not ball]
        return both_proved(*claims), both_proved(*after)

    def unproven(self, budget: Budget) -> str:
        """Return the names of what has no proof, empty if there is none. See :meth:`proofs`."""
        return unproven(self.proofs(budget))


def _claims(part: Part, stated: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return what a part states; who says nothing of itself claims nothing."""
    silent: dict[str, str | None] = {} if part.name in stated else {part.name: None}
    others = borrowed(part)
    return both_proved(stated, silent, others) if silent or others else stated


def wanted_mean(ball: Ball, mechanism: type[Mechanism] | Choice | Mechanism) -> Statistic:
    """Return the mean that is released with a mechanism.

    Parameters
    ----------
    ball : Ball
    mechanism : Mechanism class, Choice or Mechanism

    Returns
    -------
    FrechetMean or TangentMean
    """
    return mean_for(ball.manifold, mechanism.metric, mechanism.intrinsic)


def offer(
    statistic: Statistic,
    mechanism: type[Mechanism] | Choice | Mechanism,
    ball: Ball,
    n: int | None,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    draws: bool = True,
) -> Offer:
    """Calibrate one mechanism for a statistic, or hold one against it.

    Parameters
    ----------
    statistic : Statistic
    mechanism : Mechanism class, Choice or Mechanism
        A class is calibrated to the budget, to a share of it for each of several queries; an
        instance has to satisfy the budget as it is, and is for one query.
    ball : Ball
        Public ball of the records.
    n : int or None
        Number of records, where it is public.
    budget : Budget
    neighbours : Neighbours, optional
        :class:`ReplaceOne` by default.
    draws : bool, default True
        Whether the exact draw is looked for, which takes time at each new scale. An offer without
        is for comparisons, see :func:`with_draw`.

    Returns
    -------
    Offer

    Raises
    ------
    UnsupportedError
        If the mechanism is not available here.
    InvalidParameterError
        If an instance does not belong to the ball of the answers, or a number is out of range.
    """
    return Terms(ball, n, budget, neighbours, draws).offer(statistic, mechanism)


@dataclass(frozen=True)
class Terms:
    """What an offer is asked for, beside statistic and mechanism; see :func:`offer`.

    With ``streams`` records come a part at a time; with ``rereads`` these may be read several times
    for an answer, where it takes that. ``spread`` is a public guess of how far records are from
    their mean, which errors are stated for; by default the radius.
    """

    ball: Ball
    n: int | None
    budget: Budget
    neighbours: Neighbours | None = None
    draws: bool = True
    streams: bool = False
    rereads: bool = False
    spread: float | None = None

    def offered(
        self, statistic: Statistic, kind: type[Mechanism] | Choice
    ) -> Offer | UnsupportedError:
        """Return an offer, or why it is not available."""
        try:
            return self.offer(statistic, kind)
        except UnsupportedError as problem:
            return problem

    def offer(self, statistic: Statistic, mechanism: AnyMechanism) -> Offer:
        """Return an offer; see :func:`offer`."""
        ball = self.ball
        neighbours = ReplaceOne() if self.neighbours is None else self.neighbours
        statistic = neighbours.form(statistic, ball)
        found = outline(statistic, self.ball, self.spread, float(self.n or 1))
        if self.streams and not (self.rereads or all(q.adds(ball) for q in found.queries)):
            raise _needs_all(statistic, ball)
        made = self._without_draw(statistic, found, mechanism, neighbours)
        if self.streams and not all(passes(each, ball) for each in made.asked):
            raise _needs_all(statistic, ball)
        return with_draw(made) if self.draws else made

    def _without_draw(
        self,
        statistic: Statistic,
        found: Outline,
        mechanism: AnyMechanism,
        neighbours: Neighbours,
    ) -> Offer:
        """Return an offer of this very statistic, without a draw."""
        check_mechanism(mechanism)
        given = calibrated(mechanism)
        kind = type(given) if given is not None else as_choice(mechanism).kind
        if kind.exact_draw is Mechanism.exact_draw:  # before anything else is asked of it
            raise _not_drawn(kind.name, f"no exactly rounded draw of {kind.name} is known")
        if not is_one_of(mechanism.metric, ("distance", "coordinates")):
            raise UnsupportedError(
                f'the metric of {mechanism.name} must be "distance" or "coordinates", and is '
                "neither"
            )
        several = len(found.queries) > 1
        if several and given is not None:
            raise InvalidParameterError(
                f"the {statistic.title} asks {len(found.queries)} queries, each with noise of its "
                f'own scale, and a calibrated mechanism has one; give mechanism="{given.name}"'
            )
        shares = [positive(query.share, "the share of a query") for query in found.queries]
        joint = kind.joint_weight([math.sqrt(share) for share in shares]) if several else None
        parts = parts_of(self.budget, shares) if joint is None else [self.budget] * len(shares)
        known: dict[Any, Mechanism] = {}  # many steps are alike
        asked = []
        for query, share, part in zip(found.queries, shares, parts, strict=True):
            answers = query.answers(self.ball)
            if given is not None and (problem := given.foreign_to(answers)):
                raise InvalidParameterError(problem)
            sensitivity, tol = computed_sensitivity(
                statistic, query, self.ball, self.n, mechanism.metric, neighbours
            )
            together = sensitivity
            if joint is not None:
                factor = math.nextafter(positive(joint, "a weight") / math.sqrt(share), math.inf)
                together = product_up(sensitivity, math.nextafter(factor, math.inf))
            at = answers.reach, answers.center.tobytes()  # which draws and bases depend on
            alike = answers.manifold, *at, together, share
            if given is None and alike not in known:
                choice = as_choice(mechanism)
                needed = choice.needed(answers)
                known[alike] = choice.calibrate_on(answers.manifold, together, part, **needed)
            elif given is not None and not given.satisfies(together, part):
                raise NotAttainableError(
                    f"sigma = {given.sigma:.6g} is too little noise for {part} at sensitivity "
                    f"{together:.6g}; calibrate it, or name the mechanism and let it be calibrated"
                )
            asked.append(Asked(query, answers, given or known[alike], sensitivity, tol))
        value = self.typical(statistic, asked) if several else found.value
        return Offer(statistic, self.ball, self.n, neighbours, tuple(asked), value)

    def typical(self, statistic: Statistic, asked: Sequence[Asked]) -> Value:
        """Return what typical answers lead to, with the noise that each of them has."""
        deviations = [deviation_of(each.mechanism, each.answers) for each in asked]
        return outline(statistic, self.ball, self.spread, float(self.n or 1), deviations).value


def passes(asked: Asked, ball: Ball) -> int | None:
    """Return how often records that come a part at a time are read for an answer.

    None where it cannot be computed so.
    """
    if asked.query.adds(ball):
        return 1
    first = asked.query.in_passes(ball, asked.tol)
    return None if first is None else first.left


def _needs_all(statistic: Statistic, ball: Ball) -> UnsupportedError:
    return UnsupportedError(
        f"the {statistic.name} on {ball.manifold} in a ball of radius {ball.radius:.6g}: "
        f"{NEEDS_ALL}; or take a sum over the records: the tangent mean "
        '(mechanism="tangent-gaussian") or private_mean(..., method="refined")'
    )


def exact_draw(mechanism: Mechanism, answers: Ball) -> ExactDraw:
    """Return how a mechanism draws exactly, of footpoints in a public ball.

    ``UnsupportedError`` if there is no proved way, or what is returned is none.
    """
    draw: object = mechanism.exact_draw(answers)
    if not isinstance(draw, ExactDraw) or draw.coordinates != answers.manifold.dim:
        raise UnsupportedError(
            f"exact_draw of {mechanism.name} must return an ExactDraw with "
            f"{answers.manifold.dim} coordinates"
        )
    return draw


def with_draw(made: Offer) -> Offer:
    """Return an offer with its exact draws: without them there is no release.

    ``UnsupportedError`` if none is proved, or one would take too long, from public numbers alone.
    """
    if not certified_available():
        raise InvalidParameterError(
            "releases need python-flint for exact draws, and it is not installed: pip install "
            "python-flint"
        )
    known: dict[int, ExactDraw] = {}
    for each in made.asked:
        if id(each.mechanism) not in known:
            try:
                draw = exact_draw(each.mechanism, each.answers)
            except UnsupportedError as problem:
                raise _not_drawn(each.mechanism.name, str(problem)) from problem
            draw.check_drawable()
            known[id(each.mechanism)] = draw
    asked = (replace(each, draw=known[id(each.mechanism)]) for each in made.asked)
    return replace(made, asked=tuple(asked))


def _not_drawn(name: str, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"{why}. So nothing is released with {name} here; riemdp.research.private_mean releases "
        "means with it, and nothing is proved of their bits"
    )


def expected_distance(found: Offer) -> float | None:
    """Mean length of the noise in the value, at most; None where its class knows none.

    Wherever in the ball of answers the exact one lies: where it is not the same everywhere, a
    bound.
    """
    try:
        law = noise_law(found.mechanism, found.answers, found.value)
        far = found.mechanism.expected_distance_in(found.answers) if law is None else law.mean()
        return found.value.gain * float(far)
    except UnsupportedError:
        return None


def noise_law(mechanism: Mechanism, answers: Ball, value: Value) -> FactorLaw | None:
    """Law of the coordinates of the noise of an answer that a value has; None where it has all.

    ``UnsupportedError`` where it is not known.
    """
    if value.size in (None, answers.manifold.dim):
        return None
    added = mechanism.added_noise(answers)
    if added is None:
        raise UnsupportedError(f"the noise of {mechanism.name} in a coordinate is not known")
    return part_of(added, value.size)


def deviation_of(mechanism: Mechanism, answers: Ball) -> float:
    """Return the standard deviation of the noise of a coordinate, NaN where it is not known."""
    try:
        square = mean_square_bound(mechanism, answers, is_shrunk=False)
        return math.sqrt(square / answers.manifold.dim)
    except (UnsupportedError, OverflowError):
        return math.nan


def error_quantile(found: Offer, q: float) -> float | None:
    """Length that the noise in the value exceeds with probability ``1 - q``; None as above.

    Also where that depends on the answer.
    """
    try:
        mechanism = found.mechanism
        if (law := noise_law(mechanism, found.answers, found.value)) is not None:
            return found.value.gain * float(law.quantile(q))
        if mechanism.expected_distance_in(found.answers) != mechanism.expected_distance():
            return None
        return found.value.gain * float(mechanism.error_quantile(q))
    except UnsupportedError:
        return None
