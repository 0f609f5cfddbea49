"""Recompute a release's guarantee from its public fields."""

from __future__ import annotations

import math
from dataclasses import dataclass

from riemdp._checks import positive, shown
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    RiemdpError,
    UnsupportedManifoldError,
)
from riemdp.manifolds import Ball
from riemdp.release._candidates import stated_sensitivity
from riemdp.release._proofs import unproven
from riemdp.release._release import Release
from riemdp.release._serialise import foreign_part
from riemdp.statistics import is_average, tolerance_floor


@dataclass(frozen=True)
class Check:
    """One thing that was recomputed.

    Attributes
    ----------
    name : str
        What was checked.
    passed : bool
        Whether it holds.
    detail : str
        The numbers, all public.
    """

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """Result of :func:`verify`.

    Attributes
    ----------
    checks : tuple of Check
        One by one.
    """

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)


def verify(release: Release) -> Verification:
    """Recompute the guarantee of a release from its ball, n, mechanism and scale.

    It cannot tell that the value was really drawn this way, nor that the ball and the budget were
    chosen without looking at the data: for that one has to trust who ran it. ``reason`` is free
    text and not checked.

    Parameters
    ----------
    release : Release

    Returns
    -------
    Verification

    Raises
    ------
    InvalidParameterError
        If ``release`` is no :class:`Release`.
    """
    if not isinstance(release, Release):
        raise InvalidParameterError(
            f"release must be a riemdp.Release, got {shown(release)}; Release.from_json reads one"
        )
    mechanism, ball = release.mechanism, release.ball
    summary = Check(
        "summary",
        release.summary == mechanism.summary,
        f"{mechanism.name} on {ball.manifold} releases the {mechanism.summary}",
    )
    foreign = foreign_part(mechanism, ball)
    space = Check("mechanism", foreign is None, foreign or "belongs to the ball")
    adjacency = Check(
        "adjacency",
        release.adjacency == "replace-one",
        f"{shown(release.adjacency)}, n = {release.n}",
    )
    inside = Check(
        "value",
        release.value.shape == ball.manifold.point_shape and bool(ball.contains(release.value)),
        "one point of the public ball",
    )
    seeded = Check(
        "randomness",
        release.private != release.reproducible,
        "secure generator" if release.private else "seeded by the caller: NOT private",
    )
    return Verification(
        (
            summary,
            space,
            adjacency,
            *_guarantee(release),
            _error(release),
            inside,
            _proof(release),
            seeded,
        )
    )


def _guarantee(release: Release) -> tuple[Check, Check]:
    """Sensitivity from ball and n, guarantee from sensitivity and scale."""
    try:
        tol = positive(release.tol, "tol")
        summary = release.mechanism.summary
        sensitivity = stated_sensitivity(release.ball, release.n, summary, tol)
        _check_tolerance(release.ball, summary, tol)
        satisfied = release.mechanism.satisfies(sensitivity, release.guarantee)
    except RiemdpError as error:
        return (
            Check("sensitivity", False, str(error)),
            Check("guarantee", False, "no sensitivity to compute it from"),
        )
    return (
        Check(
            "sensitivity",
            math.isclose(sensitivity, release.sensitivity, rel_tol=1e-9),
            f"stated {release.sensitivity:.9g}, recomputed {sensitivity:.9g}",
        ),
        Check(
            "guarantee",
            satisfied,
            f"{release.guarantee} from sigma = {release.mechanism.sigma:.9g}",
        ),
    )


def _check_tolerance(ball: Ball, summary: str, tol: float) -> None:
    """Refuse a tolerance that rounding may have exceeded, which earlier versions allowed.

    Half of the floor is rounding, half leaves room for the solver.
    """
    rounding = 0.5 * tolerance_floor(ball, summary)
    if tol < rounding and not is_average(ball, summary):
        raise InvalidParameterError(
            f"tol = {tol:.3g} is less than what float64 can certify in this ball, {rounding:.3g}: "
            "the value may depend on one record by more than the stated sensitivity"
        )


def _error(release: Release) -> Check:
    """Error law from the mechanism."""
    try:
        derived = (release.expected_distance, release.error_quantile(0.95))
    except (UnsupportedManifoldError, NotAttainableError) as error:
        return Check("error", release.stated_error is None, f"none is known: {error}")
    stated = derived if release.stated_error is None else release.stated_error
    return Check(
        "error",
        all(math.isclose(x, y, rel_tol=1e-9) for x, y in zip(stated, derived, strict=True)),
        f"expected distance stated {stated[0]:.9g}, recomputed {derived[0]:.9g}; "
        f"95 % quantile stated {stated[1]:.9g}, recomputed {derived[1]:.9g}",
    )


def _proof(release: Release) -> Check:
    found = release.proofs
    missing = unproven(found)
    detail = f"no proof is known of {missing}" if missing else ", ".join(map(str, _once(found)))
    return Check("proof", release.proven and not missing, detail)


def _once(found: dict[str, str | None]) -> list[str | None]:
    return list(dict.fromkeys(found.values()))
