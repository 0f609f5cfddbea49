"""Recompute the guarantee of a release that a part of another package is in, by its class.

Documents of this library's own parts are checked by :mod:`riemdp.kernel._verify` instead;
so are searches here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp.kernel import Check, SearchReceipt
from riemdp.release._offer import exact_draw, exact_sensitivity, with_tolerance, within
from riemdp.release._release import Release
from riemdp.release._rounded_value import replayed
from riemdp.release._search._document import search_to_dict
from riemdp.release._shrink import shrinkage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from riemdp.release._offer import Asked
    from riemdp.release._search._steps import Search

#: A release is calibrated to the last digit that one processor computes; on another one that digit
#: may differ. Far less than the errors that are allowed for in every integral.
_ELSEWHERE = 1.0 - 1e-13


#: Difference of a value that is computed again from the same integers, see
#: :meth:`Manifold.coincide`.
_SAME = 1e-12
#: The same of several queries: each step starts from the point that the one before computed, and on
#: curved spaces multiplies the differences of processors by how fast geodesics spread.
_SAME_AFTER_STEPS = 1e-7

#: What computing something again may raise.
_FAILED = (RiemdpError, ArithmeticError, np.linalg.LinAlgError)


def checks_of(release: Release) -> Iterator[Check]:
    """Yield what is recomputed, one after the other."""
    try:
        steps = len(release.offer.asked)
    except _FAILED as error:
        yield Check("queries", False, _said(error))
        return
    last = release.scales[-1] == release.mechanism.sigma
    yield Check("queries", steps == 1 or last, f"{steps}, the last with sigma of the mechanism")
    foreign = release.mechanism.foreign_to(release._answers)
    yield Check("mechanism", foreign is None, foreign or "belongs to the ball of the answers")
    yield from _guarantee(release)
    if (search := release.search) is not None:
        yield _check("search", lambda: _search(release, search))
    yield _check("value", lambda: _value(release))
    yield _check("arithmetic", lambda: _arithmetic(release))
    if release.shrunk:
        yield _check("shrinkage", lambda: _shrunk(release))
    known = ", ".join(dict.fromkeys(map(str, release.known_proofs().values())))
    yield Check("proof", not release.doubt, release.doubt or known)
    said = "secure generator" if release.private else "seeded by the caller: NOT private"
    yield Check("randomness", True, said)


def _check(name: str, computed: Callable[[], tuple[bool, str]]) -> Check:
    """Return what is computed as a check: what fails does not hold."""
    try:
        return Check(name, *computed())
    except _FAILED as error:
        return Check(name, False, _said(error))


def _said(error: Exception) -> str:
    kind = type(error).__name__
    return str(error) if isinstance(error, RiemdpError) else f"it leaves float64 ({kind})"


def _value(release: Release) -> tuple[bool, str]:
    """One point of the range, or of the whole space if the draw was not projected."""
    range_ = release.offer.value.ball
    one = release.raw.shape == range_.manifold.point_shape
    if len(release.scales) > 1 and release.projected:
        return False, "draws for several queries are never projected"
    if not release.projected:
        said = f"one point of {range_.manifold}, not projected onto the ball"
    elif range_ == release.ball:
        said = "one point of the public ball"
    else:
        said = f"one point of the range, a ball of radius {range_.radius:.9g} on {range_.manifold}"
    if not bool(np.isfinite(release.raw).all()):
        return False, "it is not finite"
    return one and (not release.projected or bool(range_.contains(release.raw))), said


def _arithmetic(release: Release) -> tuple[bool, str]:
    """Value from the integers."""
    drawn = release._on_grid
    exact_draw(release.mechanism, release._answers)
    h = shrinkage(release.mechanism, release._answers) if release.shrunk else None
    again = replayed(release.offer, release.rounded, release.grid, h=h)
    value, range_ = again.raw, again.ball
    digits = _SAME if len(release.scales) == 1 else _SAME_AFTER_STEPS
    if value.shape != release.raw.shape or not bool(
        range_.manifold.coincide(range_.center, release.raw, value, digits)
    ):
        return False, "the value is not that of the integers"
    return True, f"the value is that of {len(drawn.integers)} integers on the grid 2^{-drawn.grid}"


def _shrunk(release: Release) -> tuple[bool, str]:
    """Whether a release that is said to be shrunk can be; its value says so too."""
    if len(release.scales) != 1:
        return False, "draws for several queries cannot be shrunk"
    h = shrinkage(release.mechanism, release._answers)
    return True, f"by (1 - h / |y|^2)_+, h = {h:.9g}"


def _guarantee(release: Release) -> tuple[Check, Check]:
    """Sensitivity from ball and n, guarantee from sensitivity and scale."""
    try:
        sensitivities = [_sensitivity(release, each) for each in release.offer.asked]
        satisfied = _satisfied(release, sensitivities)
        sensitivity, steps = sensitivities[-1], len(sensitivities)
    except _FAILED as error:
        return (
            Check("sensitivity", False, _said(error)),
            Check("guarantee", False, "no sensitivity to compute it from"),
        )
    n = "n private" if release.n is None else f"n = {release.n}"
    times = "" if steps == 1 else f", {steps} times"
    return (
        Check(
            "sensitivity",
            math.isclose(sensitivity, release.sensitivity, rel_tol=1e-9),
            f"{release.neighbours.title}, {n}: stated {release.sensitivity:.9g}, "
            f"recomputed {sensitivity:.9g} for the {release.statistic.name}",
        ),
        Check(
            "guarantee",
            satisfied,
            f"{release.budget!r} from sigma = {release.mechanism.sigma:.9g}{times}",
        ),
    )


def _satisfied(release: Release, sensitivities: list[float]) -> bool:
    """Whether the noise of all queries is within the budget."""
    asked = release.offer.asked
    mechanisms, shares = [e.mechanism for e in asked], [e.query.share for e in asked]
    return any(
        within(mechanisms, [move * digits for move in sensitivities], shares, release.budget)
        for digits in (1.0, _ELSEWHERE)
    )


def _sensitivity(release: Release, asked: Asked) -> float:
    """Compute a sensitivity again, for the tolerance that is stated.

    One that rounding may have exceeded is refused.
    """
    statistic, query, ball, tol = release.statistic, asked.query, release.ball, asked.tol
    metric = asked.mechanism.metric
    if not 0.0 <= tol < math.inf:
        raise InvalidParameterError(f"tol must be finite and at least 0, got {tol}")
    exact = exact_sensitivity(statistic, query, ball, release.n, release.neighbours, metric)
    rounding = query.rounding(ball)
    if tol < rounding:
        raise InvalidParameterError(
            f"tol = {tol:.3g} is less than what float64 can certify in this ball, {rounding:.3g}: "
            "the value may depend on one record by more than the stated sensitivity"
        )
    return with_tolerance(query, ball, metric, exact, tol)


def _search(release: Release, search: Search) -> tuple[bool, str]:
    """Compute the steps of a search again, each from public numbers and the answers before it."""
    if release.n != search.n:
        return False, "it was made in other records, or for another relation"
    receipt = SearchReceipt(
        search_to_dict(search), release.ball.manifold, search.n, release.guarantee
    )
    if not receipt.led_to(release.ball):
        return False, "the ball of the release is not the one that was found"
    steps = ", ".join(step["query"] for step in search.steps)
    return True, f"{steps}; with {search.release!r} for the release within {search.budget!r}"
