"""What can be released of a ball, n and a budget, from public numbers only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from riemdp._checks import is_one_of
from riemdp._combinations import NEEDS_ALL
from riemdp._errors import InvalidParameterError, NotAttainableError, UnsupportedError
from riemdp._part import borrowed, both_proved
from riemdp.manifolds import Ball, ball_proofs
from riemdp.mechanisms import Choice, Mechanism, as_choice, calibrated, check_mechanism
from riemdp.noise.exact import ExactDraw
from riemdp.privacy import certified_available, product_up
from riemdp.release._doubt import unproven
from riemdp.release._sensitivity import computed_sensitivity
from riemdp.release._shares import number_of_answers, ways
from riemdp.statistics import Neighbours, ReplaceOne, Statistic, mean_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp._part import Part
    from riemdp.manifolds import Manifold
    from riemdp.privacy import Budget

    #: Where claims are proved, by the part that makes them.
    Claims = Mapping[str, str | None]

    #: One that is to be calibrated, or is.
    AnyMechanism = type[Mechanism] | Choice | Mechanism

    #: Which statistic on a space is released with a mechanism.
    Wanted = Callable[[Manifold, AnyMechanism], Statistic]


@dataclass(frozen=True)
class Offer:
    """A statistic with a mechanism that is calibrated for it.

    It is what ``plan`` lists, ``"auto"`` chooses among, a release is drawn from and :func:`verify`
    computes again.

    Attributes
    ----------
    statistic : Statistic
    mechanism : Mechanism
        On the space of ``statistic.answers(ball)``.
    ball : Ball
        Public ball of the records.
    n : int or None
        Number of records, where it is public; of a plan one that is supposed.
    neighbours : Neighbours
    sensitivity : float
        Of one answer of weight 1 as computed: that of the exact statistic plus ``2 tol``.
    tol : float
        Public tolerance of the statistic.
    steps : int or None
        Number of answers that the budget is shared among, as it was read for that; None of an offer
        that is not drawn from.
    draw : ExactDraw or None
        How ideal draws are rounded to a public grid; None of an offer that is not drawn from.
    projected : bool
        Whether draws are projected onto the ball of answers.

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
    mechanism: Mechanism
    ball: Ball
    n: int | None
    neighbours: Neighbours
    sensitivity: float
    tol: float
    steps: int | None = None
    draw: ExactDraw | None = None
    projected: bool = True

    def proofs(
        self, budget: Budget, shared: tuple[Claims, Claims] | None = None
    ) -> dict[str, str | None]:
        """Return where the claims that a guarantee rests on are proved; None where nowhere.

        Two parts of one name are proved if both are; one that is not registered under its name, or
        has one of this library, is not.

        Parameters
        ----------
        budget : Budget
            Definition of the guarantee.
        shared : tuple, optional
            What :meth:`shared_claims` returns, where that is at hand.

        Returns
        -------
        dict of str to (str or None)
            By the part that makes the claim.
        """
        first, last = self.shared_claims(budget) if shared is None else shared
        draw = {} if self.draw is None else {"exact draw": self.draw.proof}
        return both_proved(first, _claims(self.mechanism, self.mechanism.proofs()), draw, last)

    def shared_claims(self, budget: Budget) -> tuple[Claims, Claims]:
        """Return what every mechanism's guarantee rests on: what comes first, and what comes last.

        See :meth:`proofs` for the budget, and for what is returned of each claim.
        """
        statistic, ball = self.statistic, self.ball
        claims = [_claims(part, part.proofs()) for part in (budget, self.neighbours)]
        claims.append(_claims(statistic, statistic.proofs_on(ball)))
        others = (statistic.range(ball), statistic.answers(ball))
        claims += [ball_proofs(other) for other in others if other is not ball]
        return ball_proofs(ball), both_proved(*claims)

    def unproven(self, budget: Budget) -> str:
        """Return the names of what has no proof, empty if there is none. See :meth:`proofs`."""
        return unproven(self.proofs(budget))


def _claims(part: Part, stated: Claims) -> Claims:
    """Return what a part states; who says nothing of itself claims nothing."""
    silent: Claims = {} if part.name in stated else {part.name: None}
    others = borrowed(part)
    return both_proved(stated, silent, others) if silent or others else stated


