"""What can be released of a ball, n and a budget, from public numbers only."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riemdp._checks import count, shown
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnprovenMechanismError,
    UnsupportedBallError,
    UnsupportedError,
)
from riemdp._part import both_proved, lookup, offered
from riemdp.manifolds import Ball
from riemdp.mechanisms import MECHANISMS, Mechanism
from riemdp.statistics import FrechetMean, Neighbours, ReplaceOne, Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from riemdp.manifolds import Manifold
    from riemdp.privacy import Budget
    from riemdp.statistics import Metric

    #: Which statistic on a space is released with noise whose sensitivity is in a metric.
    Wanted = Callable[[Manifold, Metric], Statistic]

#: Smallest radius of a ball of a release; one over it is the largest.
_LEAST_RADIUS = 1e-140
_N = "n, the number of points,"


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
    n : int
        Number of records, public.
    neighbours : Neighbours
    sensitivity : float
        Of the statistic as computed: that of the exact one plus ``2 tol``.
    tol : float
        Public tolerance of the statistic.
    """

    statistic: Statistic
    mechanism: Mechanism
    ball: Ball
    n: int
    neighbours: Neighbours
    sensitivity: float
    tol: float

    def proofs(self, budget: Budget) -> dict[str, str | None]:
        """Return where the claims that a guarantee rests on are proved; None where nowhere.

        Two parts of one name are proved if both are.

        Parameters
        ----------
        budget : Budget
            Definition of the guarantee.

        Returns
        -------
        dict of str to (str or None)
            By the part that makes the claim.
        """
        answers = self.statistic.answers(self.ball)
        parts = [self.ball.manifold, self.mechanism, budget, self.neighbours]
        if answers.manifold != self.ball.manifold:
            parts.append(answers.manifold)
        balls = (self.ball, answers, self.statistic.range(self.ball))
        # one of another class may clip to anything
        changed = {type(ball).__name__: None for ball in balls if type(ball) is not Ball}
        claims = (part.proofs() for part in parts)
        return both_proved(*claims, self.statistic.proofs_on(self.ball), changed)

    def unproven(self, budget: Budget) -> str:
        """Return the names of what has no proof, empty if there is none.

        Parameters
        ----------
        budget : Budget
            Definition of the guarantee.

        Returns
        -------
        str
        """
        return unproven(self.proofs(budget))


def unproven(proofs: dict[str, str | None]) -> str:
    """Return the names without a proof, empty if there is none."""
    return ", ".join(name for name, proof in proofs.items() if proof is None)


def check_accountant(accountant: object) -> None:
    """Refuse what is neither None nor able to be charged."""
    if accountant is not None and not callable(getattr(accountant, "spend", None)):
        raise InvalidParameterError("accountant must have a method spend(guarantee, label)")


def check_statistic(statistic: object) -> None:
    """Raise ``InvalidParameterError`` for what is no statistic."""
    if not isinstance(statistic, Statistic):
        raise InvalidParameterError(
            f"statistic must be a riemdp.statistics.Statistic, got {shown(statistic)}"
        )


def check_neighbours(neighbours: object) -> None:
    """Raise ``InvalidParameterError`` for what is no relation between data sets."""
    if not isinstance(neighbours, Neighbours):
        raise InvalidParameterError(
            f"neighbours must be a relation such as ReplaceOne(), got {shown(neighbours)}"
        )


def exact_sensitivity(
    statistic: Statistic, ball: Ball, n: int, neighbours: Neighbours, metric: Metric
) -> float:
    """Sensitivity of the exact statistic.

    Raises
    ------
    UnsupportedError
        If none is known on this ball.
    InvalidParameterError
        If n is not a positive integer (under 2^63).
    """
    if not _LEAST_RADIUS <= ball.reach <= 1.0 / _LEAST_RADIUS:
        raise UnsupportedBallError(
            f"radius {ball.radius:.3g} must lie between {_LEAST_RADIUS:g} and "
            f"{1.0 / _LEAST_RADIUS:g} for a release, so that squares of distances and sums over "
            "the records stay in the range of float64; change the unit of the data"
        )
    return neighbours.sensitivity(statistic, ball, count(n, _N), metric)


