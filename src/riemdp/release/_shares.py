"""How several answers of one release are paid for by one budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp._checks import count, positive
from riemdp._errors import InvalidParameterError, UnsupportedBudgetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget
    from riemdp.statistics import Statistic

#: Most answers of one release: a document that states more is not worked through.
_MOST_STEPS = 100_000


def number_of_answers(statistic: Statistic) -> int:
    """Return how many answers a statistic asks for, which has to be few enough to work through."""
    steps = count(statistic.steps, "steps, the number of answers,")
    if steps > _MOST_STEPS:
        raise InvalidParameterError(f"steps must be at most {_MOST_STEPS}, got {steps}")
    return steps


def ways(
    kind: type[Mechanism], statistic: Statistic, steps: int, budget: Budget
) -> Iterator[tuple[float, Budget]]:
    """Yield how several answers, each asked after the earlier ones, are paid for by one budget.

    Each way, a weight and a part of the budget, suffices by itself: at the sensitivity of one
    answer of weight 1, times the weight, the mechanism has to satisfy that part. The first one
    takes the least noise. ``UnsupportedBudgetError`` if the definition has no rule for it, and the
    mechanism neither.
    """
    name = f"answer_weight(step) of {statistic.name}"
    weights = tuple(positive(statistic.answer_weight(step), name) for step in range(steps))
    if steps == 1:
        yield weights[0], budget
        return
    joint = kind.joint_weight(weights)
    if joint is not None:
        yield positive(joint, f"joint_weight of {kind.name}"), budget
    try:
        share = budget.split(steps)
    except UnsupportedBudgetError:
        if joint is None:
            raise
        return
    yield max(weights), share