def wanted_mean(manifold: Manifold, mechanism: type[Mechanism] | Choice | Mechanism) -> Statistic:
    """Return the mean that is released with a mechanism.

    Parameters
    ----------
    manifold : Manifold
    mechanism : Mechanism class, Choice or Mechanism

    Returns
    -------
    FrechetMean or TangentMean
    """
    return mean_for(manifold, mechanism.metric, mechanism.intrinsic)


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
        A class is calibrated to the budget, to a share of it for each of several answers; an
        instance has to satisfy that as it is.
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
    for an answer, where it takes that.
    """

    ball: Ball
    n: int | None
    budget: Budget
    neighbours: Neighbours | None = None
    draws: bool = True
    streams: bool = False
    rereads: bool = False

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
        statistic = (self.neighbours or ReplaceOne()).form(statistic, ball)
        if self.streams and not (self.rereads or statistic.streams(ball)):
            raise _needs_all(statistic, ball)
        made = self._without_draw(statistic, mechanism)
        if self.streams and statistic.passes(ball, made.tol) is None:
            raise _needs_all(statistic, ball)
        return with_draw(made) if self.draws else made

    def _without_draw(self, statistic: Statistic, mechanism: AnyMechanism) -> Offer:
        """Return an offer of this very statistic, without a draw."""
        ball, n, budget = self.ball, self.n, self.budget
        steps = number_of_answers(statistic)
        check_mechanism(mechanism)
        given = calibrated(mechanism)
        kind = type(given) if given is not None else as_choice(mechanism).kind
        if kind.exact_draw is Mechanism.exact_draw:  # before anything else is asked of it
            raise _not_drawn(kind.name, f"no exactly rounded draw of {kind.name} is known")
        weight, part = next(ways(kind, statistic, steps, budget))
        neighbours = ReplaceOne() if self.neighbours is None else self.neighbours
        answers = statistic.answers(ball)
        if given is not None and (problem := given.foreign_to(answers)):
            raise InvalidParameterError(problem)
        if not is_one_of(mechanism.metric, ("distance", "coordinates")):
            raise UnsupportedError(
                f'the metric of {mechanism.name} must be "distance" or "coordinates", and is '
                "neither"
            )
        sensitivity, used = computed_sensitivity(
            statistic, ball, n, mechanism.metric, neighbours=neighbours
        )
        together = product_up(sensitivity, weight)
        if given is None:
            choice = as_choice(mechanism)
            needed = choice.needed(answers)
            given = choice.calibrate_on(answers.manifold, together, part, **needed)
        elif not given.satisfies(together, part):
            raise NotAttainableError(
                f"sigma = {given.sigma:.6g} is too little noise for {part} at sensitivity "
                f"{together:.6g}; calibrate it, or name the mechanism and let it be calibrated"
            )
        return Offer(statistic, given, ball, n, neighbours, sensitivity, used, steps)


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
    """Return an offer with its exact draw: without one there is no release.

    ``UnsupportedError`` if none is proved, or one would take too long, from public numbers alone.
    """
    mechanism = made.mechanism
    try:
        draw = exact_draw(mechanism, made.statistic.answers(made.ball))
    except UnsupportedError as problem:
        raise _not_drawn(mechanism.name, str(problem)) from problem
    if not certified_available():
        raise InvalidParameterError(
            "releases need python-flint for exact draws, and it is not installed: pip install "
            "python-flint"
        )
    draw.check_drawable()
    return replace(made, draw=draw)


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
        answers = found.statistic.answers(found.ball)
        factor = noise_factor(found.statistic, found.ball, found.n)
        return factor * float(found.mechanism.expected_distance_in(answers))
    except UnsupportedError:
        return None


def noise_factor(statistic: Statistic, ball: Ball, count: float | None) -> float:
    """How many times longer noise may be in the value than in an answer.

    ``count`` is the number of records, as far as it is known; 1 where it is not.
    """
    factor = statistic.noise_in_value(ball)
    return factor / max(count or 1.0, 1.0) if statistic.totals else factor


def noise_length(mechanism: Mechanism) -> float:
    """Mean length of the noise in an answer, 0 where the class knows none: a public number."""
    try:
        return float(mechanism.expected_distance())
    except UnsupportedError:
        return 0.0


def error_quantile(found: Offer, q: float) -> float | None:
    """Length that the noise in the value exceeds with probability ``1 - q``; None as above.

    Also where that depends on the answer.
    """
    answers = found.statistic.answers(found.ball)
    try:
        mechanism = found.mechanism
        if mechanism.expected_distance_in(answers) != mechanism.expected_distance():
            return None
        factor = noise_factor(found.statistic, found.ball, found.n)
        return factor * float(mechanism.error_quantile(q))
    except UnsupportedError:
        return None