def computed_sensitivity(
    statistic: Statistic,
    ball: Ball,
    n: int,
    metric: Metric,
    *,
    neighbours: Neighbours | None = None,
    tol: float | None = None,
) -> tuple[float, float]:
    """Sensitivity of a statistic as computed, ``Delta + 2 tol`` rounded up, and the public ``tol``.

    See docs/proofs/frechet-mean-certificate.md. ``tol=None`` takes that of the statistic.

    Raises
    ------
    InvalidParameterError
        If ``tol`` is under what the statistic can be computed to.
    UnsupportedError
        If the statistic has no sensitivity on this ball, or cannot be computed there.
    """
    exact = exact_sensitivity(statistic, ball, n, neighbours or ReplaceOne(), metric)
    if tol is None:
        tol = statistic.tolerance(ball, exact)
    elif tol < (floor := statistic.tolerance(ball, 0.0)):
        raise InvalidParameterError(
            f"tol = {tol:.3g} must be at least {floor:.3g}, what float64 carries for every data "
            "set in this ball: under it, whether the release succeeds would tell of the data; "
            "leave tol out, or choose a smaller ball"
        )
    return with_tolerance(exact, tol), tol


def with_tolerance(exact: float, tol: float) -> float:
    """``exact + 2 tol``, rounded up."""
    return math.nextafter(exact + 2.0 * tol, math.inf)


def share(budget: Budget, steps: int) -> Budget:
    """Budget of each of several answers, what is asked for next depending on those before.

    Raises
    ------
    UnsupportedBudgetError
        If the definition has no rule for it.
    """
    steps = count(steps, "steps, the number of answers,")
    return budget if steps == 1 else budget.split(steps)


