"""A ball that was found privately, with what is left of the budget for releases on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from riemdp._checks import real
from riemdp._described import Described, digits
from riemdp._errors import BudgetExceededError, InvalidParameterError
from riemdp.privacy import Budget, Reservation, check_budget
from riemdp.release._search._adaptive import radii
from riemdp.release._search._steps import Search
from riemdp.spaces import Ball
from riemdp.statistics import ReplaceOne

if TYPE_CHECKING:
    from riemdp.privacy import Anchor
    from riemdp.release._search._adaptive import Reason

#: Radii that one search draws at most.
_MOST_RADII = 3
_REASONS: dict[Reason, str] = {
    "small n": "no: the units are too few for a search",
    "wide": "no: the records are about as wide as the public ball",
    "found": "yes",
    "back": "no: a smaller one was found, and given up",
}


@dataclass(frozen=True, eq=False)
class PrivateBall(Described):
    """A smaller ball that was found within a budget, and what is left of that.

    It goes where a ball goes: ``private_mean(points, found)`` releases on it with what is left.
    All that it holds may be published. It cannot be copied or pickled, since each copy would hold
    what is left.

    Attributes
    ----------
    ball : Ball
        Ball of the releases: the one that was found, or the public one.
    reason : {"small n", "wide", "found", "back"}
        Why the search ended: the records (or people) are too few for one, and nothing was spent
        but for a private number of them; they are as wide as the public ball; a smaller ball was
        found; one was found and had to be given up.
    search : Search
        Receipt of the steps.
    budget : PureDP, ApproxDP, GDP or ZCDP
        Guarantee of the search and of all releases on the ball, together.
    private : bool
        Whether all was drawn from the secure generator; no release on the ball is private if not.
    account : Reservation
        What releases take from.
    accountant : object
        What was charged, if anything was.
    anchor : Anchor or None
        Of the charge for the search and the releases together, in a durable ledger.
    bias_at_most : float
        Bound of how far clipping to the ball moves a mean, from a released number. On flat spaces
        and Hadamard manifolds it fails with probability 0.03 at most, with 0.06 if the number of
        records (or people) is private.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 100.0)  # far too large
    >>> points = np.random.default_rng(0).normal(size=(2000, 2))
    >>> seeded = np.random.default_rng(1)  # not private; leave it out in earnest
    >>> found = riemdp.private_ball(points, ball, riemdp.GDP(1.0), generator=seeded)
    >>> found.reason, found.ball.radius < 20.0
    ('found', True)
    >>> riemdp.private_mean(points, found, generator=seeded).guarantee  # paid with what is left
    GDP(mu=1.0)
    """

    ball: Ball
    reason: Reason
    search: Search
    budget: Budget
    private: bool
    account: Reservation = field(repr=False)
    accountant: object = field(default=None, repr=False)
    anchor: Anchor | None = field(default=None, repr=False)
    bias_at_most: float = 0.0

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        units = self.ball.manifold.in_units(self.ball.radius)
        left = self.left
        return f"Private ball in {self.ball.manifold}", [
            ("centre", digits(self.ball.center)),
            ("radius", f"{self.ball.radius:.4g}{units and f' ({units})'}"),
            ("public", f"a ball of radius {self.public.radius:.4g}, which it was looked for in"),
            ("found", _REASONS[self.reason]),
            ("n", "private" if self.n is None else f"{self.n:,}"),
            ("budget", f"{self.budget}, of search and releases together"),
            ("spent", "nothing" if self.spent is None else f"{self.spent}, on the search"),
            ("left", "nothing" if left is None else f"{left}, for releases on the ball"),
            ("private", "yes" if self.private else "NO: the noise was seeded"),
        ]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the ball is used, in words."""
        return () if self.private else ("the noise was seeded: this search is not private",)

    @property
    def public(self) -> Ball:
        """The public ball that the search began with."""
        return self.search.ball

    @property
    def n(self) -> int | None:
        """Public number of records, or of people; None where it is private."""
        return self.search.n

    @property
    def left(self) -> Budget | None:
        """What is left of the budget for releases on the ball; None once it is spent.

        Of an ``ApproxDP`` budget this is a ``PureDP`` or a ``GDP``, unless nothing was spent.
        """
        return self.account.left

    @property
    def steps(self) -> tuple[dict[str, Any], ...]:
        """What was asked and answered, in order."""
        return self.search.steps

    @property
    def spent(self) -> Budget | None:
        """What the search took; None if that is nothing."""
        return self.search.spent if self.steps else None

    def clipped_at_most(self, beta: float = 0.05) -> int:
        """Bound of the number of records (or people) that lie outside the ball.

        Parameters
        ----------
        beta : float, default 0.05
            Probability, over the draws of the search, with which the bound may fail; in (0, 1).

        Returns
        -------
        int
            From public numbers and released ones; 0 for the public ball.

        Raises
        ------
        InvalidParameterError
            If ``beta`` lies outside (0, 1).

        References
        ----------
        docs/proofs/private-ball.md, "How many records are left out"
        """
        beta = real(beta, "beta")
        if not 0.0 < beta < 1.0:
            raise InvalidParameterError(f"beta must lie between 0 and 1, got {beta}")
        if self.ball == self.public:
            return 0
        # Which radius is the last to be taken depends on the later ones: the bound is of all.
        each = beta / _MOST_RADII
        last = [s for s in self.steps if s["query"] == "radius" and _value(s) == self.ball.radius]
        most = math.inf if self.n is None else self.n
        return int(min(most, max(_left_out(step, each) for step in last)))

    def part(self, budget: Budget | None) -> Budget:
        """Return what a release takes, which has to be left.

        Parameters
        ----------
        budget : Budget or None
            All that is left for None.

        Returns
        -------
        Budget

        Raises
        ------
        BudgetExceededError
            If it is not left.
        InvalidParameterError
            If it is of another definition than what is left.
        """
        left = self.left
        if left is None:
            raise BudgetExceededError(
                f"nothing is left of {self.budget} for another release on this ball: the search "
                "and the releases before took it; give each of several releases a share"
            )
        if budget is None or budget == left:
            return left
        check_budget(budget)
        if budget.adjacency == ReplaceOne.name:  # as a budget that names none has it
            budget = budget.under(left.adjacency)
        if type(budget) is not type(left):
            raise InvalidParameterError(
                f"the budget of a release on a ball that was found must be a share of what is "
                f"left, {left!r}, got {budget!r}; leave it out to spend all of that"
            )
        if type(budget) is not type(self.search.budget):  # nothing was spent, and all may be
            raise InvalidParameterError(
                f"a share of {left} is not known to add up with others; leave the budget out to "
                "spend all of that, or search within a PureDP or a GDP"
            )
        if not left.follows_from(budget):
            raise BudgetExceededError(f"asked for {budget!r}, left is {left!r} of {self.budget!r}")
        return budget

    def receipt(self, part: Budget) -> Search | None:
        """Return what a document holds of the search; None where there was none.

        See :meth:`part` for what the release takes.
        """
        return replace(self.search, release=part) if self.steps else None


def _value(step: dict[str, Any]) -> float:
    return float(radii(step["top"], step["count"])[step["place"]])


def _left_out(step: dict[str, Any], beta: float) -> int:
    far = step["penalty"] * math.log(step["top"] / _value(step))
    return int((far + math.log(step["count"] / beta) / step["rate"]) * (1.0 + 1e-12))
