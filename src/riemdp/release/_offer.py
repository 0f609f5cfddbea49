"""What can be released of a ball, n and a budget, from public numbers only."""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from riemdp._checks import is_one_of, positive, real, shown
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnsupportedBallError,
    UnsupportedError,
)
from riemdp._part import borrowed, both_proved, is_own
from riemdp.manifolds import Ball, ball_proofs, check_ball
from riemdp.mechanisms import Choice, Mechanism, as_choice, calibrated, check_mechanism
from riemdp.noise.exact import ExactDraw
from riemdp.privacy import certified_available, product_up
from riemdp.release._doubt import unproven
from riemdp.release._kept import kept, known_by, same_budget
from riemdp.release._sensitivity import computed_sensitivity
from riemdp.release._shares import number_of_answers, ways
from riemdp.statistics import Neighbours, ReplaceOne, Statistic, check_statistic, mean_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from riemdp._part import Part
    from riemdp.manifolds import Manifold
    from riemdp.privacy import Budget

    #: Where claims are proved, by the part that makes them.
    Claims = Mapping[str, str | None]

    #: One that is to be calibrated, or is.
    AnyMechanism = type[Mechanism] | Choice | Mechanism

    #: Which statistic on a space is released with a mechanism.
    Wanted = Callable[[Manifold, AnyMechanism], Statistic]