def offer(
    statistic: Statistic,
    mechanism: type[Mechanism] | Mechanism,
    ball: Ball,
    n: int,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    tol: float | None = None,
) -> Offer:
    """Calibrate one mechanism for a statistic, or hold one against it.

    Parameters
    ----------
    statistic : Statistic
    mechanism : Mechanism class or Mechanism
        A class is calibrated to the budget, to a share of it for each of several answers; an
        instance has to satisfy that as it is.
    ball : Ball
        Public ball of the records.
    n : int
        Number of records, public.
    budget : Budget
    neighbours : Neighbours, optional
        :class:`ReplaceOne` by default.
    tol : float, optional
        Public tolerance of the statistic; its own by default.

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
    part = share(budget, statistic.steps)
    neighbours = ReplaceOne() if neighbours is None else neighbours
    answers = statistic.answers(ball)
    if isinstance(mechanism, Mechanism) and (problem := mechanism.foreign_to(answers)):
        raise InvalidParameterError(problem)
    sensitivity, used = computed_sensitivity(
        statistic, ball, n, mechanism.metric, neighbours=neighbours, tol=tol
    )
    if not isinstance(mechanism, Mechanism):
        needed = mechanism.needed(answers)
        mechanism = mechanism.calibrate(answers.manifold, sensitivity, part, **needed)
    elif not mechanism.satisfies(sensitivity, part):
        raise NotAttainableError(
            f"sigma = {mechanism.sigma:.6g} is too little noise for {part} at sensitivity "
            f"{sensitivity:.6g}; calibrate it, or name the mechanism and let it be calibrated"
        )
    return Offer(statistic, mechanism, ball, n, neighbours, sensitivity, used)


def offers(
    pairs: Iterable[tuple[Statistic, type[Mechanism]]],
    ball: Ball,
    n: int,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    tol: float | None = None,
) -> list[Offer | UnsupportedError]:
    """Return what :func:`offer` returns of each pair, or why it is not available.

    Parameters
    ----------
    pairs : iterable of (Statistic, Mechanism class)
    ball, n, budget, neighbours, tol
        See :func:`offer`.

    Returns
    -------
    list of Offer or UnsupportedError
    """
    found: list[Offer | UnsupportedError] = []
    for statistic, kind in pairs:
        try:
            found.append(offer(statistic, kind, ball, n, budget, neighbours=neighbours, tol=tol))
        except UnsupportedError as error:
            found.append(error)
    return found


def kinds() -> dict[str, type[Mechanism]]:
    """Mechanisms that are compared, by name: those of this library and of other packages."""
    foreign = offered(Mechanism.sort)
    return {**MECHANISMS, **{k: v for k, v in foreign.items() if not inspect.isabstract(v)}}


def least_error(
    wanted: Wanted,
    ball: Ball,
    n: int,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    tol: float | None = None,
    allow_unproven: bool = False,
) -> tuple[Offer, str]:
    """Return the offer with the least expected distance, and the reason in words.

    Only offers of one statistic are compared: of the first that any mechanism is available for.
    What is not proved is taken only where it is allowed.

    Raises
    ------
    NotAttainableError
        If no mechanism can satisfy the budget here.
    UnprovenMechanismError
        If none of those that can is proved, and that is not allowed.
    """
    groups: dict[str, list[tuple[Statistic, type[Mechanism]]]] = {}
    for kind in kinds().values():
        statistic = wanted(ball.manifold, kind.metric)
        groups.setdefault(statistic.name, []).append((statistic, kind))
    problems: list[str] = []
    missing = ""
    for turn, pairs in enumerate(groups.values()):
        made = offers(pairs, ball, n, budget, neighbours=neighbours, tol=tol)
        found = [each for each in made if isinstance(each, Offer)]
        for (_, kind), each in zip(pairs, made, strict=True):
            if isinstance(each, UnsupportedError):
                problems.append(f"{kind.name}: {each}")
        pool = [o for o in found if allow_unproven or not o.unproven(budget)]
        if pool:
            best = min(pool, key=_error)
            return best, _reason(best, pool, budget, first=turn == 0, unproven=bool(missing))
        if found and not missing:
            missing = min(found, key=_error).unproven(budget)
    if missing:
        raise not_proved(missing)
    raise NotAttainableError(
        f"no mechanism satisfies {budget} on {ball.manifold}. " + "; ".join(problems)
    )


def not_proved(missing: str) -> UnprovenMechanismError:
    """Error for parts that nobody vouches for."""
    return UnprovenMechanismError(
        f"the guarantee is not proved: no proof is known of {missing}. Pass "
        "allow_unproven=True to rely on it all the same, and the release will say so"
    )


def named(mechanism: object) -> type[Mechanism]:
    """Return the class of a mechanism that is named, or that is given.

    Parameters
    ----------
    mechanism : str or Mechanism class

    Returns
    -------
    type

    Raises
    ------
    InvalidParameterError
        If it is no mechanism, or none of this name is known.
    """
    if isinstance(mechanism, str):
        if mechanism in MECHANISMS:
            return MECHANISMS[mechanism]
        if "." not in mechanism:
            known = ", ".join(kinds())
            raise InvalidParameterError(
                f"unknown mechanism {shown(mechanism)}; known: auto, {known}"
            )
        kind: Any = lookup(mechanism, Mechanism.sort)
    else:
        kind = mechanism
    ours = isinstance(kind, type) and issubclass(kind, Mechanism)
    if not ours or inspect.isabstract(kind):
        raise InvalidParameterError(
            "mechanism must be a name, a Mechanism class or a calibrated Mechanism, "
            f"got {type(kind).__name__}"
        )
    found: type[Mechanism] = kind
    return found


def _error(found: Offer) -> float:
    try:
        return found.mechanism.expected_distance()
    except UnsupportedError:  # its author does not know: only where nothing else is available
        return math.inf


def _reason(best: Offer, pool: list[Offer], budget: Budget, *, first: bool, unproven: bool) -> str:
    reason = (
        f"least expected distance ({_error(best):.6g}) of "
        + ", ".join(o.mechanism.name for o in pool)
        + f" under {budget}"
    )
    if not first:
        lack = "proved" if unproven else "available"
        reason += f"; for the tangent mean, since no mechanism for the Fréchet mean is {lack}"
    return reason


def default_sensitivity(ball: Ball, n: int, tol: float | None = None) -> tuple[float, float]:
    """Return :func:`computed_sensitivity` of the Fréchet mean, as a distance."""
    return computed_sensitivity(FrechetMean(), ball, n, "distance", tol=tol)
