"""Composition: what several releases from the same data guarantee together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from riemdp._checks import count, shown
from riemdp._errors import InvalidParameterError
from riemdp.privacy import _rules
from riemdp.privacy._adjacency import carried, one_adjacency
from riemdp.privacy._budget import Budget
from riemdp.privacy._closed_curves import GaussianCurve
from riemdp.privacy._composed import ComposedCurve, worst_curve
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._rounding import repeated_up, root_of_squares_up

if TYPE_CHECKING:
    from collections.abc import Sequence


def compose(guarantees: Sequence[Budget]) -> Budget | PrivacyCurve:
    """Guarantee of several releases from the same data, taken together.

    Guarantees of one definition give the best closed form in that definition:

    ================  ==========================================================================
    ``PureDP``        sum of ``epsilon``
    ``ApproxDP``      sum of ``epsilon``, and ``1 - product(1 - delta)`` (at most the sum)
    ``GDP``           ``mu = sqrt(sum mu^2)``
    ``ZCDP``          sums of ``rho`` and ``xi``
    ``RDP``           sum of ``epsilon``; of different orders, all lowered to the smallest order
    ``KLDP``          sum of ``alpha``
    ``MeanCDP``       sum of ``mu``, ``tau = sqrt(sum tau^2)``
    Rao angle         ``cos(theta/2) = product cos(theta/2)``, pi once an angle is pi
    Rao parametric    ``theta = sqrt(sum theta^2)``
    ================  ==========================================================================

    Guarantees of different definitions are composed as privacy loss distributions and give a
    privacy curve (numerical with the extra ``accounting``, a looser bound without it). For a
    ``PureDP`` or ``ApproxDP`` total at a given ``delta`` that curve can be much better than the
    sum.

    All rules but one hold for adaptive composition, where each mechanism may be chosen by the
    earlier outputs (its guarantee has to be fixed beforehand). The exception is ``MeanCDP``: the
    rule is for mechanisms chosen beforehand. Convert to ``ZCDP`` first if they are adaptive.

    Parameters
    ----------
    guarantees : sequence of Budget
        At least one.

    Returns
    -------
    Budget or PrivacyCurve
        A ``Budget`` of the same class for guarantees of one definition, rounded up; else a
        ``PrivacyCurve``.

    Raises
    ------
    InvalidParameterError
        If there is nothing to compose or an entry is not a ``Budget``.
    InvalidBudgetError
        If Rao guarantees of both distances are mixed, or a total is outside its domain.
    UnsupportedNeighboursError
        If they are about different relations between data sets.

    References
    ----------
    Proofs and sources: docs/proofs/privacy-conversions.md.

    Examples
    --------
    >>> from riemdp import GDP, compose
    >>> compose([GDP(3.0), GDP(4.0)])
    GDP(mu=5.0)
    """
    if not isinstance(guarantees, Iterable):
        raise InvalidParameterError(f"guarantees must be a list of them, got {shown(guarantees)}")
    parts = list(guarantees)
    if not parts:
        raise InvalidParameterError("nothing to compose: give at least one guarantee")
    for part in parts:
        if not isinstance(part, Budget):
            raise InvalidParameterError(f"only privacy definitions compose, got {shown(part)}")
        part._check_beside(parts)
    if len(parts) == 1:
        return parts[0]
    kind = type(parts[0])
    if _rules.composes(kind) and all(type(part) is kind for part in parts):
        return _rules.together(kind, parts)  # type: ignore[no-any-return]
    return compose_budgets(parts)


def compose_curves(curves: Iterable[PrivacyCurve]) -> PrivacyCurve:
    """Curve of several releases together.

    Parameters
    ----------
    curves : iterable of PrivacyCurve
        At least one. Fixed beforehand; the releases themselves may depend on one another.

    Returns
    -------
    PrivacyCurve
        Gaussian curves compose to a Gaussian one. Others give a
        :class:`~riemdp.privacy.ComposedCurve`: numerical with the extra ``accounting``, closed
        bounds without it.

    Raises
    ------
    InvalidParameterError
        If there is nothing to compose, or something else than a curve.
    UnsupportedNeighboursError
        If they are about different relations; a curve that names none is taken as one about
        replace-one beside others that do.
    """
    return _compose_repeated([(curve, 1) for curve in curves])


def compose_budgets(budgets: Sequence[Budget]) -> PrivacyCurve:
    """Curve of several guarantees together, of any kinds.

    Parameters
    ----------
    budgets : sequence of Budget
        At least one.

    Returns
    -------
    PrivacyCurve

    Raises
    ------
    InvalidParameterError
        If there is nothing to compose.
    UnsupportedNeighboursError
        If they are about different relations.
    """
    return compose_curves(_curves(budgets))


@_rules.composition(PrivacyCurve)
def _compose_repeated(parts: Sequence[tuple[PrivacyCurve, int]]) -> PrivacyCurve:
    """Curve of releases that occur several times each."""
    for curve, _ in parts:
        if not isinstance(curve, PrivacyCurve):
            raise InvalidParameterError(f"only privacy curves compose, got {shown(curve)}")
    adjacency = one_adjacency(curve for curve, _ in parts)
    counts: dict[PrivacyCurve, int] = {}
    for curve, n in parts:
        repetitions = count(n, "n")
        for given, times in curve._parts():
            part = carried(given._simplest(), adjacency)
            total = counts.get(part, 0) + times * repetitions
            counts[part] = count(total, "the number of releases")
    if not counts:
        raise InvalidParameterError("nothing to compose: give at least one curve or guarantee")
    gaussian = {c: (s, n) for c, n in counts.items() if (s := c._separation()) is not None}
    if sum(n for _, n in gaussian.values()) > 1:
        # closed form: N(0, I) and N((mu_1, ..., mu_n), I)
        for curve in gaussian:
            del counts[curve]
        together = root_of_squares_up(repeated_up(s, n) for s, n in gaussian.values())
        if together == math.inf:
            raise InvalidParameterError("the separation of the composition exceeds float64")
        counts[carried(GaussianCurve(together), adjacency)] = 1
    if sum(counts.values()) == 1:
        return next(iter(counts))
    return ComposedCurve(tuple(counts.items()))


def _curves(budgets: Sequence[Budget]) -> list[PrivacyCurve]:
    """Curves of guarantees, those of one definition composed in it as far as that loses nothing."""
    groups: dict[tuple[type[Budget], object], list[Budget]] = {}
    curves: list[PrivacyCurve] = []
    for budget in budgets:
        if not isinstance(budget, Budget):
            raise InvalidParameterError(f"only privacy definitions compose, got {shown(budget)}")
        guarantee = budget._adaptive()
        if _rules.composes(type(guarantee), lossless=True):
            groups.setdefault((type(guarantee), guarantee._fixed()), []).append(guarantee)
        else:
            curves.append(worst_curve(guarantee))
    for (kind, _), group in groups.items():
        curves.append(worst_curve(group[0] if len(group) == 1 else _rules.together(kind, group)))
    return curves