#: In which arithmetic a release is made.
Arithmetic = Literal["exact", "float64"]


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
        How ideal draws are rounded to a public grid; None of draws in float64.
    projected : bool
        Whether draws are projected onto the ball of answers.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> release = riemdp.private_mean(np.full((500, 2), 0.3), ball, riemdp.GDP(1.0))
    >>> offer = release.offer
    >>> offer.statistic.name, offer.mechanism.name, offer.arithmetic
    ('frechet-mean', 'riemannian-gaussian', 'exact')
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
    _known: list[tuple[Budget, Claims]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def arithmetic(self) -> Arithmetic:
        """``"exact"`` where statistic and draw are proved in every bit, else ``"float64"``."""
        exact = self.draw is not None and self.statistic.numerical_delta == 0.0
        return "exact" if exact else "float64"

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
        for asked, known in self._known:
            if asked is budget or same_budget(asked, budget):
                return dict(known)
        first, last = self.shared_claims(budget) if shared is None else shared
        draw = {} if self.draw is None else {"exact draw": self.draw.proof}
        found = both_proved(first, _claims(self.mechanism, self.mechanism.proofs()), draw, last)
        self._known[:] = [(budget, found)]
        return dict(found)

    def _changed(self, **fields: Any) -> Offer:
        """Return the same with other fields; what is known of its claims is taken over.

        So no claim may be about them: the ball, by an equal one, or ``projected``.
        """
        found = replace(self, **fields)
        found._known[:] = self._known
        return found

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


def check_arithmetic(arithmetic: object) -> None:
    """Raise ``InvalidParameterError`` for what names no arithmetic."""
    if not is_one_of(arithmetic, get_args(Arithmetic)):
        raise InvalidParameterError(
            f'arithmetic must be "exact" or "float64", got {shown(arithmetic)}; the first is the '
            "default, and what protects the bits of a release"
        )


def offer(
    statistic: Statistic,
    mechanism: type[Mechanism] | Choice | Mechanism,
    ball: Ball,
    n: int | None,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    arithmetic: Arithmetic = "exact",
    draws: bool = True,
    streams: bool = False,
    rereads: bool = False,
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
    arithmetic : {"exact", "float64"}, default "exact"
        Exact as far as it is proved: of draw and statistic, of the draw alone, or of neither.
    draws : bool, default True
        Whether the exact draw is looked for, which takes time at each new scale. An offer without
        is for comparisons, see :func:`with_draw`.
    streams : bool, default False
        Whether the records come a part at a time.
    rereads : bool, default False
        Whether these may be read several times for an answer, where it takes that.

    Returns
    -------
    Offer

    Raises
    ------
    UnsupportedError
        If the mechanism is not available here, or the statistic needs all records at once.
    InvalidParameterError
        If an instance does not belong to the ball of the answers, or a number is out of range.
    """
    terms = Terms(ball, n, budget, neighbours, arithmetic, draws, streams, rereads)
    return terms.offer(statistic, mechanism)


def offers(
    pairs: Iterable[tuple[Statistic, type[Mechanism] | Choice]],
    ball: Ball,
    n: int | None,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    arithmetic: Arithmetic = "exact",
    draws: bool = True,
    streams: bool = False,
    rereads: bool = False,
) -> list[Offer | UnsupportedError]:
    """Return what :func:`offer` returns of each pair, or why it is not available.

    Parameters
    ----------
    pairs : iterable of (Statistic, Mechanism class or Choice)
    ball, n, budget, neighbours, arithmetic, draws, streams, rereads
        See :func:`offer`.

    Returns
    -------
    list of Offer or UnsupportedError
    """
    terms = Terms(ball, n, budget, neighbours, arithmetic, draws, streams, rereads)
    return [terms.offered(statistic, kind) for statistic, kind in pairs]


class Beaten(Exception):  # noqa: N818 -- what is told of it is no error
    """A mechanism that is not calibrated, since another one is better whatever its scale.

    With the statistic that it would be for, and the proofs that its offer would state.
    """

    def __init__(self, statistic: Statistic, proofs: dict[str, str | None]) -> None:
        super().__init__(statistic.name)
        self.statistic, self.proofs = statistic, proofs


@dataclass(frozen=True)
class Terms:
    """What an offer is asked for, beside statistic and mechanism; see :func:`offer`.

    ``error`` is the expected distance from which on nobody asks for an offer; None if there is
    none.
    """

    ball: Ball
    n: int | None
    budget: Budget
    neighbours: Neighbours | None = None
    arithmetic: Arithmetic = "exact"
    draws: bool = True
    streams: bool = False
    rereads: bool = False
    error: float | None = None

    def offered(
        self, statistic: Statistic, kind: type[Mechanism] | Choice
    ) -> Offer | UnsupportedError:
        """Return an offer, or why it is not available.

        Raises :class:`Beaten` in place of one that is seen to have at least ``error``.
        """
        try:
            made = self.offer(statistic, kind)
            if not is_own(as_choice(kind).kind):
                _check_error(made)
        except UnsupportedError as problem:
            return problem
        return made

    def offer(self, statistic: Statistic, mechanism: AnyMechanism) -> Offer:
        """Return an offer, one that is known where all is of this library."""
        anew = functools.partial(self._made, statistic, mechanism)
        flags = self.draws, self.streams, self.rereads
        numbers = self.n, self.arithmetic, *flags, self.error
        parts = statistic, self.budget, self.neighbours
        asked = known_by(functools.partial(_outcome, anew), mechanism, self.ball, parts, numbers)
        if asked is None:
            return anew()
        known: Offer | Callable[[], Exception] = kept(asked)
        if not isinstance(known, Offer):
            raise known()  # each time another one: it keeps the frames that it passes
        return known if known.ball is self.ball else known._changed(ball=self.ball)

    def _made(self, statistic: Statistic, mechanism: AnyMechanism) -> Offer:
        """Return an offer that is computed anew."""
        ball = self.ball

        def found(computed: Statistic) -> Offer:
            if self.streams and not (self.rereads or computed.streams(ball)):
                raise _needs_all(computed, ball)
            made = self._without_draw(computed, mechanism)
            if self.streams and made.statistic.passes(ball, made.tol) is None:
                raise _needs_all(computed, ball)
            return made

        statistic = (self.neighbours or ReplaceOne()).form(statistic, ball)
        statistic = statistic.in_float64()  # whatever it was made for
        check_statistic(statistic, "what in_float64() returns")
        if self.arithmetic == "float64":
            return found(statistic)
        try:
            exact = statistic.exactly(ball)
            check_statistic(exact, f"exactly(ball) of {statistic.name}")
        except UnsupportedError:
            exact = statistic
        try:
            made = found(exact)
        except UnsupportedBallError:  # a proof may need a little more room than float64 does
            if exact is statistic:
                raise
            exact, made = statistic, found(statistic)
        if not self.draws:
            return made
        return with_draw(made, lambda: made if exact is statistic else found(statistic))

    def _without_draw(self, statistic: Statistic, mechanism: AnyMechanism) -> Offer:
        """Return an offer of this very statistic, without a draw."""
        ball, n, budget = self.ball, self.n, self.budget
        steps = number_of_answers(statistic)
        _check_numerical_delta(statistic)
        check_mechanism(mechanism)
        given = calibrated(mechanism)
        kind = type(given) if given is not None else as_choice(mechanism).kind
        weight, part = next(ways(kind, statistic, steps, budget))
        neighbours = ReplaceOne() if self.neighbours is None else self.neighbours
        check_ball(statistic.range(ball), f"range(ball) of {statistic.name}")
        answers = statistic.answers(ball)
        check_ball(answers, f"answers(ball) of {statistic.name}")
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
            if self.error is not None and not choice.options:
                most = self.error / noise_factor(statistic, ball, n)
                little = choice.kind._too_little(answers, together, part, most)
                if little is not None:
                    seen = Offer(statistic, little, ball, n, neighbours, sensitivity, used, steps)
                    raise Beaten(statistic, seen.proofs(budget))
            with guarded(choice.kind):
                needed = choice.needed(answers)
                given = choice.calibrate_on(answers.manifold, together, part, **needed)
                check_mechanism(given)
                positive(given.sigma, "sigma, the noise scale,")
        elif not given.satisfies(together, part):
            raise NotAttainableError(
                f"sigma = {given.sigma:.6g} is too little noise for {part} at sensitivity "
                f"{together:.6g}; calibrate it, or name the mechanism and let it be calibrated"
            )
        return Offer(statistic, given, ball, n, neighbours, sensitivity, used, steps)


def _outcome(anew: Callable[[], Offer]) -> Offer | Callable[[], Exception]:
    """Return an offer, or what makes the error that there is instead, without its traceback."""
    try:
        return anew()
    except Beaten as worse:
        return functools.partial(Beaten, worse.statistic, worse.proofs)
    except UnsupportedError as problem:
        if not is_own(type(problem)) or vars(problem) or problem.__cause__ is not None:
            raise
        return functools.partial(type(problem), *problem.args)


def _needs_all(statistic: Statistic, ball: Ball) -> UnsupportedError:
    return UnsupportedError(
        f"the {statistic.name} on {ball.manifold} needs all records at once, in a ball of radius "
        f"{ball.radius:.6g}, and these come in chunks; take a sum over the records: the tangent "
        'mean (mechanism="tangent-gaussian") or private_mean(..., method="refined"), with '
        'arithmetic="exact"; or give an array'
    )


def with_draw(made: Offer, in_float64: Callable[[], Offer]) -> Offer:
    """Return an offer with its exact draw; where there is none, what ``in_float64`` returns.

    Nothing else needs to be exact then.
    """
    try:
        return replace(made, draw=_exact_draw(made))
    except UnsupportedError:
        return in_float64()


def _check_numerical_delta(statistic: Statistic) -> None:
    """Refuse an allowance that is none, before it is stated in a release."""
    stated = statistic.numerical_delta
    name = f"numerical_delta of {statistic.name}"
    if stated is not None and not 0.0 <= real(stated, name) < math.inf:
        raise InvalidParameterError(f"{name} must be None, or finite and at least 0")


def exact_draw(mechanism: Mechanism, answers: Ball) -> ExactDraw:
    """Return how a mechanism draws exactly, of footpoints in a public ball.

    ``UnsupportedError`` if there is no proved way, or what is returned is none.
    """
    with guarded(type(mechanism)):
        draw: object = mechanism.exact_draw(answers)
        if not isinstance(draw, ExactDraw) or draw.coordinates != answers.manifold.dim:
            raise UnsupportedError(
                f"exact_draw of {mechanism.name} must return an ExactDraw with "
                f"{answers.manifold.dim} coordinates"
            )
    return draw


def _exact_draw(made: Offer) -> ExactDraw:
    """Return the draw of an offer, if python-flint is there for it.

    ``UnsupportedError`` if none is proved, or one would take too long, from public numbers alone.
    """
    draw = exact_draw(made.mechanism, made.statistic.answers(made.ball))
    if not certified_available():
        raise InvalidParameterError(
            "releases need python-flint for exact draws, and it is not installed: pip install "
            'python-flint; or rely on float64 with arithmetic="float64"'
        )
    with guarded(type(made.mechanism)):
        draw.check_drawable()
    return draw


@contextlib.contextmanager
def guarded(mechanism: type[Mechanism]) -> Iterator[None]:
    """Turn what goes wrong in a class of another package into an ``UnsupportedError``.

    So it cannot take the other mechanisms along; what goes wrong in this library is a bug of its
    own, and is shown as it is.
    """
    try:
        yield
    except UnsupportedError:
        raise
    except (Exception, SystemExit) as error:
        if is_own(mechanism):
            raise
        raise UnsupportedError(
            f"{mechanism.name}, of another package, failed with {type(error).__name__}"
        ) from error


def _check_error(made: Offer) -> None:
    """Refuse what cannot be compared: an expected distance that is none."""
    with guarded(type(made.mechanism)):
        far = expected_distance(made)
        made.mechanism.proofs()
        if far is not None and not far > 0.0:  # NaN neither
            raise UnsupportedError(
                f"the expected distance of {made.mechanism.name} must be positive"
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
        with guarded(type(found.mechanism)):
            mechanism = found.mechanism
            if mechanism.expected_distance_in(answers) != mechanism.expected_distance():
                return None
            factor = noise_factor(found.statistic, found.ball, found.n)
            return factor * float(mechanism.error_quantile(q))
    except UnsupportedError:
        return None
